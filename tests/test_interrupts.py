"""Ctrl-C and SIGTERM act within about a second, whatever runs: while a tree or a table is built, in one endless operation, in a trace.

Nothing half done is left then.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from files import EXPERIMENT, command, environment, processor_seconds, wait_for_work, write_experiment
from measured_traces import write_measured

from memwalk.analysis.cli import termination
from memwalk.analysis.cli.termination import interruptible
from memwalk.simcore.engines import native
from memwalk.simcore.storage.disksim import Measured

pytestmark = pytest.mark.usefixtures("interruptible")

VARIANTLESS = EXPERIMENT[: EXPERIMENT.index("variants:")]

SECONDS = 3.0
"""What a loaded host takes for the promised second."""

TREE = ("workload.keys=30000000", "workload.maturity=mature")
SCAN = ("workload.keys=3000000", "workload.operation=scan", "workload.range=3000000", "workload.operations=100000")
TABLE = (
    "workload={kernel: table, operation: scan, layout: dsm, reconstruction: merge, attributes: 16, records: 20000000}",
    "dbms=compiled",
    "workload.seed=1",
)
CHASE = ("workload={kernel: pointer-chase, lines: 10000000, pages: 100000}", "workload.seed=1")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes about a second to export."""
    path = tmp_path_factory.mktemp("trace") / "t.parquet"
    native.record({"kernel": "index", "operation": "search", "keys": 1000, "operations": 100_000, "caches": "empty"}, path)
    return path


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A validation trace that takes a second to convert, and some to replay."""
    path = tmp_path_factory.mktemp("disk") / "requests"
    one = Measured(write=False, buffer="Miss", block=0, blocks=8, response_ps=10**10, gap_ps=10**9)
    write_measured(path, (one._replace(block=8 * (7919 * number % 1_000_000)) for number in range(200_000)))
    return path


def begun(arguments: Sequence[str], folder: Path, source: int | None = None) -> "subprocess.Popen[str]":
    """Start a command in a folder; it reads from the file ``source``."""
    return subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def interrupted(arguments: Sequence[str], folder: Path, *, after: float, behind: str = "") -> float:
    """Start a command, send Ctrl-C after some seconds of the processor, and return how many more it took to end.

    Where the command says when it begins its work, ``behind`` is a part of that line, and the seconds count from there.
    """
    process = begun(arguments, folder)
    assert process.stdout is not None
    if behind:
        assert behind in process.stdout.readline()
        after += processor_seconds(process)
    wait_for_work(process, after)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    told = output(process)
    took = time.monotonic() - sent
    assert process.returncode == 130, told
    assert told.count("memwalk: stopped") == 1, told
    assert "Traceback" not in told
    return took


def output(process: "subprocess.Popen[str]") -> str:
    """Wait for the end of a command that has been told to end, and return what it said."""
    try:
        return process.communicate(timeout=60)[0]
    finally:
        process.kill()


def terminated(process: "subprocess.Popen[str]", is_at_work: Callable[[], bool]) -> str:
    """Send SIGTERM, and once more as `timeout` does, to a command that is at work, and return what it said."""
    deadline = time.monotonic() + 60
    while not is_at_work() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()[0]
    process.terminate()
    process.terminate()
    told = output(process)
    assert process.returncode == 143, told
    assert told.count("memwalk: stopped") == 1, told
    assert "Traceback" not in told
    return told


def sets(settings: Sequence[str]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


@pytest.mark.parametrize("settings", [TREE, SCAN, TABLE, CHASE], ids=["tree", "scan", "table", "chase"])
def test_a_run_in_this_process(settings: Sequence[str], tmp_path: Path) -> None:
    experiment = ["run", "experiment.yaml", "--jobs", "1", *sets(settings)]
    write_experiment(tmp_path, VARIANTLESS)
    assert interrupted(experiment, tmp_path, after=0.7, behind=", 0 finished before") < SECONDS


def test_a_workload_that_waits_while_another_one_is_at_work(tmp_path: Path) -> None:
    """The signal comes to the thread of the workload, which waits for its disk nearly always; the other one hardly ever does."""
    index = "kernel: disk-index, structure: array, operation: search, page_bytes: 8KiB, key_bytes: 4B, caches: empty, pool_frames: 16"
    settings = [
        "storage=cheetah-36es",
        "workload.seed=1",
        f"workload={{{index}, keys: 1000000, operations: 20000}}",
        f"beside.other={{{index}, keys: 10000, operations: 200000, repeat: true}}",
    ]
    write_experiment(tmp_path, VARIANTLESS)
    run = ["run", "experiment.yaml", "--jobs", "1", *sets(settings)]
    assert interrupted(run, tmp_path, after=1.5, behind=", 0 finished before") < SECONDS


def test_a_recording_leaves_nothing(tmp_path: Path) -> None:
    write_experiment(tmp_path, VARIANTLESS)
    before = set(tmp_path.iterdir())
    assert interrupted(["trace", "record", "experiment.yaml", *sets(TREE), "-o", "t.parquet"], tmp_path, after=2) < SECONDS
    assert set(tmp_path.iterdir()) == before


def test_a_terminated_import_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(["yes", "0 1000"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        process = begun(["trace", "import", "-", "--format", "din", "-o", "t.parquet"], tmp_path, endless.stdout.fileno())
        terminated(process, lambda: any(tmp_path.iterdir()))
        endless.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_terminated_export_leaves_nothing(trace: Path, tmp_path: Path) -> None:
    process = begun(["trace", "export", str(trace), "--format", "din", "-o", "t.din.xz"], tmp_path)
    terminated(process, lambda: any(tmp_path.iterdir()))
    assert list(tmp_path.iterdir()) == []


def test_a_terminated_conversion_leaves_nothing(requests: Path, tmp_path: Path) -> None:
    process = begun(["disk", "convert", str(requests), "ascii.gz"], tmp_path)
    terminated(process, lambda: any(tmp_path.iterdir()))
    assert list(tmp_path.iterdir()) == []


def test_a_terminated_replay_of_requests_tells_how_far_it_came(requests: Path, tmp_path: Path) -> None:
    process = begun(["disk", "replay", str(requests), "--device", "atlas-10k", "--out", "out", "--json"], tmp_path)
    wait_for_work(process, 2.8)
    told = terminated(process, lambda: True)
    assert '"complete": false' in told
    assert "no files were written" in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.nightly), "2"])
def test_a_terminated_run_says_how_to_go_on(jobs: str, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    process = begun(["run", "experiment.yaml", "--jobs", jobs, "--set", "workload.operations=20000", "--out", "out"], tmp_path)
    told = terminated(process, lambda: any(tmp_path.glob("out/points/*.json")))
    assert "finished points are kept in out: the same command goes on from there" in told
    assert json.loads((tmp_path / "out/manifest.json").read_text())["end_reason"] == "interrupted"
    assert not list(tmp_path.rglob("*.tmp"))


def started(code: str) -> "subprocess.Popen[str]":
    """Start a program that says when it has begun, and give it time to go on."""
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["typer", "memwalk.analysis.cli.trace"])
def test_a_command_that_is_still_being_imported_is_stopped(module: str, number: signal.Signals, tmp_path: Path) -> None:
    code = (
        "import os, runpy, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        f"            os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Stop())\n"
        "sys.argv = ['memwalk', 'trace', 'info', 'nothing.parquet']\n"
        "runpy.run_module('memwalk', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "memwalk: stopped\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_python_does_not_notice_is_ended(number: signal.Signals) -> None:
    code = (
        "import hashlib\n"
        "from memwalk.analysis.cli.termination import interruptible\n"
        "with interruptible():\n"
        "    print('begun', flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 2**31 - 1)  # in C, and deaf to signals\n"
    )
    process = started(code)
    sent = time.monotonic()
    process.send_signal(number)
    told = output(process)
    assert time.monotonic() - sent < SECONDS
    assert (process.returncode, told) == (128 + number, "memwalk: stopped\n")


def test_signals_that_interrupt_their_own_handler_do_not_cut_cleaning_up_short() -> None:
    """Pairs of them come for longer than a command has to notice one."""
    code = (
        "import time\n"
        "from memwalk.analysis.cli.termination import interruptible\n"
        "with interruptible():\n"
        "    print('begun', flush=True)\n"
        "    try:\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        ends = time.monotonic() + 2\n"
        "        while time.monotonic() < ends:\n"
        "            pass\n"
        "        print('cleaned up', flush=True)\n"
    )
    process = started(code)
    ends = time.monotonic() + 1.5
    while time.monotonic() < ends and process.poll() is None:
        process.terminate()
        process.terminate()
        time.sleep(0.0005)
    assert output(process).startswith("cleaned up\n")


def test_a_signal_behind_one_of_somebody_else_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have come, and the main thread notices neither."""
    ended = []

    def end(code: int) -> None:
        ended.append(code)
        raise SystemExit

    monkeypatch.setattr(termination, "_MOST_SECONDS", 0.01)
    monkeypatch.setattr(os, "_exit", end)
    heard, told = socket.socketpair()
    told.send(bytes([signal.SIGCHLD, signal.SIGTERM]))
    told.close()
    with contextlib.suppress(SystemExit):
        termination._end_unless([], heard, [signal.SIGTERM])
    assert ended == [128 + signal.SIGTERM]


def test_a_command_that_gets_little_of_a_busy_machine_has_longer_to_clean_up() -> None:
    assert not termination._out_of_patience(seconds=3, processor_seconds=0.2)
    assert termination._out_of_patience(seconds=1.1, processor_seconds=1.1), "it was at work, and has not looked"
    assert termination._out_of_patience(seconds=6, processor_seconds=0), "it waits for something"


def test_who_ignores_signals_goes_on_doing_so() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGTERM)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_listener_stops_a_build() -> None:
    class StopHereError(Exception):
        pass

    def stop(_steps: int) -> None:
        raise StopHereError

    workload = {"kernel": "index", "keys": 3_000_000, "maturity": "mature", "caches": "empty"}
    with pytest.raises(StopHereError):
        native.record(workload, Path("never.parquet"), None, stop)
    assert not Path("never.parquet").exists()
