"""The join algorithms: the parameters that each is run with, and who waits for which references."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from memwalk.analysis import stage_times
from memwalk.analysis.advice.joins.task import JoinTask
from memwalk.analysis.cost_models import hash_join
from memwalk.analysis.experiments.parameters import are_met, kernels
from memwalk.simcore.engines import native

PAIRS_AHEAD = 4
"""Pairs that algorithms with buffers visit behind their prefetch: docs/decisions/033-inspector-joins.md."""
FALSE_POSITIVES = 0.001
"""Rate of the filter of each sub-partition, by which the inspector join knows where to look (thesis, section 5.6.1)."""
MOST_AHEAD = 1024
"""Most tuples of a group, and longest distance, that the kernel takes."""
MEASURED_MATCHES = 16 * stage_times.TUPLES
"""Most matches of the probe tuples whose stages are timed: those with many are fewer."""
LEAST_CACHE_BYTES = 4096
"""Smallest cache that the kernel makes sub-partitions for."""

MEMORY = "memory"

Waits: TypeAlias = Literal["memory", "cache", "nowhere"]


@dataclass(frozen=True)
class Algorithm:
    """A way to join partitions."""

    name: str
    waits: Waits
    """Where references that no prefetch hides are served from: where partitions lie, or the last cache, where sub-partitions lie."""
    does: str
    """What it does about misses, for the reader; ``{where}`` stands for what they wait for."""

    def does_on(self, task: JoinTask) -> str:
        """Say what it does about misses, with what they wait for."""
        return self.does.format(where=self.waits_for(task))

    def waits_for(self, task: JoinTask) -> str:
        """Name what references that no prefetch hides wait for most: memory, if enough of a core's partition is there, or the last cache.

        As long as little of a partition is in memory, waits for the cache take more time.
        """
        share = task.memory_share if self.waits == "memory" else 0.0
        return MEMORY if share * task.costs.full > (1 - share) * task.last_cache["latency_cycles"] else str(task.last_cache["name"])


ALGORITHMS = (
    Algorithm("grace", "memory", "it hides no misses of tuples in memory, and look-ups in the hash table wait for {where}"),
    Algorithm("simple", "memory", "it prefetches input and output pages only, so that look-ups in the hash table wait for {where}"),
    Algorithm("group", "nowhere", "it works on the tuples of a group in turn, and hides what each waits for"),
    Algorithm("pipelined", "nowhere", "it spreads a tuple's stages over iterations, and hides what each waits for"),
    Algorithm("cache-partitioning", "cache", "it copies tuples into sub-partitions that the cache holds"),
    Algorithm("enhanced-cache-partitioning", "cache", "it copies tuples into sub-partitions that the cache holds, with prefetches"),
    Algorithm("inspector", "cache", "it sorts build tuples by sub-partition and keeps each in the cache while it is probed"),
)


@dataclass(frozen=True)
class Tuning:
    """Times of a tuple's stages in cycles, and the G and D that they ask for (equations 4.1 and 4.2)."""

    task: JoinTask

    @cached_property
    def probe_stages(self) -> list[float]:
        """C_0 ... C_k of a probe tuple with `measured_duplicates` matches."""
        duplicates = self.measured_duplicates
        groups = min(MEASURED_MATCHES // (duplicates * stage_times.GROUP), stage_times.GROUPS)
        return self._stages("probe", stage_times.TUPLES // 2, groups, duplicates)

    @cached_property
    def build_stages(self) -> list[float]:
        """The same of a build tuple."""
        return self._stages("build", stage_times.TUPLES, 0, self.task.duplicates)

    @property
    def measured_duplicates(self) -> int:
        """Matches of each probe tuple whose stages are timed. More make the stages behind the first longer, hardly the shortest."""
        return min(self.task.duplicates, MEASURED_MATCHES // (stage_times.LEAST_GROUPS * stage_times.GROUP))

    @property
    def asked_group_size(self) -> int:
        """G that hides the misses of both relations' tuples."""
        return max(hash_join.group_size(stages, self.task.costs) for stages in (self.probe_stages, self.build_stages))

    @property
    def asked_prefetch_distance(self) -> int:
        """D that hides the misses of both."""
        return max(hash_join.prefetch_distance(stages, self.task.costs) for stages in (self.probe_stages, self.build_stages))

    @property
    def group_size(self) -> int:
        """`asked_group_size`, or the most that the kernel takes."""
        return min(self.asked_group_size, MOST_AHEAD)

    @property
    def prefetch_distance(self) -> int:
        """`asked_prefetch_distance`, or the most that the kernel takes."""
        return min(self.asked_prefetch_distance, MOST_AHEAD)

    @property
    def references(self) -> float:
        """References per probe tuple that wait for the one before, with those of its share of the build tuples."""
        of_build = (len(self.build_stages) - 1) * self.task.build / self.task.probe
        return len(self.probe_stages) - 1 + of_build

    def _stages(self, phase: str, build: int, groups: int, duplicates: int) -> list[float]:
        """Time the stages of a phase; ``groups`` are those of probe tuples, or 0 for none."""
        workload = {**_joined(self.task, build, groups * stage_times.GROUP, 1), "duplicates": duplicates}
        return stage_times.stage_cycles(self.task.machine, workload, phase, groups or stage_times.GROUPS)


def workload(algorithm: Algorithm, tuning: Tuning, cores: int, build: int, probe: int) -> dict[str, Any]:
    """Write a join as the kernel takes it, of so many tuples on so many cores."""
    task = tuning.task
    parameters: dict[str, dict[str, Any]] = {
        "group": {"group_size": tuning.group_size},
        "pipelined": {"prefetch_distance": tuning.prefetch_distance},
        "cache-partitioning": {"cache_bytes": _part(task)},
        "enhanced-cache-partitioning": {
            "cache_bytes": _part(task),
            "group_size": tuning.group_size,
            "prefetch_distance": PAIRS_AHEAD,
        },
        "inspector": {"cache_bytes": _part(task), "prefetch_distance": PAIRS_AHEAD, "false_positives": FALSE_POSITIVES},
    }
    joined = {**_joined(task, build, probe, cores), "algorithm": algorithm.name, **parameters.get(algorithm.name, {})}
    # An experiment refuses what has no effect.
    idle = {one.name for one in kernels()[joined["kernel"]].parameters if not are_met(one.effect, joined)}
    return {name: value for name, value in joined.items() if name not in idle}


def check(task: JoinTask) -> None:
    """Raise SpecError for relations that the kernel does not take, whatever the algorithm and its parameters."""
    joined = _joined(task, task.simulated_build, task.simulated_probe, task.cores)
    native.check_workload({**joined, "algorithm": ALGORITHMS[0].name})


def _joined(task: JoinTask, build: int, probe: int, cores: int) -> dict[str, Any]:
    return {
        "kernel": "hash-join",
        "build_tuples": build,
        "probe_tuples": probe,
        "tuple_bytes": task.tuple_bytes,
        "duplicates": task.duplicates,
        "line_bytes": task.last_cache["line_bytes"],
        "partitions": cores,
        "threads": cores,
    }


def _part(task: JoinTask) -> int:
    """Half of a core's part of the last cache, as in chapter 5."""
    return max(task.cache_bytes // 2, LEAST_CACHE_BYTES)
