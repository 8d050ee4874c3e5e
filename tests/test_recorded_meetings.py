"""Barriers and threads of recorded programs whose memory and names are used again."""

import itertools
import json
from pathlib import Path

import pytest
from files import memwalk
from recording import NEEDS_COMPILER, built, cycles, imported, imported_threads, recorded

pytestmark = NEEDS_COMPILER

PAIRS = """
#include <cstdint>
#include <pthread.h>
#include <thread>
#include <vector>
#include "memwalk.h"
struct alignas(64) Counter { volatile std::uint64_t value; } counters[2];
pthread_barrier_t meeting;
void count(int thread) {
    for (int number = 0; number < 6000; ++number)
        counters[thread].value = counters[thread].value + 1;
}
int main(int, char **arguments) {
    if (arguments[1][0] == 'a') {
        for (int number = 0; number < 4; ++number)
            count(0);
        return 0;
    }
    pthread_barrier_init(&meeting, nullptr, 2);
    for (int pair = 0; pair < 2; ++pair) {
        std::thread first([] {
            count(0);
            pthread_barrier_wait(&meeting);
            count(0);
        });
        std::thread second([] {
            pthread_barrier_wait(&meeting);
            count(1);
        });
        first.join();
        second.join();
    }
}
"""


@pytest.fixture(scope="module")
def pairs(recorder: Path) -> Path:
    """Is the program that has two threads meet, and then two others at the same barrier."""
    source = recorder / "pairs.cpp"
    source.write_text(PAIRS)
    return built(recorder, source)


def test_a_barrier_is_of_those_that_come_to_it_at_the_time(pairs: Path) -> None:
    """All four waited for each other, and so for ever: the second pair begins when the first has ended."""
    alone = cycles(imported(recorded(pairs, "alone"))[0])
    trace, report = imported_threads(recorded(pairs, "pairs", threads="5"), 5)
    assert report["warnings"] == []
    assert cycles(trace) == pytest.approx(alone, rel=0.05)
    done = memwalk("trace", "head", trace, "-n", "1000000", "--json")
    threads = [event["thread"] for event in json.loads(done.stdout)]
    assert threads == sorted(threads)
    assert set(threads) == set(range(5))
    shown = memwalk("trace", "head", trace).stdout.splitlines()
    assert [line.split()[0] for line in shown if line.split()[0] in ("thread", "0")] == ["thread", *"0" * 10]


STEPS = """
#include <pthread.h>
#include <thread>
#include "memwalk.h"
static volatile long values[64 * 4096];
static void *work(void *count) {
    for (long number = 0; number < (long)count; ++number)
        values[64 * number] = number;
    return nullptr;
}
int main(int, char **arguments) {
    for (long step = 0; step < 5; ++step) {
        void *count = (void *)(step == 3 ? 4096l : 16l);
        if (arguments[1][0] == 'p') {
            pthread_t thread;
            pthread_create(&thread, nullptr, work, count);
            pthread_join(thread, nullptr);
        } else {
            std::thread(work, count).join();
        }
        memwalk_phase("behind it");
    }
}
"""


@pytest.mark.parametrize("how", ["posix", "c++"])
def test_threads_are_known_whatever_the_order_of_their_files(how: str, recorder: Path) -> None:
    """The system gives each of these the name of the one before it."""
    source = recorder / "steps.cpp"
    source.write_text(STEPS)
    first = recorded(built(recorder, source), how, threads="6")
    files = [first, *(first.with_name(f"{first.name}.{thread}") for thread in range(1, 6))]
    taken = []
    for order in itertools.islice(itertools.permutations(files[1:]), 0, 120, 37):
        trace, report = imported(first, *order)
        assert report["warnings"] == []
        taken.append(cycles(trace))
    assert max(taken) < 1.01 * min(taken), taken


SAID = """
#include <thread>
#include "memwalk.h"
volatile long value;
int main() {
    std::thread other([] {
        value = 1;
        memwalk_barrier();
    });
    other.join();
    value = 2;
    memwalk_barrier();
    memwalk_barrier();
}
"""


def test_barriers_that_are_said_unequally_often_are_refused(recorder: Path) -> None:
    source = recorder / "said.cpp"
    source.write_text(SAID)
    first = recorded(built(recorder, source), threads="2")
    other = first.with_name(f"{first.name}.1")
    done = memwalk("trace", "import", first, other, "-o", recorder / "said.parquet")
    assert done.returncode == 2
    assert f"threads say memwalk_barrier() unequally often ({first}: 2 times, {other}: 1 times)" in done.stderr
