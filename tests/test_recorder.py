"""The recorder that comes with memwalk, linked into programs in C++ and Rust: docs/your-own-program.md."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import ROOT, memwalk

from memwalk.analysis.trace_facts import TraceFacts
from memwalk.simcore.engines import native

EXAMPLES = ROOT / "docs" / "examples"
WRAPPED = "@memwalk_wrap.rsp"
NODES = 20_000
"""Of 64 bytes: more than the caches of the thesis's machine hold of them with two levels of 64 KiB."""
LITTLE = ("--set", "machine.caches.L2.size_bytes=64KiB", "--set", "machine.caches.L3.size_bytes=64KiB")
LATENCY = 250
"""Cycles to that machine's memory."""

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the recorder, compiled."""
    folder = tmp_path_factory.mktemp("recorder")
    done = memwalk("trace", "recorder", ".", cwd=folder)
    assert done.stdout.split() == ["memwalk.h", "memwalk_recorder.c", "memwalk_wrap.rsp"], done.stderr
    compiler = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "memwalk_recorder.c"]
    subprocess.run(compiler, cwd=folder, check=True)
    return folder


ACCESSES = ("-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0")
ACCESSES_AND_BLOCKS = ("-fsanitize=thread", "-fsanitize-coverage=trace-pc")


def built(folder: Path, source: Path, calls: tuple[str, ...] = ACCESSES_AND_BLOCKS) -> Path:
    """Return the program of a source, instrumented with calls of the recorder, and linked with it."""
    name = source.stem
    options = ["-std=c++17", "-O2", "-g", "-I.", *calls]
    subprocess.run(["g++", *options, "-c", source, "-o", f"{name}.o"], cwd=folder, check=True)
    subprocess.run(["g++", f"{name}.o", "memwalk_recorder.o", WRAPPED, "-pthread", "-o", name], cwd=folder, check=True)
    return folder / name


def recorded(program: Path, *arguments: str, threads: str = "") -> Path:
    """Run a program, and return what its first thread recorded."""
    recording = program.with_suffix(".recording")
    environment = {"PATH": os.defpath, "MEMWALK_TRACE": str(recording)} | ({"MEMWALK_THREADS": threads} if threads else {})
    subprocess.run([program, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    return recording


def imported(*recordings: Path) -> tuple[Path, dict[str, Any]]:
    """Return the trace of recordings, one for each thread, and what its import says."""
    trace = recordings[0].with_suffix(".parquet")
    trace.unlink(missing_ok=True)
    done = memwalk("trace", "import", *recordings, "-o", trace, "--json")
    assert done.returncode == 0, done.stderr
    return trace, json.loads(done.stdout)


def imported_threads(first: Path, threads: int) -> tuple[Path, dict[str, Any]]:
    """As `imported`, of so many threads, the first of which has written there."""
    return imported(first, *(first.with_name(f"{first.name}.{thread}") for thread in range(1, threads)))


@pytest.fixture(scope="module")
def linked_list(folder: Path) -> Path:
    """Is the trace of the list."""
    trace, report = imported(recorded(built(folder, EXAMPLES / "linked_list.cpp"), str(NODES)))
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


def test_data_structures_and_phases_have_the_accesses_that_they_should(folder: Path, tmp_path: Path) -> None:
    entries = 8000
    trace, report = imported(recorded(built(folder, EXAMPLES / "hash_table.cpp", ACCESSES), str(entries)))
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


def test_the_program_says_how_many_instructions_there_are(folder: Path, tmp_path: Path) -> None:
    """A step of the search below has 8 in the plain program, and some more in that which calls the recorder."""
    source = folder / "searches.cpp"
    source.write_text(SEARCHES)
    program = built(folder, source)
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

    other = built(folder, EXAMPLES / "hash_table.cpp")
    assert "tells of no basic block that is in the program" in refusal("--program", other)
    assert "no basic block calls the recorder" in refusal("--program", "/bin/true")
    assert "no program that objdump can read" in refusal("--program", source)
    assert "--program nothing: no such file" in refusal("--program", "nothing")
    assert "--program: counts the instructions" in refusal("--program", program, "--instructions-per-access", "2")


def test_instructions_are_found_in_the_source(linked_list: Path, folder: Path) -> None:
    """Also in a program that may lie anywhere."""
    sites = native.trace_info(linked_list)["layout"]["sites"]
    done = subprocess.run(["addr2line", "-e", "linked_list", *sites[1:]], cwd=folder, capture_output=True, text=True, check=True)
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


def test_atomics_copies_threads_and_children(folder: Path, tmp_path: Path) -> None:
    source = folder / "various.cpp"
    source.write_text(PROGRAM)
    trace, report = imported(recorded(built(folder, source)))
    (warning,) = report["warnings"]
    assert "accesses of other threads are not in the trace" in warning
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    parts = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]["parts"]
    served = {part["segment"]: sum(part["served"].values()) for part in parts}
    assert served == {"from": 200_000 / 32, "to": 200_000 / 32, "counter": 2, "(elsewhere)": pytest.approx(5, abs=5)}


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


def test_branches_are_wrongly_predicted_where_data_decide(folder: Path, tmp_path: Path) -> None:
    """A search halves 4,096 keys 12 times, and each time its branch goes either way; of one key it goes as before."""
    source = folder / "searches.cpp"
    source.write_text(SEARCHES)
    program = built(folder, source)
    trace, report = imported(recorded(program))
    assert "branch outcomes" not in report["lost"]
    done = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / "out", "--json")
    branches = json.loads(done.stdout)["branches"]
    assert 2000 * 2 * 12 < branches["executed"] < 2000 * 2.5 * 12, "of the loop, and of its comparison"
    assert 1000 * 5 < branches["mispredicted"] < 1000 * 8, "half of the comparisons in one phase, and where the loop ends"
    point = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]
    cycles = {part["phase"]: part["causes"]["branch"] for part in point["parts"] if part["segment"] == "keys"}
    assert cycles["any key"] > 100 * cycles["one key"]
    by_line = ("--by", "line", "--program", program)
    parts, places = (
        json.loads(memwalk("explain", tmp_path / "out", *by, "--json").stdout)["points"][0]["parts"] for by in (by_line, ("--by", "pc"))
    )
    worst = max(parts, key=lambda part: part["causes"]["branch"])
    number = SEARCHES.splitlines().index(COMPARISON) + 1
    assert worst["segment"] == f"searches.cpp:{number}: {COMPARISON.strip()}"
    assert len(parts) < len(places), "lines have several instructions"
    for counted in (lambda part: part["cycles"], lambda part: part["walks"], lambda part: sum(part["served"].values())):
        assert sum(map(counted, parts)) == pytest.approx(sum(map(counted, places)))


def test_lines_need_a_program_that_has_them(folder: Path, linked_list: Path, tmp_path: Path) -> None:
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
    subprocess.run(["strip", folder / "linked_list", "-o", stripped], check=True)
    assert "tells no line of any" in refusal("--by", "line", "--program", stripped)


THREADS = """
#include <cstdint>
#include <pthread.h>
#include <thread>
#include <vector>
#include "memwalk.h"
struct Near { volatile std::uint64_t value; } near_by[4];
struct alignas(64) Apart { volatile std::uint64_t value; } apart[4];
pthread_barrier_t meeting;
template <typename T> void count(const char *phase, T &counter) {
    pthread_barrier_wait(&meeting);
    memwalk_barrier();
    memwalk_phase(phase);
    for (int number = 0; number < 2000; ++number)
        counter.value = counter.value + 1;
}
void work(int thread) {
    memwalk_on();
    count("near", near_by[thread]);
    count("apart", apart[thread]);
    memwalk_off();
}
int main() {
    memwalk_segment("near by", near_by, sizeof near_by);
    memwalk_segment("apart", apart, sizeof apart);
    pthread_barrier_init(&meeting, nullptr, 4);
    std::vector<std::thread> others;
    for (int thread = 1; thread < 4; ++thread)
        others.emplace_back(work, thread);
    work(0);
    for (std::thread &other : others)
        other.join();
}
"""


@pytest.fixture(scope="module")
def counters(folder: Path) -> Path:
    """Is the program of four threads."""
    source = folder / "counters.cpp"
    source.write_text(THREADS)
    return built(folder, source)


def test_threads_meet_on_their_cores(counters: Path, tmp_path: Path) -> None:
    """Counters of four threads in one line go from core to core; in lines of their own they stay."""
    trace, report = imported_threads(recorded(counters, threads="4"), 4)
    assert report["warnings"] == []
    assert "threads" not in report["lost"]
    assert TraceFacts.of(trace).threads == 4
    done = memwalk("replay", trace, "--machine", "zen4-server", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    point = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"][0]
    cycles = {(part["phase"], part["segment"]): part["cycles"] for part in point["parts"]}
    assert cycles["near", "near by"] > 4 * cycles["apart", "apart"]


def test_of_more_threads_the_first_are_recorded(counters: Path) -> None:
    files = [recorded(counters, threads="4").with_name(f"counters.recording.{number}") for number in range(1, 4)]
    assert all(file.exists() for file in files)
    files[2].write_text("of somebody else")
    _, report = imported(recorded(counters, threads="2"))
    assert [file.exists() for file in files] == [True, False, True], "no thread of an earlier recording is left"
    (warning,) = report["warnings"]
    assert "accesses of other threads" in warning
    done = subprocess.run(
        [counters], env={"MEMWALK_TRACE": "/dev/null", "MEMWALK_THREADS": "no"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "memwalk: $MEMWALK_THREADS, no, is no number of threads from 1 on\n")


FOR_EVER = """
#include <atomic>
#include <thread>
#include "memwalk.h"
volatile long value;
std::atomic<bool> has_begun;
int main() {
    memwalk_segment("value", (const void *)&value, sizeof value);
    std::thread([] {
        for (int number = 0; number < 1000; ++number)
            value = 1;
        has_begun = true;
        for (;;)
            value = 1;
    }).detach();
    while (!has_begun)
        std::this_thread::yield();
}
"""


def test_a_thread_that_goes_on_is_recorded_until_the_program_ends(folder: Path) -> None:
    source = folder / "for_ever.cpp"
    source.write_text(FOR_EVER)
    program = built(folder, source)
    for _ in range(5):
        trace, report = imported_threads(recorded(program, threads="2"), 2)
        assert report["warnings"] == []
        done = memwalk("replay", trace, "--machine", "zen4-server", "--mode", "counts", "--json")
        assert json.loads(done.stdout)["events"] > 1000


LIVES = """
#include <cstdint>
#include <pthread.h>
#include <thread>
#include <vector>
#include "memwalk.h"
struct alignas(64) Counter { volatile std::uint64_t value; } counters[4];
void count(int thread) {
    for (int number = 0; number < 20000; ++number)
        counters[thread].value = counters[thread].value + 1;
}
void *work(void *thread) {
    count(*static_cast<int *>(thread));
    return nullptr;
}
int main(int, char **arguments) {
    count(0);
    char how = arguments[1][0];
    int numbers[4] = {0, 1, 2, 3};
    if (how == 'a')
        return 0;
    if (how == 'c') {
        std::vector<std::thread> others;
        for (int thread = 1; thread < 4; ++thread)
            others.emplace_back(work, &numbers[thread]);
        for (std::thread &other : others)
            other.join();
    } else {
        pthread_t others[4];
        for (int thread = 1; thread < 4; ++thread)
            pthread_create(&others[thread], nullptr, work, &numbers[thread]);
        for (int thread = 1; thread < 4; ++thread)
            pthread_join(others[thread], nullptr);
    }
    count(0);
}
"""


def test_threads_begin_and_end_where_the_program_says(folder: Path) -> None:
    """Three threads count at the same time, behind the first one's count and before its second."""
    source = folder / "lives.cpp"
    source.write_text(LIVES)
    program = built(folder, source)

    def cycles(how: str) -> list[float]:
        recording = recorded(program, how, threads="4")
        trace, report = imported_threads(recording, 4) if how != "alone" else imported(recording)
        assert report["warnings"] == []
        done = memwalk("replay", trace, "--machine", "zen4-server", "--json")
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout)["bounds"]["cycles"])

    once = cycles("alone")
    for how in ("c++", "posix"):
        lower, upper = cycles(how)
        assert lower > 2.4 * once[0]
        assert upper == pytest.approx(3 * once[1], rel=0.05)


BARRIERS = """
#include <cstdint>
#include <pthread.h>
#include <thread>
#include <vector>
#include "memwalk.h"
struct alignas(64) Counter { volatile std::uint64_t value; } counters[3];
pthread_barrier_t meeting;
void count(int thread, int times) {
    for (int number = 0; number < times * 10000; ++number)
        counters[thread].value = counters[thread].value + 1;
}
int main(int, char **arguments) {
    count(0, 1);
    if (arguments[1][0] == 'a')
        return 0;
    pthread_barrier_init(&meeting, nullptr, 3);
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 3; ++worker)
        workers.emplace_back([=] {
            count(worker, worker + 1);
            pthread_barrier_wait(&meeting);
            count(worker, 3 - worker);
            pthread_barrier_wait(&meeting);
        });
    for (std::thread &worker : workers)
        worker.join();
}
"""


def test_workers_wait_for_each_other_at_their_barrier(folder: Path) -> None:
    """Each counts four times; but who is first at the barrier waits, so that they take six, behind one of the thread that begins them."""
    source = folder / "barriers.cpp"
    source.write_text(BARRIERS)
    program = built(folder, source)

    def cycles(trace: Path) -> int:
        done = memwalk("replay", trace, "--machine", "zen4-server", "--dependences", "chain", "--json")
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["cycles"])

    once = cycles(imported(recorded(program, "alone"))[0])
    trace, report = imported_threads(recorded(program, "workers", threads="4"), 4)
    assert report["warnings"] == []
    assert 6 * once < cycles(trace) < 7.2 * once, "what comes first is slower: caches are cold"


LOCKS = """
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>
#include "memwalk.h"
constexpr int sections = 20, steps = 1000;
template <typename Mutex> struct alignas(64) Lock { Mutex mutex; };
struct alignas(64) Counter { volatile std::uint64_t value; } counters[4], total;
Lock<std::mutex> mutexes[4];
Lock<std::shared_mutex> shared;
void count(int thread, bool all) {
    for (int number = 0; number < steps; ++number)
        counters[thread].value = counters[thread].value + 1;
    if (all)
        total.value = total.value + 1;
}
void work(int thread, std::string lock) {
    memwalk_on();
    for (int section = 0; section < sections; ++section)
        if (lock == "one") {
            std::lock_guard<std::mutex> guard(mutexes[0].mutex);
            count(thread, true);
        } else if (lock == "several") {
            std::lock_guard<std::mutex> guard(mutexes[thread].mutex);
            count(thread, false);
        } else if (lock == "alone") {
            std::unique_lock<std::shared_mutex> guard(shared.mutex);
            count(thread, true);
        } else {
            std::shared_lock<std::shared_mutex> guard(shared.mutex);
            count(thread, false);
        }
    memwalk_off();
}
int main(int, char **arguments) {
    std::string lock = arguments[1];
    memwalk_segment("locks", mutexes, sizeof mutexes);
    memwalk_segment("locks", &shared, sizeof shared);
    memwalk_segment("counters", counters, sizeof counters);
    std::vector<std::thread> others;
    for (int thread = 1; thread < 4; ++thread)
        others.emplace_back(work, thread, lock);
    work(0, lock);
    for (std::thread &other : others)
        other.join();
    bool is_common = lock == "one" || lock == "alone";
    return is_common && total.value != 4 * sections;
}
"""


@pytest.fixture(scope="module")
def locks(folder: Path) -> Path:
    """Is the program of four threads that take locks."""
    source = folder / "locks.cpp"
    source.write_text(LOCKS)
    return built(folder, source)


def replayed(locks: Path, which: str, out: Path) -> tuple[list[float], list[dict[str, Any]]]:
    """Return the cycles of a program's lower and upper bound, and the parts of the lower one."""
    trace, report = imported_threads(recorded(locks, which, threads="4"), 4)
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "zen4-server", "--out", out / which, "--json")
    assert done.returncode == 0, done.stderr
    point = json.loads(memwalk("explain", out / which, "--json").stdout)["points"][0]
    return json.loads(done.stdout)["bounds"]["cycles"], point["parts"]


@pytest.mark.parametrize(("common", "apart"), [("one", "several"), ("alone", "shared")])
def test_sections_under_a_lock_do_not_overlap(common: str, apart: str, locks: Path, tmp_path: Path) -> None:
    """Threads with a lock of their own, or one that they share, run at the same time; those with a common one after each other."""
    together, parts = replayed(locks, apart, tmp_path)
    assert not any(part["causes"].get("barrier") for part in parts if part["segment"] == "locks")
    in_turn, parts = replayed(locks, common, tmp_path)
    for turns, once in zip(in_turn, together, strict=True):
        assert 3.8 * once < turns < 5 * once
    waits = {part["segment"]: part["causes"].get("barrier", 0) for part in parts}
    assert waits.pop("locks") == pytest.approx(0.75 * in_turn[0], rel=0.1), "three of four wait at any time"
    assert sum(waits.values()) < 0.1 * in_turn[0], "the first for the last of the others, at the end"


def test_locks_of_threads_that_are_not_recorded_keep_nobody_waiting(locks: Path) -> None:
    trace, report = imported_threads(recorded(locks, "one", threads="2"), 2)
    assert all("accesses of other threads" in warning for warning in report["warnings"])
    done = memwalk("replay", trace, "--machine", "zen4-server", "--json")
    assert done.returncode == 0, done.stderr


EACH = """
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <thread>
#include "memwalk.h"
using namespace std::chrono_literals;
std::mutex mutex, second;
std::recursive_mutex recursive;
std::timed_mutex timed;
std::shared_mutex shared;
std::shared_timed_mutex both;
std::condition_variable condition;
pthread_spinlock_t spin;
pthread_rwlock_t plain = PTHREAD_RWLOCK_INITIALIZER;
volatile int step;
auto soon() { return std::chrono::system_clock::now() + 1ms; }
timespec later() { return {std::time(nullptr) + 10, 0}; }
template <typename Use> void in(const char *phase, Use use) {
    memwalk_phase(phase);
    use();
}
int main() {
    pthread_spin_init(&spin, 0);
    std::thread([] { step = 1; }).join();
    in("mutex", [] { std::lock_guard guard(mutex); });
    in("try", [] { if (mutex.try_lock()) mutex.unlock(); });
    in("two", [] { std::scoped_lock guard(mutex, second); });
    in("recursive", [] { std::lock_guard outer(recursive); std::lock_guard inner(recursive); });
    in("for", [] { if (timed.try_lock_for(1s)) timed.unlock(); });
    in("until", [] { if (timed.try_lock_until(soon())) timed.unlock(); });
    in("shared", [] { std::shared_lock guard(shared); });
    in("alone", [] { std::unique_lock guard(shared); });
    in("try shared", [] { if (shared.try_lock_shared()) shared.unlock_shared(); });
    in("try alone", [] { if (shared.try_lock()) shared.unlock(); });
    in("in vain", [] { std::shared_lock guard(shared); if (shared.try_lock()) shared.unlock(); });
    in("shared for", [] { if (both.try_lock_shared_for(1s)) both.unlock_shared(); });
    in("alone for", [] { if (both.try_lock_for(1s)) both.unlock(); });
    in("shared until", [] { auto end = later(); pthread_rwlock_timedrdlock(&plain, &end); pthread_rwlock_unlock(&plain); });
    in("alone until", [] { auto end = later(); pthread_rwlock_timedwrlock(&plain, &end); pthread_rwlock_unlock(&plain); });
    in("spin", [] { pthread_spin_lock(&spin); pthread_spin_unlock(&spin); });
    in("try spin", [] { if (pthread_spin_trylock(&spin) == 0) pthread_spin_unlock(&spin); });
    in("condition", [] {
        std::unique_lock guard(mutex);
        std::thread signals([] { std::lock_guard guard(mutex); step = 2; condition.notify_one(); });
        while (step != 2)
            condition.wait(guard);
        guard.unlock();
        signals.join();
    });
    in("condition for", [] { std::unique_lock guard(mutex); condition.wait_for(guard, 1ms); });
    in("condition until", [] { std::unique_lock guard(mutex); condition.wait_until(guard, soon()); });
    in("condition in C", [] {
        std::unique_lock guard(mutex);
        std::thread signals([] { std::lock_guard guard(mutex); step = 3; condition.notify_one(); });
        while (step != 3)
            pthread_cond_wait(condition.native_handle(), mutex.native_handle());
        guard.unlock();
        signals.join();
    });
    memwalk_phase("end");
    return step != 3;
}
"""
ALONE, SHARED = ["latch", "unlatch"], ["share_latch", "unlatch"]
LATCHES = {
    **dict.fromkeys(
        ("mutex", "try", "recursive", "for", "until", "alone", "try alone", "alone for", "alone until", "spin", "try spin"), ALONE
    ),
    **dict.fromkeys(("shared", "try shared", "in vain", "shared for", "shared until"), SHARED),
    "two": ["latch", "latch", "unlatch", "unlatch"],
    **dict.fromkeys(("condition", "condition for", "condition until", "condition in C"), ALONE + ALONE),
}


NO_LOCK = 1 << 63
"""Latches of threads' beginnings and ends are at addresses from here on."""


def test_each_function_for_locks_is_seen(folder: Path) -> None:
    """Those of C that C++ calls; which one, its library decides."""
    source = folder / "each.cpp"
    source.write_text(EACH)
    program = built(folder, source)
    trace, _ = imported_threads(recorded(program, threads="2"), 2)
    info = native.trace_info(trace)
    found: dict[str, list[str]] = {}
    for event in native.trace_head(trace, 1000):
        if event["kind"] == "mark":
            phase = info["layout"]["phases"][event["address"]]
            if phase == "end":
                break
            latches = found.setdefault(phase, [])
        elif "latch" in event["kind"] and event["address"] < NO_LOCK:
            latches.append(event["kind"])
    assert found == LATCHES
    subprocess.run([program], env={"PATH": os.defpath}, check=True)


def test_the_linker_wraps_what_the_recorder_has(folder: Path) -> None:
    done = subprocess.run(["nm", "--defined-only", "memwalk_recorder.o"], cwd=folder, capture_output=True, text=True, check=True)
    symbols = [line.split()[-1] for line in done.stdout.splitlines()]
    has = {symbol.removeprefix("__wrap_") for symbol in symbols if symbol.startswith("__wrap_")}
    wraps = [line.removeprefix("-Wl,--wrap=") for line in (folder / "memwalk_wrap.rsp").read_text().splitlines()]
    assert sorted(wraps) == sorted(has)


ORDERS = """
#include <mutex>
#include <thread>
#include "memwalk.h"
std::mutex one, other;
volatile int value;
void work(std::mutex &first, std::mutex &second) {
    memwalk_on();
    for (int section = 0; section < 200; ++section) {
        std::scoped_lock guard(first, second);
        value = value + 1;
    }
    memwalk_off();
}
int main() {
    std::thread thread([] { work(other, one); });
    work(one, other);
    thread.join();
    return value != 400;
}
"""


def test_who_takes_two_locks_in_two_orders_comes_to_an_end(folder: Path) -> None:
    """Natively std::scoped_lock tries the second, and stands back. In a replay one would wait for the other for ever."""
    source = folder / "orders.cpp"
    source.write_text(ORDERS)
    trace, report = imported_threads(recorded(built(folder, source), threads="2"), 2)
    (warning,) = report["warnings"]
    assert warning.startswith("2 locks are taken in several orders")
    done = memwalk("replay", trace, "--machine", "zen4-server", "--json")
    assert done.returncode == 0, done.stderr


def test_a_program_that_is_not_recorded_runs_as_always(folder: Path) -> None:
    program = built(folder, EXAMPLES / "linked_list.cpp")
    done = subprocess.run([program, "100"], env={"PATH": os.defpath}, capture_output=True, text=True, check=True)
    assert done.stdout.count("ns per node") == 2
    assert done.stderr == ""
    plain = ["g++", "-std=c++17", "-O2", "-I.", EXAMPLES / "linked_list.cpp", "-o", "plain"]
    subprocess.run(plain, cwd=folder, check=True)
    subprocess.run([folder / "plain", "100"], check=True, stdout=subprocess.DEVNULL)


def test_what_cannot_be_written_is_told(folder: Path) -> None:
    program = built(folder, EXAMPLES / "linked_list.cpp")

    def run(path: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, "100000"], env={"MEMWALK_TRACE": path}, capture_output=True, text=True, check=False)

    nowhere, full = run("/nowhere/t"), run("/dev/full")
    assert nowhere.returncode == 2
    assert nowhere.stderr == "memwalk: $MEMWALK_TRACE, /nowhere/t, cannot be written: No such file or directory\n"
    assert full.returncode == 0, "the program goes on"
    assert full.stderr == "memwalk: what is recorded cannot be written: No space left on device; the rest is not recorded\n"


def test_a_recording_that_was_killed_is_told(folder: Path) -> None:
    recording = recorded(built(folder, EXAMPLES / "linked_list.cpp"), "1000")
    cut = recording.with_name("cut.recording")
    cut.write_bytes(recording.read_bytes()[: 24 * 1000])
    _, report = imported(cut)
    assert any("no record says that the program has ended" in warning for warning in report["warnings"])


def test_the_recorder_does_not_record_itself(folder: Path) -> None:
    wrong = ["gcc", "-fsanitize=thread", "-c", "memwalk_recorder.c", "-o", "/dev/null"]
    done = subprocess.run(wrong, cwd=folder, capture_output=True, text=True, check=False)
    assert "compile memwalk_recorder.c without -fsanitize=thread" in done.stderr


def built_in_rust(folder: Path, source: Path) -> Path:
    """Return the program of a source in Rust, instrumented and linked with the recorder."""
    calls = ("level=3", "prune-blocks=0", "trace-pc-guard", "pc-table", "trace-loads", "trace-stores")
    asked = [f"-Cllvm-args=-sanitizer-coverage-{call}" for call in calls]
    options = [
        "--edition",
        "2021",
        "-O",
        "-g",
        "-Cpasses=sancov-module",
        *asked,
        "-Clink-arg=memwalk_recorder.o",
        "-Clink-arg=@memwalk_wrap.rsp",
    ]
    program = folder / f"{source.stem}_in_rust"
    subprocess.run(["rustc", *options, source, "-o", program], cwd=folder, check=True)
    return program


@pytest.mark.skipif(not shutil.which("rustc"), reason="needs rustc")
def test_a_program_in_rust(folder: Path) -> None:
    trace, report = imported(recorded(built_in_rust(folder, EXAMPLES / "linked_list.rs"), str(NODES)))
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "thesis-simulator", *LITTLE, "--json")
    cycles = json.loads(done.stdout)["bounds"]["cycles"]
    assert LATENCY * NODES < cycles[0] < cycles[1] < 1.1 * LATENCY * NODES


IN_TURN = """
use std::hint::black_box;
fn count() {
    for number in 0..20000u64 {
        black_box(number);
    }
}
fn main() {
    count();
    if std::env::args().nth(1).unwrap() == "threads" {
        let other = std::thread::spawn(count);
        other.join().unwrap();
        count();
    }
}
"""


@pytest.mark.skipif(not shutil.which("rustc"), reason="needs rustc")
def test_threads_of_a_program_in_rust(folder: Path) -> None:
    """Another thread counts between two counts of the first, and not beside one of them. (What comes first is slower: caches are cold.)"""
    source = folder / "in_turn.rs"
    source.write_text(IN_TURN)
    program = built_in_rust(folder, source)

    def cycles(trace: Path) -> int:
        done = memwalk("replay", trace, "--machine", "zen4-server", "--dependences", "chain", "--json")
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["cycles"])

    once, _ = imported(recorded(program, "alone"))
    alone = cycles(once)
    threads, _ = imported_threads(recorded(program, "threads", threads="2"), 2)
    assert cycles(threads) > 2 * alone


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


@pytest.mark.skipif(not shutil.which("rustc"), reason="needs rustc")
def test_branches_of_a_program_in_rust(folder: Path) -> None:
    source = folder / "odd.rs"
    source.write_text(ODD)
    trace, report = imported(recorded(built_in_rust(folder, source)))
    assert "branch outcomes" not in report["lost"]
    branches = json.loads(memwalk("replay", trace, "--machine", "thesis-simulator", "--json").stdout)["branches"]
    assert 1000 <= branches["executed"] < 3000
    assert 300 < branches["mispredicted"] < 700, "nobody can know them, and each goes either way"
