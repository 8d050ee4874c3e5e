"""How a run gets on, on stderr: a bar on a terminal, now and then a line elsewhere."""

import time
from collections.abc import Sequence

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from memwalk.analysis.cli import console
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.runner import Progress as RunProgress
from memwalk.analysis.experiments.schedule import work
from memwalk.simcore.engines.native import Statistics

_SECONDS_BETWEEN_LINES = 5.0


class _Pace:
    """Points, events and estimated work done since the start of this run."""

    def __init__(self, missing: Sequence[Point]) -> None:
        self.started = time.monotonic()
        self.total_work = sum(work(point.workload) for point in missing)
        self.work = 0
        self.events = 0

    def add(self, point: Point, statistics: Statistics) -> None:
        self.work += work(point.workload)
        self.events += statistics.get("events", 0)

    def text(self) -> str:
        """Give the rate so far, if there were events, and the time left if the rest goes as fast."""
        seconds = max(time.monotonic() - self.started, 1e-3)
        left = seconds * (self.total_work - self.work) / max(self.work, 1)
        rate = f"{self.events / seconds / 1e6:.1f} M events/s, " if self.events else ""
        return f"{rate}about {_duration(left)} left"


class LineProgress:
    """Plain lines, for logs and pipes."""

    def start(self, finished: Sequence[Point], missing: Sequence[Point]) -> None:
        """Says what there is to do."""
        self.done, self.total = len(finished), len(finished) + len(missing)
        self.pace = _Pace(missing)
        self.next_line = 0.0
        if missing:
            console.note(f"{self.total} points, {self.done} finished before")

    def advance(self, point: Point, statistics: Statistics) -> None:
        """Print a line, unless the last one is recent."""
        self.done += 1
        self.pace.add(point, statistics)
        now = time.monotonic()
        if now >= self.next_line or self.done == self.total:
            self.next_line = now + _SECONDS_BETWEEN_LINES
            console.note(f"{self.done} of {self.total} points, {self.pace.text()}")

    def stop(self) -> None:
        """Nothing to clear away."""


class BarProgress:
    """A bar, for terminals."""

    def start(self, finished: Sequence[Point], missing: Sequence[Point]) -> None:
        """Show the bar."""
        columns = (
            TextColumn("points"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        self.pace = _Pace(missing)
        self.bar = Progress(*columns, console=console.err)
        self.task: TaskID = self.bar.add_task("", total=len(finished) + len(missing), completed=len(finished))
        self.bar.start()

    def advance(self, point: Point, statistics: Statistics) -> None:
        """Move the bar."""
        self.pace.add(point, statistics)
        self.bar.update(self.task, advance=1, description=self.pace.text())

    def stop(self) -> None:
        """Leaves the bar where it is and frees the terminal."""
        self.bar.stop()


def progress() -> RunProgress:
    """Chooses what suits stderr."""
    return BarProgress() if console.err.is_terminal else LineProgress()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
