"""A workload beside others on the cores of its machine: each alone first, and then all at once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memwalk.analysis.experiments.beside import MachineSide, Neighbours
from memwalk.analysis.experiments.heard import Heard, Runs, listeners
from memwalk.analysis.experiments.slower import BESIDE_TIME, OWN, alone, check_takes_time, slower
from memwalk.analysis.storage_workloads.columns import cpu_parts
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Side
from memwalk.simcore.units import PS_PER_SECOND


def simulate_on_one_machine(
    machine: dict[str, Any], workload: dict[str, Any], asked: Mapping[str, Any], neighbours: Neighbours, heard: Heard | None
) -> native.Statistics:
    """Run a workload beside others on one machine, each of which runs alone first, with its data in the same place.

    ``asked`` is what is observed of it. Returns the statistics of the workload beside the others, and in `BESIDE_TIME` how much slower
    it is than alone, and the same of each of the others with what it waited for.

    Raises UserError for what takes no time; a `MisfitError` below the name of the one to blame.
    """
    runs = Runs(heard)
    named = {OWN: MachineSide(workload), **neighbours.workloads}
    sides = {name: _side(machine, one, number) for number, (name, one) in enumerate(named.items())}
    each_alone = {name: _Alone(machine, name, side, runs) for name, side in sides.items()}
    together = native.simulate_side_by_side(machine, list(sides.values()), *listeners(runs.one()), asked)
    times: Columns = {}
    for (name, side), (found, ran) in zip(sides.items(), together, strict=True):
        columns = slower(_seconds(machine, found) / ran, each_alone[name].seconds(ran)) | ({"runs": ran} if side.runs is None else {})
        if name != OWN:  # whose slots say it
            columns |= _processor(machine, found, ran)
        times |= {f"{name}.{column}" if name != OWN else column: value for column, value in columns.items()}
    own, _ = together[0]
    return own | {BESIDE_TIME: times}


class _Alone:
    """How long a workload takes alone on the machine, where it would lie beside the others."""

    def __init__(self, machine: dict[str, Any], name: str, side: Side, runs: Runs) -> None:
        """Run it. Raises UserError if it cannot run, or takes no time; a `MisfitError` below the name of a neighbour."""

        def took(times: int) -> float:
            once = replace(side, start_cycle=0, runs=times)
            ((found, _),) = native.simulate_side_by_side(machine, [once], *listeners(runs.one()))
            return _seconds(machine, found)

        with alone(name, machine):
            self._first = took(1)
            check_takes_time(name, self._first)
            self._second = took(2) - self._first if side.runs is None else 0.0

    def seconds(self, runs: int) -> float:
        """Return the mean of so many runs: all but the first find what was left in the caches, and take as long as the second."""
        return (self._first + (runs - 1) * self._second) / runs


def _side(machine: Mapping[str, Any], one: MachineSide, number: int) -> Side:
    start_cycle = -(-(one.start_ps or 0) * machine["clock_hz"] // PS_PER_SECOND)
    return Side(dict(one.values), number, start_cycle, None if one.repeats else 1)


def _seconds(machine: Mapping[str, Any], found: native.Statistics) -> float:
    """Return how long all runs of a workload took together."""
    seconds: float = found["cycles"] / machine["clock_hz"]
    return seconds


def _slot_seconds(machine: Mapping[str, Any], found: native.Statistics) -> float:
    """Return what a graduation slot of a workload takes, of several cores in the mean."""
    cores = len(found.get("cores", [found]))
    per_second: int = machine["clock_hz"] * machine["core"]["issue_width"] * cores
    return 1 / per_second


def _working_seconds(machine: Mapping[str, Any], found: native.Statistics) -> float:
    """Return how long its cores worked or waited, of several in the mean: those that have ended do not."""
    slots: int = found["slots"]["total"]
    return slots * _slot_seconds(machine, found)


def _processor(machine: Mapping[str, Any], found: native.Statistics, ran: int) -> Columns:
    """Split a neighbour's time by cause, and say what it moved between the caches and memory: means of its runs."""
    bus, seconds = found["bus"], _working_seconds(machine, found)
    lines = sum(bus.get(part, 0) for part in ("fills", "write_backs", "write_throughs", "non_temporal"))
    ended = {"ended_seconds": (_seconds(machine, found) - seconds) / ran} if "cores" in found else {}
    parts = cpu_parts(found["slots"], _slot_seconds(machine, found) / ran)
    return {"cpu_seconds": seconds / ran, **parts, **ended, "memory_lines": lines / ran}
