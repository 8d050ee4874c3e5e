"""What interrupts memwalk's recorder at its work: signal handlers, and readers that go away."""

import os
import subprocess
from pathlib import Path

from files import memwalk
from recording import NEEDS_COMPILER, built, imported, recorded

pytestmark = NEEDS_COMPILER

HANDLER = """
#include <signal.h>
#include <sys/time.h>
volatile long handled[64];
static long values[1 << 16];
static void handle(int) {
    for (int number = 0; number < 64; ++number)
        handled[number] = handled[number] + 1;
}
int main(int, char **arguments) {
    itimerval every = {{0, 50}, {0, 50}};
    if (arguments[1][0] == 's') {
        signal(SIGALRM, handle);
        setitimer(ITIMER_REAL, &every, nullptr);
    }
    long sum = 0;
    for (int round = 0; round < 10; ++round)
        for (long value : values)
            sum += value;
    return sum != 0;
}
"""
ACCESSES = 10 << 16


def test_signal_handlers_may_come_at_any_time(recorder: Path) -> None:
    """The recorder lost its place in its buffer where one came as it wrote that: programs crashed."""
    source = recorder / "handler.cpp"
    source.write_text(HANDLER)
    program = built(recorder, source)
    for _ in range(4):
        trace, report = imported(recorded(program, "signals"))
        assert report["accesses"] > ACCESSES
        assert all("accesses of signal handlers that came while the recorder worked" in warning for warning in report["warnings"])
        trace.unlink()


def test_a_program_goes_on_when_nobody_reads_its_pipe_any_more(recorder: Path) -> None:
    source = recorder / "handler.cpp"
    source.write_text(HANDLER)
    program = built(recorder, source)
    pipe = recorder / "pipe"
    os.mkfifo(pipe)
    for how in ("alone", "signals"):
        with subprocess.Popen(["head", "-c", "1000000", pipe], stdout=subprocess.DEVNULL):
            done = subprocess.run([program, how], env={"MEMWALK_TRACE": str(pipe)}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, how
        assert done.stderr == "memwalk: what is recorded cannot be written: Broken pipe; the rest is not recorded\n"


def test_numbers_of_threads_are_whole(recorder: Path) -> None:
    source = recorder / "handler.cpp"
    source.write_text(HANDLER)
    program = built(recorder, source)
    for count in ("4abc", "-1", "0", "", "99999999999"):
        environment = {"MEMWALK_TRACE": "/dev/null", "MEMWALK_THREADS": count}
        done = subprocess.run([program, "alone"], env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (2, f"memwalk: $MEMWALK_THREADS, {count}, is no number of threads from 1 on\n")


WIDE = """
#include <atomic>
#include "memwalk.h"
struct alignas(16) Pair { long one, other; };
std::atomic<Pair> pair;
__int128 number;
int main() {
    memwalk_segment("wide", &pair, sizeof pair);
    memwalk_segment("wide", &number, sizeof number);
    memwalk_on();
    Pair found = pair.load();
    ++found.one;
    pair.store(found);
    Pair changed = {7, 8};
    bool is_changed = pair.compare_exchange_strong(found, changed);
    __int128 before = __sync_fetch_and_add(&number, (__int128)5 << 64);
    memwalk_off();
    return !is_changed || before != 0 || number >> 64 != 5 || pair.load().other != 8;
}
"""


def test_atomic_operations_of_16_bytes(recorder: Path) -> None:
    source = recorder / "wide.cpp"
    source.write_text(WIDE)
    trace, report = imported(recorded(built(recorder, source, options=("-mcx16",))))
    assert report["warnings"] == []
    done = memwalk("trace", "head", trace, "-n", "200")
    assert done.stdout.count("exchange") >= 1
