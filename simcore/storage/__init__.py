"""Storage devices: how long pages take that the trace asks for."""

from simcore.storage.device import BLOCK_BYTES, Parts, StorageDevice
from simcore.storage.device_file import DeviceFile, device_names, load_device
from simcore.storage.pages import PageRun, page_blocks, page_times_ps, serve_requests
from simcore.storage.sequential_random import SequentialRandomDevice

__all__ = [
    "BLOCK_BYTES",
    "DeviceFile",
    "PageRun",
    "Parts",
    "SequentialRandomDevice",
    "StorageDevice",
    "device_names",
    "load_device",
    "page_blocks",
    "page_times_ps",
    "serve_requests",
]
