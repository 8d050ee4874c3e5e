"""How one long pass over events gets on, on stderr: a bar on a terminal, now and then a line elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from analysis.cli import console

_SECONDS_BEFORE_FIRST_LINE = 5.0
_SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def event_progress(doing: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a pass over ``total`` events (None if that is not known); the callable takes how many have passed."""
    if not console.err.is_terminal:
        yield _Lines(doing, total)
        return
    columns = (TextColumn(doing), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console.err, transient=True) as bar:
        task = bar.add_task("", total=total)
        started = time.monotonic()

        def show(events: int) -> None:
            bar.update(task, completed=events, description=_rate(events, started))

        yield show


class _Lines:
    """Plain lines, for logs and pipes; none for what is over in a moment."""

    def __init__(self, doing: str, total: int | None) -> None:
        self.doing, self.total = doing, total
        self.started = time.monotonic()
        self.next_line = self.started + _SECONDS_BEFORE_FIRST_LINE

    def __call__(self, events: int) -> None:
        now = time.monotonic()
        if now < self.next_line:
            return
        self.next_line = now + _SECONDS_BETWEEN_LINES
        share = f" ({events / self.total:.0%})" if self.total else ""
        console.note(f"{self.doing}: {events / 1e6:.0f} M events{share}, {_rate(events, self.started)}")


def _rate(events: int, started: float) -> str:
    seconds = max(time.monotonic() - started, 1e-3)
    return f"{events / seconds / 1e6:.1f} M events/s"
