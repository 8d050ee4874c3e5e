"""Two relations to be joined on a machine, and how much of them is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from memwalk.analysis.advice.modelled_machine import ModelledMachine
from memwalk.simcore.errors import UserError

KEPT_BYTES = 34
"""Bytes that a build tuple takes besides itself, for its slot and in the hash table: one of 100 takes 134 (thesis, section 4.7.1)."""
PROBES_PER_BUILD = 2
"""Most probe tuples simulated for each of a part of the build tuples, so that partitions stay large."""
MATCHES_PER_TUPLE = 10
"""Most matches simulated, in so many times the sample: probe tuples with many matches are fewer."""
LEAST_TUPLES = 2
"""Fewest tuples of either relation that a core has."""
OVER_CACHE = 8
"""A simulated partition is so many times as large as a core's part of the last cache, if the real one is: an eighth may lie in it."""
LEAST_OVER_CACHE = 2
"""So many times as large it is at least, unless the reader is warned: half of it lies in the cache then."""


@dataclass(frozen=True)
class JoinTask(ModelledMachine):
    """What is joined, on a machine as it is with one core. Every core joins a pair of partitions of its own; all of them share the bus.

    Raises UserError for a machine that the models do not cover.
    """

    build: int
    probe: int
    tuple_bytes: int
    duplicates: int
    """Build tuples of each key."""
    cores: int
    sample: int
    """Most tuples simulated, of both relations together, unless each core's `least_build` and `LEAST_TUPLES` probe tuples are more."""

    def __post_init__(self) -> None:
        self.expect_one_latency("advice on joins")
        least = LEAST_TUPLES * self.cores
        needed = f"{self.cores} cores need at least {least} tuples, {LEAST_TUPLES} for each"
        if self.cores == 1:
            needed = f"a core needs at least {least} tuples"
        for name, tuples in (("build", self.build), ("probe", self.probe)):
            if tuples < least:
                raise UserError(f"--{name} {tuples}: {needed}")
        if self.build > self.probe:
            smaller = f"the smaller relation builds, and --probe has {self.probe:,}"
            raise UserError(f"--build {self.build}: {smaller}; swap them, with --duplicates of what builds then")
        if self.duplicates > self.build // self.cores:
            most = self.build // self.cores
            raise UserError(f"--duplicates {self.duplicates}: a core's partition has {most} build tuples, and no key can have more")

    @property
    def cache_bytes(self) -> int:
        """A core's part of the last cache."""
        size = int(self.last_cache["size_bytes"])
        return size // self.cores if self.last_cache.get("shared") else size

    def partition_bytes(self, build: int) -> int:
        """Bytes of a core's build partition with its hash table, of so many build tuples in all."""
        return build * (self.tuple_bytes + KEPT_BYTES) // self.cores

    def caches(self, build: int) -> float:
        """Return how many times a core's part of the last cache its build partition takes, of so many build tuples in all."""
        return self.partition_bytes(build) / self.cache_bytes

    @property
    def least_build(self) -> int:
        """Fewest build tuples that a core has: all of a key."""
        return max(self.duplicates, LEAST_TUPLES)

    @cached_property
    def simulated_build(self) -> int:
        """Build tuples that are simulated, on all cores."""
        part = max(min(self._enough, self._most), self.cores * self.least_build)
        # Of a part, all build tuples of each key, or probe tuples find fewer matches than there are.
        return part if part >= self.build else part - part % (self.cores * self.duplicates)

    @property
    def simulated_probe(self) -> int:
        """Probe tuples that are simulated, on all cores."""
        asked = self.probe
        if self.simulated_build < self.build:
            asked = round(self.simulated_build * min(self.probe / self.build, PROBES_PER_BUILD))
        room = self.sample - self.simulated_build
        matched = MATCHES_PER_TUPLE * self.sample // self.duplicates
        return max(min(self.probe, asked, room, matched), LEAST_TUPLES * self.cores)

    @property
    def is_cut_by_sample(self) -> bool:
        """Whether a larger sample would have larger partitions."""
        return self._most < self._enough and not self.exceeds_sample

    @property
    def exceeds_sample(self) -> bool:
        """Whether the fewest tuples that cores have are more than the sample."""
        return self.simulated_build + self.simulated_probe > self.sample

    @property
    def leaves_cache(self) -> bool:
        """Whether a real partition is larger than a core's part of the last cache."""
        return self.caches(self.build) > 1

    @property
    def memory_share(self) -> float:
        """The share of a real partition that its core's part of the last cache has no room for: references go to any of its tuples."""
        return max(1 - 1 / self.caches(self.build), 0.0)

    @property
    def is_small(self) -> bool:
        """Whether much of what is simulated lies in a cache that less of the real partition lies in."""
        return self.simulated_build < self.build and self.leaves_cache and self.caches(self.simulated_build) < LEAST_OVER_CACHE

    @property
    def _enough(self) -> int:
        """Build tuples whose partitions are large beside the cache, or all."""
        return min(self.build, OVER_CACHE * self.cache_bytes // (self.tuple_bytes + KEPT_BYTES) * self.cores)

    @property
    def _most(self) -> int:
        """Build tuples that the sample has room for beside those that probe."""
        return int(self.sample / (1 + min(self.probe / self.build, PROBES_PER_BUILD)))
