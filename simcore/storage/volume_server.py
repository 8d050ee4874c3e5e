"""Volumes in simulated time: requests are split over the devices' servers and end with their last part."""

from collections.abc import Iterable, Sequence

import simpy

from memwalk.simcore.storage.device import Run
from memwalk.simcore.storage.server import Done, LastOf, Server
from memwalk.simcore.storage.volumes.volume import Volume


class VolumeServer:
    """A volume over device servers: a request is done when all its parts are."""

    def __init__(self, env: simpy.Environment, volume: Volume, servers: Sequence[Server]) -> None:
        """Serve ``volume`` with one server per disk. Raises ValueError if their numbers differ."""
        if len(servers) != volume.disks:
            raise ValueError(f"a volume over {volume.disks} disks needs as many servers, not {len(servers)}")
        self.env = env
        self.volume = volume
        self.servers = servers

    def submit(self, block: int, blocks: int, *, write: bool = False) -> simpy.Event:
        """Submit a request; returns the event of its end, whose value is the `Served` of the part that ended last."""
        event = self.env.event()
        self.submit_call(block, blocks, write, event.succeed)
        return event

    def submit_call(self, block: int, blocks: int, write: bool, done: Done) -> None:  # noqa: FBT001 (called per request)
        """Submit a request; ``done`` is called when its last part ends, with that part's times."""
        parts = self.volume.split(block, blocks)
        last = done if len(parts) == 1 else LastOf(len(parts), done)
        for disk, part_block, part_blocks in parts:
            self.servers[disk].submit_call(part_block, part_blocks, write, last)

    def submit_batch(self, runs: Iterable[tuple[int, int]], *, write: bool = False) -> simpy.Event:
        """Submit runs of the volume's blocks (a first block and a number each) that belong together, such as a page's minipages.

        They go to their disks at once and in their order; what follows on a disk is joined. The value of the event of their end is
        the `Served` of what ended last. Raises ValueError without runs.
        """
        by_disk: dict[int, list[Run]] = {}
        for block, blocks in runs:
            for disk, part_block, part_blocks in self.volume.split(block, blocks):
                _join(by_disk.setdefault(disk, []), Run(part_block, part_blocks))
        if not by_disk:
            raise ValueError("a batch of no blocks never ends; give it a run of blocks")
        event = self.env.event()
        last = LastOf(len(by_disk), event.succeed)
        for disk, parts in by_disk.items():
            self.servers[disk].submit_batch_call(parts, write, last)
        return event


def _join(runs: list[Run], run: Run) -> None:
    """Append a run, or lengthen the last one if it ends where this begins."""
    if runs and runs[-1].block + runs[-1].blocks == run.block:
        runs[-1] = Run(runs[-1].block, runs[-1].blocks + run.blocks)
    else:
        runs.append(run)
