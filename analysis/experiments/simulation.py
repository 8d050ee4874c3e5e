"""One point's simulation, with the observations that its experiment asks for."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from simcore.engines import native

Observation: TypeAlias = Literal["bytes"]
"""What else a point is looked at for, in a pass of its own: `bytes` fetched against bytes used, by site."""

BYTE_USAGE = "byte_usage"
"""Where the statistics of a point have its byte usage."""


def simulate(machine: dict[str, Any], workload: dict[str, Any], observe: Sequence[Observation] = ()) -> native.Statistics:
    """Run a workload on a machine and observe it; the results stand beside the statistics."""
    statistics = native.simulate(machine, workload)
    if "bytes" in observe:
        statistics[BYTE_USAGE] = native.byte_usage(workload, machine)
    return statistics
