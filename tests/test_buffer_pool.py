"""The buffer pool: CLOCK, page schemas, and what it promises however queries interleave."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import columns_of, schema_of

from memwalk.simcore.storage.pool import BufferPool, Clock, CPage, PageSchemas, Query, ReadAhead, Steps, subsumes

COLUMNS = 4
FRAME_BLOCKS = 4


@dataclass(frozen=True, eq=False)
class Minipages:
    """A file of pages with a block per column; column c of page p is block c * 1000 + p of its volume."""

    full_schema: int = 2**COLUMNS - 1

    def together(self, schema: int) -> int:
        return FRAME_BLOCKS // schema.bit_count()

    def spans(self, pages: range, schema: int) -> Sequence[tuple[int, int]]:
        return [(column * 1000 + pages.start, len(pages)) for column in columns_of(schema)]


class Store:
    """Takes requests; each lasts a time of its own, so that they overtake each other."""

    def __init__(self, env: simpy.Environment, times: Iterator[int]) -> None:
        self.env, self.times = env, times
        self.requests: list[tuple[int, int, bool]] = []
        self.newest: Counter[int] = Counter()
        """Version of each block as writers left it, here or in the pool."""
        self.stored: Counter[int] = Counter()
        """Version of each block here."""

    def submit_batch(self, runs: Iterable[tuple[int, int]], *, write: bool = False) -> simpy.Event:
        runs = list(runs)
        assert runs, "a batch of nothing"
        self.requests += [(block, blocks, write) for block, blocks in runs]
        moving = {block + i: self.newest[block + i] for block, blocks in runs for i in range(blocks)}
        assert write or all(self.stored[block] == version for block, version in moving.items()), "what is read here is out of date"
        moved = self.env.timeout(next(self.times))
        if write:
            moved.callbacks.append(lambda _: self.stored.update({block: v - self.stored[block] for block, v in moving.items()}))
        return moved


def endless(numbers: Sequence[int]) -> Iterator[int]:
    while True:
        yield from numbers


def pool_of(
    frames: int, times: Sequence[int] = (10,), *, share_schemas: bool = True, write_run: int = 1
) -> tuple[simpy.Environment, Store, BufferPool]:
    env = simpy.Environment()
    store = Store(env, endless(times))
    return env, store, BufferPool(env, store, frames, share_schemas=share_schemas, write_run=write_run)


class TextbookClock:
    """CLOCK as in a textbook: a list of frames with a bit, no pins."""

    def __init__(self, frames: int) -> None:
        self.bits = [False] * frames
        self.hand = 0

    def victim(self) -> int:
        while self.bits[self.hand]:
            self.bits[self.hand] = False
            self.hand = (self.hand + 1) % len(self.bits)
        chosen, self.hand = self.hand, (self.hand + 1) % len(self.bits)
        return chosen


@given(st.integers(1, 6), st.lists(st.integers(0, 8), max_size=60))
def test_clock_is_the_textbooks(frames: int, steps: list[int]) -> None:
    clock, textbook = Clock(frames), TextbookClock(frames)
    for step in steps:
        if step < frames:
            clock.use(step)
            textbook.bits[step] = True
        else:
            assert clock.victim() == textbook.victim()


def test_clock_passes_over_pinned_frames() -> None:
    clock = Clock(3)
    clock.pin(0)
    clock.use(1)
    assert [clock.victim(), clock.victim()] == [2, 1]
    clock.pin(1)
    clock.pin(2)
    assert clock.victim() is None
    clock.unpin(1)
    assert clock.victim() == 1


def test_clock_spares_frames_whose_use_is_to_come_as_long_as_there_are_others() -> None:
    clock = Clock(3)
    clock.expect(0)
    clock.use(1)
    assert [clock.victim(), clock.victim(), clock.victim()] == [2, 1, 2]
    clock.use(0)
    assert [clock.victim(), clock.victim(), clock.victim()] == [1, 2, 0], "it was used: marked once, like any other"
    for frame in range(3):
        clock.expect(frame)
    clock.expect_no_more(1)
    assert [clock.victim(), clock.victim()] == [1, 1]
    clock.pin(1)
    assert clock.victim() == 2, "all others are spared: one of them goes"


def test_page_schemas_of_the_published_example() -> None:
    """Section 4.2: a query for a1 and a2, one for a2 and a3; then the first one ends."""
    schemas = PageSchemas(full=0b1111)
    first = schemas.begin(0b0011)
    assert schemas.pages == (0b0011,)
    schemas.begin(0b0110)
    assert schemas.pages == (0b0111,)
    schemas.end(first)
    assert schemas.pages == (0b0110,)


def test_page_schemas_are_reused_added_and_merged() -> None:
    schemas = PageSchemas(full=0b11111)
    schemas.begin(0b00011)
    schemas.begin(0b00001)
    assert schemas.pages == (0b00011,)
    schemas.begin(0b01100)
    assert schemas.pages == (0b00011, 0b01100)
    writer = schemas.begin(0b11111)
    assert schemas.pages == (0b11111,)
    schemas.end(writer)
    assert schemas.pages == (0b00011, 0b01100)
    with pytest.raises(ValueError, match="no part of the table"):
        schemas.begin(0b100000)


@given(st.lists(st.tuples(st.integers(1, 63), st.booleans()), max_size=30))
def test_every_active_query_has_one_page_schema_and_none_overlap(steps: list[tuple[int, bool]]) -> None:
    schemas, active = PageSchemas(full=63), {}
    for schema, ends in steps:
        if ends and active:
            schemas.end(next(iter(active)))
            del active[next(iter(active))]
        else:
            active[schemas.begin(schema)] = schema
        assert (
            sum(page.bit_count() for page in schemas.pages)
            == schema_of({c for page in schemas.pages for c in columns_of(page)}).bit_count()
        )
        for asked in active.values():
            assert subsumes(schemas.page_for(asked), asked)
        wanted = schema_of({c for asked in active.values() for c in columns_of(asked)})
        assert schema_of({c for page in schemas.pages for c in columns_of(page)}) == wanted


def run(env: simpy.Environment, *processes: Steps) -> list[object]:
    started = [env.process(process) for process in processes]
    env.run()
    assert all(process.processed for process in started), "a process waits for ever"
    return [process.value for process in started]


def visit(env: simpy.Environment, pool: BufferPool, query: Query, pages: Sequence[int], hold: int = 0) -> Steps:
    copies: list[CPage] = []
    for page in pages:
        copy = yield from pool.fix(query, page)
        copies.append(copy)
        if hold:
            yield env.timeout(hold)
        pool.unfix(copy)
    return copies


def test_a_scan_fills_its_frames_and_a_point_query_does_not() -> None:
    file = Minipages()
    env, store, pool = pool_of(8)
    scan = pool.begin(file, 0b0011, scans=True)
    run(env, pool.prefetch(scan, range(4)))
    assert store.requests == [(0, 4, False), (1000, 4, False)]
    assert pool.frames_in_use == 2
    point = pool.begin(file, 0b0001)
    run(env, visit(env, pool, point, [3, 9]))
    assert store.requests[2:] == [(9, 1, False), (1009, 1, False)]  # with the columns that the scan wants too
    assert pool.statistics.misses == 1


def test_a_write_reads_all_columns_writes_back_the_changed_ones_and_leaves_one_copy() -> None:
    file = Minipages()
    env, store, pool = pool_of(2)
    reader = pool.begin(file, 0b0001, scans=True)
    run(env, visit(env, pool, reader, [0, 1]))
    writer = pool.begin(file, 0b0100, changes=0b0100)
    run(env, visit(env, pool, writer, [1]))
    assert [request for request in store.requests if not request[2]][-4:] == [(column * 1000 + 1, 1, False) for column in range(4)]
    assert pool.statistics.invalidations == 1
    pool.end(writer)
    run(env, visit(env, pool, reader, [1]))
    assert pool.statistics.misses == 3  # the reader's pages 0 and 1, the writer's page 1: the reader now shares that
    run(env, visit(env, pool, reader, [5, 6, 7]))
    assert [request for request in store.requests if request[2]] == [(2001, 1, True)]


def test_all_frames_pinned_makes_a_query_wait_for_one() -> None:
    file = Minipages()
    env, _, pool = pool_of(2)
    query = pool.begin(file, 0b1111)
    run(env, visit(env, pool, query, [0], hold=100), visit(env, pool, query, [1], hold=200), visit(env, pool, query, [2]))
    assert env.now == 210  # pages 0 and 1 arrive at 10; page 2 is asked for at 110


@dataclass
class Step:
    page: int
    schema: int
    changes: int
    hold: int


STEPS = st.builds(Step, st.integers(0, 5), st.integers(1, 15), st.sampled_from([0, 0, 1, 4, 6]), st.integers(0, 30))


def test_a_run_is_read_at_once_though_some_of_its_frames_have_to_be_written_first() -> None:
    """The first page of eight was not changed: its frame is free at once, and the others' when they have been written."""
    env, store, pool = pool_of(8, write_run=8)
    file = Minipages()

    def client() -> Steps:
        query = pool.begin(file, 1, changes=1, scans=True)
        for page in range(8):
            copy = yield from pool.fix(query, page, changed=page > 0)
            pool.unfix(copy)
        yield from pool.prefetch(query, range(8, 16))
        pool.end(query)

    run(env, client())
    assert store.requests[-1 - COLUMNS :] == [(1, 7, True), *((column * 1000 + 8, 8, False) for column in range(COLUMNS))]


@settings(max_examples=300)
@given(
    st.lists(st.lists(STEPS, min_size=1, max_size=8), min_size=1, max_size=4),
    st.lists(st.integers(1, 40), min_size=1, max_size=7),
    st.integers(2, 6),
    st.fixed_dictionaries({"share_schemas": st.booleans(), "write_run": st.integers(1, 3)}),
    st.booleans(),
)
def test_nobody_sees_old_data(clients: list[list[Step]], times: list[int], frames: int, policy: dict[str, Any], scans: bool) -> None:
    """A column is never read from storage while the pool has it changed, and beside a changed copy there is no other valid one.

    So what a copy holds is the newest when it is read, and stays so for as long as the copy is valid.
    """
    file = Minipages()
    env, store, pool = pool_of(frames, times, **policy)
    changed: dict[int, CPage] = {}  # the copy of each page that was changed last

    def client(steps: list[Step]) -> Steps:
        for step in steps:
            query = pool.begin(file, step.schema, changes=step.changes, scans=scans)
            copy = yield from pool.fix(query, step.page)
            assert subsumes(copy.schema, step.schema | step.changes)
            assert copy.valid
            assert step.page in copy.pages
            assert pool.frames_in_use <= frames
            if step.page in changed and changed[step.page].unsaved:
                assert copy is changed[step.page], "another copy beside one with changes"
            if step.changes:
                changed[step.page] = copy
                store.newest.update(column * 1000 + step.page for column in columns_of(step.changes))
            if step.hold:
                yield env.timeout(step.hold)
                assert copy.valid or changed[step.page] is not copy
            pool.unfix(copy)
            pool.end(query)

    run(env, *(client(steps) for steps in clients))
    run(env, pool.flush())
    assert store.stored == store.newest
    assert not any(copy.unsaved for copy in changed.values())


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 5), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_reading_ahead_changes_when_and_not_what(ahead: int, workers: int, run_pages: int, times: list[int]) -> None:
    file = Minipages()
    env, store, pool = pool_of(64, times)
    query = pool.begin(file, 0b0011, scans=True)
    runs = [range(first, min(first + run_pages, 40)) for first in range(0, 40, run_pages)]
    reader = ReadAhead(env, pool, [(query, pages) for pages in runs], ahead=ahead, workers=workers)

    def scan() -> Steps:
        for number, pages in enumerate(runs):
            reader.reach(number)
            yield from visit(env, pool, query, pages)

    run(env, scan())
    read = sorted(block + i for block, blocks, _ in store.requests for i in range(blocks))
    assert read == [*range(40), *range(1000, 1040)]


@pytest.mark.parametrize(("frames", "twice"), [(8, 0), (7, 0), (3, None)])
def test_pages_read_ahead_stay_until_they_are_used(frames: int, twice: int | None) -> None:
    """Three runs of two pages are on their way, and one is changed: with fewer frames pages are read again, and nobody waits for ever."""
    file = Minipages()
    env, store, pool = pool_of(frames)
    query = pool.begin(file, 0b1111, changes=0b0001, scans=True)
    runs = [range(first, first + 2) for first in range(0, 60, 2)]
    reader = ReadAhead(env, pool, [(query, pages) for pages in runs], ahead=3, workers=3)

    def scan() -> Steps:
        for number, pages in enumerate(runs):
            reader.reach(number)
            yield from visit(env, pool, query, pages, hold=7)
        pool.end(query)

    run(env, scan())
    read = Counter(block + i for block, blocks, write in store.requests if not write for i in range(blocks) if block < 1000)
    again = sum(read.values()) - 60
    assert again > 0 if twice is None else again == twice


def test_pages_read_ahead_for_a_query_that_ended_go_like_others() -> None:
    file = Minipages()
    env, _, pool = pool_of(4)
    ended = pool.begin(file, 0b1111, scans=True)
    run(env, pool.prefetch(ended, range(3)))
    pool.end(ended)
    other = pool.begin(file, 0b1111)
    run(env, visit(env, pool, other, [10, 11, 12, 13, 10, 11, 12, 13]))
    assert pool.statistics.misses == 4


def test_reading_ahead_hides_storage_behind_work() -> None:
    """Ten runs of one page, 10 to read and 10 to work on: one behind the other 200; one ahead, the first read and all the work."""
    file = Minipages()

    def elapsed(ahead: int) -> int:
        env, _, pool = pool_of(16, [10])
        query = pool.begin(file, 0b1111, scans=True)
        reader = ReadAhead(env, pool, [(query, range(page, page + 1)) for page in range(10)], ahead=ahead, workers=1)

        def scan() -> Steps:
            for page in range(10):
                reader.reach(page)
                yield from visit(env, pool, query, [page], hold=10)

        run(env, scan())
        return int(env.now)

    assert (elapsed(1), elapsed(2)) == (200, 110)
