"""Storage devices: how long pages take that the trace asks for."""

from memwalk.simcore.storage.device import BLOCK_BYTES, Parts, StorageDevice
from memwalk.simcore.storage.device_file import DeviceFile, device_names, load_device
from memwalk.simcore.storage.pages import PageRun, page_blocks, page_times_ps, serve_requests
from memwalk.simcore.storage.sequential_random import SequentialRandomDevice

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
