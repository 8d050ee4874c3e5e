"""One point's simulation, with the observations that its experiment asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from memwalk.analysis import capacities
from memwalk.analysis.experiments.beside import Neighbours
from memwalk.analysis.experiments.beside_run import SharedStorage, simulate_beside
from memwalk.analysis.experiments.heard import Heard, listeners, of_both, of_steps
from memwalk.analysis.experiments.one_machine import SharedMachine, simulate_on_one_machine
from memwalk.analysis.experiments.storage_time import STORAGE_TIME, storage_times, timed_pages
from memwalk.analysis.storage_workloads import StorageKernel
from memwalk.simcore.engines import native
from memwalk.simcore.storage.steps import steps_told_to
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.timed_pages import TimedPages

Observation: TypeAlias = Literal["bytes", "counts", "curve"]
"""What else a point is looked at for, in the same pass: `bytes` fetched against bytes used, by site; hits and misses without time
(`counts`); the miss `curve` of fully associative LRU caches with lines of the last cache."""

BYTE_USAGE = "byte_usage"
"""Where the statistics of a point have its byte usage."""

CORES = "cores"
"""Where those of a run on several cores have each of them."""

COUNTS = "counts"
"""Where they have its caches' counts without time."""

CURVE = "curve"
"""Where they have its miss curve: columns of `capacities.octaves`."""

STORAGE_STATISTICS = "storage"
"""Where the statistics of a workload on storage have its columns; they have nothing else."""


@dataclass(frozen=True)
class StorageRun:
    """A storage and the workload that runs on it, ready to run in any process."""

    kernel: StorageKernel | None
    """None for a workload of the machine, which has its pages from there."""
    system: System


def simulate(
    machine: dict[str, Any],
    workload: dict[str, Any],
    observe: Sequence[Observation] = (),
    storage: StorageRun | None = None,
    heard: Heard | None = None,
    *,
    neighbours: Neighbours | None = None,
) -> native.Statistics:
    """Run a workload on a machine and observe it, or run it on storage; what is observed stands beside the statistics.

    With ``neighbours``, a workload of a machine runs alone first, and then beside them: on the storage, or on the cores of the machine.
    Raises UserError if the storage is too small for the pages that the workload asks for.
    """
    if storage is not None and storage.kernel is not None:
        with steps_told_to(of_steps(heard)):
            return {STORAGE_STATISTICS: {name: _plain(value) for name, value in storage.kernel.run(storage.system).items()}}
    if storage is None:
        if neighbours is None:
            return _of_machine(machine, workload, observe, heard)
        return _beside(machine, None, workload, observe, neighbours, heard)
    both = of_both(heard)
    with steps_told_to(of_steps(both)):
        run = partial(_with_pages, machine)
        if neighbours is None:
            return run(workload, observe, timed_pages(storage.system, workload), both)
        if neighbours.share_machine:
            return _beside(machine, storage.system, workload, observe, neighbours, both)
        found = simulate_beside(SharedStorage(storage.system, machine, run), workload, observe, neighbours, both)
        return found | {STORAGE_TIME: {name: _plain(value) for name, value in found[STORAGE_TIME].items()}}


def _beside(  # noqa: PLR0917 (a run and all that it needs)
    machine: dict[str, Any],
    system: System | None,
    workload: dict[str, Any],
    observe: Sequence[Observation],
    neighbours: Neighbours,
    heard: Heard | None,
) -> native.Statistics:
    """Run a workload of a machine beside others on its cores."""
    shared = SharedMachine(machine, system)
    return _with_curve(simulate_on_one_machine(shared, workload, _asked(observe), neighbours, heard), machine)


def _with_pages(
    machine: dict[str, Any], workload: dict[str, Any], observe: Sequence[Observation], pages: TimedPages, heard: Heard | None
) -> native.Statistics:
    """Run a workload of a machine that has its pages from storage."""
    statistics = _of_machine(machine, workload, observe, heard, pages)
    return statistics | {STORAGE_TIME: storage_times(machine, pages, statistics)}


def _of_machine(
    machine: dict[str, Any],
    workload: dict[str, Any],
    observe: Sequence[Observation],
    heard: Heard | None,
    pages: TimedPages | None = None,
) -> native.Statistics:
    return _with_curve(native.simulate(machine, workload, *listeners(heard), _asked(observe), pages), machine)


def simulate_together(
    machines: Sequence[dict[str, Any]], workload: dict[str, Any], observe: Sequence[Observation] = (), heard: Heard | None = None
) -> list[native.Statistics]:
    """Run a workload once for several machines; the same as `simulate` with each."""
    found = native.simulate_on(machines, workload, *listeners(heard), _asked(observe))
    return [_with_curve(statistics, machine) for statistics, machine in zip(found, machines, strict=True)]


def _asked(observe: Sequence[Observation]) -> dict[str, Any]:
    """Say what the simulator is to observe."""
    asked: dict[str, Any] = dict.fromkeys(observe, True)
    return asked | ({CURVE: capacities.octaves()} if CURVE in observe else {})


def _with_curve(statistics: native.Statistics, machine: dict[str, Any]) -> native.Statistics:
    """Put the miss curve in the form in which it is kept."""
    if CURVE in statistics:
        line_bytes, found = machine["caches"][-1]["line_bytes"], statistics[CURVE]
        statistics[CURVE] = capacities.trimmed(line_bytes, found["misses"], found["accesses"])
    return statistics


def _plain(value: Any) -> float | int:
    """Turn a number of numpy, which JSON does not know, into one of Python."""
    plain: float | int = value.item() if hasattr(value, "item") else value
    return plain
