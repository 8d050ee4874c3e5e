"""Runs programs on a system: clients' commands (`memwalk.traces.storage`) take simulated time, all on one clock."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import simpy
from simpy.core import StopSimulation
from simpy.events import URGENT
from simpy.resources.resource import Request

from memwalk.simcore.storage.filling import Filling
from memwalk.simcore.storage.io_times import IoTimes
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.pool import BufferPool, PoolStatistics, ReadAhead, Steps
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.shared_processor import SharedProcessor
from memwalk.simcore.storage.system import System
from memwalk.traces import storage as commands


@dataclass(frozen=True)
class Period:
    """What happened in a period of a run."""

    elapsed_ps: int
    asked: IoTimes
    """What clients asked for without a pool; a request over several devices counts once, with the times of the part that ended last."""
    served: IoTimes
    """What devices served, for whomever."""
    disks: int
    pools: Mapping[str, PoolStatistics]
    """What buffer pools did, by name."""
    busy_ps: int
    """Time in which the processor that clients share worked."""
    completed: Counter[str]
    """What clients completed, by kind."""

    @property
    def utilization(self) -> float:
        """Share of the time in which a device is busy, on average over the devices."""
        return self.served.busy_ps / (self.elapsed_ps * self.disks) if self.elapsed_ps else 0.0


def run(system: System, clients: Iterable[commands.Client]) -> dict[str, Period]:
    """Run clients on a system just switched on; returns its periods by name, the one before `commands.Period` was said under "".

    A run ends when a client says `commands.Stop`, or when all are done and nothing is under way.
    """
    return _Run(system).go(clients)


_Waiting: TypeAlias = Generator[simpy.Event, Any, Any]


@dataclass(slots=True)
class _ClientState:
    turn: Request | None = None
    """Its turn on the shared processor while it has it."""


@dataclass
class _Counts:
    """What is summed up in a period."""

    name: str = ""
    began_ps: int = 0
    asked: IoTimes = field(default_factory=IoTimes)
    pools: dict[str, PoolStatistics] = field(default_factory=dict)
    completed: Counter[str] = field(default_factory=Counter)


class _Run:
    """A run under way."""

    def __init__(self, system: System) -> None:
        self._env = simpy.Environment()
        self._volume = MeteredVolume(self._env, system)
        self._processor = SharedProcessor(self._env)
        self._pools: dict[str, BufferPool] = {}
        self._filling: dict[BufferPool, Filling] = {}
        self._counts = _Counts()
        self._periods: dict[str, Period] = {}
        self._waiting: dict[type, Callable[[Any, _ClientState], _Waiting]] = {
            commands.Transfer: self._transfer,
            commands.TransferTogether: self._transfer_together,
            commands.Fix: self._fix,
            commands.Flush: lambda command, _: command.pool.flush(),
            commands.Work: self._work,
            commands.TakeProcessor: self._take,
            commands.Wait: self._wait,
        }
        """Commands that may take time."""
        self._at_once: dict[type, Callable[[Any], Any]] = {
            commands.OpenPool: self._open_pool,
            commands.Filled: self._filled,
            commands.Evictions: lambda command: self._counts.pools[command.name].evictions,
            commands.Begin: lambda c: c.pool.begin(c.file, c.schema, changes=c.changes, scans=c.scans),
            commands.End: lambda command: command.pool.end(command.query),
            commands.Unfix: lambda command: command.pool.unfix(command.frame),
            commands.ReadAhead: lambda c: ReadAhead(self._env, c.pool, c.runs, ahead=c.ahead, workers=c.workers),
            commands.Reach: lambda command: command.reader.reach(command.run),
            commands.Now: lambda _: int(self._env.now),
            commands.Complete: self._complete,
            commands.Period: self._begin_period,
            commands.Start: lambda command: self._start(command.clients),
            commands.Stop: self._stop,
        }

    def go(self, clients: Iterable[commands.Client]) -> dict[str, Period]:
        """Run to the end."""
        self._start(clients)
        self._env.run()
        self._end_period()
        return self._periods

    def _start(self, clients: Iterable[commands.Client]) -> None:
        for client in clients:
            self._env.process(self._drive(client))

    def _drive(self, client: commands.Client) -> Steps:
        """Do what a client says, one command after the other."""
        waiting, at_once, state, answer = self._waiting, self._at_once, _ClientState(), None
        while True:
            try:
                command = client.send(answer)
            except StopIteration:
                return
            kind = type(command)
            if isinstance(command, commands.Transfer) and len(command.extents) == 1:  # the most frequent: without a generator of its own
                ((block, blocks),) = command.extents
                served = yield self._volume.submit(block, blocks, write=command.write)
                self._counts.asked.add(served, blocks)
                answer = None
            elif kind in waiting:
                answer = yield from waiting[kind](command, state)
            elif kind is commands.LeaveProcessor:
                self._leave(state)
                answer = None
            else:
                answer = at_once[kind](command)

    def _transfer(self, command: commands.Transfer, _: _ClientState) -> _Waiting:
        requests = [self._volume.submit(*extent, write=command.write) for extent in command.extents]
        yield self._env.all_of(requests)
        for request, extent in zip(requests, command.extents, strict=True):
            assert isinstance(request.value, Served)
            self._counts.asked.add(request.value, extent[1])

    def _transfer_together(self, command: commands.TransferTogether, _: _ClientState) -> _Waiting:
        served = yield self._volume.submit_batch(command.extents, write=command.write)
        assert isinstance(served, Served)
        self._counts.asked.add(served, sum(blocks for _, blocks in command.extents))

    def _open_pool(self, command: commands.OpenPool) -> BufferPool:
        storage = Filling(self._env, self._volume) if command.filling else self._volume
        pool = BufferPool(self._env, storage, command.frames, share_schemas=command.share_schemas, write_run=command.write_run)
        if isinstance(storage, Filling):
            self._filling[pool] = storage
        pool.statistics = self._counts.pools.setdefault(command.name, PoolStatistics())
        self._pools[command.name] = pool
        return pool

    def _filled(self, command: commands.Filled) -> None:
        self._filling.pop(command.pool).running = True

    def _fix(self, command: commands.Fix, client: _ClientState) -> _Waiting:
        """Fix a page; whoever has to wait for it leaves the processor meanwhile."""
        fixing: Steps = command.pool.fix(command.query, command.page)
        if client.turn is None:
            return (yield from fixing)
        try:
            waits = next(fixing)
        except StopIteration as there:
            return there.value
        self._leave(client)
        yield waits
        page = yield from fixing
        yield from self._take(command, client)
        return page

    def _work(self, command: commands.Work, client: _ClientState) -> _Waiting:
        duration_ps = command.duration_ps
        yield self._env.timeout(duration_ps) if client.turn is None else self._processor.work(duration_ps)

    def _take(self, _: Any, client: _ClientState) -> _Waiting:
        client.turn = self._processor.turn()
        yield client.turn

    def _leave(self, client: _ClientState) -> None:
        assert client.turn is not None
        self._processor.leave(client.turn)
        client.turn = None

    def _wait(self, command: commands.Wait, _: _ClientState) -> _Waiting:
        yield self._urgent(command.duration_ps)

    def _complete(self, command: commands.Complete) -> None:
        self._counts.completed[command.kind] += 1

    def _begin_period(self, command: commands.Period) -> None:
        self._end_period()
        self._counts = _Counts(command.name, int(self._env.now), pools={name: PoolStatistics() for name in self._pools})
        for name, pool in self._pools.items():
            pool.statistics = self._counts.pools[name]
        self._volume.restart()
        self._processor.busy_ps = 0

    def _end_period(self) -> None:
        counts = self._counts
        self._periods[counts.name] = Period(
            elapsed_ps=int(self._env.now) - counts.began_ps,
            asked=counts.asked,
            served=self._volume.times,
            disks=len(self._volume.disks),
            pools=counts.pools,
            busy_ps=self._processor.busy_ps,
            completed=counts.completed,
        )

    def _stop(self, _: commands.Stop) -> None:
        event = self._urgent(0)
        assert event.callbacks is not None
        event.callbacks.append(StopSimulation.callback)

    def _urgent(self, delay_ps: int) -> simpy.Event:
        """Return an event that comes before whatever else happens at its time, as the end of a run by time does in SimPy."""
        event = simpy.Event(self._env)
        event._ok, event._value = True, None  # as SimPy's own Timeout does: what is scheduled has an outcome
        self._env.schedule(event, URGENT, delay_ps)
        return event
