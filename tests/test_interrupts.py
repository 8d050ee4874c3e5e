"""Ctrl-C acts within about a second, whatever runs: while a tree or a table is built, in one endless operation, in a trace."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from files import EXPERIMENT, wait_for_work, write_experiment

from memwalk.simcore.engines import native

pytestmark = pytest.mark.usefixtures("interruptible")

ROOT = Path(__file__).resolve().parents[1]

VARIANTLESS = EXPERIMENT[: EXPERIMENT.index("variants:")]

SECONDS = 3.0
"""What a loaded host takes for the promised second."""

TREE = ("workload.keys=30000000", "workload.maturity=mature")
SCAN = ("workload.keys=3000000", "workload.operation=scan", "workload.range=3000000", "workload.operations=100000")
TABLE = (
    "workload={kernel: table, operation: scan, layout: dsm, reconstruction: merge, attributes: 16, records: 20000000}",
    "workload.seed=1",
)
CHASE = ("workload={kernel: pointer-chase, lines: 10000000, pages: 100000}", "workload.seed=1")


def interrupted(arguments: Sequence[str], folder: Path, *, after: float) -> float:
    """Start a command, send Ctrl-C after some seconds of the processor, and return how many more it took to end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memwalk", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    wait_for_work(process, after)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    took = time.monotonic() - sent
    assert process.returncode == 130, told
    assert "Traceback" not in told
    return took


def sets(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


@pytest.mark.parametrize("settings", [TREE, SCAN, TABLE, CHASE], ids=["tree", "scan", "table", "chase"])
def test_a_run_in_this_process(settings: Sequence[str], tmp_path: Path) -> None:
    experiment = ["run", "experiment.yaml", "--jobs", "1", *sets(settings)]
    write_experiment(tmp_path, VARIANTLESS)
    assert interrupted(experiment, tmp_path, after=3) < SECONDS


def test_a_recording_leaves_nothing(tmp_path: Path) -> None:
    write_experiment(tmp_path, VARIANTLESS)
    before = set(tmp_path.iterdir())
    assert interrupted(["trace", "record", "experiment.yaml", *sets(TREE), "-o", "t.parquet"], tmp_path, after=3) < SECONDS
    assert set(tmp_path.iterdir()) == before


def test_what_python_does_not_notice_is_ended() -> None:
    code = (
        "import hashlib\n"
        "from memwalk.analysis.cli.termination import interruptible\n"
        "with interruptible():\n"
        "    print('begun', flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)  # in C, and deaf to signals\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert time.monotonic() - sent < SECONDS
    assert (process.returncode, told) == (130, "memwalk: stopped\n")


def test_a_listener_stops_a_build() -> None:
    class StopHereError(Exception):
        pass

    def stop(_steps: int) -> None:
        raise StopHereError

    workload = {"kernel": "index", "keys": 3_000_000, "maturity": "mature", "caches": "empty"}
    with pytest.raises(StopHereError):
        native.record(workload, Path("never.parquet"), None, stop)
    assert not Path("never.parquet").exists()
