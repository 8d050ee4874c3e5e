"""What replays of other tools' traces say: bounds of their time, what they lack, who made the accesses, and parts of them."""

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import MACHINE, memwalk, write_experiment

from memwalk.simcore.engines import native

LOADS, LATENCY, WALK = 100, 150, 20
"""Loads of the pointer chain, each of a line of its own; cycles of memory and of a walk on the small machine."""


def lackey(folder: Path, text: str, name: str = "t") -> Path:
    """Import a trace as Lackey writes it."""
    (folder / "small.yaml").write_text(MACHINE)
    (folder / f"{name}.lackey").write_text(text)
    native.import_trace([str(folder / f"{name}.lackey")], folder / f"{name}.parquet", {"format": "lackey"})
    return folder / f"{name}.parquet"


def replayed(trace: Path, *arguments: str) -> Any:
    """Replay on the small machine; the result as JSON."""
    done = memwalk("replay", trace.name, "--machine", "./small.yaml", *arguments, "--json", cwd=trace.parent)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A walk along pointers in one page, as its addresses alone tell it; the trace ends in the middle."""
    lines = [f"I  {0x400000 + 4 * (number % 2):08x},4\n L {0x100000 + 64 * number:08x},8\n" for number in range(LOADS)]
    return lackey(tmp_path_factory.mktemp("chain"), "".join(lines))


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two phases over two regions, by three instructions."""
    build = [f"I  {0x400100:08x},4\n S {0x100000 + 64 * number:08x},8\n" for number in range(50)]
    probe = [
        f"I  {0x400200:08x},4\n L {0x100000 + 64 * (7 * number % 50):08x},8\nI  {0x400300:08x},4\nI  {0x400304:08x},4\n"
        f" L {0x200000 + 4096 * number:08x},8\n"
        for number in range(50)
    ]
    text = ["**1** memwalk phase build\n", *build, "**1** memwalk segment table 0x100000 3200\n", "**1** memwalk phase probe\n", *probe]
    text += ["**1** memwalk segment rows 0x200000 1048576\n", "==1== Exit code: 0\n"]
    return lackey(tmp_path_factory.mktemp("named"), "".join(text))


@pytest.mark.parametrize("setting", ["core.mispredict_penalty_cycles=9cycles", "core.multiply_latency_cycles=9cycles"])
def test_settings_of_instructions_that_it_does_not_have_are_refused(chain: Path, setting: str) -> None:
    done = memwalk("replay", chain.name, "--machine", "./small.yaml", "--set", f"machine.{setting}", cwd=chain.parent)
    assert done.returncode == 2
    assert f"machine.{setting.partition('=')[0]} has no effect on this run" in done.stderr
    replayed(chain, "--set", "machine.core.store_buffer_entries=9")


def test_a_pointer_chain_lies_between_its_bounds(chain: Path) -> None:
    tree = replayed(chain)
    low, high = tree["bounds"]["cycles"]
    assert LOADS * LATENCY <= high <= LOADS * LATENCY + WALK + 10, "each load waits for the one before"
    assert low < high / 4, "without dependences, as many miss at once as there are miss handlers"
    assert (tree["cycles"], tree["upper_bound"]["cycles"]) == (low, high)
    assert tree["bounds"]["seconds"] == [low / 1e9, high / 1e9]
    for name, bound in (("none", low), ("chain", high)):
        one = replayed(chain, "--dependences", name)
        assert (one["dependences"], one["cycles"]) == (name, bound)
        assert "bounds" not in one
    printed = memwalk("replay", chain.name, "--machine", "./small.yaml", cwd=chain.parent).stdout
    assert f"time: {low / 1e6:.6g} to {high / 1e6:.6g} ms" in printed


def test_the_lower_bound_is_the_faster_run(tmp_path: Path) -> None:
    """With one miss handler loads are one at a time anyway, and who waits for others asks for it in their order."""
    lines = [
        f"I  00400000,4\n S {0x100000 + 1024 * number:08x},8\nI  00400004,4\n L {0x100200 + 1024 * number:08x},8\n" for number in range(100)
    ]
    trace = lackey(tmp_path, "".join(lines))
    one_handler = MACHINE.replace("mshrs: 8", "mshrs: 1")
    narrow = one_handler.replace("latency_cycles: 150ns, interval_cycles: 15cycles", "latency_cycles: 20ns, interval_cycles: 1cycle")
    (tmp_path / "small.yaml").write_text(narrow.replace("issue_width: 4", "issue_width: 2"))
    free, waiting = (replayed(trace, "--dependences", name)["cycles"] for name in ("none", "chain"))
    assert waiting < free < 1.05 * waiting
    tree = replayed(trace, "--out", "out")
    assert tree["bounds"]["cycles"] == [waiting, free] == [tree["cycles"], tree["upper_bound"]["cycles"]]
    assert tree["bounds"]["seconds"] == [waiting / 1e9, free / 1e9]
    assert (tree["dependences"], tree["upper_bound"]["dependences"]) == ("chain", "none")
    table = pd.read_parquet(tmp_path / "out/results.parquet")
    assert list(zip(table["variant"], table["workload.dependences"], table["cycles"], strict=True)) == [
        ("lower bound", "chain", waiting),
        ("upper bound", "none", free),
    ]
    printed = memwalk("replay", trace.name, "--machine", "./small.yaml", "--out", "out", cwd=tmp_path)
    assert printed.returncode == 0, "the folder is of the same trace"
    assert f"time: {waiting / 1e6:.6g} to {free / 1e6:.6g} ms" in printed.stdout
    assert "lower bound: every load waits for the one before it; upper bound: no load waits for another" in " ".join(printed.stdout.split())


def test_a_trace_with_dependences_lies_between_the_bounds_without(tmp_path: Path) -> None:
    """Laid over a recorded search they bound its true time, which depends on some loads and not on others."""
    write_experiment(tmp_path)
    settings = ("--set", "workload.keys=5000", "--set", "workload.operations=400", "--set", "workload.seed=1")
    done = memwalk("trace", "record", "experiment.yaml", "--variant", "B+", *settings, "-o", "t.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    trace = tmp_path / "t.parquet"
    own = replayed(trace)
    assert own["dependences"] == "recorded"
    assert "bounds" not in own
    low, high = (replayed(trace, "--dependences", name)["cycles"] for name in ("none", "chain"))
    assert low < own["cycles"] < high


def test_the_result_says_what_the_trace_lacks(chain: Path, named: Path) -> None:
    tree = replayed(chain)
    assert {"dependences", "branch outcomes", "time"} <= set(tree["trace"]["lacks"])
    printed = memwalk("replay", chain.name, "--machine", "./small.yaml", cwd=chain.parent)
    assert "t.parquet does not say: dependences, branch outcomes" in printed.stdout
    counted = memwalk("replay", chain.name, "--machine", "./small.yaml", "--mode", "counts", "--json", cwd=chain.parent)
    assert "dependences" in json.loads(counted.stdout)["traces"][0]["lacks"]
    # The import's doubts stay with the trace.
    assert "none of Valgrind's closing lines" in tree["trace"]["warnings"][0]
    assert "warning: " in printed.stderr
    assert replayed(named)["trace"]["warnings"] == []


def test_an_import_says_that_a_trace_may_be_cut(tmp_path: Path) -> None:
    (tmp_path / "t.din").write_text("0 1000\n0 20")
    done = memwalk("trace", "import", "t.din", "--format", "din", "-o", "t.parquet", "--json", cwd=tmp_path)
    assert done.returncode == 0
    [warning] = json.loads(done.stdout)["warnings"]
    assert "t.din:2: its last line has no line end" in warning
    assert f"warning: {warning}" in done.stderr


def test_explain_shows_regions_phases_and_instructions(named: Path) -> None:
    tree = replayed(named, "--out", "out")

    def parts(*arguments: str) -> list[dict[str, Any]]:
        done = memwalk("explain", "out", *arguments, "--json", cwd=named.parent)
        assert done.returncode == 0, done.stderr
        points = json.loads(done.stdout)["points"]
        assert [point["variant"] for point in points] == ["lower bound", "upper bound"]
        for point, cycles in zip(points, tree["bounds"]["cycles"], strict=True):
            assert point["cycles"] == cycles
            assert sum(part["cycles"] for part in point["parts"]) == pytest.approx(cycles)
            assert sum(sum(part["served"].values()) for part in point["parts"]) == 150
        return list(points[1]["parts"])

    assert {(part["phase"], part["segment"]) for part in parts()} >= {("build", "table"), ("probe", "table"), ("probe", "rows")}
    by_phase = {part["phase"]: part for part in parts("--by", "phase")}
    assert sum(by_phase["build"]["served"].values()) == 50
    by_segment = {part["segment"]: part for part in parts("--by", "segment")}
    assert sum(by_segment["table"]["served"].values()) == 100
    by_pc = parts("--by", "pc")
    assert [part["segment"] for part in by_pc[:1]] == ["0x400304"], "the loads of rows miss, and cost most"
    assert {part["segment"]: sum(part["served"].values()) for part in by_pc} == {
        "0x400100": 50,
        "0x400200": 50,
        "0x400304": 50,
    }
    table = pd.read_parquet(named.parent / "out" / "results.parquet")
    assert list(table["workload.dependences"]) == ["none", "chain"]
    assert table["workload.lacks"].str.contains("dependences; branch outcomes").all()
    printed = memwalk("explain", "out", "--by", "pc", "--top", "1", cwd=named.parent).stdout
    assert "0x400304" in printed
    assert "more)" in printed
    assert "cycles per operation" not in printed, "the trace says nothing of operations"


def test_results_of_something_else_are_left_alone(named: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    replayed(named, "--out", out, "--dependences", "none")
    replayed(named, "--out", out, "--dependences", "none")
    done = memwalk("replay", named.name, "--machine", "./small.yaml", "--out", out, cwd=named.parent)
    assert done.returncode == 2
    assert "holds the results of another configuration" in done.stderr


def test_parts_of_a_trace(named: Path) -> None:
    whole = replayed(named)
    build = replayed(named, "--until", "phase:probe")
    probe = replayed(named, "--from", "phase:probe")
    assert build["instructions"] + probe["instructions"] == whole["instructions"]
    assert build["caches"][0]["accesses"] == 50
    assert {row["phase"] for row in probe["breakdown"]} == {"probe"}
    behind_mark = replayed(named, "--from", "52")
    assert behind_mark["events"] == probe["events"] - 1
    assert (behind_mark["bounds"], behind_mark["breakdown"]) == (probe["bounds"], probe["breakdown"])
    assert replayed(named, "--from", "50instructions")["instructions"] == probe["instructions"]
    assert probe["cycles"] != whole["cycles"] - build["cycles"], "it begins with empty caches"


def test_the_first_phase_begins_with_the_trace(chain: Path) -> None:
    assert replayed(chain, "--from", "phase:imported") == replayed(chain)
    done = memwalk("replay", chain.name, "--until", "phase:imported", "--machine", "./small.yaml", cwd=chain.parent)
    assert done.returncode == 2
    assert "it never ends" in done.stderr


def test_a_warm_up_runs_and_is_not_counted(named: Path) -> None:
    """What the probe finds in the caches is what the build left there."""
    whole, cold = replayed(named), replayed(named, "--from", "phase:probe")
    warm = replayed(named, "--warm-up", "phase:probe")
    assert warm["instructions"] == cold["instructions"]
    assert [row for row in warm["breakdown"] if row["phase"] == "build"] == []
    assert warm["upper_bound"]["cycles"] < cold["upper_bound"]["cycles"]
    by_memory = [
        {row["segment"]: row["served"][-1] for row in tree["upper_bound"]["breakdown"] if row["phase"] == "probe"} for tree in (cold, warm)
    ]
    assert by_memory[0]["table"] == by_memory[0]["rows"] == by_memory[1]["rows"] == 50
    assert by_memory[1]["table"] <= 1, "4 KiB hold what was built, as far as it had come"
    misses = [tree["caches"][0]["misses"] for tree in (whole, warm)]
    assert misses[1] == misses[0] - 50
    assert replayed(named, "--warm-up", "51") == warm
    half = replayed(named, "--from", "51", "--warm-up", "75instructions", "--dependences", "none")
    assert half["instructions"] == cold["instructions"] - 75


def test_a_part_has_the_events_that_it_is_said_to_have(named: Path) -> None:
    """Where it begins, its phase goes on: what tells the simulator so is no event of the trace."""
    assert replayed(named, "--from", "60", "--until", "70")["events"] == 10
    assert replayed(named, "--from", "60", "--until", "100", "--warm-up", "10", "--dependences", "none")["events"] == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "phase:prob"), "has no phase `prob`; did you mean `probe`?"),
        (("--from", "x"), "--from x: give a number of events"),
        (("--from", "1M"), "it never begins: the trace has 152 events"),
        (("--until", "1kinstructions"), "it never ends"),
        (("--from", "10", "--until", "10"), "nothing is left to run"),
        (("--from", "phase:probe", "--warm-up", "0"), "its warm-up is empty"),
        (("--until", "phase:probe", "--warm-up", "phase:probe"), "its warm-up takes all of it"),
        (("--dependences", "chain", "--mode", "counts"), "--dependences: only for one trace that is replayed in full"),
        (("--out", "x", "--sample", "auto"), "--out: only for one trace"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(named: Path, arguments: tuple[str, ...], message: str) -> None:
    done = memwalk("replay", named.name, "--machine", "./small.yaml", *arguments, cwd=named.parent)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_samples_of_an_in_order_machine_have_its_waits(tmp_path: Path) -> None:
    """Of independent misses, each of which stops the core that has no handler for it."""
    chance = random.Random(1)
    addresses = (chance.randrange(1 << 28) * 8 if number % 5 == 0 else 4096 + number % 64 * 8 for number in range(200_000))
    (tmp_path / "t.csv").write_text("".join(f"{address}\n" for address in addresses))
    assert memwalk("trace", "import", "t.csv", "--format", "csv", "-o", "t.parquet", cwd=tmp_path).returncode == 0
    replay = ("replay", "t.parquet", "--machine", "itanium2-900", "--json")
    whole = json.loads(memwalk(*replay, "--dependences", "none", cwd=tmp_path).stdout)
    assert whole["slots"]["drain"] < 0.01 * whole["slots"]["total"]
    low, _, high = json.loads(memwalk(*replay, "--sample", "1000:1000:4000", cwd=tmp_path).stdout)["estimate"]["cycles"]
    assert low < whole["cycles"] < high


def test_explain_says_where_instructions_come_from(tmp_path: Path) -> None:
    write_experiment(tmp_path)
    done = memwalk("run", "experiment.yaml", "--scale", "quick", "--jobs", "1", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = memwalk("explain", "out", "--by", "pc", cwd=tmp_path)
    assert done.returncode == 2
    assert "come from `memwalk replay --out FOLDER`" in done.stderr
