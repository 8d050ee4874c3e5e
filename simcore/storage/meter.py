"""What devices do between two moments, as the requests of a run that has warmed up."""

from collections.abc import Sequence

import simpy

from memwalk.simcore.storage.bus import Bus
from memwalk.simcore.storage.device import Run
from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.queues import QUEUES
from memwalk.simcore.storage.server import DeviceServer, Done, Served
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.volume_server import VolumeServer


class MeteredServer(DeviceServer):
    """A device server that sums up the requests which end; :attr:`times` may be exchanged while it runs."""

    times = IoTimes()

    def submit_call(self, block: int, blocks: int, write: bool, done: Done, priority: int = 0) -> None:  # noqa: FBT001 (called per request)
        """Submit a request, as the server without a meter does."""
        super().submit_call(block, blocks, write, self._metered(blocks, done), priority)

    def submit_batch_call(self, runs: Sequence[Run], write: bool, done: Done, priority: int = 0) -> None:  # noqa: FBT001 (as `submit_call`)
        """Submit runs of blocks, as the server without a meter does, which has each submitted by itself if the device wants that."""
        together = len(runs) > 1 and self.batches is not None
        super().submit_batch_call(runs, write, self._metered(sum(run.blocks for run in runs), done) if together else done, priority)

    def _metered(self, blocks: int, done: Done) -> Done:
        def served(how: Served) -> None:
            self.times.add(how, blocks)
            done(how)

        return served


class MeteredVolume(VolumeServer):
    """A system's volume in simulated time, every disk of which has a meter."""

    def __init__(self, env: simpy.Environment, system: System) -> None:
        """Put the whole system into ``env``."""
        bus = None if system.bus is None else Bus(system.bus)
        self.disks: Sequence[MeteredServer] = [
            MeteredServer(env, device, QUEUES[system.queue](), bus, number=number) for number, device in enumerate(system.devices())
        ]
        super().__init__(env, system.layout(), self.disks)
        self.restart()

    def restart(self) -> None:
        """Count from now on."""
        self.times = IoTimes()
        for disk in self.disks:
            disk.times = self.times
