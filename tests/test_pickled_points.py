"""Points go to worker processes through a pipe: those of every kernel can be pickled, and come out the same."""

import pickle
from typing import Any

import pytest

from memwalk.analysis.experiments.points import Point
from memwalk.analysis.experiments.resolve import ADAPTER
from memwalk.analysis.storage_workloads import StorageKernel, list_kernels
from memwalk.simcore.engines import native
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.system import System

DATA = {"kind": "uniform"}
ON_STORAGE: dict[str, dict[str, Any]] = {
    "requests": {"count": 1},
    "layout-point": {"layout": "nsm", "table": "r", "data": DATA},
    "layout-scan": {"layout": "nsm", "query": "1", "data": DATA},
    "layout-space": {"layout": "nsm", "table": "r", "data": DATA},
    "layout-update": {"layout": "nsm", "table": "r", "operation": "insert", "data": DATA},
    "interleaved-read": {},
    "super-block": {"data": DATA},
    "clotho-column": {},
    "clotho-insert": {"layout": "nsm"},
    "clotho-point": {"layout": "nsm"},
    "clotho-scan": {"layout": "nsm"},
    "clotho-tpch": {"layout": "nsm", "query": "q6"},
    "compound": {"layout": "nsm", "query": "q6", "page_access": "50us"},
    "tpcc": {"layout": "nsm", "page_access": "50us"},
    "together": {"programs": {"scan": {"kernel": "clotho-scan", "layout": "nsm"}, "plain": {"kernel": "requests", "count": 1}}},
}
"""What kernels that run on storage ask for at least."""


@pytest.fixture(scope="module")
def system() -> System:
    """One disk."""
    return System(load_device("atlas-10k"))


def through_a_pipe(point: Point) -> Point:
    found: Point = pickle.loads(pickle.dumps(point))
    assert found.content() == point.content()
    return found


@pytest.mark.parametrize("name", [name for name, _ in list_kernels()])
def test_points_on_storage_come_out_the_same(name: str, system: System) -> None:
    kernel = ADAPTER.validate_python({"kernel": name} | ON_STORAGE[name])
    assert isinstance(kernel, StorageKernel)
    run = through_a_pipe(Point.on_storage(kernel, system)).run
    assert run is not None
    assert run.kernel == kernel


@pytest.mark.parametrize("listed", native.list_workloads(), ids=lambda listed: str(listed["name"]))
def test_points_of_machines_come_out_the_same(listed: dict[str, Any], system: System) -> None:
    through_a_pipe(Point.on_machine({"name": "any"}, {"kernel": listed["name"]} | listed["defaults"], system=system))
