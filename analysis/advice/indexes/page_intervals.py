"""How often a device brings a page, if several processes each wait for one."""

from __future__ import annotations

from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.simcore.storage import DeviceFile, page_blocks
from memwalk.simcore.storage.system import System

READS = 4000
"""How many are measured: more would change the interval by less than a percent."""


def page_interval_seconds(device: DeviceFile, page_bytes: int, outstanding: int) -> float:
    """Return the mean seconds between pages that a device brings while so many random reads of it are waiting or served at any time.

    Pages lie anywhere on the device, and who has one asks for the next at once.
    """
    asked = {"kernel": "requests", "count": READS, "blocks": page_blocks(page_bytes), "in_flight": outstanding}
    reads = Requests.model_validate(asked)
    return 1 / float(reads.run(System(device))["requests_per_second"])
