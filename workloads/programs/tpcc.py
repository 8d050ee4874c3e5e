"""Users of TPC-C without think time (Clotho, section 7.4)."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

from memwalk.traces.storage import (
    WHOLE,
    Begin,
    Client,
    Command,
    Complete,
    End,
    Evictions,
    Filled,
    Fix,
    LeaveProcessor,
    OpenPool,
    Period,
    Pool,
    Query,
    Start,
    Stop,
    TakeProcessor,
    Unfix,
    Wait,
    Work,
)
from memwalk.workloads.clotho import TwoDimensional
from memwalk.workloads.clotho.layouts import Layout, Reconstruction
from memwalk.workloads.tpcc import Terminals, tables
from memwalk.workloads.tpcc.a_pages import APageDatabase
from memwalk.workloads.tpcc.database import Database, Touch
from memwalk.workloads.tpcc.whole_pages import PageDatabase

ROOM = 1.5
"""Space that tables and indexes have, over what they hold at the beginning: minutes of orders are some per cent of it."""

POOL = "pool of TPC-C"
"""The buffer pool of the users."""
MEASURED = "measured"
"""The period behind the warm-up."""


def database(
    layout: Layout, terminals: Terminals, rows: TwoDimensional | None, reconstruction: Reconstruction, *, first_block: int = 0
) -> Database:
    """Place TPC-C's tables and indexes on a volume from ``first_block`` on. Raises ValueError for csm without its rows and columns."""
    schema = [*tables(terminals.warehouses).values()]
    if layout != "csm":
        return PageDatabase(layout, schema, terminals.indexes, ROOM, reconstruction=reconstruction, first_block=first_block)
    if rows is None:
        raise ValueError("A-pages lie on a volume with rows and columns; give it")
    return APageDatabase(rows, schema, terminals.indexes, ROOM, first_block=first_block)


@dataclass
class Users:
    """The users of one database, one at each terminal, who share a buffer pool and a processor. For one run."""

    database: Database
    terminals: Terminals
    frames: int
    share_schemas: bool
    fill_transactions: int
    """Transactions, at most, that fill the pool before the clock starts."""
    page_access_ps: int
    """What the processor takes to fix a page and to do a statement's work on it."""
    _standing: dict[bool, Query] = field(default_factory=dict)
    """Queries that read and that change pages in one piece, which go on for ever: all such pages have the same column."""

    @property
    def outgrown(self) -> bool:
        """Whether a table has outgrown its space."""
        return self.terminals.growth > ROOM - 1

    def client(self, warm_up_ps: int, measured_ps: int) -> Client:
        """Make the client that has the users work, and says when they are measured and for how long at least."""
        pool = yield OpenPool(POOL, self.frames, share_schemas=self.share_schemas, filling=True)
        for changes in (False, True):
            self._standing[changes] = yield Begin(pool, self.database.whole, WHOLE, WHOLE if changes else 0)
        yield from self._fill(pool)
        yield Filled(pool)
        yield Start([self._user(pool, number) for number in range(self.terminals.count)])
        if warm_up_ps:
            yield Wait(warm_up_ps)
        yield Period(MEASURED)
        yield Wait(measured_ps)
        yield Stop()

    def _fill(self, pool: Pool) -> Generator[Command, Any, None]:
        """Have the terminals enter transactions one at a time until the pool has replaced all frames once."""
        for number in range(self.fill_transactions):
            for visit in self.terminals.next(number % self.terminals.count).visits:
                for touch in self.database.touches(visit):
                    yield from self._touch(pool, touch)
            if (yield Evictions(POOL)) >= self.frames:
                return

    def _user(self, pool: Pool, number: int) -> Client:
        while True:
            transaction = self.terminals.next(number)
            yield TakeProcessor()
            for visit in transaction.visits:
                for touch in self.database.touches(visit):
                    yield from self._touch(pool, touch, self.page_access_ps)
            yield LeaveProcessor()
            yield Complete(transaction.kind)

    def _touch(self, pool: Pool, touch: Touch, work_ps: int | None = None) -> Generator[Command, Any, None]:
        """Fix pages one after another and work on each."""
        file, schema, changes, pages = touch
        stands = file is self.database.whole
        query = self._standing[changes != 0] if stands else (yield Begin(pool, file, schema, changes))
        for page in pages:
            frame = yield Fix(pool, query, page)
            if work_ps is not None:
                yield Work(work_ps)
            yield Unfix(pool, frame)
        if not stands:
            yield End(pool, query)
