"""A point as a worker gets it: simulated only by the code that the run began with, and heard of while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.provenance import Provenance, differences
from memwalk.analysis.experiments.simulation import Heard, simulate
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError

HeardOf = Callable[[Point, int, int, int], None]
"""Takes a point and how many events, steps of storage and steps of building have passed."""

_SECONDS_BETWEEN_REPORTS = 0.25


@dataclass(frozen=True)
class Task:
    """What is sent to a worker."""

    point: Point
    computed_by: Provenance

    @classmethod
    def of(cls, point: Point) -> "Task":
        """Make the task of a point, to be done by code like this process's."""
        return cls(point, point.provenance())

    def run(self, heard: Heard) -> Statistics:
        """Simulate the point; ``heard`` is called at its beginning and now and then. Raises UserError in a worker of other code."""
        point = self.point
        if changed := differences(self.computed_by, point.provenance()):
            remedy = "give both the same memwalk, and start again: finished points are kept"
            raise UserError(f"a worker runs other code than this process (what differs: {', '.join(changed)}); {remedy}")
        heard(0, 0, 0)
        return simulate(point.machine, point.workload, point.observe, point.run, _now_and_then(heard))


def _now_and_then(heard: Heard) -> Heard:
    next_report = time.monotonic() + _SECONDS_BETWEEN_REPORTS

    def throttled(events: int, steps: int, built: int) -> None:
        nonlocal next_report
        if (now := time.monotonic()) >= next_report:
            next_report = now + _SECONDS_BETWEEN_REPORTS
            heard(events, steps, built)

    return throttled
