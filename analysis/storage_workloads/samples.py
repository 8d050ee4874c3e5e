"""Samples of a processor's work on a system's machine."""

from collections.abc import Iterable, Mapping
from typing import Any

from memwalk.simcore.storage.sampled import Sampled, simulate_sample
from memwalk.workloads.clotho.sample import Sample


def simulate_samples(machine: Mapping[str, Any] | None, works: Iterable[Sample]) -> list[Sampled]:
    """Simulate pieces of work; without a machine there are none."""
    return [] if machine is None else [simulate_sample(machine, work.workload, work.times) for work in works]
