"""The models of two disks against requests measured on them (tests/disk_traces)."""

from pathlib import Path

import pytest

from memwalk.analysis.disk_traces.replay import replay_trace
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.disk import DiskFile

TRACES = Path(__file__).parent / "disk_traces"


def demerit_ms(name: str, trace: str, **changes: object) -> float:
    """Return the root mean square distance between the simulated and the measured distribution of service times."""
    device = load_device(name)
    assert isinstance(device, DiskFile)
    replay = replay_trace(TRACES / f"{trace}.trace.gz", device.model_copy(update=changes))
    return float(replay.kinds()["all"].facts()["demerit_ms"])


@pytest.mark.parametrize(("name", "trace", "most_ms"), [("atlas-10k", "atlas10k", 0.15), ("cheetah-4lp", "cheetah4LP", 0.26)])
def test_service_times_are_distributed_as_measured(name: str, trace: str, most_ms: float) -> None:
    assert demerit_ms(name, trace) <= most_ms


def test_what_service_times_of_the_atlas_10k_depend_on() -> None:
    # The buffer matters most, then the bus of the computer that took the trace.
    assert demerit_ms("atlas-10k", "atlas10k", write_segments=0) > 2
    assert demerit_ms("atlas-10k", "atlas10k", read_ahead_blocks=0) > 0.9
    assert demerit_ms("atlas-10k", "atlas10k", bus_per_block=3_200_000) > 0.5
