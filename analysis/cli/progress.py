"""How a run gets on, on stderr: a bar on a terminal, now and then a line elsewhere."""

import time
from collections.abc import Mapping, Sequence

from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn

from memwalk.analysis.cli import console
from memwalk.analysis.experiments.pace import Pace
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.runner import Progress as RunProgress
from memwalk.analysis.experiments.work import Work
from memwalk.simcore.engines.native import Statistics

_SECONDS_BETWEEN_LINES = 5.0


class LineProgress:
    """Plain lines, for logs and pipes."""

    def start(self, finished: Sequence[Point], missing: Sequence[Point], estimated: Mapping[str, Work]) -> None:
        """Says what there is to do."""
        self.done, self.total = len(finished), len(finished) + len(missing)
        self.pace = Pace(estimated)
        self.next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
        if missing:
            console.note(f"{console.counted(self.total, 'point')}, {self.done} finished before")

    def within(self, point: Point, events: int, steps: int, built: int = 0) -> None:
        """Print a line, unless the last one is recent or the point only begins."""
        self.pace.within(point.id, events, steps, built)
        if (events or steps or built) and time.monotonic() >= self.next_line:
            self._line()

    def advance(self, point: Point, statistics: Statistics) -> None:
        """Print a line, unless the last one is recent and this is not the end."""
        self.done += 1
        self.pace.finish(point.id, statistics.get("events", 0))
        if time.monotonic() >= self.next_line or self.done == self.total:
            self._line()

    def stop(self) -> None:
        """Nothing to clear away."""

    def _line(self) -> None:
        self.next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
        share = self.pace.done / max(self.pace.total, 1e-9)
        console.note(f"{self.done} of {self.total} points, {share:.0%} of the work, {pace_text(self.pace)}")


class BarProgress:
    """A bar, for terminals: as long as the work, whatever the points."""

    def start(self, finished: Sequence[Point], missing: Sequence[Point], estimated: Mapping[str, Work]) -> None:
        """Show the bar."""
        columns = (BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        self.done, self.points = len(finished), len(finished) + len(missing)
        self.pace = Pace(estimated)
        self.bar = Progress(*columns, console=console.err)
        self.task: TaskID = self.bar.add_task("", total=self.pace.total)
        self.bar.start()

    def within(self, point: Point, events: int, steps: int, built: int = 0) -> None:
        """Move the bar."""
        self.pace.within(point.id, events, steps, built)
        self._show()

    def advance(self, point: Point, statistics: Statistics) -> None:
        """Move the bar."""
        self.done += 1
        self.pace.finish(point.id, statistics.get("events", 0))
        self._show()

    def stop(self) -> None:
        """Leaves the bar where it is and frees the terminal."""
        self.bar.stop()

    def _show(self) -> None:
        text = f"{self.done} of {self.points} points, {pace_text(self.pace)}"
        self.bar.update(self.task, completed=self.pace.done, description=text)


def progress() -> RunProgress:
    """Chooses what suits stderr."""
    return BarProgress() if console.err.is_terminal else LineProgress()


def pace_text(pace: Pace) -> str:
    """Give the rate so far, if there were events, and the time left, if anything is known of it."""
    left, rate = pace.left(), pace.events_per_second
    told = [f"{rate / 1e6:.1f} M events/s"] if rate else []
    return ", ".join([*told, "time left unknown" if left is None else f"about {duration(left)} left"])


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
