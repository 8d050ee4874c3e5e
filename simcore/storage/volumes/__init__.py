"""Volumes: how blocks are laid out over the devices of an array."""

from simcore.storage.volumes.striped import StripedVolume
from simcore.storage.volumes.volume import Part, Volume

__all__ = ["Part", "StripedVolume", "Volume"]
