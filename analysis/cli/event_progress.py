"""How one long pass over events gets on, on stderr: a bar on a terminal, now and then a line elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from memwalk.analysis.cli import console

_SECONDS_BEFORE_FIRST_LINE = 5.0
_SECONDS_BETWEEN_LINES = 10.0


class Show(Protocol):
    """Takes how many events have passed, and which share of all that is, if that is known."""

    def __call__(self, events: int, share: float | None = None, /) -> None:
        """Show it."""


@contextmanager
def event_progress(doing: str, total: int | None, unit: str = "events") -> Iterator[Show]:
    """Show a pass over ``total`` events (None if only their share is known, or nothing), which are called ``unit``."""
    if not console.err.is_terminal:
        yield _Lines(doing, total, unit)
        return
    columns = (TextColumn(doing), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console.err, transient=True) as bar:
        task = bar.add_task("", total=None)
        started = time.monotonic()

        def show(events: int, share: float | None = None, /) -> None:
            passed = share if total is None else events / max(total, 1)
            whole = None if passed is None else 1.0
            bar.update(task, total=whole, completed=passed, description=_rate(events, started, unit))

        yield show


class _Lines:
    """Plain lines, for logs and pipes; none for what is over in a moment."""

    def __init__(self, doing: str, total: int | None, unit: str) -> None:
        self.doing, self.total, self.unit = doing, total, unit
        self.started = time.monotonic()
        self.next_line = self.started + _SECONDS_BEFORE_FIRST_LINE

    def __call__(self, events: int, share: float | None = None, /) -> None:
        now = time.monotonic()
        if now < self.next_line:
            return
        self.next_line = now + _SECONDS_BETWEEN_LINES
        passed = share if self.total is None else events / max(self.total, 1)
        percent = "" if passed is None else f" ({passed:.0%})"
        console.note(f"{self.doing}: {_millions(events)} {self.unit}{percent}, {_rate(events, self.started, self.unit)}")


def _rate(events: int, started: float, unit: str) -> str:
    seconds = max(time.monotonic() - started, 1e-3)
    return f"{_millions(events / seconds)} {unit}/s"


def _millions(number: float) -> str:
    return f"{number / 1e6:.1f} M" if number >= 1e6 else f"{number:,.0f}"
