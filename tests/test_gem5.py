"""gem5 as an engine: the script, the statistics, and the whole way through a program that stands in for gem5."""

import gzip
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from files import ROOT, memwalk, write_experiment

from memwalk.simcore.engines import gem5, native
from memwalk.simcore.engines.gem5_script import gem5_script
from memwalk.simcore.engines.gem5_stats import read_stats, to_statistics
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine

GOLDEN = Path(__file__).parent / "golden" / "gem5-thesis-simulator.py.txt"
REAL = Path(__file__).parent / "golden" / "gem5-stats.txt"
"""What gem5 24.0.0.1 wrote for a thousand insertions into a B+-tree, the lines that are read, without gem5's descriptions."""

STATS = """
---------- Begin Simulation Statistics ----------
simSeconds                                   0.000001                       # Number of seconds simulated (Second)
system.cpu.numOps                                 999                       # Of an earlier dump (Count)
---------- End Simulation Statistics   ----------

---------- Begin Simulation Statistics ----------
simSeconds                                   0.000002                       # Number of seconds simulated (Second)
system.cache0.overallHits::cpu.data                70                       # number of overall hits (Count)
system.cache0.overallHits::total                   70     70.00%     70.00% # number of overall hits (Count)
system.cache0.overallMisses::cpu.data              30                       # number of overall misses (Count)
system.cache0.overallAccesses::cpu.data           100                       # number of overall accesses (Count)
system.cache0.overallMshrHits::cpu.data             9                       # number of overall MSHR hits (Count)
system.cache0.overallMshrMisses::cpu.data          18                       # number of overall MSHR misses (Count)
system.cache0.overallAvgMissLatency::total        nan                       # average overall miss latency (Tick/Count)
system.cache1.overallAccesses::cpu.inst             2                       # number of overall accesses (Count)
system.cache1.overallAccesses::cpu.data            18                       # number of overall accesses (Count)
system.cache1.overallAccesses::total               20                       # number of overall accesses (Count)
system.cache1.writebacks::total                     3                       # number of writebacks (Count)
system.cpu.numOps                                 500                       # Number of micro-ops simulated (Count)
system.cpu.cpi                               2.400000                       # Cycles per micro-op (Cycle/Count)
system.cpu..dside.dataLastTick                1000500                       # Last tick simulated (Tick)
system.memory.numReads::cpu.inst                    2                       # Number of read requests (Count)
system.memory.numReads::cpu.data                   18                       # Number of read requests (Count)
system.memory.numReads::total                      20                       # Number of read requests (Count)

---------- End Simulation Statistics   ----------
"""

FAKE = """#!{python}
import gzip, re, sys
from pathlib import Path
print("gem5 Simulator System.  https://www.gem5.org")
print("gem5 version {version}")
option, folder, script = sys.argv[1:]
text = Path(script).read_text()
if not text:
    raise SystemExit
compile(text, script, "exec")
data, fetches = (re.search(name + r"='(.*)'", text)[1] for name in ("dataTraceFile", "instTraceFile"))
for file in (data, fetches):
    assert gzip.open(file).read(4) == b"gem5", file
assert option == "--outdir"
print("info: system.cpu: 1000000 insts committed", file=sys.stderr)
{act}
print("memwalk: end:", "{cause}")
"""
WHOLE = "end of all traces reached."
"""What gem5 says at the end of a trace."""
WRITES = f"Path(folder, 'stats.txt').write_text({STATS!r})"


def machine(name: str = "thesis-simulator") -> dict[str, Any]:
    return load_machine(name).native()


def script(spec: dict[str, Any]) -> str:
    return gem5_script(spec, data=Path("/w/t.elastic.gz"), fetches=Path("/w/t.elastic.inst.gz"))


def test_the_script_of_a_machine_is_as_it_was() -> None:
    text = script(machine())
    compile(text, "machine.py", "exec")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_latencies_add_up_to_those_of_the_machine() -> None:
    """Load-to-use of a level: look-ups of all levels; of each answer, one cycle in the crossbar and one in the cache above."""
    text = script(machine())
    own = [int(line.split("=")[1].rstrip(",")) for line in text.splitlines() if "tag_latency" in line][:3]
    assert own == [1, 5 - 1 - 2, 12 - 5 - 2]
    assert 'latency="157412ps"' in text  # (250 - 12 - 2) cycles of 667 ps at 1.5 GHz
    assert 'clock="667ps"' in text
    assert f'bandwidth="{10**12 // 156}B/s"' in text  # 15 cycles a line are 156.3 ps a byte, of which gem5 takes whole ones
    assert sum(own) + 2 * 2 == 12


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("core", "kind"), "in-order", "core.kind is in-order; gem5's TraceCPU is an out-of-order core"),
        (("caches", 2, "line_bytes"), 128, "cache lines of 64 and 128 bytes; gem5's classic caches have one line size"),
        (("memory", "model"), "dramsim3", "memory.model is dramsim3; the gem5 engine takes `fixed`"),
        (("memory", "write_backs_use_bus"), False, "memory.write_backs_use_bus is false; gem5's memory has one bandwidth"),
        (("caches", 0, "replacement"), "fifo", "cache L1 has replacement fifo; the gem5 engine takes `lru`"),
        (("caches", 2, "inclusion"), "exclusive", "cache L3 has inclusion exclusive; the gem5 engine takes `non-inclusive`"),
        (("caches", 0, "write_policy"), "write-through", "cache L1 has write_policy write-through; the gem5 engine takes `write-back`"),
        (("caches", 1, "write_allocate"), False, "cache L2 has write_allocate false; the gem5 engine takes `true`"),
        (("caches", 2, "size_bytes"), 3 * 2**19, "cache L3 has 3072 sets; gem5's caches have a power of two"),
        (("caches", 1, "prefetchers"), [{"kind": "next-line"}], "cache L2 has hardware prefetchers; the gem5 engine has none"),
        (("interference",), {"flush_interval_cycles": 1000}, "interference empties its caches; nobody disturbs gem5's"),
        # An answer passes a crossbar and the cache above, a cycle each, and the level has one itself: 1 + 2 + 1.
        (("caches", 1, "latency_cycles"), 3, "L2 has latency_cycles 3; gem5's takes 4 at least, behind a level of 1"),
        (("memory", "latency_cycles"), 14, "memory has latency_cycles 14; gem5's takes 15 at least, behind a level of 12"),
    ],
)
def test_a_machine_that_gem5_cannot_be_is_refused(path: tuple[str | int, ...], value: Any, message: str) -> None:
    spec: Any = machine()
    place = spec
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(UserError, match=message):
        script(spec)


def test_the_machine_files_that_it_takes_are_those_that_the_document_names() -> None:
    taken = set()
    for path in (ROOT / "configs" / "machines").glob("*.yaml"):
        try:
            script(machine(path.stem))
        except UserError:
            continue
        taken.add(path.stem)
    said = re.search(r"Of the machine files here it takes (.*?)[:.]", (ROOT / "docs" / "gem5.md").read_text())
    assert said is not None
    assert set(re.findall(r"`([^`]+)`", said[1])) == taken


def test_the_last_dump_is_read_under_our_names(tmp_path: Path) -> None:
    path = tmp_path / "stats.txt"
    path.write_text(STATS)
    stats = read_stats(path)
    assert stats["system.cache0.overallHits::total"] == 70
    assert stats["system.cache0.overallAvgMissLatency::total"] != stats["system.cache0.overallAvgMissLatency::total"]
    read = to_statistics(stats, machine(), path)
    assert (read["instructions"], read["cycles"]) == (500, 1500)
    assert read["caches"][0] == {"name": "L1", "accesses": 100, "hits": 70, "merges": 12, "misses": 18, "write_backs": 0}
    assert [cache["write_backs"] for cache in read["caches"]] == [0, 3, 0]
    assert read["caches"][1]["accesses"] == 18
    assert read["bus"] == {"fills": 18, "write_backs": 0}
    with_fetches = to_statistics(stats, machine() | {"instruction_cache": {"size_bytes": 16384}}, path)
    assert with_fetches["caches"][1]["accesses"] == with_fetches["bus"]["fills"] == 20


def test_statistics_of_a_real_run_are_read() -> None:
    read = to_statistics(read_stats(REAL), machine(), REAL)
    assert (read["instructions"], read["cycles"]) == (589_594, 862_770)  # of 667 ps
    columns = ("accesses", "hits", "merges", "misses", "write_backs")
    levels = [tuple(cache[column] for column in columns) for cache in read["caches"]]
    assert levels == [(95_110, 57_256, 32_481, 5373, 5108), (5364, 1373, 0, 3991, 286), (3991, 9, 0, 3982, 0)]
    assert read["bus"] == {"fills": 3982, "write_backs": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not gem5 statistics: no line begins with"),
        (STATS[: STATS.rindex("------")][:-60], "cut short: no line begins with"),
        (STATS.replace("   500 ", "   five"), r"stats.txt:20: `system.cpu.numOps +five .*`: expected a name and a number"),
        (STATS.replace("dataLastTick", "lastTick"), "no `system.cpu.dside.dataLastTick`; the gem5 engine reads"),
    ],
)
def test_statistics_that_are_none_are_named_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "stats.txt"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        to_statistics(read_stats(path), machine(), path)


def fake(folder: Path, act: str = "", version: str = "24.0.0.1", cause: str = WHOLE) -> Path:
    """Write a program that takes what gem5 takes, checks it, then does ``act``, and ends for a ``cause``."""
    path = folder / "gem5.opt"
    path.write_text(FAKE.format(python=sys.executable, version=version, act=act, cause=cause))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    write_experiment(folder)
    one = ("--variant", "B+", "--scale", "quick", "--set", "workload.seed=1")
    done = memwalk("trace", "record", "experiment.yaml", *one, "-o", "t.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "t.parquet"


@pytest.fixture
def trace(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(recorded, tmp_path))


def replay(trace: Path, program: Path, *more: str) -> Any:
    return memwalk("replay", trace, "--machine", "thesis-simulator", "--engine", "gem5", "--gem5", program, *more, cwd=trace.parent)


def test_a_trace_goes_to_gem5_and_its_numbers_come_back_beside_ours(tmp_path: Path, trace: Path) -> None:
    program = fake(tmp_path, WRITES)
    done = replay(trace, program, "--gem5-folder", "kept", "--json")
    assert done.returncode == 0, done.stderr
    assert "memwalk: gem5: 1,000,000 instructions" in done.stderr
    both = json.loads(done.stdout)
    assert both["gem5"]["cycles"] == 1500
    assert both["gem5"]["gem5_version"] == "24.0.0.1"
    own = memwalk("replay", trace, "--machine", "thesis-simulator", "--json", cwd=tmp_path)
    assert both["native"] | {"dependences": "recorded"} == json.loads(own.stdout)
    assert gzip.decompress((tmp_path / "kept" / "trace.elastic.gz").read_bytes()).startswith(b"gem5")
    assert (tmp_path / "kept" / "machine.py").is_file()
    shown = replay(trace, program)
    assert shown.returncode == 0, shown.stderr
    header, *rows = shown.stdout.splitlines()[1:]
    assert header.split() == ["statistic", "native", "gem5"]
    assert [row.split()[-1] for row in rows if row.startswith("cycles ")] == ["1,500"]
    # What gem5 does not get is said: its caches are empty at first anyway, and it knows no branches.
    assert {"kind": "flush", "events": 1} in both["gem5"]["left_out"]
    left_out, lost = rows[-2:]
    assert "flush (1)" in left_out
    assert lost.startswith("lost: outcomes of branches")


def test_a_folder_that_holds_anything_is_left_alone(tmp_path: Path, trace: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "machine.py").write_text("my notes")
    with pytest.raises(UserError, match=r"notes: holds machine.py, which is left alone; name a new or an empty folder"):
        gem5.replay(trace, machine(), fake(tmp_path, WRITES), folder)
    assert [file.read_text() for file in folder.iterdir()] == ["my notes"]


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ({"caches": "cold"}, "empties the caches 3 times, which gem5 does not do; record it with --set workload.caches=empty"),
        ({"caches": "warm", "warm_up": 2}, "begins with a warm-up, which gem5 would measure too"),
        ({"kernel": "table", "records": 10, "operation": "scan"}, "calls a host DBMS .* times, whose instructions are no part of a trace"),
    ],
)
def test_a_trace_that_would_be_another_program_in_gem5_is_refused(tmp_path: Path, workload: dict[str, Any], message: str) -> None:
    search = {"kernel": "index", "tree": {"kind": "b+"}, "operation": "search", "operations": 3, "keys": 1000}
    native.record(workload if "kernel" in workload else search | workload, tmp_path / "t.parquet")
    with pytest.raises(UserError, match=message):
        gem5.replay(tmp_path / "t.parquet", machine(), fake(tmp_path, WRITES))


def test_of_another_tools_trace_both_have_lower_bounds(tmp_path: Path) -> None:
    """Neither waits for an access, so that they would agree whatever is true."""
    (tmp_path / "t.din").write_text("".join(f"0 {64 * line:x}\n" for line in range(9)))
    native.import_trace([str(tmp_path / "t.din")], tmp_path / "t.parquet", {"format": "din"})
    program = fake(tmp_path, WRITES)
    shown = replay(tmp_path / "t.parquet", program)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[1].split(maxsplit=1)[1].split("  ") == ["native, lower bound", "gem5, lower bound"]
    assert shown.stdout.splitlines()[-1].endswith("instruction addresses; so the time is a lower bound")


@pytest.mark.parametrize(
    ("act", "version", "message"),
    [
        ("", "23.1.0.0", "gem5 version 23.1.0.0 is too old; build gem5 v24 or later"),
        ("sys.exit('fatal: Can not find trace')", "24.0.0.1", "failed with exit code 1: fatal: Can not find trace"),
        ("1/0", "[DEVELOP-FOR-24.1]", "failed with exit code 1: ZeroDivisionError: division by zero"),
        ("", "25.1.0.0", "stats.txt: No such file or directory; gem5 did not write its statistics"),
        (f"{WRITES}; raise SystemExit", "24.0.0.1", "ended without a word, and not with `end of all traces reached`"),
    ],
)
def test_a_gem5_that_will_not_do_is_told_in_one_line(tmp_path: Path, trace: Path, act: str, version: str, message: str) -> None:
    done = replay(trace, fake(tmp_path, act, version))
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_simulation_that_ends_early_is_none_of_the_whole_trace(tmp_path: Path, trace: Path) -> None:
    with pytest.raises(UserError, match=r"ended with `simulate\(\) limit reached`, and not with `end of all traces reached`"):
        gem5.replay(trace, machine(), fake(tmp_path, WRITES, cause="simulate() limit reached"))


def test_a_missing_gem5_says_how_to_get_it(tmp_path: Path, trace: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for program, what in [(tmp_path / "none", "no such program"), (plain, "not executable")]:
        done = replay(trace, program)
        assert done.returncode == 2
        assert done.stderr.startswith(f"memwalk: error: {program}: {what}; build gem5 v24 or later from its source")
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--engine", "gem5", cwd=tmp_path)
    assert "name the program with --gem5 PATH" in done.stderr


def test_exports_are_described_and_never_overwrite(trace: Path) -> None:
    done = memwalk("trace", "export", trace, "--format", "dramsim3", "-o", "t.trc", "--json", cwd=trace.parent)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["files"] == ["t.trc"]
    text = (trace.parent / "t.trc").read_text()
    assert len(text.split("\n")) == summary["records"]
    (trace.parent / "x.inst.gz").write_text("of somebody else")
    assert summary["lost"]
    for arguments, message in [
        (("--format", "gem5-elastic", "--machine", "thesis-simulator", "-o", "x.gz"), "x.inst.gz: exists already and is left alone"),
        (("--format", "dramsim3", "-o", "t.trc"), "t.trc: exists already and is left alone"),
        (("--format", "gem5-packet", "-o", "u"), "holds the times of a machine; name one with --machine"),
        (("--format", "dinn", "-o", "u"), "did you mean `din`"),
        (("--format", "xyz", "-o", "u"), "known here: din, dramsim3, ramulator2, ramulator1, champsim"),
        (("--format", "din", "-o", "no/such/u"), "no/such/u: No such file or directory"),
    ]:
        done = memwalk("trace", "export", trace, *arguments, cwd=trace.parent)
        assert done.returncode == 2
        assert message in done.stderr


def test_exports_say_what_of_this_trace_is_lost(trace: Path, tmp_path: Path) -> None:
    join = {"kernel": "parallel-join", "algorithm": "radix", "radix_bits": 4, "passes": 1, "build_tuples": 3000, "probe_tuples": 5000}
    native.record(join | {"write_combining": True, "non_temporal": True, "threads": 2}, tmp_path / "join.parquet")
    special = {
        "that a non-temporal store is one (it is a plain store)",
        "which of the 2 threads an event is of (they take turns, as on one core)",
    }
    for form in ("din", "champsim"):
        lost = native.export_trace(tmp_path / "join.parquet", form, tmp_path / form)["lost"]
        assert special <= set(lost)
        assert not special & set(native.export_trace(trace, form, tmp_path / f"{form}-2")["lost"])
