"""One point's simulation, with the observations that its experiment asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from memwalk.analysis.storage_workloads import StorageKernel, System
from memwalk.simcore.engines import native

Observation: TypeAlias = Literal["bytes"]
"""What else a point is looked at for, in a pass of its own: `bytes` fetched against bytes used, by site."""

BYTE_USAGE = "byte_usage"
"""Where the statistics of a point have its byte usage."""

STORAGE = "storage"
"""Where the statistics of a workload on storage have its columns; they have nothing else."""


@dataclass(frozen=True)
class StorageRun:
    """A workload and the storage it runs on, ready to run in any process."""

    kernel: StorageKernel
    system: System

    def statistics(self) -> native.Statistics:
        """Run it."""
        return {STORAGE: {name: _plain(value) for name, value in self.kernel.run(self.system).items()}}


def simulate(
    machine: dict[str, Any],
    workload: dict[str, Any],
    observe: Sequence[Observation] = (),
    storage: StorageRun | None = None,
) -> native.Statistics:
    """Run a workload on a machine and observe it, or run it on storage; what is observed stands beside the statistics."""
    if storage is not None:
        return storage.statistics()
    statistics = native.simulate(machine, workload)
    if "bytes" in observe:
        statistics[BYTE_USAGE] = native.byte_usage(workload, machine)
    return statistics


def _plain(value: Any) -> float | int:
    """Turn a number of numpy, which JSON does not know, into one of Python."""
    plain: float | int = value.item() if hasattr(value, "item") else value
    return plain
