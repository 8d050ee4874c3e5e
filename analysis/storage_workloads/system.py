"""The storage system that a workload runs on: devices, the volume over them, their queues, and perhaps a machine."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import simpy

from simcore.storage.closed_loop import Server
from simcore.storage.device import StorageDevice
from simcore.storage.device_file import DeviceFile
from simcore.storage.queues import QUEUES
from simcore.storage.server import VolumeServer, serve_devices
from simcore.storage.volumes import StripedVolume, Volume

VolumeKind: TypeAlias = Literal["single", "striped"]
"""How a system's blocks are laid out over its disks."""

QueueKind: TypeAlias = Literal["fcfs", "c-look", "sptf"]
"""Which of the waiting requests a disk serves next."""


@dataclass(frozen=True)
class System:
    """Equal devices under one volume. Everything a storage workload's times depend on, besides the workload itself."""

    device: DeviceFile
    disks: int = 1
    volume: VolumeKind = "single"
    queue: QueueKind = "fcfs"
    stripe_blocks: int = 128
    """Striped volumes: blocks in a row on one disk."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What differs from the device's file, by dotted path; the device has it already."""
    machine: dict[str, Any] | None = None
    """The machine (with its DBMS profile) whose processor does the work, as `simcore.engines.native` takes it; None for I/O alone."""

    def __post_init__(self) -> None:
        """Raise ValueError for a volume of a single disk over several."""
        if self.volume == "single" and self.disks > 1:
            raise ValueError(f"a single volume has one disk, not {self.disks}; write for example volume: striped")

    def native(self) -> dict[str, Any]:
        """Return the system as plain data, without its machine: what points are told apart by."""
        described = {"device": self.device.name, "disks": self.disks, "volume": self.volume, "queue": self.queue}
        if self.volume == "striped":
            described["stripe_blocks"] = self.stripe_blocks
        return described | {"parameters": self.parameters, "facts": self.device.facts()}

    def devices(self) -> list[StorageDevice]:
        """Make the devices, each as if just switched on."""
        return [self.device.device() for _ in range(self.disks)]

    def layout(self) -> Volume:
        """Make the volume: the mapping from its blocks to those of the devices."""
        blocks = self.device.device().blocks
        return StripedVolume(self.disks, self.stripe_blocks if self.volume == "striped" else blocks, blocks)

    def server(self, env: simpy.Environment) -> Server:
        """Put the whole system into ``env``: what takes requests for blocks of the volume."""
        servers = serve_devices(env, self.devices(), QUEUES[self.queue])
        return VolumeServer(env, self.layout(), servers) if self.disks > 1 else servers[0]
