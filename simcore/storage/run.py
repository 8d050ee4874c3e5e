"""Runs programs on a system, one alone or several side by side, all on one clock."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import simpy
from simpy.core import StopSimulation

from memwalk.simcore.storage.clock import urgent
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.running import Running
from memwalk.simcore.storage.system import System
from memwalk.simcore.storage.turns import Turn, Turns
from memwalk.traces import storage as commands

T = TypeVar("T")


@dataclass(frozen=True)
class Program:
    """A program that runs beside others, of which it knows nothing: they meet at the devices."""

    clients: Callable[[], Iterable[commands.Client]]
    """Makes its clients, anew each time that it is run."""
    start_ps: int = 0
    """When it begins."""
    repeats: bool = False
    """Whether it begins again when it has ended, as long as a program that does not repeat goes on."""
    disks: tuple[int, ...] | None = None
    """Devices that its volume lies on, by number; all if None. Programs with the same devices share a volume."""
    times: int = 1
    """How often it runs at least, one run behind the other."""


def run(system: System, clients: Iterable[commands.Client]) -> dict[str, Period]:
    """Run one program on a system just switched on; returns its periods by name, the one before `commands.Period` was said under "".

    A run ends when all clients are done, or one says `commands.Stop`.
    """
    (periods,) = run_again(system, lambda: clients, 1)
    return periods


def run_again(system: System, clients: Callable[[], Iterable[commands.Client]], times: int) -> list[dict[str, Period]]:
    """Run one program so many times on a system that was switched on before the first; returns its periods of each time.

    Later runs find the devices as those before them have left them.
    """
    (each,) = run_together(system, {"": Program(clients, times=times)}).values()
    return each


def run_together(system: System, programs: Mapping[str, Program]) -> dict[str, list[dict[str, Period]]]:
    """Run programs side by side on a system just switched on; returns by program the periods of each time that it was run.

    A program ends when all its clients are done. One that says `commands.Stop` has had what it needs, but it goes on, and so does its
    last period, until the others have ended or have said the same. Programs that repeat finish what they are at; then the run ends.
    """
    return _Run(system, programs).go()


@dataclass(frozen=True)
class Stepping(Generic[T]):
    """Somebody whose run is no program: he steps the clock himself, as long as he has something to do."""

    run: Callable[[MeteredVolume, Turn], T]
    """Is called when he begins, with the whole system's volume and his turn; when it returns, he has ended."""
    start_ps: int = 0
    """When he begins."""
    repeats: bool = False
    """As `Program.repeats`."""
    times: int = 1
    """As `Program.times`."""


def run_beside(
    system: System, programs: Mapping[str, Program], stepping: Sequence[Stepping[T]]
) -> tuple[list[list[T]], dict[str, list[dict[str, Period]]]]:
    """Run programs on a system just switched on, beside some who step the clock.

    Returns what the runs of each of these returned, and the programs' periods as `run_together`, to which they are more programs.
    """
    run = _Run(system, programs)
    found = run.step(stepping)
    return found, run.go()


class _Member:
    """A program of a run."""

    def __init__(self, env: simpy.Environment, program: Program, volume: MeteredVolume, run: "_Run") -> None:
        self.program = program
        self.periods: list[dict[str, Period]] = []
        """Of each time that it was run."""
        self.open = True
        """Whether the run has to go on for it: it has neither ended for good nor said that it has what it needs."""
        self._env = env
        self._run = run
        self._running = Running(env, volume, self._end, self._leave)
        self._began_ps: int | None = None
        """When it began to run; None while it does not."""

    def begin_later(self) -> None:
        """Run it from the time on that it says."""
        urgent(self._env, self.program.start_ps, lambda _: self._begin())

    def close(self) -> None:
        """End what is under way of it, with the run."""
        if self._began_ps is not None:
            self.periods.append(self._running.periods())
            self._began_ps = None

    def _begin(self) -> None:
        self._began_ps = int(self._env.now)
        self._running.begin(self.program.clients())

    def _end(self) -> None:
        took_time = self._env.now != self._began_ps
        self.close()
        if self.open and (len(self.periods) < self.program.times or self._repeats(took_time=took_time)):
            self._begin()
        else:
            self._leave()

    def _repeats(self, *, took_time: bool) -> bool:
        """Say whether it begins again because others go on."""
        return self.program.repeats and took_time and self._run.goes_on()

    def _leave(self) -> None:
        self.open = False
        self._run.left()


class _Run:
    """A run under way."""

    def __init__(self, system: System, programs: Mapping[str, Program]) -> None:
        self._env = env = simpy.Environment()
        self._system = system
        self._servers = system.servers(env)
        self._stepping: list[Stepping[Any]] = []
        """Those who step the clock and have not ended."""
        self._members = {name: _Member(env, one, self._volume(one.disks), self) for name, one in programs.items()}
        for member in self._members.values():
            member.begin_later()

    def step(self, stepping: Sequence[Stepping[T]]) -> list[list[T]]:
        """Have some step the clock, each from when he begins to his end."""
        self._stepping = list(stepping)
        return Turns(self._env).run([(one.start_ps, partial(self._play, one)) for one in stepping])

    def _play(self, stepping: Stepping[T], turn: Turn) -> list[T]:
        """Run one who steps the clock until he has ended for good."""
        found: list[T] = []
        while True:
            began_ps = self._env.now
            found.append(stepping.run(self._volume(None), turn))
            repeats = stepping.repeats and self._env.now != began_ps and self.goes_on()
            if len(found) >= stepping.times and not repeats:
                break
        self._stepping.remove(stepping)
        self.left()
        return found

    def go(self) -> dict[str, list[dict[str, Period]]]:
        """Run to the end."""
        self._env.run()
        for member in self._members.values():
            member.close()
        return {name: member.periods for name, member in self._members.items()}

    def goes_on(self) -> bool:
        """Whether somebody who does not repeat goes on."""
        stepping = any(not one.repeats for one in self._stepping)
        return stepping or any(member.open for member in self._members.values() if not member.program.repeats)

    def left(self) -> None:
        """Stop if there is nobody to go on for."""
        if not self._stepping and not any(member.open for member in self._members.values()):
            urgent(self._env, 0, StopSimulation.callback)

    def _volume(self, disks: Sequence[int] | None) -> MeteredVolume:
        """Lay a volume over some of the devices, or over all."""
        if disks is None:
            return MeteredVolume(self._env, self._system.layout(), self._servers)
        return MeteredVolume(self._env, self._system.on(len(disks)).layout(), [self._servers[disk] for disk in disks])
