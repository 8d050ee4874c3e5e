"""What programs ask of storage, command by command: what lies between a workload and the simulator, as events do for the processor.

A program is one or more clients. A client is a generator: it yields a command, is resumed when that is done, and has the command's answer
as the value of its ``yield``. Clients may share whatever they draw their work from. What a simulator answers with (a pool, a query, a
page that is fixed) is handed back to it in later commands; of a fixed page a client may know which pages are in its frame.
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

Span: TypeAlias = tuple[int, int]
"""Consecutive blocks of a volume: the first one, and how many."""

Schema: TypeAlias = int
"""A set of columns: bit i stands for column i."""

WHOLE: Schema = 1
"""The one column of pages in one piece."""


class PagedFile(Protocol):
    """A table, or a part of it, as pages on a volume.

    A page is an A-page, whose columns can be read apart, or a page in one piece, whose columns all come with it.
    """

    @property
    def full_schema(self) -> Schema:
        """All columns."""

    def together(self, schema: Schema) -> int:
        """Return how many consecutive pages fit into one frame if only the columns of ``schema`` are kept."""

    def spans(self, pages: range, schema: Schema) -> Sequence[Span]:
        """Return where the columns of ``schema`` of consecutive pages lie, in the order in which they should be asked for."""


Pool: TypeAlias = Any
"""A buffer pool, as `OpenPool` answers with: the simulator's own, of which a client knows nothing."""

Query: TypeAlias = Any
"""A query that a pool knows, as `Begin` answers with."""

Reader: TypeAlias = Any
"""What reads ahead, as `ReadAhead` answers with."""


class Frame(Protocol):
    """A page that is fixed, as `Fix` answers with."""

    @property
    def pages(self) -> range:
        """Consecutive pages of the file that are in this frame, the one that was asked for among them."""


class Transfer(NamedTuple):
    """Move extents, all at once; done when all have moved. Each is a request of its own."""

    extents: Sequence[Span]
    write: bool = False


class TransferTogether(NamedTuple):
    """Move extents that belong together, such as a page's minipages: what follows on a device is one request."""

    extents: Sequence[Span]
    write: bool = False


class OpenPool(NamedTuple):
    """Have an empty buffer pool; the answer is a `Pool`. It takes the place of an older one of its name, and counts go on."""

    name: str
    frames: int
    share_schemas: bool = True
    """Whether pages come with the columns of all queries that overlap (Clotho, section 4.2)."""
    write_run: int = 1
    """Pages that are written back together if they follow each other."""
    filling: bool = False
    """Whether what the pool moves takes no time, until `Filled`."""


class Filled(NamedTuple):
    """Have what a pool moves take time from now on."""

    pool: Pool


class Evictions(NamedTuple):
    """Ask how many pages have left the pool of this name in this period; the answer is an int."""

    name: str


class Begin(NamedTuple):
    """Begin a query on a file; the answer is a `Query`."""

    pool: Pool
    file: PagedFile
    schema: Schema
    changes: Schema = 0
    scans: bool = False


class End(NamedTuple):
    """End a query: pages brought from now on need not suit it."""

    pool: Pool
    query: Query


class Fix(NamedTuple):
    """Fix a page for a query; the answer is a `Frame`. A client that has the processor and must wait leaves it meanwhile."""

    pool: Pool
    query: Query
    page: int
    changed: bool = True
    """Whether a query that changes pages changes this one."""


class Unfix(NamedTuple):
    """Give back a page that was fixed."""

    pool: Pool
    frame: Frame


class Flush(NamedTuple):
    """Write all dirty columns of a pool back."""

    pool: Pool


class ReadAhead(NamedTuple):
    """Have runs of pages brought, by so many workers, up to so many runs ahead of the reader; the answer is a `Reader`."""

    pool: Pool
    runs: Sequence[tuple[Query, range]]
    ahead: int
    workers: int


class Reach(NamedTuple):
    """Say that the reader begins the run with this number."""

    reader: Reader
    run: int


class Work(NamedTuple):
    """Work for so many picoseconds: on the processor that all share if the client has it, or else on one of its own."""

    duration_ps: int


class TakeProcessor(NamedTuple):
    """Wait for the processor that the clients of a program share, first come, first served."""


class LeaveProcessor(NamedTuple):
    """Give the processor to whoever is next."""


class Wait(NamedTuple):
    """Wait so many picoseconds, and go on before whatever else happens then."""

    duration_ps: int


class Now(NamedTuple):
    """Ask what time it is; the answer is an int, in picoseconds."""


class Complete(NamedTuple):
    """Count something that is done, such as a transaction of a kind."""

    kind: str


class Period(NamedTuple):
    """Begin a period of the run: from now on, what happens counts for it. The first one, until this is said, has no name."""

    name: str


class Start(NamedTuple):
    """Have other clients begin, and go on without waiting for them."""

    clients: Sequence["Client"]


class Stop(NamedTuple):
    """Have what the program needs: the run ends, whatever its other clients do, or goes on while programs beside it have not said so."""


Command: TypeAlias = (
    Transfer
    | TransferTogether
    | OpenPool
    | Filled
    | Evictions
    | Begin
    | End
    | Fix
    | Unfix
    | Flush
    | ReadAhead
    | Reach
    | Work
    | TakeProcessor
    | LeaveProcessor
    | Wait
    | Now
    | Complete
    | Period
    | Start
    | Stop
)

Client: TypeAlias = Generator[Command, Any, None]
"""A client of a program."""


@dataclass(frozen=True)
class Stream:
    """The pages of a file that a scan goes through from the first one on, each with so many records."""

    file: PagedFile
    schema: Schema
    records_per_page: int
    run_pages: int
    """Pages that are read ahead together."""
    changes: Schema = 0
    """Columns that the scan updates."""
    changed: Collection[int] | None = None
    """Pages in which it updates something; all if None."""
