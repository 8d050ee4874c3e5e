"""Threads of recorded programs that wait for tasks of gcc's OpenMP, for what one of their team hands them, and for their turn."""

import json
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from recording import NEEDS_COMPILER, built, imported_threads, recorded

pytestmark = NEEDS_COMPILER

# The first thread counts little where the others count much: it takes as long as that only if it waits for them. Each waits in the program
# until all have come, so that each has one of four tasks. Counters lie on pages of their own: no prefetcher takes them from their threads.
PROGRAM = """
#include <atomic>
#include <cstdint>
#include <omp.h>
#include <unistd.h>
#include "memwalk.h"
struct alignas(4096) Counter { volatile std::uint64_t value; } counters[4];
int number() { return omp_get_thread_num(); }
__attribute__((noinline)) void count(int times) {
    for (int step = 0; step < 2000 * times; ++step)
        counters[number()].value = counters[number()].value + 1;
}
std::atomic<int> begun;
void together(int first, int others) {
    for (int all = (begun++ / 4 + 1) * 4; begun < all;)
        usleep(1000);
    count(number() == 0 ? first : others);
}
char needed[4];
int main() {
    omp_set_num_threads(4);
#pragma omp parallel
    count(1);
    memwalk_phase("once");
    count(1);
    memwalk_phase("created");
#pragma omp parallel
#pragma omp master
    {
        count(4);
        for (int task = 0; task < 4; ++task)
#pragma omp task
            together(1, 5);
    }
    memwalk_phase("taskwait");
#pragma omp parallel
#pragma omp master
    {
        for (int task = 0; task < 4; ++task)
#pragma omp task firstprivate(task)
            together(1, 5 + 0 * task);
#pragma omp taskwait
        count(1);
    }
    memwalk_phase("barrier");
#pragma omp parallel
    {
#pragma omp master
        for (int task = 0; task < 4; ++task)
#pragma omp task
            together(1, 5);
#pragma omp barrier
        count(1);
    }
    memwalk_phase("group");
#pragma omp parallel
#pragma omp master
    {
#pragma omp taskgroup
        for (int task = 0; task < 4; ++task)
#pragma omp task
#pragma omp task
            together(1, 5);
        count(1);
    }
    memwalk_phase("loop");
#pragma omp parallel
#pragma omp master
    {
#pragma omp taskloop grainsize(1)
        for (int task = 0; task < 4; ++task)
            together(1, 5);
        count(1);
    }
    memwalk_phase("depend");
#pragma omp parallel
#pragma omp master
    {
        for (int task = 0; task < 4; ++task)
#pragma omp task depend(out: needed[task])
            together(1, 5);
        for (int task = 0; task < 4; ++task)
#pragma omp task depend(in: needed[0], needed[1], needed[2], needed[3])
            together(5, 1);
#pragma omp taskwait
    }
    memwalk_phase("copied");
#pragma omp parallel
    {
        int value;
        if (number() == 0)
            usleep(50000);
#pragma omp single copyprivate(value)
        count(value = 5);
        count(value - 4);
    }
    memwalk_phase("ordered");
#pragma omp parallel for ordered schedule(static, 1)
    for (int turn = 0; turn < 4; ++turn)
#pragma omp ordered
        count(2);
    memwalk_phase("teams");
    for (int threads = 4; threads > 0; threads = threads == 4 ? 2 : threads == 2 ? 3 : 0)
#pragma omp parallel num_threads(threads)
        {
            count(number() == 0 ? 1 : 5);
#pragma omp barrier
            count(number() == 0 ? 5 : 1);
        }
    memwalk_phase("end");
}
"""
COUNTS = {"created": 9, "taskwait": 6, "barrier": 6, "group": 6, "loop": 6, "depend": 10, "copied": 6, "ordered": 8, "teams": 30}
THREADS = 5
"""One is new in a team of three behind one of two."""


@pytest.fixture(scope="module")
def program(recorder: Path) -> Path:
    source = recorder / "tasks.cpp"
    source.write_text(PROGRAM)
    return built(recorder, source, options=("-fopenmp",))


@pytest.fixture(scope="module")
def out(program: Path) -> Path:
    """Holds the results of a replay in which each load waits for the one before."""
    trace, report = imported_threads(recorded(program, threads=str(THREADS)), THREADS)
    assert report["warnings"] == []
    out = program.with_name("out")
    done = memwalk("replay", trace, "--machine", "zen4-server", "--dependences", "chain", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def parts(out: Path, *by: str | Path) -> list[dict[str, Any]]:
    (point,) = json.loads(memwalk("explain", out, *by, "--json").stdout)["points"]
    return list(point["parts"])


@pytest.fixture(scope="module")
def taken(out: Path) -> dict[str, float]:
    """Holds how long the first thread is in each phase, in cycles: the others are in none of them."""
    return {part["phase"]: part["cycles"] * THREADS for part in parts(out, "--by", "phase")}


@pytest.mark.parametrize(("phase", "counts"), COUNTS.items())
def test_threads_wait_for_tasks(phase: str, counts: int, taken: dict[str, float]) -> None:
    assert taken[phase] == pytest.approx(counts * taken["once"], rel=0.1)


def test_a_task_that_is_not_created_is_waited_for_at_its_line(out: Path, program: Path, taken: dict[str, float]) -> None:
    """Three threads wait until the first has counted four times."""
    line = 1 + PROGRAM.splitlines().index("#pragma omp task")
    waits = [part["causes"]["barrier"] for part in parts(out, "--by", "line", "--program", program) if f":{line}:" in part["segment"]]
    assert sum(waits) * THREADS == pytest.approx(3 * 4 * taken["once"], rel=0.1)
