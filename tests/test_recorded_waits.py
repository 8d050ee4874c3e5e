"""Threads of recorded programs that wait for each other without a lock or a condition of POSIX threads: by the kernel, or by OpenMP."""

import json
from pathlib import Path

import pytest
from files import memwalk
from recording import (
    EXAMPLES,
    NEEDS_COMPILER,
    NEEDS_RUST,
    built,
    built_in_rust,
    cycles,
    imported,
    imported_threads,
    recorded,
)

pytestmark = NEEDS_COMPILER


def threads(program: Path, how: str, count: int) -> int:
    """Return the cycles of a program of so many threads, which do something in this way."""
    trace, report = imported_threads(recorded(program, how, threads=str(count)), count)
    assert report["warnings"] == []
    return cycles(trace)


IN_CPP = """
#include <atomic>
#include <barrier>
#include <cstdint>
#include <future>
#include <latch>
#include <semaphore.h>
#include <semaphore>
#include <string>
#include <thread>
#include <unistd.h>
struct alignas(64) Counter { volatile std::uint64_t value; } counters[2];
void count(int thread) {
    for (int number = 0; number < 20000; ++number)
        counters[thread].value = counters[thread].value + 1;
}
template <typename Wait, typename Wake> void in_turn(Wait wait, Wake wake) {
    std::thread other([&] {
        wait();
        count(1);
    });
    usleep(100000);
    count(0);
    wake();
    other.join();
}
int main(int, char **arguments) {
    std::string how = arguments[1];
    std::atomic<int> word = 0;
    std::binary_semaphore semaphore(0);
    std::latch latch(1);
    std::barrier barrier(2);
    std::promise<void> promise;
    auto future = promise.get_future();
    sem_t plain;
    sem_init(&plain, 0, 0);
    if (how == "atomic")
        in_turn([&] { word.wait(0); }, [&] { word = 1, word.notify_one(); });
    else if (how == "semaphore")
        in_turn([&] { semaphore.acquire(); }, [&] { semaphore.release(); });
    else if (how == "latch")
        in_turn([&] { latch.wait(); }, [&] { latch.count_down(); });
    else if (how == "barrier")
        in_turn([&] { barrier.arrive_and_wait(); }, [&] { (void)barrier.arrive(); });
    else if (how == "future")
        in_turn([&] { future.wait(); }, [&] { promise.set_value(); });
    else if (how == "posix")
        in_turn([&] { sem_wait(&plain); }, [&] { sem_post(&plain); });
    else if (how == "posted") {
        sem_post(&plain);
        in_turn([&] { sem_wait(&plain); }, [] {});
    } else {
        count(0);
        count(0);
    }
}
"""


@pytest.fixture(scope="module")
def in_cpp(recorder: Path) -> tuple[Path, int]:
    """Is the program in C++, and its cycles if one thread counts twice."""
    source = recorder / "in_turn.cpp"
    source.write_text(IN_CPP)
    program = built(recorder, source, options=("-std=c++20",))
    return program, cycles(imported(recorded(program, "alone"))[0])


@pytest.mark.parametrize("how", ["atomic", "semaphore", "latch", "barrier", "future", "posix"])
def test_who_is_woken_in_cpp_goes_on_behind_who_woke_him(how: str, in_cpp: tuple[Path, int]) -> None:
    """A thread counts when the first, which has counted, lets it: that takes as long as to count twice."""
    program, twice = in_cpp
    assert threads(program, how, 2) == pytest.approx(twice, rel=0.05)


def test_who_need_not_wait_for_a_semaphore_does_not(in_cpp: tuple[Path, int]) -> None:
    program, twice = in_cpp
    assert threads(program, "posted", 2) == pytest.approx(twice / 2, rel=0.1)


IN_RUST = """
use std::ptr::{read_volatile, write_volatile};
use std::sync::{mpsc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;
fn count() {
    let mut value = 0u64;
    for _ in 0..20000 {
        unsafe { write_volatile(&mut value, read_volatile(&value) + 1) };
    }
}
fn later() {
    thread::sleep(Duration::from_millis(100));
}
fn main() {
    let (mutex, condition, barrier) = (Mutex::new(false), Condvar::new(), Barrier::new(2));
    let (to, from) = mpsc::channel();
    let how = std::env::args().nth(1).unwrap();
    if how == "alone" {
        count();
        count();
        return;
    }
    let held = (how == "mutex").then(|| mutex.lock().unwrap());
    thread::scope(|scope| {
        let how = how.as_str();
        let (mutex, condition, barrier) = (&mutex, &condition, &barrier);
        let other = scope.spawn(move || {
            match how {
                "mutex" => drop(mutex.lock().unwrap()),
                "condition" => drop(condition.wait_while(mutex.lock().unwrap(), |goes_on| !*goes_on).unwrap()),
                "channel" => from.recv().unwrap(),
                "barrier" => drop(barrier.wait()),
                _ => thread::park(),
            }
            count();
        });
        later();
        count();
        match how {
            "mutex" => drop(held),
            "condition" => {
                *mutex.lock().unwrap() = true;
                condition.notify_one();
            }
            "channel" => to.send(()).unwrap(),
            "barrier" => drop(barrier.wait()),
            _ => other.thread().unpark(),
        }
    });
}
"""


@pytest.fixture(scope="module")
def in_rust(recorder: Path) -> tuple[Path, int]:
    """As `in_cpp`, in Rust."""
    source = recorder / "in_turn.rs"
    source.write_text(IN_RUST)
    program = built_in_rust(recorder, source)
    return program, cycles(imported(recorded(program, "alone"))[0])


@NEEDS_RUST
@pytest.mark.parametrize("how", ["mutex", "condition", "channel", "barrier", "park"])
def test_who_is_woken_in_rust_goes_on_behind_who_woke_him(how: str, in_rust: tuple[Path, int]) -> None:
    program, twice = in_rust
    assert threads(program, how, 2) == pytest.approx(twice, rel=0.05)


OPENMP = """
#include <atomic>
#include <cstdint>
#include <omp.h>
#include <string>
#include <unistd.h>
struct alignas(64) Counter { volatile std::uint64_t value; } counters[4];
int number() { return omp_get_thread_num(); }
__attribute__((noinline)) void count(int times) {
    for (int step = 0; step < 5000 * times; ++step)
        counters[number()].value = counters[number()].value + 1;
}
std::atomic<int> begun;
void each_by_another(int all) {
    for (++begun; begun < all;)
        usleep(1000);
}
int main(int, char **arguments) {
    std::string how = arguments[1];
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_num_threads(4);
    if (how == "alone")
        return count(20), 0;
    for (int turn = 0; turn < 3; ++turn) {
        count(1);
        if (how == "barrier") {
#pragma omp parallel
            {
                count(1 + number());
#pragma omp barrier
                count(4 - number());
            }
        } else if (how == "free") {
#pragma omp parallel
            {
                count(1 + number());
                count(4 - number());
            }
        } else if (how == "loop") {
#pragma omp parallel
            {
#pragma omp for schedule(static, 1)
                for (int part = 0; part < 4; ++part)
                    count(1 + part);
                count(1);
            }
        } else if (how == "taken") {
#pragma omp parallel for schedule(dynamic)
            for (int part = 0; part < 4; ++part) {
                each_by_another(4 * (turn + 1));
                count(2 + part);
            }
        } else if (how == "sections") {
#pragma omp parallel sections
            {
                each_by_another(2 * (turn + 1)), count(2);
#pragma omp section
                each_by_another(2 * (turn + 1)), count(5);
            }
        } else if (how == "critical") {
#pragma omp parallel
#pragma omp critical
            count(1);
        } else if (how == "named") {
#pragma omp parallel
#pragma omp critical(name)
            count(1);
        } else if (how == "lock") {
#pragma omp parallel
            {
                omp_set_lock(&lock);
                count(1);
                omp_unset_lock(&lock);
            }
        }
    }
}
"""


@pytest.fixture(scope="module")
def openmp(recorder: Path) -> tuple[Path, int]:
    """Is the program with OpenMP, and the cycles in which one thread counts once, when its caches are warm."""
    source = recorder / "openmp.cpp"
    source.write_text(OPENMP)
    # The library is not to be left out where a linker leaves out what only the recorder needs.
    program = built(recorder, source, options=("-fopenmp", "-Wl,--as-needed"))
    return program, cycles(imported(recorded(program, "alone"))[0]) // 20


@pytest.mark.parametrize(
    ("how", "counts"),
    [("barrier", 8), ("free", 5), ("loop", 5), ("sections", 5), ("taken", 5), ("critical", 4), ("named", 4), ("lock", 4)],
)
def test_threads_of_openmp_wait_for_their_team(how: str, counts: int, openmp: tuple[Path, int]) -> None:
    """Three times a thread counts once, and then a team of four so often, the longest of them or after each other."""
    program, once = openmp
    assert threads(program, how, 4) == pytest.approx(3 * (1 + counts) * once, rel=0.05)


def test_counters_of_threads_should_lie_apart(recorder: Path, tmp_path: Path) -> None:
    """The example of docs/your-own-program.md."""
    rows = 20000
    program = built(recorder, EXAMPLES / "group_by.cpp", options=("-fopenmp",))
    trace, report = imported_threads(recorded(program, str(rows), threads="4"), 4)
    assert report["warnings"] == []
    assert memwalk("replay", trace, "--machine", "zen4-server", "--out", tmp_path / "out").returncode == 0
    for point in json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"]:
        of = {part["segment"]: part for part in point["parts"] if part["segment"] == part["phase"]}
        accesses = {segment: sum(part["served"].values()) for segment, part in of.items()}
        assert accesses == {"shared": rows, "near by": 2 * rows, "apart": 2 * rows}
        moved = {segment: part["served"]["other_cores"] / accesses[segment] for segment, part in of.items()}
        assert min(moved["shared"], moved["near by"]) > 0.1
        assert moved["apart"] < 0.01
        assert of["apart"]["cycles"] < min(of["shared"]["cycles"], of["near by"]["cycles"]) / 4
