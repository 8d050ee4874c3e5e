"""Solid-state drives: flash behind channels, a write buffer, several requests at once."""

from memwalk.simcore.storage.ssd.device_file import SsdFile
from memwalk.simcore.storage.ssd.model import Flash, Ssd

__all__ = ["Flash", "Ssd", "SsdFile"]
