"""How often a device brings a page, if several processes each wait for one, and if it writes others meanwhile."""

from __future__ import annotations

from memwalk.analysis.storage_workloads.requests import Requests
from memwalk.simcore.storage import DeviceFile, page_blocks
from memwalk.simcore.storage.system import System

REQUESTS = 4000
"""How many are measured: more would change the interval by less than a percent."""
MANY = 512
"""Requests that keep all dies of a drive busy."""


def exchange_interval_seconds(device: DeviceFile, page_bytes: int, outstanding: int) -> float:
    """Return the least mean seconds between pages that a device brings if it writes one for each, while so many reads are outstanding.

    Nobody waits for what is written, so that any number of writes may be outstanding.
    """
    both = 2 / _per_second(device, page_bytes, MANY, write_share=0.5)
    return max(both, page_interval_seconds(device, page_bytes, outstanding))


def page_interval_seconds(device: DeviceFile, page_bytes: int, outstanding: int) -> float:
    """Return the mean seconds between pages that a device brings while so many random reads of it are waiting or served at any time.

    Pages lie anywhere on the device, and who has one asks for the next at once.
    """
    return 1 / _per_second(device, page_bytes, outstanding, write_share=0.0)


def _per_second(device: DeviceFile, page_bytes: int, outstanding: int, *, write_share: float) -> float:
    """Return how many random requests a device serves in a second, while so many are outstanding."""
    asked = {"kernel": "requests", "count": REQUESTS, "blocks": page_blocks(page_bytes), "in_flight": outstanding}
    requests = Requests.model_validate(asked | {"write_share": write_share})
    return float(requests.run(System(device))["requests_per_second"])
