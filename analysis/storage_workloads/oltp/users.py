"""Users of a database without think time: each begins a transaction when the one before is done."""

from collections import Counter
from collections.abc import Generator
from typing import Any, TypeAlias

import simpy

from memwalk.analysis.storage_workloads.oltp.database import Database
from memwalk.simcore.storage.pool import BufferPool, CPage, Query
from memwalk.workloads.tpcc import Terminals

Steps: TypeAlias = Generator[simpy.Event, Any, Any]


class Processor:
    """One processor. Whoever has it keeps it until it waits for storage, as the threads of Shore are not preempted."""

    def __init__(self, env: simpy.Environment) -> None:
        """Begin idle."""
        self.busy_ps = 0
        """Time that was worked, which may be set back to 0."""
        self._env = env
        self._turns = simpy.Resource(env, capacity=1)

    def turn(self) -> simpy.resources.resource.Request:
        """Return the event of having the processor; first come, first served."""
        return self._turns.request()

    def leave(self, turn: simpy.resources.resource.Request) -> None:
        """Give the processor to whoever is next."""
        self._turns.release(turn)

    def work(self, duration_ps: int) -> simpy.Event:
        """Return the end of a piece of work of whoever has the processor."""
        self.busy_ps += duration_ps
        return self._env.timeout(duration_ps)


class Users:
    """The users of one database, which share a buffer pool and a processor."""

    def __init__(self, env: simpy.Environment, pool: BufferPool, database: Database, terminals: Terminals, page_access_ps: int) -> None:
        """Have one user at each of ``terminals`` begin; fixing a page and working on it takes ``page_access_ps``."""
        self.completed: Counter[str] = Counter()
        """Transactions by kind, which may be emptied."""
        self.processor = Processor(env)
        self._env = env
        self._pool = pool
        self._database = database
        self.terminals = terminals
        self._page_access_ps = page_access_ps
        for number in range(terminals.count):
            env.process(self._user(number))

    def _user(self, number: int) -> Steps:
        processor = self.processor
        while True:
            transaction = self.terminals.next(number)
            turn = processor.turn()
            yield turn
            for visit in transaction.visits:
                for query, pages in self._database.touches(visit):
                    for page in pages:
                        turn = yield from self._access(turn, query, page)
            processor.leave(turn)
            self.completed[transaction.kind] += 1

    def _access(self, turn: simpy.resources.resource.Request, query: Query, page: int) -> Generator[simpy.Event, Any, Any]:
        """Fix a page and work on it; whoever has to wait for it leaves the processor meanwhile. Returns the turn that is held then."""
        fixing = self._pool.fix(query, page)
        copy: CPage
        try:
            waits = next(fixing)
        except StopIteration as there:
            copy = there.value
        else:
            self.processor.leave(turn)
            yield waits
            copy = yield from fixing
            turn = self.processor.turn()
            yield turn
        yield self.processor.work(self._page_access_ps)
        self._pool.unfix(copy)
        return turn
