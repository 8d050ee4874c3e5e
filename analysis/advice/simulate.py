"""Simulated scans of a sample of a table, and the cost model's constants as two of them give them."""

from dataclasses import dataclass
from typing import Any

from analysis.advice.files import Query, Task
from analysis.advice.predict import Layout, UnitCosts
from simcore.engines import native
from simcore.storage import DeviceFile, Request, serve_requests


@dataclass(frozen=True)
class Platform:
    """What the scans run on: a machine with its DBMS, as the simulator takes it, and the storage device, if any."""

    machine: dict[str, Any]
    device: DeviceFile | None


@dataclass(frozen=True)
class Simulated:
    """A simulated scan, scaled up to the table: seconds, and lines fetched from memory per record."""

    cpu_seconds: float
    io_seconds: float
    lines_per_record: float

    @property
    def seconds(self) -> float:
        """All of it: I/O and processing do not overlap."""
        return self.cpu_seconds + self.io_seconds


def simulate(layout: Layout, query: Query, task: Task, platform: Platform, sample: int) -> Simulated:
    """Simulate a query over the first ``sample`` records of a layout.

    Memory for prefetching is cut down with the table and runs of pages are stretched again before the device serves
    them: columns are read in as many runs as in the whole table.
    """
    records = min(sample, task.schema.records)
    stretch = task.schema.records / records
    statistics = native.simulate(platform.machine, _workload(layout, query, task, records))
    cpu = statistics["cycles"] / platform.machine["clock_hz"] * stretch
    io = _io_seconds(platform.device, task.workload.page_bytes, statistics.get("page_requests", []), stretch)
    return Simulated(cpu, io, statistics["bus"]["fills"] / records)


def measured_costs(task: Task, platform: Platform, sample: int) -> UnitCosts:
    """Measure the cost model's constants: FC by a scan of one attribute in super rows, IC by how much longer slotted pages take.

    Both scans iterate and reconstruct each record once; super rows iterate once per page, which is left out.
    """
    query = Query(name="unit costs", weight=1, selectivity=1, project=task.schema.attributes[:1])
    field, record = (
        simulate(layout, query, task, Platform(platform.machine, None), sample).cpu_seconds / task.schema.records
        for layout in ("super-row", "nsm")
    )
    if platform.device is None:
        return UnitCosts(0.0, 0.0, record - field, field)
    device = platform.device.device(task.workload.page_bytes)
    return UnitCosts(device.sequential_ps * 1e-12, device.random_ps * 1e-12, record - field, field)


def _workload(layout: Layout, query: Query, task: Task, records: int) -> dict[str, Any]:
    number = task.schema.attributes.index
    prefetch = task.workload.prefetch_bytes * records // task.schema.records
    return {
        "kernel": "table",
        "operation": "scan",
        "layout": layout,
        "page_bytes": task.workload.page_bytes,
        "attributes": len(task.schema.attributes),
        "attribute_bytes": task.schema.attribute_bytes,
        "records": records,
        "predicates": [number(name) for name in query.predicates],
        "selectivity": query.selectivity,
        "project": [number(name) for name in query.project],
        "prefetch_bytes": max(prefetch, task.workload.page_bytes * len(query.attributes)),
    }


def _io_seconds(device: DeviceFile | None, page_bytes: int, requests: list[Request], stretch: float) -> float:
    if device is None:
        return 0.0
    stretched = [[kind, round(int(first) * stretch), max(1, round(int(pages) * stretch))] for kind, first, pages in requests]
    return serve_requests(device.device(page_bytes), stretched) * 1e-12
