"""Volumes: how blocks are laid out over the devices of an array."""

from memwalk.simcore.storage.volumes.atropos import AtroposVolume, Step, read_step, write_step
from memwalk.simcore.storage.volumes.memstore import MemstoreVolume
from memwalk.simcore.storage.volumes.single import SingleVolume
from memwalk.simcore.storage.volumes.striped import StripedVolume
from memwalk.simcore.storage.volumes.volume import Part, Volume

__all__ = ["AtroposVolume", "MemstoreVolume", "Part", "SingleVolume", "Step", "StripedVolume", "Volume", "read_step", "write_step"]
