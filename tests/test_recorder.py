"""The recorder that comes with memwalk, linked into programs in C++ and Rust: docs/your-own-program.md."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from recording import (
    ACCESSES,
    EXAMPLES,
    NEEDS_COMPILER,
    NEEDS_RUST,
    built,
    built_in_rust,
    imported,
    imported_threads,
    recorded,
    rust_options,
)

from memwalk.analysis.traces.facts import TraceFacts
from memwalk.simcore.engines import native

NODES = 20_000
"""Of 64 bytes: more than the caches of the thesis's machine hold of them with two levels of 64 KiB."""
LITTLE = ("--set", "machine.caches.L2.size_bytes=64KiB", "--set", "machine.caches.L3.size_bytes=64KiB")
LATENCY = 250
"""Cycles to that machine's memory."""

pytestmark = NEEDS_COMPILER


@pytest.fixture(scope="module")
def list_program(recorder: Path) -> Path:
    """Is the program of the list."""
    return built(recorder, EXAMPLES / "linked_list.cpp")


@pytest.fixture(scope="module")
def linked_list(list_program: Path) -> Path:
    """Is the trace of the list."""
    trace, report = imported(recorded(list_program, str(NODES)))
    assert report["warnings"] == []
    assert report["accesses"] == pytest.approx(4 * NODES, abs=20), "two loads of each node, in two walks"
    return trace


def test_a_walk_takes_what_its_chain_takes(linked_list: Path, tmp_path: Path) -> None:
    """Each node is known when the one before has come; without that knowledge the core's buffers would fill."""
    done = memwalk("replay", linked_list, "--machine", "thesis-simulator", *LITTLE, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert run["dependences"] == "recorded"
    assert run["upper_bound"]["dependences"] == "chain"
    assert run["bounds"]["cycles"][1] < 1.02 * run["bounds"]["cycles"][0]
    free = memwalk("replay", linked_list, "--machine", "thesis-simulator", *LITTLE, "--dependences", "none", "--json")
    assert json.loads(free.stdout)["cycles"] < run["cycles"] / 5
    done = memwalk("explain", tmp_path / "out", "--json")
    lower = json.loads(done.stdout)["points"][0]
    cycles = {(part["phase"], part["segment"]): part["cycles"] for part in lower["parts"]}
    for phase in ("in order", "scattered"):
        assert cycles[phase, "nodes"] == pytest.approx(LATENCY * NODES, rel=0.02)


def test_its_critical_path_goes_from_node_to_node(linked_list: Path) -> None:
    done = memwalk("explain", linked_list, "--critical-path", "--machine", "thesis-simulator", "--json")
    assert done.returncode == 0, done.stderr
    facts = TraceFacts.of(linked_list)
    assert facts.imported
    assert facts.says_dependences
    assert "line from memory" in done.stdout


def test_data_structures_and_phases_have_the_accesses_that_they_should(recorder: Path, tmp_path: Path) -> None:
    entries = 8000
    trace, report = imported(recorded(built(recorder, EXAMPLES / "hash_table.cpp", ACCESSES), str(entries)))
    assert report["sites"] > 5
    assert "branch outcomes" in report["lost"]
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    point = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]
    served = {(part["phase"], part["segment"]): sum(part["served"].values()) for part in point["parts"]}
    assert served["shuffle", "queries"] == entries
    assert served["probe", "queries"] == entries
    assert 2 * entries <= served["probe", "hash table"] < 4 * entries
    assert served["imported", "queries"] == entries, "each is set to 0 first"


def test_the_program_says_how_many_instructions_there_are(searches: Path, list_program: Path, tmp_path: Path) -> None:
    """A step of the search below has 8 in the plain program, and some more in that which calls the recorder."""
    program, source = searches, searches.with_suffix(".cpp")
    recording = recorded(program)

    def taken(*options: str | Path) -> dict[str, Any]:
        done = memwalk("trace", "import", recording, *options, "-o", tmp_path / "t.parquet", "--json")
        assert done.returncode == 0, done.stderr
        (tmp_path / "t.parquet").unlink()
        return dict(json.loads(done.stdout))

    without, counted = taken(), taken("--program", program)
    assert "instructions without an access" in without["lost"]
    assert not any(lost.startswith("instructions") for lost in counted["lost"])
    assert 8 * 12 * 2000 < counted["listed_instructions"] < 13 * 12 * 2000
    assert counted["trace"]["instructions"] == pytest.approx(counted["listed_instructions"], abs=10)
    assert without["trace"]["instructions"] == without["accesses"] + without["branches"]
    assert (counted["unknown_blocks"], counted["warnings"]) == (0, [])

    def refusal(*options: str | Path) -> str:
        done = memwalk("trace", "import", recording, *options, "-o", tmp_path / "t.parquet")
        assert done.returncode == 2
        return " ".join(done.stderr.split())

    assert "tells of no basic block that is in the program" in refusal("--program", list_program)
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", program, "-o", stripped], check=True)
    for silent in (Path("/bin/true"), stripped):
        assert "no basic block calls the recorder; compile it with @memwalk_compile.rsp, or name it as it was before `strip`" in refusal(
            "--program", silent
        )
    assert "no program that objdump can read" in refusal("--program", source)
    assert "--program nothing: no such file" in refusal("--program", "nothing")
    assert "--program: counts the instructions" in refusal("--program", program, "--instructions-per-access", "2")


def test_instructions_are_found_in_the_source(linked_list: Path, recorder: Path) -> None:
    """Also in a program that may lie anywhere."""
    sites = native.trace_info(linked_list)["layout"]["sites"]
    done = subprocess.run(["addr2line", "-e", "linked_list", *sites[1:]], cwd=recorder, capture_output=True, text=True, check=True)
    lines = (EXAMPLES / "linked_list.cpp").read_text().splitlines()
    found = {
        lines[int(number) - 1].strip()
        for file, _, number in (line.split()[0].rpartition(":") for line in done.stdout.splitlines())
        if file.endswith("linked_list.cpp")
    }
    assert {"sum += node->value;", "for (; node; node = node->next)"} <= found


PROGRAM = """
#include <atomic>
#include <cstring>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>
#include "memwalk.h"
std::atomic<long> counter;
alignas(64) char from[200000], to[200000];
int main(int count, char **) {
    memwalk_segment("from", from, sizeof from);
    memwalk_segment("to", to, sizeof to);
    memwalk_segment("counter", &counter, sizeof counter);
    memwalk_on();
    counter += 2;
    long expected = 2;
    counter.compare_exchange_strong(expected, 3);
    std::memcpy(to, from, sizeof to - (count > 9));
    memwalk_off();
    std::thread other([] { for (int i = 0; i < 100; ++i) to[i] = 1; });
    other.join();
    if (fork() == 0)
        _exit(to[0] == 1 ? 0 : 1);
    int status = 1;
    wait(&status);
    return status != 0 || counter != 3;
}
"""


def test_atomics_copies_threads_and_children(recorder: Path, tmp_path: Path) -> None:
    source = recorder / "various.cpp"
    source.write_text(PROGRAM)
    trace, report = imported(recorded(built(recorder, source)))
    (warning,) = report["warnings"]
    assert "accesses of threads that are not recorded" in warning
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    parts = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]["parts"]
    served = {part["segment"]: sum(part["served"].values()) for part in parts}
    assert served == {"from": 200_000 / 32, "to": 200_000 / 32, "counter": 2, "stack": pytest.approx(5, abs=5)}


COPIES = """
#include <cstring>
#include "memwalk.h"
alignas(64) char from[4096], to[4096];
#define OF_SIZE(size) \\
    memwalk_phase("copy " #size), std::memcpy(to, from, size); \\
    memwalk_phase("move " #size), std::memmove(to, from, size); \\
    memwalk_phase("fill " #size), std::memset(to, 1, size); \\
    memwalk_phase("compare " #size), different += std::memcmp(to, from, size) != 0
int main(int count, char **) {
    int different = 0;
    memwalk_segment("from", from, sizeof from);
    memwalk_segment("to", to, sizeof to);
    memwalk_on();
    OF_SIZE(12);
    OF_SIZE(64);
    OF_SIZE(200);
    memwalk_off();
    return different > 9 * count;
}
"""


@pytest.fixture(scope="module")
def copied(recorder: Path) -> dict[tuple[str, str], int]:
    """Counts the accesses of copies by phase and segment."""
    source = recorder / "copies.cpp"
    source.write_text(COPIES)
    trace, report = imported(recorded(built(recorder, source)))
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", recorder / "copies.out")
    assert done.returncode == 0, done.stderr
    parts = json.loads(memwalk("explain", recorder / "copies.out", "--json").stdout)["points"][0]["parts"]
    return {(part["phase"], part["segment"]): sum(part["served"].values()) for part in parts}


@pytest.mark.parametrize("size", [12, 64, 200])
def test_copies_of_constant_size_are_recorded(size: int, copied: dict[tuple[str, str], int]) -> None:
    """The compiler would make them itself, without a call."""
    vectors = -(-size // 32)
    for what in ("copy", "move"):
        assert (copied[f"{what} {size}", "from"], copied[f"{what} {size}", "to"]) == (vectors, vectors)
    assert copied[f"fill {size}", "to"] == vectors
    assert copied[f"compare {size}", "to"] > 0


MOVES = """
#include <cstdlib>
#include <cstring>
#include "memwalk.h"
constexpr std::size_t size = 1 << 19;
int main(int count, char **arguments) {
    char *bytes = static_cast<char *>(std::aligned_alloc(64, size + 64));
    memwalk_segment("bytes", bytes, size + 64);
    std::memset(bytes, 1, size + 64);
    bytes[1000] = 2;
    memwalk_on();
    memwalk_phase(arguments[1]);
    bool is_different = false;
    if (arguments[1][0] == 'f')
        std::memmove(bytes, bytes + 8 * count, size);
    else if (arguments[1][0] == 'b')
        std::memmove(bytes + 8 * count, bytes, size);
    else
        is_different = std::memcmp(bytes, bytes + 64 * count - 64, size) != 0;
    memwalk_phase("end");
    memwalk_off();
    return is_different && count == 9;
}
"""


@pytest.fixture(scope="module")
def moves(recorder: Path) -> Path:
    """Is the program that moves and compares."""
    source = recorder / "moves.cpp"
    source.write_text(MOVES)
    return built(recorder, source)


@pytest.mark.parametrize("how", ["forward", "backward", "compare"])
def test_moves_and_comparisons_touch_what_they_need(how: str, moves: Path, tmp_path: Path) -> None:
    """A move within memory brings each line once, as it writes what it has just read; a comparison ends at the first difference."""
    trace, report = imported(recorded(moves, how))
    size, line = 1 << 19, 64
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "thesis-simulator", *LITTLE, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    point = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]
    (served,) = (part["served"] for part in point["parts"] if (part["phase"], part["segment"]) == (how, "bytes"))
    if how == "compare":
        assert sum(served.values()) < 2 * 1000 / 32 + 4, "up to the difference"
        return
    assert sum(served.values()) == pytest.approx(2 * size / 32, rel=0.01)
    assert list(point["misses"].values()) == [pytest.approx(size / line, rel=0.01)] * len(point["misses"])


AREAS = """
#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include "memwalk.h"
volatile long global[2000];
extern const long constant[3000] = {1};
template <typename T> void read(const volatile T *values, int count) {
    for (int number = 0; number < count; ++number)
        (void)values[number];
}
int main(int, char **arguments) {
    memwalk_segment("named", (const void *)global, sizeof global / 2);
    read(global, 2000);
    read(constant, 3000);
    long *heap = new long[4000];
    read(heap, 4000);
    int file = open(arguments[0], O_RDONLY);
    read(static_cast<char *>(mmap(nullptr, 5000, PROT_READ, MAP_PRIVATE, file, 0)), 5000);
    std::thread([] {
        volatile char stack[6000];
        read(stack, 6000);
    }).join();
    delete[] heap;
}
"""


def test_memory_that_the_program_does_not_name_is_told_apart(recorder: Path, tmp_path: Path) -> None:
    source = recorder / "areas.cpp"
    source.write_text(AREAS)
    trace, report = imported_threads(recorded(built(recorder, source), threads="2"), 2)
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "zen4-server", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    parts = json.loads(memwalk("explain", tmp_path / "out", "--by", "segment", "--json").stdout)["points"][0]["parts"]
    served = {part["segment"]: sum(part["served"].values()) for part in parts if part["segment"]}
    expected = {"named": 1000, "globals": 1000, "constants": 3000, "(elsewhere)": 4000, "mapped files": 5000, "stack": 6000}
    assert served == {name: pytest.approx(count, abs=20) for name, count in expected.items()}


COMPARISON = "        if (keys[middle] < key)"
SEARCHES = """
#include <cstdint>
#include <vector>
#include "memwalk.h"
__attribute__((noinline)) std::size_t find(const std::vector<long> &keys, long key) {
    std::size_t low = 0, high = keys.size();
    while (low < high) {
        std::size_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
int main() {
    std::vector<long> keys(1 << 12);
    for (std::size_t number = 0; number < keys.size(); ++number)
        keys[number] = 2 * number;
    memwalk_segment("keys", keys.data(), keys.size() * sizeof keys[0]);
    memwalk_on();
    std::uint64_t sum = 0, random = 1;
    for (const char *phase : {"one key", "any key"}) {
        memwalk_phase(phase);
        for (int number = 0; number < 1000; ++number) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            sum += find(keys, phase[0] == 'o' ? 4444 : random >> 51);
        }
    }
    return sum == 0;
}
"""


@pytest.fixture(scope="module")
def searches(recorder: Path) -> Path:
    """Is the program of the searches."""
    source = recorder / "searches.cpp"
    source.write_text(SEARCHES)
    return built(recorder, source)


def test_branches_are_wrongly_predicted_where_data_decide(searches: Path, tmp_path: Path) -> None:
    """A search halves 4,096 keys 12 times, and each time its branch goes either way; of one key it goes as before."""
    trace, report = imported(recorded(searches))
    assert "branch outcomes" not in report["lost"]
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / "out", "--json")
    branches = json.loads(done.stdout)["branches"]
    assert 2000 * 2 * 12 < branches["executed"] < 2000 * 2.5 * 12, "of the loop, and of its comparison"
    assert 1000 * 5 < branches["mispredicted"] < 1000 * 8, "half of the comparisons in one phase, and where the loop ends"
    point = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]
    cycles = {part["phase"]: part["causes"]["branch"] for part in point["parts"] if part["segment"] == "keys"}
    assert cycles["any key"] > 100 * cycles["one key"]
    by_line = ("--by", "line", "--program", searches)
    parts, places = (
        json.loads(memwalk("explain", tmp_path / "out", *by, "--json").stdout)["points"][0]["parts"] for by in (by_line, ("--by", "pc"))
    )
    worst = max(parts, key=lambda part: part["causes"]["branch"])
    number = SEARCHES.splitlines().index(COMPARISON) + 1
    assert worst["segment"] == f"searches.cpp:{number}: {COMPARISON.strip()}"
    assert len(parts) < len(places), "lines have several instructions"
    for counted in (lambda part: part["cycles"], lambda part: part["walks"], lambda part: sum(part["served"].values())):
        assert sum(map(counted, parts)) == pytest.approx(sum(map(counted, places)))


def test_lines_need_a_program_that_has_them(recorder: Path, linked_list: Path, tmp_path: Path) -> None:
    done = memwalk("replay", linked_list, "--machine", "thesis-simulator", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr

    def refusal(*options: str | Path) -> str:
        done = memwalk("explain", tmp_path / "out", *options)
        assert done.returncode == 2
        return " ".join(done.stderr.split())

    assert "--by line: name the program that was recorded" in refusal("--by", "line")
    assert "--program: only with --by line" in refusal("--by", "pc", "--program", "a.out")
    assert "--program nothing: no such file" in refusal("--by", "line", "--program", "nothing")
    text = tmp_path / "text"
    text.write_text("no program")
    assert "no program that addr2line can read" in refusal("--by", "line", "--program", text)
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", recorder / "linked_list", "-o", stripped], check=True)
    assert "tells no line of any" in refusal("--by", "line", "--program", stripped)


def test_a_program_that_is_not_recorded_runs_as_always(list_program: Path, recorder: Path) -> None:
    done = subprocess.run([list_program, "100"], env={"PATH": os.defpath}, capture_output=True, text=True, check=True)
    assert done.stdout.count("ns per node") == 2
    assert done.stderr == ""
    plain = ["g++", "-std=c++17", "-O2", "-I.", EXAMPLES / "linked_list.cpp", "-o", "plain"]
    subprocess.run(plain, cwd=recorder, check=True)
    subprocess.run([recorder / "plain", "100"], check=True, stdout=subprocess.DEVNULL)


def test_what_cannot_be_written_is_told(list_program: Path) -> None:
    def run(path: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([list_program, "100000"], env={"MEMWALK_TRACE": path}, capture_output=True, text=True, check=False)

    nowhere, full = run("/nowhere/t"), run("/dev/full")
    assert nowhere.returncode == 2
    assert nowhere.stderr == "memwalk: $MEMWALK_TRACE, /nowhere/t, cannot be written: No such file or directory\n"
    assert full.returncode == 0, "the program goes on"
    assert full.stderr == "memwalk: what is recorded cannot be written: No space left on device; the rest is not recorded\n"


def test_a_recording_that_was_killed_is_told(list_program: Path, tmp_path: Path) -> None:
    recording = recorded(Path(shutil.copy(list_program, tmp_path)), "1000")
    cut = recording.with_name("cut.recording")
    cut.write_bytes(recording.read_bytes()[: 24 * 1000])
    _, report = imported(cut)
    assert any("no record says that the program has ended" in warning for warning in report["warnings"])


def test_the_recorder_does_not_record_itself(recorder: Path) -> None:
    wrong = ["gcc", "-fsanitize=thread", "-c", "memwalk_recorder.c", "-o", "/dev/null"]
    done = subprocess.run(wrong, cwd=recorder, capture_output=True, text=True, check=False)
    assert "compile memwalk_recorder.c without -fsanitize=thread" in done.stderr


@NEEDS_RUST
def test_a_program_in_rust(recorder: Path) -> None:
    trace, report = imported(recorded(built_in_rust(recorder, EXAMPLES / "linked_list.rs"), str(NODES)))
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "thesis-simulator", *LITTLE, "--json")
    cycles = json.loads(done.stdout)["bounds"]["cycles"]
    assert LATENCY * NODES < cycles[0] < cycles[1] < 1.1 * LATENCY * NODES


ODD = """
use std::hint::black_box;
fn main() {
    let mut random = 1u64;
    let mut odd = 0;
    for _ in 0..1000 {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if black_box(random) >> 63 == 1 {
            odd = black_box(odd) + 1;
        }
    }
    black_box(odd);
}
"""


@NEEDS_RUST
def test_branches_of_a_program_in_rust(recorder: Path) -> None:
    source = recorder / "odd.rs"
    source.write_text(ODD)
    trace, report = imported(recorded(built_in_rust(recorder, source)))
    assert "branch outcomes" not in report["lost"]
    branches = json.loads(memwalk("replay", trace, "--machine", "thesis-simulator", "--json").stdout)["branches"]
    assert 1000 <= branches["executed"] < 3000
    assert 300 < branches["mispredicted"] < 700, "nobody can know them, and each goes either way"


CARGO = {
    "Cargo.toml": '[package]\nname = "program"\nedition = "2021"\n[dependencies]\nmacros = { path = "macros" }\n',
    "build.rs": "fn main() {}",
    "src/main.rs": "use std::hint::black_box; fn main() { for n in 0..black_box(1000u64) { drop(black_box(vec![macros::one!(), n])); } }",
    "macros/Cargo.toml": '[package]\nname = "macros"\nedition = "2021"\n[lib]\nproc-macro = true\n',
    "macros/src/lib.rs": '#[proc_macro] pub fn one(_: proc_macro::TokenStream) -> proc_macro::TokenStream { "1".parse().unwrap() }',
}
"""A procedural macro cannot be linked with the recorder."""


@NEEDS_RUST
def test_a_program_that_cargo_builds(recorder: Path) -> None:
    package = recorder / "package"
    for name, text in CARGO.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    said = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    (host,) = (line.removeprefix("host: ") for line in said.splitlines() if line.startswith("host: "))
    environment = os.environ | {"RUSTFLAGS": " ".join(rust_options(recorder)), "CARGO_TARGET_DIR": str(package / "target")}
    command = ["cargo", "build", "--release", "--offline", "--quiet", "--target", host]
    subprocess.run(command, cwd=package, env=environment, check=True)
    program = package / "target" / host / "release" / "program"
    recording = recorded(program)
    done = memwalk("trace", "import", recording, "--program", program, "-o", recorder / "package.parquet", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["warnings"] == []
    assert report["unknown_blocks"] == 0
    assert 3000 < report["accesses"] < 30_000
