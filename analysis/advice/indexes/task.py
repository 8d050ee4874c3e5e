"""An index on a machine with a buffer pool and a storage device, what its cores do to it, and how much of it is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from memwalk.analysis.advice.indexes.page_intervals import exchange_interval_seconds, page_interval_seconds
from memwalk.analysis.advice.modelled_machine import ModelledMachine
from memwalk.analysis.cost_models import MissCosts
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import DeviceFile, page_blocks, page_times_ps
from memwalk.simcore.units import PS_PER_SECOND

Operation: TypeAlias = Literal["search", "scan", "insert"]

ID_BYTES = 4
"""Of a tupleID, and of a pageID."""
FILL = 0.9
"""Share of a page's entries that are there, so that insertions find room."""
OVER_CACHE = 3
"""Simulated leaf pages take so many times the last cache, if the real ones do."""
ENOUGH_CACHES = 2
"""Simulated pages that are less than so many times the last cache lie there too often."""
LEAST_FRAMES = 16
"""Fewest frames that a simulated pool has for each core."""
LEAST_KEYS = 1000


@dataclass(frozen=True)
class IndexTask(ModelledMachine):
    """What is asked, of a machine with as many cores as do operations at the same time.

    Raises UserError for a machine that the models do not cover, and for what has no effect.
    """

    device: DeviceFile = field(repr=False)
    keys: int
    memory_bytes: int
    """Of the pool's frames, which all cores share."""
    key_bytes: int
    page_sizes: tuple[int, ...]
    mix: Mapping[Operation, float]
    """Weights of the operations, one of them at least above 0."""
    scan_range: int
    """TupleIDs of a scan."""
    sample: int
    """Most keys simulated."""
    optimistic: bool = False
    """Whether who reads a page changes nothing that others read (`latching: optimistic`)."""
    skew: float = 0.0
    """Zipf's exponent of how often keys are searched for, or scans begin at them; 0: all alike."""

    def __post_init__(self) -> None:
        self.expect_one_latency("advice on indexes")
        if not any(self.mix.values()):
            raise UserError("--searches, --scans and --inserts are all 0; give one of them a weight")
        if self.mix["scan"] and self.scan_range > self.keys:
            raise UserError(f"--range {self.scan_range}: the index has {self.keys} keys")
        if self.mix["insert"] and self.skew:
            raise UserError(
                f"--inserts {self.mix['insert']:g}: no key is inserted twice, so that none is popular; leave out --skew or --inserts"
            )
        largest = max(self.page_sizes)
        least = self.least_frames * largest
        if self.memory_bytes < least:
            pages = f"{self.least_frames} pages of {largest}" + (f", {LEAST_FRAMES} for each core" if self.cores > 1 else "")
            raise UserError(f"--memory: {self.memory_bytes} bytes are less than {pages}; give at least {least}B")

    @property
    def cores(self) -> int:
        """Cores that do operations at the same time."""
        return int(self.machine.get("cores", 1))

    def share(self, operation: Operation) -> float:
        """Return the share of the mix that is of an operation."""
        return self.mix[operation] / sum(self.mix.values())

    @property
    def latches_changes(self) -> bool:
        """Whether whoever changes a page of the index takes latches: others read it at the same time, or might, as they hold no pins."""
        return self.mix["insert"] > 0 and (self.cores > 1 or self.optimistic)

    @property
    def least_frames(self) -> int:
        """Fewest frames of a pool that is simulated."""
        return LEAST_FRAMES * self.cores

    @property
    def line_bytes(self) -> int:
        """Of the last cache."""
        return int(self.last_cache["line_bytes"])

    @property
    def cache_bytes(self) -> int:
        """Of the last cache."""
        return int(self.last_cache["size_bytes"])

    @property
    def shares_cache(self) -> bool:
        """Whether all cores have the last cache together."""
        return bool(self.last_cache.get("shared"))

    @property
    def cache_costs(self) -> MissCosts:
        """What takes the place of T1, T_next and T_tlb where the last cache has the lines."""
        return MissCosts(int(self.last_cache["latency_cycles"]), min(self.costs.next, int(self.last_cache["latency_cycles"])), 0)

    @property
    def simulated_keys(self) -> int:
        """Keys of the index that is simulated: as many as make its leaves several times the last cache, and no more than there are.

        A pool has a least number of frames, and a pool of so many has room for no larger share of the pages than in reality.
        """
        enough = max(OVER_CACHE * self.cache_bytes // (self.key_bytes + ID_BYTES), LEAST_KEYS)
        enough = max(enough, -(-self.keys * self.least_frames * max(self.page_sizes) // self.memory_bytes))
        return min(self.keys, enough, self.sample)

    @property
    def simulated_range(self) -> int:
        """TupleIDs of a simulated scan. Those of all cores at a time have ranges one behind the other."""
        return min(self.scan_range, self.simulated_keys // self.cores)

    def is_small(self, simulated_bytes: float, real_bytes: float) -> bool:
        """Tell whether much more of what is simulated of an index lies in the last cache than of the real one, by bytes of pages."""
        return self.cache_bytes < real_bytes and simulated_bytes < min(ENOUGH_CACHES * self.cache_bytes, real_bytes)

    def frames(self, page_bytes: int) -> int:
        """Pages that the memory holds."""
        return self.memory_bytes // page_bytes

    def page_seconds(self, page_bytes: int) -> float:
        """Seconds of a page anywhere on the device, which does nothing else."""
        return self._page_times[page_bytes][1]

    def next_page_seconds(self, page_bytes: int) -> float:
        """Seconds of the page behind the one before, on a device that does nothing else."""
        return self._page_times[page_bytes][0]

    def page_interval(self, page_bytes: int) -> float:
        """Seconds between pages that the device brings, from anywhere, while every core waits for one."""
        return self._page_intervals[page_bytes]

    def least_seconds(self, page_bytes: int, page_reads: float, page_writes: float) -> float:
        """Seconds of an operation of so many page reads and writes, done by each core at the same time, that the device alone takes.

        A page is written for one that is read, so that there are no more writes than reads.
        """
        if not page_writes:
            return self.cores * page_reads * self.page_interval(page_bytes)
        exchanged = min(page_reads, page_writes)
        read = (page_reads - exchanged) * self.page_interval(page_bytes)
        return self.cores * (read + exchanged * self._exchange_intervals[page_bytes])

    @cached_property
    def _page_times(self) -> dict[int, tuple[float, float]]:
        """Seconds of a page behind the one before, and of one anywhere, by size."""
        device = self.device
        times = {size: page_times_ps(device.device(), page_blocks(size)) for size in self.page_sizes}
        return {size: (following / PS_PER_SECOND, anywhere / PS_PER_SECOND) for size, (following, anywhere) in times.items()}

    @cached_property
    def _page_intervals(self) -> dict[int, float]:
        if self.cores == 1:
            return {size: anywhere for size, (_, anywhere) in self._page_times.items()}
        return {size: page_interval_seconds(self.device, size, self.cores) for size in self.page_sizes}

    @cached_property
    def _exchange_intervals(self) -> dict[int, float]:
        return {size: exchange_interval_seconds(self.device, size, self.cores) for size in self.page_sizes}
