"""Disk drives: geometry, seek curve, buffer, and the model that puts them together."""

from simcore.storage.disk.file import DiskFile
from simcore.storage.disk.geometry import Geometry, Zone
from simcore.storage.disk.model import Disk

__all__ = ["Disk", "DiskFile", "Geometry", "Zone"]
