"""I/O time beside processing time: what an experiment's storage makes of the pages that a run asked for."""

from collections.abc import Generator
from typing import Any

import simpy

from memwalk.analysis.storage_workloads import System
from memwalk.analysis.storage_workloads.columns import IoTimes, seconds
from memwalk.simcore.engines.native import Statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage.pages import PageRun, in_order, page_blocks
from memwalk.simcore.storage.server import Served


def storage_times(system: System, machine: dict[str, Any], workload: dict[str, Any], statistics: Statistics) -> dict[str, float | int]:
    """Return ``io_seconds``, ``cpu_seconds`` and their sum ``seconds``: the run waits for its pages, then works on them.

    The machine's clock turns cycles into seconds; pages are the workload's ``page_bytes`` long. Requests are served
    one behind the other; ``io_seek_seconds`` and the like say where their time went. Raises UserError if the storage is too small.
    """
    requests = statistics.get("page_requests", [])
    blocks = page_blocks(workload["page_bytes"]) if requests else 1
    needed = max((int(page) + int(pages) for _, page, pages in requests), default=0) * blocks
    if needed > (available := system.layout().blocks):
        raise UserError(f"storage {system.device.name}: the run asks for {needed} blocks, and there are {available}; name a larger device")
    io_ps, times = _serve_in_turn(system, requests, blocks)
    cpu = statistics["cycles"] / machine["clock_hz"]
    return {"io_seconds": seconds(io_ps), "cpu_seconds": cpu, "seconds": seconds(io_ps) + cpu} | times.columns()


def _serve_in_turn(system: System, requests: list[PageRun], blocks: int) -> tuple[int, IoTimes]:
    """Serve each request when the one before it is done; returns the picoseconds taken and where they went."""
    env, times = simpy.Environment(), IoTimes()
    server = system.server(env)

    def client() -> Generator[simpy.Event, Served, None]:
        for page, pages, write in in_order(requests):
            times.add((yield server.submit(page * blocks, pages * blocks, write=write)), pages * blocks)

    env.run(env.process(client()))
    return int(env.now), times
