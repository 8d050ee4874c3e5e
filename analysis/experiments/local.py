"""Worker processes on this machine, each doing one task at a time."""

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import ModuleType
from typing import Any

from memwalk.analysis.experiments.points import Finished
from memwalk.analysis.experiments.schedule import Schedule
from memwalk.analysis.experiments.task import HeardOf, Task, Together
from memwalk.simcore.errors import UserError

_TOLD_IN_ONE_LINE = (UserError, MemoryError, OSError)
"""What the command line tells without a traceback: it comes out of a worker as it is, so that it is the same for any number of them."""


def simulate_here(schedule: Schedule, heard: HeardOf) -> Generator[Finished]:
    """Simulate every point in this process; Ctrl-C stops those that run."""
    while (points := schedule.take(0)) is not None:
        task = Task.of(points)
        yield from zip(points, task.run(task.tell(heard)), strict=True)


def simulate_in_processes(schedule: Schedule, jobs: int, heard: HeardOf) -> Generator[Finished]:
    """Simulate points in ``jobs`` processes and yields each as it finishes; closing the iterator stops the workers.

    Raises UserError if a worker is killed from outside or finds other code, what `simulate_here` raises where that is for the user to
    mend, RuntimeError if the simulator fails otherwise.
    """
    with _interrupts_ignored(), _main_left_alone():
        workers = [_Worker(number) for number in range(jobs)]
    try:
        busy = {worker.connection: worker for worker in workers if worker.give(schedule.take(worker.number))}
        while busy:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                finished = worker.collect(heard)
                if finished is None:
                    continue
                yield from finished
                if not worker.give(schedule.take(worker.number)):
                    del busy[worker.connection]
    finally:
        for worker in workers:
            worker.stop()


@dataclass(frozen=True)
class _Failure:
    """What a worker sends back when the simulator raised."""

    report: str


@dataclass(frozen=True)
class _Within:
    """What a worker sends while it simulates: events, steps of storage and steps of building so far."""

    events: int
    steps: int
    built: int


class _Worker:
    """A process and the pipe to it. Spawned, not forked: a fork would copy this process's threads half."""

    def __init__(self, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.number = number
        self.task: Task | None = None
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_serve, args=(theirs,), name=f"memwalk-{number}", daemon=True)
        self.process.start()
        theirs.close()

    def give(self, points: Together | None) -> bool:
        """Hands the next points over; False if there are none."""
        self.task = None if points is None else Task.of(points)
        if self.task is None:
            return False
        try:
            self.connection.send(self.task)
        except OSError:
            raise self._death() from None
        return True

    def collect(self, heard: HeardOf) -> list[Finished] | None:
        """Receives the statistics of the points handed over; None if the worker only says how far it is."""
        assert self.task is not None
        try:
            reply = self.connection.recv()
        except (EOFError, OSError):
            raise self._death() from None
        match reply:
            case _Within(events, steps, built):
                self.task.tell(heard)(events, steps, built)
                return None
            case Exception():
                raise reply
            case _Failure(report):
                raise RuntimeError(f"the simulator failed on point {self.task.key}:\n{report}")
            case _:
                return list(zip(self.task.points, reply, strict=True))

    def stop(self) -> None:
        """End the process at once, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _death(self) -> UserError:
        self.process.join()
        point = self.task.key if self.task else "no point"
        cause = f"signal {-code}" if (code := self.process.exitcode or 0) < 0 else f"exit code {code}"
        return UserError(f"a worker died ({cause}) on point {point}; if memory ran out, use fewer --jobs. Finished points are kept")


def _serve(connection: Connection) -> None:
    """Run in the worker: simulates what comes through the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        reply: Any
        try:
            reply = task.run(lambda events, steps, built: connection.send(_Within(events, steps, built)))
        except _TOLD_IN_ONE_LINE as error:
            reply = error
        except Exception:  # whatever it was, the parent reports it
            reply = _Failure(traceback.format_exc())
        connection.send(reply)


def _die_with_parent() -> None:
    """End this worker as soon as its parent is gone, in the middle of a simulation too."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


_main = threading.Lock()
"""Held while something else stands for this program: a second thread would take that for the program, and put it back for good."""


@contextmanager
def _main_left_alone() -> Iterator[None]:
    """Have new processes not run the program of this one again: they need nothing of it, and a script might start its run in each."""
    with _main:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Lets new processes ignore Ctrl-C from their first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
