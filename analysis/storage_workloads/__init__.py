"""Workloads that run on storage: one module per kernel, all listed here.

The first line of a kernel's module says what it does, behind its name.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol, TypeAlias, get_args, runtime_checkable

from pydantic import BaseModel

from memwalk.analysis.storage_workloads.clotho import ClothoColumn, ClothoInsert, ClothoPoint, ClothoScan
from memwalk.analysis.storage_workloads.interleaved_read import InterleavedRead
from memwalk.analysis.storage_workloads.layout_point import LayoutPoint
from memwalk.analysis.storage_workloads.layout_scan import LayoutScan
from memwalk.analysis.storage_workloads.layout_space import LayoutSpace
from memwalk.analysis.storage_workloads.layout_update import LayoutUpdate
from memwalk.analysis.storage_workloads.oltp import Compound, Tpcc
from memwalk.analysis.storage_workloads.one_program import Columns
from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.analysis.storage_workloads.super_block import SuperBlockPlacement
from memwalk.analysis.storage_workloads.together import Together
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.analysis.storage_workloads.traffic import Traffic, TrafficOf
from memwalk.simcore.storage.system import System

_OfMbsm: TypeAlias = InterleavedRead | LayoutScan | LayoutSpace | LayoutUpdate | SuperBlockPlacement
_OfClotho: TypeAlias = ClothoColumn | ClothoInsert | ClothoPoint | ClothoScan | ClothoTpch | Compound | Tpcc
StorageWorkload: TypeAlias = Requests | LayoutPoint | Together | _OfMbsm | _OfClotho
"""Any workload that runs on storage; ``kernel`` says which."""


@runtime_checkable
class StorageKernel(Protocol):
    """What every one of them does."""

    processes: ClassVar[bool]
    """Whether the work of its processor is simulated, if there is a machine."""
    traffic: ClassVar[TrafficOf]
    """Says what a run of a resolved workload asks storage for."""

    def native(self) -> dict[str, Any]:
        """Return the workload's values, defaults included, as plain data: what points are told apart by."""

    def work(self) -> int:
        """Estimate the work of a run in requests to storage and pages fixed, or what takes as long: for progress only."""

    def run(self, system: System) -> Columns:
        """Run on ``system``, as if just switched on; returns the columns of the result table, names with units."""


@runtime_checkable
class Checked(Protocol):
    """What those of them do whose room can be told without a run."""

    def check(self, system: System) -> None:
        """Raise UserError if the workload cannot run on ``system``; a `MisfitError` where one parameter is to blame. Takes no time."""


def list_kernels() -> list[tuple[str, str]]:
    """List the kernels by name, with what each of them does."""
    found = []
    for name, kernel in _named():
        first_line = (sys.modules[kernel.__module__].__doc__ or "").partition("\n")[0]
        found.append((name, first_line.removeprefix(f"Kernel `{name}`: ").rstrip(".")))
    return found


def traffic_of(workload: Mapping[str, Any]) -> Traffic:
    """Say what a run of one of them asks storage for, told by its resolved workload; anything, for other kernels."""
    kernel = dict(_named()).get(workload.get("kernel", ""))
    return kernel.traffic(workload) if kernel else Traffic()


def processing_kernels() -> tuple[str, ...]:
    """Name those that have the work of their processor simulated, if there is a machine; programs of `together` may be such, too."""
    return tuple(name for name, kernel in _named() if kernel.processes)


def model_of(kernel: str) -> type[BaseModel]:
    """Return what declares the parameters of one of them. Raises KeyError if it is none."""
    found: type[Any] = dict(_named())[kernel]
    return found


def _named() -> Iterator[tuple[str, type[StorageKernel]]]:
    for kernel in get_args(StorageWorkload):
        (name,) = get_args(kernel.model_fields["kernel"].annotation)
        yield name, kernel


__all__ = ["Checked", "StorageKernel", "StorageWorkload", "list_kernels", "model_of", "processing_kernels", "traffic_of"]
