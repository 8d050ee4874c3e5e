"""How much work points are, before they run: what orders them, weighs progress, and says how long the rest will take."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from memwalk.analysis.experiments.canonical import canonical
from memwalk.analysis.experiments.points import Point
from memwalk.simcore.dbms import PART
from memwalk.simcore.engines import native
from memwalk.simcore.memories import first_memory

# What a unit of work takes, in seconds on a core of 2023. Only their proportions matter: a run finds out how fast its host is, and
# corrects them kind by kind.
_POINT = 1e-3
_EVENT = 50e-9
_EVENT_ON_DRAMSIM3 = 4e-6
_EVENT_OF_COHERENT_CORES = 170e-9
"""Several cores take turns at whatever they access: 5 to 6.5 million events a second."""
_BUILDING_STEP = 45e-9
_CALL = 900e-9
_STORAGE_STEP = 20e-6

_TREE_KEYS = ("kernel", "keys", "fill", "tree", "maturity", "word_bytes", "line_bytes")
_TABLE_KEYS = ("layout", "page_bytes", "header_bytes", "attributes", "attribute_bytes", "records", "abstraction", "level_attributes")
_TPCH_KEYS = ("scale_factor",)


Kind: TypeAlias = tuple[str | None, ...]
"""What points have in common that err in the same direction: kernel, operation, layout, machine, DBMS, device."""


MOST_DONE = 0.99
"""Share of a point that is said to be done as long as it is not at its end."""


@dataclass(frozen=True)
class Work:
    """The work of one point: estimated units, and what kind of work it is."""

    kind: Kind
    events: int = 0
    """Events that the processor's simulation runs through."""
    steps: int = 0
    """Requests to storage and pages fixed, or what takes as long."""
    overhead: float = _POINT
    """Seconds before the first event or step."""
    event: float = _EVENT
    """Seconds that an event takes, observations and its share of the DBMS's calls included."""

    @property
    def seconds(self) -> float:
        """What the point takes on the host that the constants are of."""
        return self.overhead + self.seconds_of(self.events, self.steps)

    def seconds_of(self, events: int, steps: int) -> float:
        """Return what so many events and steps of the point take there."""
        return events * self.event + steps * _STORAGE_STEP

    def done(self, events: int, steps: int, built: int = 0) -> float:
        """Return which share of the point is done, below 1: an estimate may be passed, and the end is known only when it is there.

        ``built`` are steps of building what it runs on, which are over when there are events or steps. Steps beyond the estimate tell
        nothing: a program that repeats beside a workload makes as many as there is time for.
        """
        steps = min(steps, self.steps)
        begun = self.overhead if events or steps else min(_POINT + built * _BUILDING_STEP, self.overhead)
        return min((begun + self.seconds_of(events, steps)) / self.seconds, MOST_DONE)


def structure(workload: dict[str, Any]) -> str:
    """Name the data structure that a workload starts from; a worker keeps the last one it built."""
    return canonical([workload.get(key) for key in (*_TREE_KEYS, *_TABLE_KEYS, *_TPCH_KEYS)])


def works(points: Iterable[Point]) -> dict[str, Work]:
    """Estimate the work of points by id. Of points on one data structure, the longest runs first and has to build it."""
    estimated: dict[str, Work] = {}
    longest: dict[str, Point] = {}
    for point in points:
        estimated[point.id] = one = work(point, built=True)
        first = longest.setdefault(structure(point.workload), point)
        if one.seconds > estimated[first.id].seconds:
            longest[structure(point.workload)] = point
    return estimated | {point.id: work(point, built=False) for point in longest.values()}


def work(point: Point, *, built: bool) -> Work:
    """Estimate the work of one point, whose data structure is there already if it was ``built``."""
    workload, machine = point.workload, point.machine
    kind = _kind(point)
    if point.run is not None and point.run.kernel is not None:
        return Work(kind, steps=point.run.kernel.work())
    units = native.estimate_work(workload)
    neighbours = point.neighbours
    if neighbours is None:
        steps = 0
    else:  # alone, and beside them
        steps = neighbours.steps()
        units |= {unit: neighbours.work(unit, workload) for unit in ("events", "calls")}
        units["building"] += neighbours.building()
    events, lookers = units["events"], 1 + len(point.observe)
    calls = units["calls"] * _CALL if PART in machine else 0.0
    shared = [] if neighbours is None or not neighbours.share_machine else neighbours.workloads.values()
    cores = sum(map(native.threads, (workload, *(dict(one.values) for one in shared))))
    event = _EVENT_OF_COHERENT_CORES if cores > 1 and machine.get("coherence") else _EVENT
    if "memory" in machine and first_memory(machine)["model"] == "dramsim3":
        event = _EVENT_ON_DRAMSIM3
    return Work(
        kind,
        events=events,
        steps=steps,
        overhead=_POINT + (0.0 if built else units["building"] * _BUILDING_STEP),
        event=event * lookers + calls / max(events, 1),
    )


def totals(estimated: Mapping[str, Work]) -> dict[str, float]:
    """Sum up works: ``events``, ``storage_steps`` and ``seconds`` of one core."""
    all_ = estimated.values()
    return {
        "events": sum(one.events for one in all_),
        "storage_steps": sum(one.steps for one in all_),
        "seconds": sum(one.seconds for one in all_),
    }


def _kind(point: Point) -> Kind:
    workload, machine = point.workload, point.machine
    what = workload.get("operation") or workload.get("query") or workload.get("pattern")
    dbms = (machine.get(PART) or {}).get("name")
    return (workload["kernel"], what, workload.get("layout"), machine.get("name"), dbms, point.storage.get("device"))
