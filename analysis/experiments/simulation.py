"""One point's simulation, with the observations that its experiment asks for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memwalk.analysis.experiments.storage_time import storage_times
from memwalk.analysis.storage_workloads import StorageKernel, System
from memwalk.simcore.engines import native
from memwalk.simcore.storage.steps import STEPS

Observation: TypeAlias = Literal["bytes"]
"""What else a point is looked at for, in a pass of its own: `bytes` fetched against bytes used, by site."""

Heard: TypeAlias = Callable[[int, int, int], None]
"""Takes how many events of the processor, steps of storage and steps of building have passed, now and then."""

BYTE_USAGE = "byte_usage"
"""Where the statistics of a point have its byte usage."""

STORAGE = "storage"
"""Where the statistics of a workload on storage have its columns; they have nothing else."""

STORAGE_TIME = "storage_time"
"""Where the statistics of a workload on a machine have what its pages take on the storage that its experiment names."""


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
) -> native.Statistics:
    """Run a workload on a machine and observe it, or run it on storage; what is observed stands beside the statistics.

    Raises UserError if the storage is too small for the pages that the workload asks for.
    """
    if storage is not None and storage.kernel is not None:
        with STEPS.told_to(_after(0, heard)):
            return {STORAGE: {name: _plain(value) for name, value in storage.kernel.run(storage.system).items()}}
    if storage is None:
        return _of_machine(machine, workload, observe, heard)
    statistics = _once(machine, workload, observe, heard)
    with STEPS.told_to(_after(statistics["events"], heard)):
        return statistics | {STORAGE_TIME: storage_times(storage.system, machine, workload, statistics)}


def _after(events: int, heard: Heard | None) -> Callable[[int], None] | None:
    """Return who hears of the steps of storage that come after so many events."""
    return None if heard is None else lambda steps: heard(events, steps, 0)


def _of_machine(
    machine: dict[str, Any], workload: dict[str, Any], observe: Sequence[Observation], heard: Heard | None
) -> native.Statistics:
    statistics = native.simulate(machine, workload, *_listeners(0, heard))
    if "bytes" in observe:
        # A warm-up that was found need not be searched for again.
        found = statistics["workload"].get("warm_up_operations")
        warmed = workload if found is None else workload | {"warm_up": found}
        before = statistics["events"]
        statistics[BYTE_USAGE] = native.byte_usage(warmed, machine, *_listeners(before, heard))
    return statistics


def _listeners(before: int, heard: Heard | None) -> tuple[Callable[[int], None] | None, Callable[[int], None] | None]:
    """Return who hears of the events that come after so many, and who of the steps of building."""
    if heard is None:
        return None, None
    return lambda events: heard(before + events, 0, 0), lambda built: heard(before, 0, built)


_last: list[tuple[Any, native.Statistics]] = []
"""The last run of a machine whose pages come from storage: a sweep over storages often asks for it again."""


def _once(machine: dict[str, Any], workload: dict[str, Any], observe: Sequence[Observation], heard: Heard | None) -> native.Statistics:
    asked = (machine, workload, tuple(observe))
    if not _last or _last[0][0] != asked:
        _last[:] = [(asked, _of_machine(*asked, heard))]
    return _last[0][1]


def _plain(value: Any) -> float | int:
    """Turn a number of numpy, which JSON does not know, into one of Python."""
    plain: float | int = value.item() if hasattr(value, "item") else value
    return plain
