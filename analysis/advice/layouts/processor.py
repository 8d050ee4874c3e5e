"""The processor's part of a scan: a sample of its records is simulated, and scaled up to the table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memwalk.analysis.causes import shortened
from memwalk.simcore.engines import native


@dataclass(frozen=True)
class Processing:
    """What a scan takes of the processor, scaled up to the table."""

    by_cause: dict[str, float]
    """Seconds by cause (`memwalk.analysis.causes`)."""
    lines: float
    """Lines of data fetched from memory."""
    unevenness: float
    """How many times as long records of the whole sample take as those of its second half; 1 if the sample is the table."""

    @property
    def seconds(self) -> float:
        """The whole time."""
        return sum(self.by_cause.values())

    @property
    def waiting_seconds(self) -> float:
        """The time of waiting for lines and translations."""
        return self.by_cause["dcache"] + self.by_cause["dtlb"]


def process(machine: dict[str, Any], scan: Callable[[int], dict[str, Any]], records: int, sample: int) -> Processing:
    """Simulate ``scan``, the workload of so many records, of a sample.

    A scan of half the sample says what the records of the other half take, and those behind the sample take as much: what a scan
    takes once, as its code is fetched and its caches fill, is no part of it.
    """
    if sample >= records:
        spent, lines = _run(machine, scan(records))
        return Processing(spent, lines, 1.0)
    halves = _Halves.of(machine, scan, sample)
    (earlier, earlier_lines), (spent, lines) = halves.first, halves.both
    times = (records - sample) / halves.later_records

    def scaled(value: float, before: float) -> float:
        return value + max(value - before, 0.0) * times

    return Processing(
        {cause: scaled(value, earlier.get(cause, 0.0)) for cause, value in spent.items()},
        scaled(lines, earlier_lines),
        sum(spent.values()) / sample / halves.later_seconds_per_record,
    )


def seconds_per_record(machine: dict[str, Any], scan: Callable[[int], dict[str, Any]], sample: int) -> float:
    """Return the seconds of a record once a scan is under way: of the second half of a sample."""
    return _Halves.of(machine, scan, sample).later_seconds_per_record


@dataclass(frozen=True)
class _Halves:
    """A sample: what its first half takes, and both, as seconds by cause and lines."""

    first: tuple[dict[str, float], float]
    both: tuple[dict[str, float], float]
    later_records: int
    """Records of the second half."""

    @classmethod
    def of(cls, machine: dict[str, Any], scan: Callable[[int], dict[str, Any]], sample: int) -> "_Halves":
        half = sample // 2
        first, both = (_run(machine, scan(part)) for part in (half, sample))
        return cls(first, both, sample - half)

    @property
    def later_seconds_per_record(self) -> float:
        (first, _), (both, _) = self.first, self.both
        return (sum(both.values()) - sum(first.values())) / self.later_records


def _run(machine: dict[str, Any], workload: dict[str, Any]) -> tuple[dict[str, float], float]:
    """Simulate a workload: seconds by cause, and lines of data fetched."""
    statistics = native.simulate(machine, workload)
    slots = statistics["slots"]
    second = statistics["cycles"] / slots["total"] / machine["clock_hz"]
    spent = shortened(slots | {"dcache": sum(slots["dcache"].values())})
    code = statistics.get("instruction_cache", {"served": {"memory": 0}})["served"]["memory"]
    return {cause: count * second for cause, count in spent.items()}, statistics["bus"]["fills"] - code
