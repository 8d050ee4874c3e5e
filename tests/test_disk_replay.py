"""`memwalk disk`: replays by hand, against the server in simulated time, from the command line, at speed."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import simpy
from files import command, environment, memwalk
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from measured_traces import write_measured
from typer.testing import CliRunner

from memwalk.analysis.cli import event_progress
from memwalk.analysis.cli.main import app
from memwalk.analysis.disk_traces.replay import BATCH, Responses, replay_trace
from memwalk.analysis.disk_traces.response_times import Times
from memwalk.analysis.figures.distribution import draw_distributions
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import SequentialRandomDevice, load_device
from memwalk.simcore.storage.device import MOST_DEVICES
from memwalk.simcore.storage.disksim import Arrival, Measured, write_arrivals
from memwalk.simcore.storage.queues import QUEUES
from memwalk.simcore.storage.replay import replay_closed, replay_open
from memwalk.simcore.storage.server import serve_devices

MS = 10**9
NEVER_FULL = 10**6
DEVICE = """\
schema_version: 1
description: a small device
source: made up for tests
kind: sequential-random
blocks: 1000
page_bytes: 512B
sequential_page: 1ms
random_page: 10ms
"""
VALIDATION = "R Hit 0 1 9000 5000\nR Hit 1 2 2500 0\nW Miss 500 1 11000 0\n"


class NoLines:
    """Stands in for the trace's lines, of which a replay only asks to complain."""

    def mistake(self, what):
        return UserError(what)


def make_device():
    """A device of 1 ms for a block and 9 ms for the way to another one."""
    return SequentialRandomDevice(1000, 1, MS, 9 * MS)


class ThreeAtOnce(SequentialRandomDevice):
    """A device that takes three requests at once."""

    queue_depth = 3


def make_wide_device():
    return ThreeAtOnce(1000, 1, MS, 9 * MS)


def write(folder, trace, name="a.trace"):
    (folder / "small.yaml").write_text(DEVICE)
    (folder / name).write_text(trace)
    return folder / name


def random_arrivals(requests, gap_ps, blocks, devices=1, seed=1):
    chance = random.Random(seed)
    now = 0
    for _ in range(requests):
        now += chance.choice([0, gap_ps, 2 * gap_ps])
        yield Arrival(now, chance.randrange(devices), chance.randrange(blocks // 16) * 8, chance.choice([4, 8, 16]), chance.random() < 0.3)


def test_an_open_loop_by_hand():
    """The second waits 5 ms for the first, the third is on a device of its own."""
    requests = [Arrival(0, 0, 0, 1, False), Arrival(5 * MS, 0, 1, 2, True), Arrival(6 * MS, 7, 1, 1, False)]
    rows = list(replay_open(NoLines(), requests, make_device, QUEUES["fcfs"], 128))
    assert sorted(rows) == [(0, 0, 0, 9 * MS, 0, MS, 0), (0, 0, 0, 9 * MS, 0, MS, 0), (1, 5 * MS, 0, 0, 0, 2 * MS, 0)]


def test_a_closed_loop_goes_on_at_the_simulated_end():
    """A device that is twice as fast as the measured one is asked twice as soon."""
    starts = []

    class Watched(SequentialRandomDevice):
        def serve(self, start_ps, block, blocks, *, write):
            starts.append(start_ps)
            return super().serve(start_ps, block, blocks, write=write)

    requests = [Measured(False, "Hit", 0, 1, 20 * MS, 3 * MS), Measured(True, "Hit", 1, 1, 2 * MS, 0), Measured(False, "Hit", 2, 1, MS, 0)]
    rows = list(replay_closed(NoLines(), requests, lambda: Watched(1000, 1, MS, 9 * MS)))
    assert starts == [0, 13 * MS, 14 * MS]
    assert [row[-1] for row in rows] == [20 * MS, 2 * MS, MS]


def served_in_simulated_time(requests, device, policy):
    """The same open loop with a SimPy process that submits and a server per device."""
    env = simpy.Environment()
    servers = serve_devices(env, [device() for _ in range(3)], QUEUES[policy])
    rows = []

    def client():
        for arrival, number, block, blocks, is_write in requests:
            yield env.timeout(arrival - env.now)
            servers[number].submit_call(
                block, blocks, is_write, lambda served, is_write=is_write: rows.append((is_write, served.queue_ps, *served.parts))
            )

    env.process(client())
    env.run()
    return sorted(rows)


@pytest.mark.parametrize("policy", QUEUES)
@pytest.mark.parametrize("name", ["two-times", "cheetah-x15"])
def test_a_replay_gives_the_servers_times(policy, name):
    device = make_device if name == "two-times" else load_device(name).device
    requests = list(random_arrivals(1500, MS, device().blocks, devices=3))
    rows = list(replay_open(NoLines(), requests, device, QUEUES[policy], NEVER_FULL))
    assert sorted(rows) == served_in_simulated_time(requests, device, policy)


moments = st.lists(st.tuples(st.sampled_from([0, 0, 1, 9, 10, 30]), st.integers(0, 2), st.integers(0, 99)), min_size=1, max_size=40)


@pytest.mark.parametrize("policy", QUEUES)
@pytest.mark.parametrize("device", [make_device, make_wide_device])
@settings(max_examples=40)
@given(stream=moments)
def test_a_replay_gives_the_servers_times_when_much_happens_at_once(policy, device, stream):
    gaps = np.cumsum([gap * MS for gap, _, _ in stream]).tolist()
    requests = [Arrival(at, number, block, 1, False) for at, (_, number, block) in zip(gaps, stream, strict=True)]
    rows = list(replay_open(NoLines(), requests, device, QUEUES[policy], NEVER_FULL))
    assert sorted(rows) == served_in_simulated_time(requests, device, policy)


@pytest.mark.parametrize("device", [make_device, make_wide_device])
def test_depth_bounds_the_choice_and_changes_nothing_for_fcfs(device):
    requests = list(random_arrivals(800, MS // 10, 1000))
    by_depth = {depth: list(replay_open(NoLines(), requests, device, QUEUES["fcfs"], depth)) for depth in (1, 128, NEVER_FULL)}
    assert by_depth[1] == by_depth[128] == by_depth[NEVER_FULL]
    assert list(replay_open(NoLines(), requests, device, QUEUES["c-look"], 1)) == by_depth[1]


@pytest.mark.parametrize("policy", QUEUES)
def test_requests_that_a_device_cannot_keep_up_with_take_no_memory(policy):
    """Ten times as many arrive as the device serves; all are served, and few wait in its queue at any time."""
    longest = 0

    class Watched(QUEUES[policy]):
        def push(self, request):
            nonlocal longest
            super().push(request)
            longest = max(longest, len(self))

    requests = (Arrival(number * MS, 0, number * 7919 % 1000, 1, False) for number in range(3_000))
    assert sum(1 for _ in replay_open(NoLines(), requests, make_device, Watched, 16)) == 3_000
    assert longest == 16


def test_progress_names_the_share_of_the_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(event_progress, "_SECONDS_BEFORE_FIRST_LINE", 0)
    with event_progress.event_progress("replaying", None, "requests") as show:
        show(1_234_567, 0.25)
        show(2_000_000, 0.4)
    assert re.fullmatch(r"memwalk: replaying: 1\.2 M requests \(25%\), .* requests/s\n", capsys.readouterr().err)


def test_too_many_devices_are_refused():
    requests = (Arrival(0, number, 0, 1, False) for number in range(MOST_DEVICES + 1))
    with pytest.raises(UserError, match="device 1024 is one more than the 1024 devices"):
        list(replay_open(NoLines(), requests, make_device, QUEUES["fcfs"], 128))


def test_requests_that_take_equally_long_are_seen_in_a_figure():
    steps = pd.DataFrame({"response_ms": [2.5], "share": [1.0]})
    (line,) = draw_distributions("a disk", {"all": steps}).axes[0].lines
    assert line.get_xydata().tolist() == [[2.5, 0], [2.5, 1]]


def test_a_validation_trace_from_the_command_line(tmp_path: Path):
    """Responses of 10, 2 and 10 ms against 9, 2.5 and 11 ms: sorted, they are 0.5, 1 and 1 ms apart."""
    write(tmp_path, VALIDATION)
    done = memwalk("disk", "replay", "a.trace", "--device", "./small.yaml", "--out", "out", "--plot", "cdf.svg", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert json.loads((tmp_path / "out/replay.json").read_text()) == result
    assert {key: result[key] for key in ("trace", "format", "device", "queue", "depth", "complete")} == {
        "trace": "a.trace",
        "format": "validation",
        "device": "small",
        "queue": "fcfs",
        "depth": 128,
        "complete": True,
    }
    everything = result["requests"]["all"]
    assert everything["requests"] == 3
    assert everything["mean_ms"] == pytest.approx(22 / 3)
    assert everything["measured_mean_ms"] == pytest.approx(7.5)
    assert everything["demerit_ms"] == pytest.approx(np.sqrt((0.5**2 + 1 + 1) / 3))
    assert result["requests"]["writes"]["demerit_ms"] == pytest.approx(1)
    assert (everything["seek_ms"], everything["transfer_ms"]) == (pytest.approx(6), pytest.approx(4 / 3))
    table = pd.read_parquet(tmp_path / "out/distribution.parquet")
    assert table["distribution"].unique().tolist() == ["simulated", "measured"]
    assert table[table["distribution"] == "measured"]["response_ms"].tolist() == [2.5, 9, 11]
    figure = (tmp_path / "cdf.svg").read_text()
    for words in ("response time (ms)", "share of requests", "measured", "simulated", "a.trace on small"):
        assert words in figure
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "replay.json",
        "distribution.parquet",
        "distribution.csv",
        "distribution.png",
        "distribution.svg",
        "manifest.json",
    }


def test_measured_times_of_nothing_have_no_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "R Hit 0 1 0 0\nR Hit 1 1 0 0\n")
    done = CliRunner().invoke(app, ["disk", "replay", "a.trace", "--device", "./small.yaml"])
    assert done.exit_code == 0
    (line,) = [line for line in done.stdout[done.stdout.index("demerit") :].splitlines() if line.startswith("all")]
    assert line.split()[-1] == "-"


def test_tables_of_an_ascii_trace(tmp_path: Path):
    write(tmp_path, "0 0 0 1 1\n5 0 1 1 0\n")
    done = memwalk("disk", "replay", "a.trace", "--device", "./small.yaml", "--queue", "sptf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert rows[0] == "a.trace on small, sptf: response time (ms)"
    assert rows[1] == "requests number mean std p50 p90 p99 p99.9 max"
    assert rows[2] == "all 2 8 2 6 10 10 10 10"
    assert rows[4] == "writes 1 6 0 6 6 6 6 6"
    assert "requests queue overhead seek rotation transfer bus" in rows
    assert "writes 5 0 0 0 1 0" in rows
    assert "demerit" not in done.stdout
    assert "2 requests in" in done.stderr


def test_convert_keeps_the_measured_arrivals(tmp_path: Path):
    write(tmp_path, VALIDATION)
    done = memwalk("disk", "convert", "a.trace", "b.trace", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote 3 requests to b.trace" in done.stderr
    assert [line.split() for line in (tmp_path / "b.trace").read_text().splitlines()] == [
        ["0.000000000", "0", "0", "1", "1"],
        ["14.000000000", "0", "1", "2", "1"],
        ["16.500000000", "0", "500", "1", "0"],
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("replay", "a.trace", "--device", "cheetah-x16"), "storage device `cheetah-x16`: not in"),
        (("replay", "none", "--device", "./small.yaml"), "none: No such file or directory; name a trace file that can be read"),
        (("replay", "a.trace", "--device", "./small.yaml", "--queue", "sptf"), "a.trace is a validation trace, one request at a time"),
        (
            ("replay", "a.trace", "--device", "./small.yaml", "--queue", "scan"),
            "no such queue; known here: fcfs, c-look, sptf, aged-sptf",
        ),
        (("replay", "a.trace", "--device", "./small.yaml", "--format", "asci"), "--format asci: no such format; did you mean `ascii`?"),
        (("replay", "a.trace", "--device", "./small.yaml", "--format", "ascii"), "a.trace:1: 6 fields where 5 belong"),
        (
            ("replay", "a.trace", "--device", "./small.yaml", "--plot", "x.pdf"),
            "--plot x.pdf: cannot draw `.pdf`; end the name in .png or .svg",
        ),
        (("replay", "a.trace", "--device", "./small.yaml", "--depth", "0"), "'--depth': `0` is too small; the least is 1"),
        (("replay", "a.trace", "--device", "./small.yaml", "--depth", "8"), "--depth 8: fcfs takes the oldest request"),
        (("replay", "far.trace", "--device", "./small.yaml"), "far.trace:2: blocks 999 to 1000 are not on a device of 1000 blocks"),
        (("replay", "late.trace", "--device", "./small.yaml"), "late.trace:2: time_ms `1` is before the request above"),
        (("convert", "a.trace", "far.trace"), "far.trace: exists already and is left alone"),
        (("convert", "far.trace", "b.trace"), "far.trace: is an ASCII trace already"),
        (("convert", "long.trace", "b.trace"), "long.trace:3: the request arrives 106 days after the first"),
    ],
)
def test_mistakes_end_with_one_line_and_exit_code_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, VALIDATION)
    write(tmp_path, "0 0 0 1 1\n0 0 999 2 1\n", "far.trace")
    write(tmp_path, 3 * "R Hit 0 1 4.6e12 0\n", "long.trace")
    write(tmp_path, "2 0 0 1 1\n1 0 0 1 1\n", "late.trace")
    done = CliRunner().invoke(app, ["disk", *arguments])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "b.trace").exists()


def test_a_folder_holds_the_results_of_one_replay(tmp_path: Path):
    write(tmp_path, VALIDATION)
    write(tmp_path, 2 * "R Hit 0 1 9000 0\n", "other.trace")
    out = ("--device", "./small.yaml", "--out", "out")
    for _ in range(2):
        assert memwalk("disk", "replay", "a.trace", *out, cwd=tmp_path).returncode == 0, "the same may be asked again"
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for arguments in (("other.trace", *out), ("a.trace", *out, "--format", "validation"), ("a.trace", "--device", "atlas-10k", *out[2:])):
        done = memwalk("disk", "replay", *arguments, cwd=tmp_path)
        assert done.returncode == 2
        assert "out: holds the results of another configuration (disk replay" in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.mark.parametrize("theirs", ["results.parquet", "replay.json", "distribution.csv"])
def test_results_of_others_are_left_alone(tmp_path: Path, theirs: str):
    write(tmp_path, VALIDATION)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / theirs).write_text("theirs")
    done = memwalk("disk", "replay", "a.trace", "--device", "./small.yaml", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "choose another folder" in done.stderr
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["theirs"]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("show_json", [False, True])
def test_ctrl_c_shows_what_has_been_replayed(tmp_path: Path, show_json: bool):
    """The trace is a pipe that stays open: what fills it has been replayed, but for what the pipe and a batch hold."""
    write(tmp_path, "")
    pipe = tmp_path / "pipe.trace"
    os.mkfifo(pipe)
    arguments = ["disk", "replay", str(pipe), "--device", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        command(*arguments, *["--json"] * show_json), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process, pipe.open("w") as trace:
        trace.writelines(f"{number} 0 {number % 999} 1 1\n" for number in range(40_000))
        trace.flush()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "memwalk: stopped; these are the results of " in stderr
    assert "requests, and no files were written" in stderr
    assert not (tmp_path / "out").exists()
    if show_json:
        result = json.loads(stdout)
        assert result["complete"] is False
        assert 15_000 < result["requests"]["all"]["requests"] <= 40_000
    else:
        assert "response time (ms)" in stdout


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 99))
def test_a_replay_from_a_file_sums_up_what_was_served(tmp_path: Path, seed):
    requests = list(random_arrivals(300, MS, 1000, devices=2, seed=seed))
    write(tmp_path, "")
    write_arrivals(tmp_path / "a.gz", requests)
    kinds = replay_trace(tmp_path / "a.gz", load_device(str(tmp_path / "small.yaml"))).kinds()
    responses = {is_write: [] for is_write in (False, True)}
    for is_write, *parts in replay_open(NoLines(), requests, make_device, QUEUES["fcfs"], 128):
        responses[is_write].append(sum(parts) / MS)
    for name, times in {"all": responses[False] + responses[True], "reads": responses[False], "writes": responses[True]}.items():
        facts = kinds[name].facts()
        assert facts["requests"] == len(times)
        assert facts["mean_ms"] == pytest.approx(np.mean(times))
        assert facts["std_ms"] == pytest.approx(np.std(times))
        assert facts["max_ms"] == max(times)
        assert sum(facts[f"{part}_ms"] for part in ("queue", "overhead", "seek", "rotation", "transfer", "bus")) == pytest.approx(
            np.mean(times)
        )


def test_an_interrupt_leaves_no_sum_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It comes between reads and writes of the second batch."""
    write_arrivals(tmp_path / "a", random_arrivals(3 * BATCH, 5 * MS, 17_000_000))
    add, calls = Responses.add, itertools.count()

    def interrupted(responses: Responses, *times: Times | None) -> None:
        add(responses, *times)
        if next(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Responses, "add", interrupted)
    replay = replay_trace(tmp_path / "a", load_device("cheetah-x15"))
    assert not replay.complete
    kinds = {name: responses.facts() for name, responses in replay.kinds().items()}
    assert kinds["all"]["requests"] == kinds["reads"]["requests"] + kinds["writes"]["requests"] == BATCH


def test_a_model_against_itself_has_no_demerit(tmp_path: Path):
    """The simulated times of a trace are measured times that the same model meets."""
    file = load_device("atlas-10k")
    chance = random.Random(3)
    requests = [Measured(chance.random() < 0.3, "Hit", chance.randrange(10**6) * 8, 8, 0, chance.randrange(9) * MS) for _ in range(300)]
    rows = replay_closed(NoLines(), requests, file.device)
    write_measured(tmp_path / "a", [one._replace(response_ps=sum(row[1:-1])) for one, row in zip(requests, rows, strict=True)])
    kinds = replay_trace(tmp_path / "a", file).kinds()
    assert kinds["all"].facts()["demerit_ms"] < 0.001, "half a bin"


def test_a_long_trace_replays_fast(tmp_path: Path):
    """At 50,000 requests/s or better on an idle core; the bound is lower for hosts that are busy."""
    requests = 20_000
    write_arrivals(tmp_path / "a", random_arrivals(requests, 5 * MS, 17_000_000))
    file = load_device("cheetah-x15")
    started = time.process_time()
    facts = replay_trace(tmp_path / "a", file).kinds()["all"].facts()
    assert facts["requests"] == requests
    assert requests / (time.process_time() - started) > 15_000
