"""MEMStores: storage devices of a media sled that moves under thousands of probe tips."""

from memwalk.simcore.storage.mems.device_file import MemstoreFile
from memwalk.simcore.storage.mems.geometry import MemsGeometry
from memwalk.simcore.storage.mems.model import Memstore

__all__ = ["MemsGeometry", "Memstore", "MemstoreFile"]
