"""Points as a worker gets them: simulated only by the code that the run began with, and heard of while they run."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from memwalk.analysis.experiments.heard import Heard
from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.provenance import Provenance, differences
from memwalk.analysis.experiments.refused import RefusedError
from memwalk.analysis.experiments.simulation import simulate, simulate_together
from memwalk.simcore.engines.native import ShortageError, SpecError, Statistics
from memwalk.simcore.errors import UserError

HeardOf = Callable[[Point, int, int, int], None]
"""Takes a point and how many events, steps of storage and steps of building have passed."""

Together: TypeAlias = tuple[Point, ...]
"""Points that one run of a kernel simulates: they differ in their machine only."""

_SECONDS_BETWEEN_REPORTS = 0.25


@dataclass(frozen=True)
class Task:
    """What is sent to a worker."""

    points: Together
    computed_by: Provenance

    @classmethod
    def of(cls, points: Together) -> "Task":
        """Make the task of some points, to be done by code like this process's."""
        return cls(points, points[0].provenance())

    @property
    def key(self) -> str:
        """A name that no other task of a run has."""
        return self.points[0].id

    def run(self, heard: Heard) -> list[Statistics]:
        """Simulate the points; ``heard`` is called at the beginning and now and then.

        Raises RefusedError for a point that cannot be, UserError in a worker of other code.
        """
        point = self.points[0]
        if changed := differences(self.computed_by, point.provenance()):
            remedy = "give both the same memwalk, and start again: finished points are kept"
            raise UserError(f"a worker runs other code than this process (what differs: {', '.join(changed)}); {remedy}")
        heard(0, 0, 0)
        try:
            if len(self.points) == 1:
                return [
                    simulate(point.machine, point.workload, point.observe, point.run, _now_and_then(heard), neighbours=point.neighbours)
                ]
            machines = [one.machine for one in self.points]
            return simulate_together(machines, point.workload, point.observe, _now_and_then(heard))
        except (SpecError, ShortageError) as error:
            raise RefusedError(self._refused_with(error).id, error) from None
        except UserError as error:
            raise RefusedError(point.id, error) from None

    def _refused_with(self, error: SpecError | ShortageError) -> Point:
        """Find the point that is refused so: of several nobody says which. Machines are refused before the first event."""
        for point in self.points[:-1]:
            try:
                simulate(point.machine, point.workload, point.observe, point.run, _raise_at_an_event, neighbours=point.neighbours)
            except _BegunError:
                continue
            except (SpecError, ShortageError) as refused:
                # How much is free is told, too, and is not the same alone.
                if refused.args[0] == error.args[0]:
                    return point
        return self.points[-1]

    def tell(self, heard: HeardOf) -> Heard:
        """Return who tells ``heard`` of each point how far all of them are."""

        def tell(events: int, steps: int, built: int) -> None:
            for point in self.points:
                heard(point, events, steps, built)

        return tell


class _BegunError(Exception):
    """A run that is under way, and could be."""


def _raise_at_an_event(events: int, _steps: int, _built: int) -> None:
    if events:
        raise _BegunError


def _now_and_then(heard: Heard) -> Heard:
    next_report = time.monotonic() + _SECONDS_BETWEEN_REPORTS

    def throttled(events: int, steps: int, built: int) -> None:
        nonlocal next_report
        if (now := time.monotonic()) >= next_report:
            next_report = now + _SECONDS_BETWEEN_REPORTS
            heard(events, steps, built)

    return throttled
