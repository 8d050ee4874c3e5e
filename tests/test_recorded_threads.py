"""Threads of programs that memwalk's recorder has recorded: where they begin, end and wait for each other."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from recording import NEEDS_COMPILER, NEEDS_RUST, built, built_in_rust, cycles, imported, imported_threads, recorded

from memwalk.analysis.traces import runs as trace_runs
from memwalk.analysis.traces.facts import TraceFacts
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

pytestmark = NEEDS_COMPILER


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
def counters(recorder: Path) -> Path:
    """Is the program of four threads."""
    source = recorder / "counters.cpp"
    source.write_text(THREADS)
    return built(recorder, source)


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
    assert "accesses of threads that are not recorded" in warning
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


def test_a_thread_that_goes_on_is_recorded_until_the_program_ends(recorder: Path) -> None:
    source = recorder / "for_ever.cpp"
    source.write_text(FOR_EVER)
    program = built(recorder, source)
    for _ in range(3):
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


@pytest.fixture(scope="module")
def lives(recorder: Path) -> Path:
    """Is the program whose first thread counts, has others do so, and counts again."""
    source = recorder / "lives.cpp"
    source.write_text(LIVES)
    return built(recorder, source)


def test_threads_begin_and_end_where_the_program_says(lives: Path) -> None:
    """Three threads count at the same time, behind the first one's count and before its second."""

    def bounds(how: str) -> list[float]:
        recording = recorded(lives, how, threads="4")
        trace, report = imported_threads(recording, 4) if how != "alone" else imported(recording)
        assert report["warnings"] == []
        done = memwalk("replay", trace, "--machine", "zen4-server", "--json")
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout)["bounds"]["cycles"])

    once = bounds("alone")
    for how in ("c++", "posix"):
        lower, upper = bounds(how)
        assert lower > 2.4 * once[0]
        assert upper == pytest.approx(3 * once[1], rel=0.05)


def test_threads_that_have_not_begun_are_told_apart_from_what_takes_time(lives: Path, tmp_path: Path) -> None:
    trace, _ = imported_threads(recorded(lives, "c++", threads="4"), 4)
    assert memwalk("replay", trace, "--machine", "zen4-server", "--out", tmp_path / "out").returncode == 0
    for by in ((), ("--by", "phase"), ("--by", "line", "--program", lives)):
        done = memwalk("explain", tmp_path / "out", *by, "--json")
        point = json.loads(done.stdout)["points"][-1]
        (waiting,) = (part for part in point["parts"] if part["phase"] == native.NOT_BEGUN)
        assert waiting["segment"] == ""
        assert waiting["share"] == pytest.approx(0.75 / 3, abs=0.02), "three of four cores, until the first has counted once"
        shown = memwalk("explain", tmp_path / "out", *by).stdout.splitlines()
        said = [line for line in shown if "goes to" in line]
        assert all("have not begun, or have ended. Of the rest most goes to" in line for line in said), said
        assert len(said) == 2


def test_a_run_of_threads_is_said_to_pass_each_event_once_for_each_bound(lives: Path) -> None:
    recording = recorded(lives, "c++", threads="4")
    for count, runs in ((1, 1), (4, 2)):
        trace, _ = imported_threads(recording, count)
        facts = TraceFacts.of(trace)
        plan = trace_runs.TracePlan(facts, load_machine("zen4-server").native(), trace_runs.chosen(facts, None))
        assert trace_runs.events(plan, sites=False) == runs * facts.events


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


def test_workers_wait_for_each_other_at_their_barrier(recorder: Path) -> None:
    """Each counts four times; but who is first at the barrier waits, so that they take six, behind one of the thread that begins them."""
    source = recorder / "barriers.cpp"
    source.write_text(BARRIERS)
    program = built(recorder, source)

    once = cycles(imported(recorded(program, "alone"))[0])
    trace, report = imported_threads(recorded(program, "workers", threads="4"), 4)
    assert report["warnings"] == []
    assert 6 * once < cycles(trace) < 7.2 * once, "what comes first is slower: caches are cold"


SIGNALS = """
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include "memwalk.h"
struct alignas(64) Counter { volatile std::uint64_t value; } counters[2];
std::mutex mutex;
std::condition_variable condition;
pthread_cond_t plain = PTHREAD_COND_INITIALIZER;
bool waits, goes_on;
void count(int thread) {
    for (int number = 0; number < 20000; ++number)
        counters[thread].value = counters[thread].value + 1;
}
int main(int, char **arguments) {
    char how = arguments[1][0];
    if (how != 'a') {
        std::thread other([how] {
            std::unique_lock<std::mutex> lock(mutex);
            waits = true;
            while (!goes_on)
                if (how == 'p')
                    pthread_cond_wait(&plain, mutex.native_handle());
                else
                    condition.wait(lock);
            lock.unlock();
            count(1);
        });
        for (bool is_ready = false; !is_ready; usleep(1000)) {
            std::lock_guard<std::mutex> lock(mutex);
            is_ready = waits;
        }
        count(0);
        std::unique_lock<std::mutex> lock(mutex);
        goes_on = true;
        lock.unlock();
        if (how == 'p')
            pthread_cond_signal(&plain);
        else if (how == 'o')
            condition.notify_one();
        else
            condition.notify_all();
        other.join();
    } else {
        count(0);
        count(0);
    }
}
"""


def test_who_waits_for_a_signal_goes_on_behind_it(recorder: Path) -> None:
    """A thread counts when the first, which has counted, lets it: that takes as long as to count twice."""
    source = recorder / "signals.cpp"
    source.write_text(SIGNALS)
    program = built(recorder, source)

    alone = cycles(imported(recorded(program, "alone"))[0])
    for how in ("one", "to all", "posix"):
        trace, report = imported_threads(recorded(program, how, threads="2"), 2)
        assert report["warnings"] == []
        assert cycles(trace) == pytest.approx(alone, rel=0.05)


LOCKS = """
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>
#include "memwalk.h"
constexpr int sections = 20, steps = 500;
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
def locks(recorder: Path) -> Path:
    """Is the program of four threads that take locks."""
    source = recorder / "locks.cpp"
    source.write_text(LOCKS)
    return built(recorder, source)


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
    assert all("accesses of threads that are not recorded" in warning for warning in report["warnings"])
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


def test_each_function_for_locks_is_seen(recorder: Path) -> None:
    """Those of C that C++ calls; which one, its library decides."""
    source = recorder / "each.cpp"
    source.write_text(EACH)
    program = built(recorder, source)
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


def test_the_linker_wraps_what_the_recorder_has(recorder: Path) -> None:
    done = subprocess.run(["nm", "--defined-only", "memwalk_recorder.o"], cwd=recorder, capture_output=True, text=True, check=True)
    symbols = [line.split()[-1] for line in done.stdout.splitlines()]
    has = {symbol.removeprefix("__wrap_") for symbol in symbols if symbol.startswith("__wrap_")}
    *wraps, last = (line.removeprefix("-Wl,--wrap=") for line in (recorder / "memwalk_wrap.rsp").read_text().splitlines())
    assert sorted(wraps) == sorted(has)
    assert last == "-Wl,--no-as-needed", "a library is not left out though the recorder alone calls it"


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


def test_who_takes_two_locks_in_two_orders_comes_to_an_end(recorder: Path) -> None:
    """Natively std::scoped_lock tries the second, and stands back. In a replay one would wait for the other for ever."""
    source = recorder / "orders.cpp"
    source.write_text(ORDERS)
    trace, report = imported_threads(recorded(built(recorder, source), threads="2"), 2)
    (warning,) = report["warnings"]
    assert warning.startswith("2 locks are taken in several orders")
    done = memwalk("replay", trace, "--machine", "zen4-server", "--json")
    assert done.returncode == 0, done.stderr


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


@NEEDS_RUST
def test_threads_of_a_program_in_rust(recorder: Path) -> None:
    """Another thread counts between two counts of the first, and not beside one of them. (What comes first is slower: caches are cold.)"""
    source = recorder / "in_turn.rs"
    source.write_text(IN_TURN)
    program = built_in_rust(recorder, source)

    once, _ = imported(recorded(program, "alone"))
    alone = cycles(once)
    threads, _ = imported_threads(recorded(program, "threads", threads="2"), 2)
    assert cycles(threads) > 2 * alone
