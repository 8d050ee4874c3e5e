"""What devices do for one program between two moments, as the requests of a run that has warmed up."""

from collections.abc import Sequence

import simpy

from memwalk.simcore.storage.busy_time import BusyTime
from memwalk.simcore.storage.device import Run
from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.server import DeviceServer, Done, LastOf, Served
from memwalk.simcore.storage.volume_server import VolumeServer
from memwalk.simcore.storage.volumes import Volume


class Meter:
    """A device's server as one program asks it: sums up the requests that end; :attr:`times` may be exchanged while it runs."""

    def __init__(self, server: DeviceServer, times: IoTimes) -> None:
        """Sum up in ``times`` what ``server`` does."""
        self.server = server
        self.times = times
        self.serving = BusyTime()
        """With requests of the program."""

    @property
    def busy_ps(self) -> int:
        """Time so far in which the device served a request of any program."""
        return self.server.busy_ps

    def submit_call(self, block: int, blocks: int, write: bool, done: Done) -> None:  # noqa: FBT001 (called per request)
        """Submit a request, as to the server without a meter."""
        self.server.submit_call(block, blocks, write, self._metered(blocks, done), self.serving.begin)

    def submit_batch_call(self, runs: Sequence[Run], write: bool, done: Done) -> None:  # noqa: FBT001 (as `submit_call`)
        """Submit runs of blocks, as to the server without a meter; each counts by itself unless the device takes them as one request."""
        if len(runs) > 1 and self.server.batches is not None:
            blocks = sum(run.blocks for run in runs)
            self.server.submit_batch_call(runs, write, self._metered(blocks, done), self.serving.begin)
            return
        last = LastOf(len(runs), done)
        for block, blocks in runs:
            self.submit_call(block, blocks, write, last)

    def _metered(self, blocks: int, done: Done) -> Done:
        def served(how: Served) -> None:
            self.times.add(how, blocks)
            self.serving.end(how.end_ps)
            done(how)

        return served


class MeteredVolume(VolumeServer):
    """The volume of one program in simulated time, every device of which has a meter."""

    def __init__(self, env: simpy.Environment, volume: Volume, servers: Sequence[DeviceServer]) -> None:
        """Lay ``volume`` over servers, which may serve others too."""
        self.times = IoTimes()
        self._meters = [Meter(server, self.times) for server in servers]
        super().__init__(env, volume, self._meters)
        self._busy_before_ps = 0

    @property
    def serving_ps(self) -> int:
        """Time since `restart` in which devices served the program, summed over the devices."""
        now_ps = int(self.env.now)
        return sum(meter.serving.passed_ps(now_ps) for meter in self._meters)

    @property
    def busy_ps(self) -> int:
        """Time since `restart` in which its devices served anybody, summed over the devices."""
        return self._busy_so_far_ps() - self._busy_before_ps

    def restart(self) -> None:
        """Count from now on."""
        self.times = IoTimes()
        for meter in self._meters:
            meter.times = self.times
            meter.serving.restart(int(self.env.now))
        self._busy_before_ps = self._busy_so_far_ps()

    def _busy_so_far_ps(self) -> int:
        return sum(meter.busy_ps for meter in self._meters)
