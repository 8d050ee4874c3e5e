"""A program under way: what its clients say (`memwalk.traces.storage`) is done, and takes simulated time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import simpy
from simpy.resources.resource import Request

from memwalk.simcore.storage.clock import urgent
from memwalk.simcore.storage.filling import Filling
from memwalk.simcore.storage.meter import MeteredVolume
from memwalk.simcore.storage.period import Counts, Period
from memwalk.simcore.storage.pool import BufferPool, PoolStatistics, ReadAhead, Steps
from memwalk.simcore.storage.server import Served
from memwalk.simcore.storage.shared_processor import SharedProcessor
from memwalk.traces import storage as commands


@dataclass(slots=True)
class _ClientState:
    turn: Request | None = None
    """Its turn on the shared processor while it has it."""


class Running:
    """A program on a volume, with buffer pools and a processor of its own; ``done`` is called when all clients are, ``stop`` at `Stop`."""

    def __init__(self, env: simpy.Environment, volume: MeteredVolume, done: Callable[[], object], stop: Callable[[], object]) -> None:
        """Wait to `begin`."""
        self._env = env
        self._volume = volume
        self._done = done
        self._processor = SharedProcessor(env)
        self._pools: dict[str, BufferPool] = {}
        self._filling: dict[BufferPool, Filling] = {}
        self._counts = Counts()
        self._periods: dict[str, Period] = {}
        self._clients = 0
        self._events: dict[type, Callable[[Any, _ClientState], simpy.Event]] = {
            commands.Transfer: self._transfer,
            commands.TransferTogether: self._transfer_together,
            commands.Work: self._work,
            commands.TakeProcessor: self._take,
            commands.Wait: lambda command, _: urgent(env, command.duration_ps),
        }
        """Commands that are done when something happens, and have no answer."""
        self._steps: dict[type, Callable[[Any, _ClientState], Steps]] = {
            commands.Fix: self._fix,
            commands.Flush: lambda command, _: command.pool.flush(),
        }
        """Commands of several steps."""
        self._at_once: dict[type, Callable[[Any, _ClientState], Any]] = {
            commands.OpenPool: self._open_pool,
            commands.Filled: self._filled,
            commands.Evictions: lambda command, _: self._counts.pools[command.name].evictions,
            commands.Begin: lambda c, _: c.pool.begin(c.file, c.schema, changes=c.changes, scans=c.scans),
            commands.End: lambda command, _: command.pool.end(command.query),
            commands.Unfix: lambda command, _: command.pool.unfix(command.frame),
            commands.ReadAhead: lambda c, _: ReadAhead(env, c.pool, c.runs, ahead=c.ahead, workers=c.workers),
            commands.Reach: lambda command, _: command.reader.reach(command.run),
            commands.LeaveProcessor: self._leave,
            commands.Now: lambda *_: int(env.now),
            commands.Complete: self._complete,
            commands.Period: self._next_period,
            commands.Start: lambda command, _: self._start(command.clients),
            commands.Stop: lambda *_: stop(),
        }
        """Commands that take no time."""

    def begin(self, clients: Iterable[commands.Client]) -> None:
        """Have the clients begin, without pools, and count from now on."""
        self._pools, self._periods = {}, {}
        self._begin_period("")
        self._start(clients)

    def periods(self) -> dict[str, Period]:
        """End the period that is under way; returns all by name, the one before `Period` was said under ""."""
        self._end_period()
        return self._periods

    def _start(self, clients: Iterable[commands.Client]) -> None:
        for client in clients:
            self._clients += 1
            self._env.process(self._drive(client))

    def _drive(self, client: commands.Client) -> Steps:
        """Do what a client says, one command after the other."""
        event_of, steps, at_once, state, answer = self._events.get, self._steps, self._at_once, _ClientState(), None
        say = client.send
        while True:
            try:
                command = say(answer)
            except StopIteration:
                break
            kind = type(command)
            if (begin := event_of(kind)) is not None:
                yield begin(command, state)
                answer = None
            elif kind in steps:
                answer = yield from steps[kind](command, state)
            else:
                answer = at_once[kind](command, state)
        self._clients -= 1
        if not self._clients:
            self._done()

    def _transfer(self, command: commands.Transfer, _: _ClientState) -> simpy.Event:
        extents, write = command
        if len(extents) == 1:
            return self._request(*extents[0], write)
        return self._env.all_of([self._request(block, blocks, write) for block, blocks in extents])

    def _request(self, block: int, blocks: int, write: bool) -> simpy.Event:  # noqa: FBT001 (called per request)
        moved = simpy.Event(self._env)

        def served(how: Served) -> None:
            self._counts.asked.add(how, blocks)
            moved.succeed()

        self._volume.submit_call(block, blocks, write, served)
        return moved

    def _transfer_together(self, command: commands.TransferTogether, _: _ClientState) -> simpy.Event:
        moved = self._volume.submit_batch(command.extents, write=command.write)
        blocks = sum(blocks for _, blocks in command.extents)
        assert moved.callbacks is not None
        moved.callbacks.append(lambda event: self._counts.asked.add(event.value, blocks))
        return moved

    def _open_pool(self, command: commands.OpenPool, _: _ClientState) -> BufferPool:
        storage = Filling(self._env, self._volume) if command.filling else self._volume
        pool = BufferPool(self._env, storage, command.frames, share_schemas=command.share_schemas, write_run=command.write_run)
        if isinstance(storage, Filling):
            self._filling[pool] = storage
        pool.statistics = self._counts.pools.setdefault(command.name, PoolStatistics())
        self._pools[command.name] = pool
        return pool

    def _filled(self, command: commands.Filled, _: _ClientState) -> None:
        self._filling.pop(command.pool).running = True

    def _fix(self, command: commands.Fix, client: _ClientState) -> Steps:
        """Fix a page; whoever has to wait for it leaves the processor meanwhile."""
        fixing: Steps = command.pool.fix(command.query, command.page, changed=command.changed)
        if client.turn is None:
            return (yield from fixing)
        try:
            waits = next(fixing)
        except StopIteration as there:
            return there.value
        self._leave(command, client)
        yield waits
        page = yield from fixing
        yield self._take(command, client)
        return page

    def _work(self, command: commands.Work, client: _ClientState) -> simpy.Event:
        duration_ps = command.duration_ps
        return self._env.timeout(duration_ps) if client.turn is None else self._processor.work(duration_ps)

    def _take(self, _: Any, client: _ClientState) -> simpy.Event:
        client.turn = self._processor.turn()
        return client.turn

    def _leave(self, _: Any, client: _ClientState) -> None:
        assert client.turn is not None
        self._processor.leave(client.turn)
        client.turn = None

    def _complete(self, command: commands.Complete, _: _ClientState) -> None:
        self._counts.completed[command.kind] += 1

    def _next_period(self, command: commands.Period, _: _ClientState) -> None:
        self._end_period()
        self._begin_period(command.name)

    def _begin_period(self, name: str) -> None:
        self._counts = Counts(name, int(self._env.now))
        for pool_name, pool in self._pools.items():
            pool.statistics = self._counts.pools[pool_name] = PoolStatistics()
        self._volume.restart()
        self._processor.restart()

    def _end_period(self) -> None:
        counts = self._counts
        self._periods[counts.name] = Period(
            began_ps=counts.began_ps,
            elapsed_ps=int(self._env.now) - counts.began_ps,
            asked=counts.asked,
            served=self._volume.times,
            disks=self._volume.volume.disks,
            serving_ps=self._volume.serving_ps,
            disks_busy_ps=self._volume.busy_ps,
            pools=counts.pools,
            busy_ps=self._processor.busy_ps,
            completed=counts.completed,
        )
