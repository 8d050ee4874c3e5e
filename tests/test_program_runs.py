"""Programs on a system: what each command takes, who goes first, and what counts for which period."""

from dataclasses import replace
from pathlib import Path

import pytest
from storage_pages import DEVICE

from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.run import Program, run, run_together
from memwalk.simcore.storage.system import System
from memwalk.traces.storage import (
    WHOLE,
    Begin,
    Client,
    Complete,
    Evictions,
    Filled,
    Fix,
    LeaveProcessor,
    Now,
    OpenPool,
    Period,
    Start,
    Stop,
    TakeProcessor,
    Transfer,
    TransferTogether,
    Unfix,
    Wait,
    Work,
)
from memwalk.workloads.programs import transfers
from memwalk.workloads.tables import WholePages

MS = 10**9
PAGE, SEEK = 16, 5 * MS
"""Blocks of a page, and what one takes that does not follow the one before; one that does takes 0.1 ms."""


@pytest.fixture
def system(tmp_path: Path) -> System:
    (tmp_path / "device.yaml").write_text(DEVICE)
    return System(load_device("./device.yaml", tmp_path))


def test_a_transfer_ends_with_its_last_extent(system: System) -> None:
    def client() -> Client:
        yield Transfer([(160, PAGE), (1600, PAGE)])
        assert (yield Now()) == 2 * SEEK
        yield TransferTogether([(3200, PAGE), (3200 + PAGE, PAGE)])

    (period,) = run(system, [client()]).values()
    assert period.elapsed_ps == 3 * SEEK + MS // 10
    assert (period.asked.requests, period.served.requests) == (3, 3)
    assert period.asked.blocks == period.served.blocks == 4 * PAGE
    assert period.asked.queue_ps == SEEK


def test_a_wait_ends_before_whatever_else_happens_then(system: System) -> None:
    def worker() -> Client:
        yield Work(MS)
        yield Complete("work")

    def clock() -> Client:
        yield Wait(MS)
        yield Period("later")
        yield Wait(MS)
        yield Stop()

    periods = run(system, [worker(), clock()])
    assert list(periods) == ["", "later"]
    assert periods[""].completed.total() == 0
    assert periods["later"].completed == {"work": 1}


def test_a_run_stops_when_it_is_told_to(system: System) -> None:
    def endless() -> Client:
        while True:
            yield Work(MS)
            yield Complete("work")

    def clock() -> Client:
        yield Start([endless(), endless()])
        yield Wait(5 * MS + 1)
        yield Stop()

    (period,) = run(system, [clock()]).values()
    assert period.elapsed_ps == 5 * MS + 1
    assert period.completed == {"work": 10}
    assert period.busy_ps == 0, "they have processors of their own"


def test_periods_divide_what_happens(system: System) -> None:
    def client() -> Client:
        for name in ("first", "second"):
            yield Period(name)
            yield Transfer([(160 if name == "first" else 1600, PAGE)])

    periods = run(system, [client()])
    assert periods[""].elapsed_ps == 0
    for name in ("first", "second"):
        assert periods[name].elapsed_ps == SEEK
        assert periods[name].asked.requests == periods[name].served.requests == 1
        assert periods[name].utilization == 1


def test_clients_take_turns_on_one_processor(system: System) -> None:
    def client() -> Client:
        yield TakeProcessor()
        yield Work(MS)
        yield LeaveProcessor()

    (period,) = run(system, [client() for _ in range(3)]).values()
    assert period.elapsed_ps == period.busy_ps == 3 * MS


def test_who_waits_for_a_page_leaves_the_processor(system: System) -> None:
    """Another one works meanwhile, and who has its page waits for the other to finish."""
    ends = []

    def clients() -> Client:
        pool = yield OpenPool("pool", 4)
        yield Start([reader(pool), worker()])

    def reader(pool: object) -> Client:
        query = yield Begin(pool, WholePages(PAGE), WHOLE)
        yield TakeProcessor()
        frame = yield Fix(pool, query, 10)
        ends.append((yield Now()))
        yield Work(MS)
        yield Unfix(pool, frame)
        again = yield Fix(pool, query, 10)  # it is there, so that the processor is kept
        yield Unfix(pool, again)
        yield LeaveProcessor()

    def worker() -> Client:
        yield TakeProcessor()
        yield Work(6 * MS)
        yield LeaveProcessor()

    (period,) = run(system, [clients()]).values()
    assert ends == [6 * MS]
    assert (period.elapsed_ps, period.busy_ps) == (7 * MS, 7 * MS)
    assert (period.pools["pool"].fixes, period.pools["pool"].misses) == (2, 1)


def test_to_fill_a_pool_takes_no_time_and_pools_of_one_name_count_together(system: System) -> None:
    def client() -> Client:
        for _ in range(2):
            pool = yield OpenPool("pool", 2, filling=True)
            query = yield Begin(pool, WholePages(PAGE), WHOLE)
            for page in (10, 20, 30):
                yield Unfix(pool, (yield Fix(pool, query, page)))
        assert (yield Evictions("pool")) == 2
        assert (yield Now()) == 0
        yield Filled(pool)
        yield Unfix(pool, (yield Fix(pool, query, 40)))

    (period,) = run(system, [client()]).values()
    assert period.elapsed_ps == SEEK
    assert period.pools["pool"].misses == 7
    assert period.served.requests == 1


def reader(pages: int, first: int = 0) -> Client:
    """Reads pages none of which follows another."""
    for page in range(pages):
        yield Transfer([(first + 2 * page * PAGE, PAGE)])


def waiting(duration_ps: int) -> Client:
    """Has what it needs after some time, and goes on as long as there is somebody else."""
    yield Period("measured")
    yield Wait(duration_ps)
    yield Stop()
    yield Wait(1000 * duration_ps)


def test_programs_meet_at_a_device(system: System) -> None:
    """They take turns, so that the one with less to do takes twice as long as alone, and both together as long as one after the other."""
    runs = run_together(system, {"long": Program(lambda: [reader(6)]), "short": Program(lambda: [reader(2, 1600)])})
    (long,), (short,) = ([each[""] for each in runs[name]] for name in ("long", "short"))
    assert (long.elapsed_ps, short.elapsed_ps) == (8 * SEEK, 4 * SEEK)
    assert (long.served.requests, short.served.requests) == (6, 2)
    assert (long.served.busy_ps, short.served.busy_ps) == (6 * SEEK, 2 * SEEK)
    assert (long.served.queue_ps, short.served.queue_ps) == (2 * SEEK, 2 * SEEK)


def test_programs_on_devices_of_their_own_know_nothing_of_each_other(system: System) -> None:
    both = replace(system, disks=3, volume="striped", stripe_blocks=PAGE)
    programs = {
        "one": Program(lambda: transfers.clients(transfers.anywhere(50, PAGE, 100, write_share=0.5), 3), disks=(1,)),
        "two": Program(lambda: transfers.clients(transfers.anywhere(70, 2 * PAGE, 40, seed=2), 2), disks=(0, 2)),
    }
    runs = run_together(both, programs)
    assert {name: runs[name] for name in programs} == {
        name: [run(both.on(len(one.disks or ())), one.clients())] for name, one in programs.items()
    }
    assert run_together(both, dict(reversed(programs.items()))) == runs


def test_each_program_has_pools_and_a_processor_of_its_own(system: System) -> None:
    def clients() -> list[Client]:
        def client() -> Client:
            yield TakeProcessor()
            pool = yield OpenPool("pool", 2)
            query = yield Begin(pool, WholePages(PAGE), WHOLE)
            yield Unfix(pool, (yield Fix(pool, query, 10)))
            yield Work(MS)
            yield LeaveProcessor()

        return [client()]

    runs = run_together(system, {"one": Program(clients), "two": Program(clients)})
    for (periods,) in runs.values():
        assert periods[""].pools["pool"].misses == 1
        assert periods[""].busy_ps == MS
    assert [periods[""].elapsed_ps for (periods,) in runs.values()] == [SEEK + MS, 2 * SEEK + MS]


def test_a_program_repeats_until_the_others_have_ended(system: System) -> None:
    """It begins at 1 ms, and again when it has ended at 6, 11 and 16 ms; the last one is finished, and those who wait are measured."""
    runs = run_together(
        system,
        {"again": Program(lambda: [reader(1)], start_ps=MS, repeats=True), "timed": Program(lambda: [waiting(17 * MS)])},
    )
    assert [(each[""].began_ps, each[""].elapsed_ps) for each in runs["again"]] == [(MS + number * SEEK, SEEK) for number in range(4)]
    assert runs["timed"][0]["measured"].elapsed_ps == MS + 4 * SEEK


def test_who_ends_at_the_moment_in_which_others_have_what_they_need_is_not_run_again(system: System) -> None:
    runs = run_together(system, {"again": Program(lambda: [reader(1)], repeats=True), "timed": Program(lambda: [waiting(SEEK)])})
    assert len(runs["again"]) == 1


def test_what_takes_no_time_is_not_run_for_ever(system: System) -> None:
    runs = run_together(system, {"nothing": Program(lambda: [reader(0)], repeats=True), "long": Program(lambda: [reader(3)])})
    assert len(runs["nothing"]) == 1
