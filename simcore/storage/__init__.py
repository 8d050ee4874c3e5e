"""Storage devices: how long pages take that the trace asks for."""

from simcore.storage.device import PageRun, Parts, SequentialRandomDevice, StorageDevice, serve_requests
from simcore.storage.device_file import DeviceFile, DeviceNotFoundError, device_names, load_device

__all__ = [
    "DeviceFile",
    "DeviceNotFoundError",
    "PageRun",
    "Parts",
    "SequentialRandomDevice",
    "StorageDevice",
    "device_names",
    "load_device",
    "serve_requests",
]
