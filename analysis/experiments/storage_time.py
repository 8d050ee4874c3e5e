"""I/O time beside processing time: what an experiment's storage device makes of the pages that a run asked for."""

from typing import Any

from simcore.engines.native import Statistics
from simcore.storage import DeviceFile, page_blocks, serve_requests


def storage_columns(device: DeviceFile, machine: dict[str, Any], workload: dict[str, Any], statistics: Statistics) -> dict[str, float]:
    """Return ``io_seconds``, ``cpu_seconds`` and their sum ``seconds``: the scan waits for its pages, then works on them.

    The clock of ``machine`` turns cycles into seconds; pages are the workload's ``page_bytes`` long.
    """
    requests = statistics.get("page_requests", [])
    io = serve_requests(device.device(), requests, page_blocks(workload["page_bytes"])) / 1e12 if requests else 0.0
    cpu = statistics["cycles"] / machine["clock_hz"]
    return {"io_seconds": io, "cpu_seconds": cpu, "seconds": io + cpu}
