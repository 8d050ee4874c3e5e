"""The hash table of docs/your-own-program.md, through Lackey: named regions and phases, and Cachegrind's misses."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import ROOT, command, environment, memwalk

SOURCE = ROOT / "docs" / "examples" / "hash_table.cpp"
MACHINE = ROOT / "docs" / "examples" / "cachegrind.yaml"
ENTRIES = 8000
"""The table then has 256 KiB: more than the caches below."""
CACHES = ("--I1=32768,8,64", "--D1=16384,8,64", "--LL=131072,8,64")
SETTINGS = ("--set", "machine.caches.D1.size_bytes=16KiB", "--set", "machine.caches.LL.size_bytes=128KiB")
TOLERANCE = 0.002
"""The two runs differ in some twenty lines, of 18,500 that come from memory."""

pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("valgrind") and Path("/usr/include/valgrind/valgrind.h").exists()),
    reason="needs g++ and Valgrind with its header",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the program and its trace, imported from the pipe and replayed into `out`."""
    folder = tmp_path_factory.mktemp("own_program")
    assert memwalk("trace", "recorder", ".", cwd=folder).returncode == 0
    # To find and load libraries would take more instructions than all the rest.
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-no-pie", "-static", "-I.", SOURCE, "-o", "hash_table"], cwd=folder, check=True)
    read, write = os.pipe()
    lackey = ["valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-fd={write}", "./hash_table", str(ENTRIES)]
    with subprocess.Popen(lackey, cwd=folder, env={"PATH": os.defpath}, pass_fds=[write], stdout=subprocess.DEVNULL) as program:
        os.close(write)
        run = command("trace", "import", "-", "--format", "lackey", "--instructions", "fetch", "-o", "t.parquet", "--json")
        done = subprocess.run(run, cwd=folder, env=environment(), stdin=read, capture_output=True, text=True, check=False)
        os.close(read)
    assert (done.returncode, program.returncode) == (0, 0), done.stderr
    assert json.loads(done.stdout)["warnings"] == []
    done = memwalk("replay", "t.parquet", "--machine", MACHINE, *SETTINGS, "--out", "out", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def explained(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = memwalk("explain", "out", *arguments, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["points"])


def test_cycles_are_shown_by_region_and_phase(folder: Path) -> None:
    for point in explained(folder):
        parts = {(part["phase"], part["segment"]): part for part in point["parts"]}
        assert sum(part["cycles"] for part in parts.values()) == pytest.approx(point["cycles"])
        assert {("build", "hash table"), ("shuffle", "queries"), ("probe", "hash table"), ("probe", "queries")} <= set(parts)
        # A look-up reads its query once, and one slot's key and value or more.
        assert sum(parts["probe", "queries"]["served"].values()) == ENTRIES
        assert sum(parts["probe", "hash table"]["served"].values()) >= 2 * ENTRIES
        assert parts["probe", "hash table"]["served"]["memory"] > ENTRIES / 10
    # Where no two loads overlap, one of the eight queries of a line waits for memory.
    assert parts["probe", "queries"]["served"]["memory"] < ENTRIES / 4


def test_the_look_up_is_found_by_its_instruction(folder: Path) -> None:
    """In the upper bound the dearest instruction compares the key of a slot."""
    upper = explained(folder, "--by", "pc", "--variant", "upper bound")[0]
    dearest = upper["parts"][0]["segment"]
    done = subprocess.run(["addr2line", "-e", "hash_table", dearest], cwd=folder, capture_output=True, text=True, check=True)
    file, _, line = done.stdout.split()[0].rpartition(":")
    assert Path(file).name == SOURCE.name
    assert "slots_[place].key" in SOURCE.read_text().splitlines()[int(line) - 1]


def test_misses_are_those_of_cachegrind(folder: Path) -> None:
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", *CACHES, "--cachegrind-out-file=out.cg", "./hash_table", str(ENTRIES)]
    subprocess.run(command, cwd=folder, env={"PATH": os.defpath}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = dict(line.split(": ", 1) for line in (folder / "out.cg").read_text().splitlines() if line.startswith(("events", "summary")))
    theirs = {name: int(count) for name, count in zip(lines["events"].split(), lines["summary"].split(), strict=True)}
    done = memwalk("replay", "t.parquet", "--machine", MACHINE, *SETTINGS, "--dependences", "none", "--json", cwd=folder)
    ours = json.loads(done.stdout)
    # The time that the program prints takes more or fewer instructions to write.
    assert ours["instructions"] == pytest.approx(theirs["Ir"], rel=TOLERANCE)
    first, last = (cache["misses"] for cache in ours["caches"])
    assert first == pytest.approx(theirs["D1mr"] + theirs["D1mw"], rel=TOLERANCE)
    assert last == pytest.approx(theirs["ILmr"] + theirs["DLmr"] + theirs["DLmw"], rel=TOLERANCE)
