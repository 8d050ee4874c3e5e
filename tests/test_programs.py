"""Programs on storage by themselves: what their clients say, without any simulator."""

from collections import Counter
from typing import Any

import pytest
from programs import in_turns, listed

from memwalk.traces.storage import (
    WHOLE,
    Begin,
    Command,
    Complete,
    End,
    Evictions,
    Filled,
    Fix,
    Flush,
    LeaveProcessor,
    OpenPool,
    Period,
    Reach,
    ReadAhead,
    Start,
    Stop,
    Stream,
    TakeProcessor,
    Transfer,
    TransferTogether,
    Unfix,
    Wait,
    Work,
)
from memwalk.workloads.clotho.relation import files, index_of, relation
from memwalk.workloads.programs import clotho, tpcc, transfers
from memwalk.workloads.programs.scan import scan
from memwalk.workloads.tables import Extent, WholePages
from memwalk.workloads.tpcc import MIX, Terminals

PAGES = WholePages(16)


def test_reads_are_cut_into_commands() -> None:
    assert list(transfers.reads([Extent(5, 10), Extent(100, 3)], 4)) == [
        Transfer([(5, 4)]),
        Transfer([(9, 4)]),
        Transfer([(13, 2)]),
        Transfer([(100, 3)]),
    ]


def test_runs_with_gaps_end_with_what_is_left() -> None:
    assert list(transfers.RunsWithGaps(5, 16, run_pages=2, skipped_runs=3, first_block=7)) == [
        (7, 32),
        (7 + 8 * 16, 32),
        (7 + 16 * 16, 16),
    ]


def test_clients_share_the_work() -> None:
    """Each takes the next transfer when it is done with its own; together they do each once."""
    stream = list(transfers.anywhere(10, 16, 100, write_share=0.5))
    assert in_turns(transfers.clients(stream, 3)) == [stream[0::3], stream[1::3], stream[2::3]]
    assert {transfer.write for transfer in stream} == {False, True}
    assert all(block % 16 == 0 and blocks == 16 for ((block, blocks),) in (transfer.extents for transfer in stream))


def test_an_update_writes_the_pages_that_it_read() -> None:
    pages = [[Extent(0, 16), Extent(64, 16)], [Extent(32, 16)]]
    (client,) = transfers.records(pages, 1, update=True)
    assert listed(client) == [Transfer(pages[0]), Transfer(pages[0], True), Transfer(pages[1]), Transfer(pages[1], True)]


def test_an_operation_counts_from_where_the_file_begins() -> None:
    said = listed(transfers.one_operation(Extent(9, 16), [Extent(50, 16)], read=True, write=True))
    assert said == [
        Transfer([(9, 16)]),
        Period(transfers.OPERATION),
        Transfer([(50, 16)]),
        Transfer([(50, 16)], write=True),
    ]


def test_a_scan_fixes_every_page_once_and_divides_its_work_by_records() -> None:
    """Two columns with 10 and 20 records a page: the second one stays fixed while two pages of the first are worked on."""
    streams = [Stream(PAGES, WHOLE, 10, run_pages=2), Stream(WholePages(16, 1000), WHOLE, 20, run_pages=1)]
    said = listed(scan("pool", streams, records=35, work_ps=350, runs_ahead=1), lambda command: command)
    assert [(command.query.file.first_block, command.page) for command in said if isinstance(command, Fix)] == [
        (0, 0),
        (1000, 0),
        (0, 1),
        (0, 2),
        (1000, 1),
        (0, 3),
    ]
    assert [command.duration_ps for command in said if isinstance(command, Work)] == [100, 100, 100, 50]
    (ahead,) = [command for command in said if isinstance(command, ReadAhead)]
    assert [(asked.file.first_block, [*run]) for asked, run in ahead.runs] == [(0, [0, 1]), (1000, [0]), (0, [2, 3]), (1000, [1])]
    assert (ahead.ahead, ahead.workers) == (4, 4)
    assert [command.run for command in said if isinstance(command, Reach)] == [0, 0, 2, 2]
    assert balanced(said)


def balanced(said: list[Command]) -> bool:
    """Whether all that was fixed was given back, and all that was begun has ended."""
    counts = Counter(type(command) for command in said)
    return counts[Fix] == counts[Unfix] and counts[Begin] == counts[End]


@pytest.mark.parametrize("update", [False, True])
def test_points_warm_up_before_they_are_measured(update: bool) -> None:
    stored = files("dsm", relation(4, 10_000), None)
    points = clotho.Points(stored, index_of(stored, 10_000), 10_000, payload=3, update=update, use_index=True)
    said = listed(points.client(8, warm_up=5, measured=7, seed=1), lambda command: command)
    assert said[0] == OpenPool(clotho.POOL, 8)
    begin = said.index(Period(clotho.MEASURED))
    fixed = [isinstance(command, Fix) for command in said]
    assert (sum(fixed[:begin]), sum(fixed[begin:])) == (5 * 4, 7 * 4)  # a leaf and three columns
    assert [command.changes for command in said[:begin] if isinstance(command, Begin)] == [0, *[WHOLE if update else 0] * 3]
    assert balanced(said)


def test_scans_of_the_relation_end_with_what_they_changed() -> None:
    scanning = clotho.Scanning(files("pax", relation(3, 5000), None), 5000, 2, run_pages=4, runs_ahead=2, changed=[0, 1, 4999])
    (each,) = {file.records_per_page for file in scanning.stored}
    said = listed(scanning.s_scan(64, work_ps=1000), lambda command: command)
    assert said[0] == OpenPool(clotho.POOL, 64, write_run=4)
    assert isinstance(said[-1], Flush)
    assert [command.page for command in said if isinstance(command, Fix) and command.changed] == [0, 4999 // each]
    assert sum(command.duration_ps for command in said if isinstance(command, Work)) == 1000


def test_insertion_writes_every_block_once() -> None:
    stored = files("dsm", relation(3, 5000), None)
    each = in_turns(clotho.insertion(stored, run_blocks=20, runs_ahead=2))
    assert len(each) == 6
    written = [block for client in each for command in client for block in blocks_of(command)]
    assert sorted(written) == list(range(sum(file.blocks for file in stored)))


def blocks_of(command: Command) -> list[int]:
    assert isinstance(command, TransferTogether)
    assert command.write
    return [block for first, blocks in command.extents for block in range(first, first + blocks)]


def users(fill: int = 3, frames: int = 10_000) -> tpcc.Users:
    terminals = Terminals(1, 2, 1)
    return tpcc.Users(tpcc.database("nsm", terminals, None, "merge"), terminals, frames, True, fill, page_access_ps=100)


def test_the_pool_of_tpcc_is_filled_before_its_users_begin() -> None:
    answers: dict[type, Any] = {OpenPool: "pool", Begin: "query", Evictions: 0}
    said = listed(users().client(1000, 5000), lambda command: answers.get(type(command)))
    assert said[0] == OpenPool(tpcc.POOL, 10_000, filling=True)
    filled = said.index(Filled("pool"))
    assert sum(isinstance(command, Evictions) for command in said[:filled]) == 3
    assert not any(isinstance(command, Work) for command in said), "to fill takes no time"
    start, *rest = said[filled + 1 :]
    assert isinstance(start, Start)
    assert len(start.clients) == 2
    assert rest == [Wait(1000), Period(tpcc.MEASURED), Wait(5000), Stop()]


def test_filling_ends_when_all_frames_have_been_replaced() -> None:
    answers: dict[type, Any] = {OpenPool: "pool", Evictions: 10}
    said = listed(users(frames=10).client(0, 5000), lambda command: answers.get(type(command)))
    assert sum(isinstance(command, Evictions) for command in said) == 1
    assert Wait(0) not in said


def test_a_user_works_on_each_page_with_the_processor_that_it_took() -> None:
    (start,) = [command for command in listed(users().client(0, 1), lambda _: 0) if isinstance(command, Start)]
    said = listed(start.clients[0], most=2000)
    kinds = [type(command) for command in said]
    one = kinds[: kinds.index(Complete) + 1]
    assert one[0] is TakeProcessor
    assert one[-2:] == [LeaveProcessor, Complete]
    assert len(one) > 10
    assert one[1:-2] == [Fix, Work, Unfix] * (len(one[1:-2]) // 3)
    assert {command.kind for command in said if isinstance(command, Complete)} <= set(MIX)
