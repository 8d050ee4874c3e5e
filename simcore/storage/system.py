"""The storage system that a workload runs on: devices, the volume over them, their queues, and perhaps a machine."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import simpy

from memwalk.simcore.storage.bus import Bus
from memwalk.simcore.storage.device import StorageDevice
from memwalk.simcore.storage.device_file import DeviceFile
from memwalk.simcore.storage.disk import Disk
from memwalk.simcore.storage.mems import Memstore
from memwalk.simcore.storage.queues import FCFS, QUEUES, QueueKind
from memwalk.simcore.storage.server import DeviceServer, serve_devices
from memwalk.simcore.storage.volume_server import VolumeServer
from memwalk.simcore.storage.volumes import AtroposVolume, MemstoreVolume, SingleVolume, StripedVolume, Volume, read_step, write_step

VolumeKind: TypeAlias = Literal["single", "striped", "atropos", "memstore"]
"""How a system's blocks are laid out over its devices."""

StepKind: TypeAlias = Literal["read", "write"]
"""What an Atropos volume is laid out for: semi-sequential reads lose no turn, or writes, which settle longer, do not."""

STRIPE_BLOCKS = 128
"""Blocks in a row on one device, unless the system says otherwise: 64 KiB."""

_STEPS = {"read": read_step, "write": write_step}
_OF_VOLUME = {"striped": ("stripe_blocks",), "atropos": ("depth", "step")}
"""What only some volumes depend on."""


@dataclass(frozen=True)
class System:
    """Equal devices under one volume. Everything a storage workload's times depend on, besides the workload itself."""

    device: DeviceFile
    disks: int = 1
    volume: VolumeKind = "single"
    queue: QueueKind = FCFS
    stripe_blocks: int = STRIPE_BLOCKS
    """Striped volumes: blocks in a row on one disk."""
    depth: int = 4
    """Atropos volumes: tracks of a quadrangle."""
    step: StepKind = "read"
    bus: int | None = None
    """Bytes per second of a bus that the devices share, whose own may be faster; None if each has its own."""
    read_pages: int = 1
    """Beside a machine: pages that are read together."""
    write_batch: int | None = None
    """Beside a machine: pages for a device that are written together; None to write each at once."""
    prefetchers: int | None = None
    """Beside a machine: processes that read pages ahead, each one at a time; None to ask the devices for each at once."""
    cpu_per_page: int = 0
    """Beside a machine: picoseconds of a core that it takes to have a page read or written."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What differs from the device's file, by dotted path; the device has it already."""
    machine: dict[str, Any] | None = None
    """The machine (with its DBMS profile) that does the work, as `memwalk.simcore.engines.native` takes it; None for I/O alone."""

    def native(self) -> dict[str, Any]:
        """Return the system as plain data, without its machine: what points are told apart by."""
        described = {"device": self.device.name, "disks": self.disks, "volume": self.volume, "queue": self.queue}
        described |= {name: getattr(self, name) for name in _OF_VOLUME.get(self.volume, ())}
        if self.bus is not None:
            described["bus"] = self.bus
        if self.read_pages > 1:
            described["read_pages"] = self.read_pages
        if self.write_batch is not None:
            described["write_batch"] = self.write_batch
        if self.prefetchers is not None:
            described["prefetchers"] = self.prefetchers
        if self.cpu_per_page > 0:
            described["cpu_per_page"] = self.cpu_per_page
        return described | {"parameters": self.parameters, "facts": self.device.facts()}

    def devices(self) -> list[StorageDevice]:
        """Make the devices, each as if just switched on."""
        return [self._device() for _ in range(self.disks)]

    def layout(self) -> Volume:
        """Make the volume: the mapping from its blocks to those of the devices. Raises ValueError if the devices do not suit it."""
        device = self._device()
        match self.volume:
            case "striped":
                return StripedVolume(self.disks, self.stripe_blocks, device.blocks)
            case "atropos":
                if not isinstance(device, Disk):
                    raise ValueError(f"an atropos volume lies on disks, and {self.device.name} is a {self.device.kind}; name a disk")
                return AtroposVolume(device.geometry, self.disks, self.depth, _STEPS[self.step](device))
        if self.disks > 1:
            raise ValueError(f"a {self.volume} volume has one device, not {self.disks}; write for example volume: striped")
        if self.volume == "single":
            return SingleVolume(device.blocks, _row_blocks(device))
        if not isinstance(device, Memstore):
            raise ValueError(f"a memstore volume lies on a MEMStore, and {self.device.name} is a {self.device.kind}; name a MEMStore")
        return MemstoreVolume(device.geometry)

    def on(self, disks: int) -> "System":
        """Return the system with so many of its devices."""
        return replace(self, disks=disks)

    def switched_on(self) -> VolumeServer:
        """Put the whole system into a simulated time of its own: what takes requests for blocks of the volume."""
        env = simpy.Environment()
        return VolumeServer(env, self.layout(), self.servers(env))

    def servers(self, env: simpy.Environment) -> list[DeviceServer]:
        """Switch the devices on in ``env``, each with its queue, and with the bus that they share, if they do."""
        bus = None if self.bus is None else Bus(self.bus)
        return serve_devices(env, self.devices(), QUEUES[self.queue], bus)

    def _device(self) -> StorageDevice:
        """Make one, which moves its blocks no faster than the shared bus."""
        return (self.device if self.bus is None else self.device.on_bus(self.bus)).device()


def _row_blocks(device: StorageDevice) -> int:
    """Return what a device reads well at once: a track of the zone that begins with block 0, or a stripe unit where there are no tracks."""
    match device:
        case Disk():
            return device.geometry.zones[0].sectors
        case Memstore():
            return device.geometry.track_blocks
    return STRIPE_BLOCKS
