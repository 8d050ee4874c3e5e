"""Disk drives: geometry, seek curve, buffer, and the model that puts them together."""

from memwalk.simcore.storage.disk.file import DiskFile
from memwalk.simcore.storage.disk.geometry import Geometry, Zone
from memwalk.simcore.storage.disk.model import Disk

__all__ = ["Disk", "DiskFile", "Geometry", "Zone"]
