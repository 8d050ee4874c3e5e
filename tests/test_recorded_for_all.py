"""What a recorded program says to all of its threads: those of a pool say nothing themselves."""

import json
from pathlib import Path

import pytest
from files import memwalk
from recording import NEEDS_COMPILER, built, imported_threads, recorded

pytestmark = NEEDS_COMPILER

WORKERS = 2
VALUES = 4000
POOL = """
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>
#include "memwalk.h"
constexpr int WORKERS = 2, VALUES = 4000;
volatile long loaded[WORKERS][VALUES], probed[WORKERS][VALUES], ended[WORKERS][VALUES];
std::mutex lock;
std::condition_variable changed;
std::function<void(int)> task;
int round_number, left;
bool over;
void work(int worker) {
    for (int done = 0;;) {
        std::function<void(int)> next;
        {
            std::unique_lock<std::mutex> held(lock);
            changed.wait(held, [&] { return over || round_number > done; });
            if (over)
                return;
            done = round_number;
            next = task;
        }
        next(worker);
        std::lock_guard<std::mutex> held(lock);
        if (--left == 0)
            changed.notify_all();
    }
}
void on_all(std::function<void(int)> next) {
    std::unique_lock<std::mutex> held(lock);
    task = next;
    left = WORKERS;
    ++round_number;
    changed.notify_all();
    changed.wait(held, [] { return left == 0; });
}
void touch(volatile long *values) {
    for (int number = 0; number < VALUES; ++number)
        values[number] = number;
}
int main() {
    memwalk_segment("loaded", (const void *)loaded, sizeof loaded);
    memwalk_segment("probed", (const void *)probed, sizeof probed);
    memwalk_segment("ended", (const void *)ended, sizeof ended);
    std::vector<std::thread> workers;
    for (int worker = 0; worker < WORKERS; ++worker)
        workers.emplace_back(work, worker);
    memwalk_phase_all("load");
    on_all([](int worker) { touch(loaded[worker]); });
    memwalk_phase_all("probe");
    on_all([](int worker) { touch(probed[worker]); });
    memwalk_off_all();
    on_all([](int worker) { touch(ended[worker]); });
    {
        std::lock_guard<std::mutex> held(lock);
        over = true;
        changed.notify_all();
    }
    for (std::thread &worker : workers)
        worker.join();
}
"""


@pytest.fixture(scope="module")
def pool(recorder: Path) -> Path:
    """Is a program whose first thread says what all are doing, and gives work to others."""
    source = recorder / "pool.cpp"
    source.write_text(POOL)
    return built(recorder, source)


def test_a_phase_of_all_threads_is_one_of_those_that_say_nothing(pool: Path, tmp_path: Path) -> None:
    trace, report = imported_threads(recorded(pool, threads=str(1 + WORKERS)), 1 + WORKERS)
    assert report["warnings"] == []
    done = memwalk("replay", trace, "--machine", "zen4-server", "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    (point, *_) = json.loads(memwalk("explain", tmp_path / "out", "--json").stdout)["points"]
    served: dict[tuple[str, str], int] = {}
    for part in point["parts"]:
        at = part["phase"], part["segment"]
        served[at] = served.get(at, 0) + sum(part["served"].values())
    of_arrays = {at: count for at, count in served.items() if at[1] in ("loaded", "probed", "ended") and count}
    assert of_arrays == {("load", "loaded"): WORKERS * VALUES, ("probe", "probed"): WORKERS * VALUES}
