"""I/O time beside processing time: what an experiment's storage device makes of the pages that a run asked for."""

from typing import Any

from simcore.engines.native import Statistics
from simcore.storage import DeviceFile, serve_requests


def storage_columns(device: DeviceFile, machine: dict[str, Any], workload: dict[str, Any], statistics: Statistics) -> dict[str, float]:
    """Return ``io_seconds``, ``cpu_seconds`` and their sum ``seconds``: the scan waits for its pages, then works on them.

    The clock of ``machine`` turns cycles into seconds; pages are the workload's ``page_bytes`` long.
    """
    served = device.device(workload.get("page_bytes", device.page_bytes))
    io = serve_requests(served, statistics.get("page_requests", [])) / 1e12
    cpu = statistics["cycles"] / machine["clock_hz"]
    return {"io_seconds": io, "cpu_seconds": cpu, "seconds": io + cpu}
