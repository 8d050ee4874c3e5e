"""A MEMStore: a spring-mounted media sled under thousands of probe tips."""

from collections.abc import Sequence
from dataclasses import dataclass

from memwalk.simcore.storage.device import Asked, Parts, Run, expect_blocks
from memwalk.simcore.storage.mems.geometry import MemsGeometry
from memwalk.simcore.storage.mems.passes import Pass, plan
from memwalk.simcore.storage.mems.sled import Motion, Sled
from memwalk.simcore.units import PS_PER_SECOND


@dataclass(frozen=True)
class Electronics:
    """What surrounds the sled, times in ps."""

    overhead_ps: int
    """Taking a command."""
    bus_ps: int
    """Moving one block over the bus."""
    idle_ps: int
    """Without a request for so long, the sled parks."""
    startup_ps: int
    """Bringing a parked sled back to the velocity of access."""
    bidirectional: bool
    """Whether tips read and write while the sled moves down, too."""


class Memstore:
    """One MEMStore; see `memwalk.simcore.storage.device.StorageDevice` for `serve` and `positioning_ps`.

    Between requests the sled sweeps from end to end; after a while it parks over the middle block. The command of a request that waits
    (see `expect`) is taken meanwhile, and the sled moves for it as soon as the medium is done with the one before, while that one's
    blocks are still on the bus.

    The device's own buffer of ten short segments, which does not read ahead, is left out: a database asks its own buffer first.
    """

    def __init__(self, geometry: MemsGeometry, sled: Sled, electronics: Electronics) -> None:
        """Make a device whose sled is parked."""
        self.geometry = geometry
        self.sled = sled
        self.electronics = electronics
        self.blocks = geometry.blocks
        self.parts = Parts()
        self.comes_ps = 0
        self._row_ps = geometry.row_bits * geometry.bit_nm * PS_PER_SECOND // sled.velocity_nm_s
        self._directions = (-1, 1) if electronics.bidirectional else (1,)
        middle = geometry.cylinders // 2 * geometry.tracks * geometry.track_blocks + geometry.tracks * geometry.track_blocks // 2
        place = geometry.locate(middle)
        self._parked = (place.cylinder, Motion(geometry.entry_nm(place.row, 1), 1))
        self._cylinder, self._motion = self._parked
        self._sled_free_ps = -electronics.idle_ps
        self._arrival_ps: int | None = None  # of the request that is served next, if somebody has said it

    def serve(self, start_ps: int, block: int, blocks: int, *, write: bool) -> int:
        """Serve ``blocks`` blocks from ``block`` on, started at ``start_ps``; returns when that is done. Sets `parts`.

        Raises ValueError for blocks that the device does not have.
        """
        return self.serve_batch(start_ps, [Run(block, blocks)], write=write)

    def serve_batch(self, start_ps: int, runs: Sequence[Run], *, write: bool) -> int:
        """Serve several runs of blocks as one request; blocks of one equivalence class together.

        Raises ValueError for blocks that the device does not have.
        """
        for block, blocks in runs:
            expect_blocks(block, blocks, self.blocks, "a MEMStore")
        arrival_ps, self._arrival_ps = start_ps if self._arrival_ps is None else self._arrival_ps, None
        begin_ps, startup_ps, self._cylinder, self._motion = self._ready(arrival_ps)
        passes = plan(self.geometry, runs, bidirectional=self.electronics.bidirectional)
        seek_ps, turn_ps, times_ps = self._sweep(passes)
        transfer_ps = times_ps[-1] + self._row_ps
        on_medium_ps = begin_ps + startup_ps + seek_ps + turn_ps
        if write:
            taken_ps = arrival_ps + self.electronics.overhead_ps
            bus_ps = self._starved_ps(passes, times_ps, max(start_ps, taken_ps) - on_medium_ps)
            end_ps = self._sled_free_ps = on_medium_ps + bus_ps + transfer_ps
        else:
            self.comes_ps = on_medium_ps + self._row_ps
            self._sled_free_ps = on_medium_ps + transfer_ps
            end_ps = on_medium_ps + self._fetched_ps(passes, times_ps, start_ps - on_medium_ps)
            bus_ps = end_ps - self._sled_free_ps
        overhead_ps = max(0, begin_ps - start_ps) + startup_ps
        self.parts = _behind(max(0, start_ps - begin_ps), Parts(overhead_ps, seek_ps, turn_ps, transfer_ps, bus_ps), write=write)
        return end_ps

    def expect(self, arrival_ps: int) -> None:
        """See `memwalk.simcore.storage.device.AnticipatingDevice`."""
        self._arrival_ps = arrival_ps

    def positioning_ps(self, now_ps: int, request: Asked) -> int:
        """Estimate the time from ``now_ps`` until the first block of a request could begin to move, without moving anything."""
        begin_ps, startup_ps, cylinder, motion = self._ready(request.arrival_ps)
        place = self.geometry.locate(request.block)
        seek = min(sum(self._positioning(cylinder, motion, place.cylinder, place.row, way)) for way in self._directions)
        return max(0, begin_ps + startup_ps + seek - now_ps)

    def _ready(self, arrival_ps: int) -> tuple[int, int, int, Motion]:
        """Return when the sled is free for a request that came at ``arrival_ps``, how long it then takes to start, and where it is."""
        begin_ps = max(self._sled_free_ps, arrival_ps + self.electronics.overhead_ps)
        if arrival_ps - self._sled_free_ps >= self.electronics.idle_ps:
            return begin_ps, self.electronics.startup_ps, *self._parked
        return begin_ps, 0, self._cylinder, self.sled.sweep(self._motion, begin_ps - self._sled_free_ps)

    def _sweep(self, passes: Sequence[Pass]) -> tuple[int, int, list[int]]:
        """Move the sled over all passes; returns the seek and the turning before the first, and when each begins after that one."""
        seek_ps, turn_ps = self._approach(passes[0], passes[1] if len(passes) > 1 else None)
        clock_ps = 0
        times_ps = [0]
        for number in range(1, len(passes)):
            following = passes[number + 1] if number + 1 < len(passes) else None
            clock_ps += self._row_ps + sum(self._approach(passes[number], following))
            times_ps.append(clock_ps)
        return seek_ps, turn_ps, times_ps

    def _approach(self, row: Pass, following: Pass | None) -> tuple[int, int]:
        """Move over a row, the way on which this and the ``following`` one begin soonest; returns the times to seek and to turn."""
        cylinder, motion = self._cylinder, self._motion
        way, cost = motion.direction, (0, 0)
        if cylinder != row.cylinder or motion.y_nm != self.geometry.entry_nm(row.row, way):
            soonest = None
            for direction in self._directions:
                tried = self._positioning(cylinder, motion, row.cylinder, row.row, direction)
                total = sum(tried)
                if following is not None:
                    after = Motion(self.geometry.exit_nm(row.row, direction), direction)
                    total += min(
                        sum(self._positioning(row.cylinder, after, following.cylinder, following.row, then)) for then in self._directions
                    )
                if soonest is None or total < soonest:
                    soonest, way, cost = total, direction, tried
        self._cylinder, self._motion = row.cylinder, Motion(self.geometry.exit_nm(row.row, way), way)
        return cost

    def _positioning(self, cylinder: int, motion: Motion, to_cylinder: int, row: int, direction: int) -> tuple[int, int]:
        """Return the time to get to the start of a pass, and how much later the sled is there because it must turn."""
        x_ps = self.sled.x_seek_ps(self.geometry.x_nm(cylinder), self.geometry.x_nm(to_cylinder))
        y_ps, turns_ps = self.sled.y_seek_ps(motion, Motion(self.geometry.entry_nm(row, direction), direction))
        seek_ps = max(x_ps, y_ps)
        return seek_ps, max(seek_ps, y_ps + turns_ps) - seek_ps

    def _starved_ps(self, passes: Sequence[Pass], times_ps: Sequence[int], bus_ps: int) -> int:
        """Return how much later writing must begin so that the blocks of each pass are there; the bus is free at ``bus_ps``."""
        late_ps = 0
        for row, at_ps in zip(passes, times_ps, strict=True):
            bus_ps += row.blocks * self.electronics.bus_ps
            late_ps = max(late_ps, bus_ps - at_ps)
        return late_ps

    def _fetched_ps(self, passes: Sequence[Pass], times_ps: Sequence[int], bus_ps: int) -> int:
        """Return when all blocks that were read have crossed the bus, which is free at ``bus_ps``."""
        for row, at_ps in zip(passes, times_ps, strict=True):
            bus_ps = max(bus_ps, at_ps + self._row_ps) + row.blocks * self.electronics.bus_ps
        return bus_ps


_OF_WRITES = ("overhead_ps", "seek_ps", "rotation_ps", "bus_ps", "transfer_ps")
"""Parts in the order in which a write has them: it waits for the bus before blocks pass."""


def _behind(hidden_ps: int, parts: Parts, *, write: bool) -> Parts:
    """Take away the first ``hidden_ps`` of a request, which passed before it started."""
    left = parts._asdict()
    for name in _OF_WRITES if write else Parts._fields:
        taken = min(left[name], hidden_ps)
        left[name] -= taken
        hidden_ps -= taken
    return Parts(**left)
