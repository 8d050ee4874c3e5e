"""TPC-C and queries of TPC-H on storage: which pages a visit fixes, what must add up, and that runs repeat."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import watched
from schemas import columns_of

from memwalk.analysis.storage_workloads.oltp import Compound, Tpcc
from memwalk.analysis.storage_workloads.oltp.placed import placed_database, users_of
from memwalk.analysis.storage_workloads.placed import two_dimensional
from memwalk.analysis.storage_workloads.tpch import ClothoTpch
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import build_machine, read_machine
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.period import Period
from memwalk.simcore.storage.pool import PoolStatistics
from memwalk.simcore.storage.run import run as run_program
from memwalk.simcore.storage.steps import steps_told_to
from memwalk.simcore.storage.system import System
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import Place, Sourced
from memwalk.traces.storage import Command, Filled, OpenPool
from memwalk.workloads.clotho import tpch
from memwalk.workloads.clotho.streams import scanned
from memwalk.workloads.programs import tpcc
from memwalk.workloads.tpcc import Access, IndexVisit, Statement, indexes, statements, tables
from memwalk.workloads.tpcc.a_pages import APageDatabase
from memwalk.workloads.tpcc.whole_pages import PageDatabase

LAYOUTS = ("nsm", "dsm", "pax", "csm")
DISKS = System(load_device("cheetah-36es"), disks=4, volume="atropos", queue="sptf")


def tiny(layout: str, **given: Any) -> dict[str, Any]:
    """TPC-C with one warehouse, few users and a pool of 4 MB, for a second."""
    asked = {"layout": layout, "warehouses": 1, "users": 4, "pool": "4MiB", "page_access": "100us", "warm_up": "100ms", "measured": "1s"}
    return asked | {"fill_transactions": 100} | given


def run(layout: str, **given: Any) -> dict[str, float | int]:
    return Tpcc(kernel="tpcc", **tiny(layout, **given)).run(DISKS)


def some_users(layout: str) -> tpcc.Users:
    given = Tpcc(kernel="tpcc", **tiny(layout))
    return users_of(given, placed_database(given, DISKS.layout(), 0))


def touches(layout: str, visit: Access | IndexVisit, warehouses: int = 10) -> list[tuple[set[int], set[int], list[int]]]:
    """What a visit fixes: columns that are needed, columns that change, pages."""
    schema = [*tables(warehouses).values()]
    if layout == "csm":
        database: Any = APageDatabase(DISKS.layout(), schema, indexes(warehouses), 1.5)  # type: ignore[arg-type]
    else:
        database = PageDatabase(layout, schema, indexes(warehouses), 1.5)  # type: ignore[arg-type]
    found = []
    for touch in database.touches(visit):
        found.append((set(columns_of(touch.schema)), set(columns_of(touch.changes)), [*touch.pages]))
    return found


def a_second(layout: str) -> tuple[Period, PoolStatistics]:
    """A second of four users from when the pool is full, without a warm-up."""
    users, pools = some_users(layout), []

    def seen(command: Command, answer: Any) -> None:
        if isinstance(command, OpenPool):
            pools.append(answer)

    period = run_program(DISKS, [watched(users.client(0, 10**12), seen)])[tpcc.MEASURED]
    assert [pool.frames_in_use for pool in pools] == [512]
    return period, period.pools[tpcc.POOL]


def before(table: str, layout: str) -> int:
    """Page at which a table begins: those of the tables before it in the schema, half as many again."""
    from memwalk.workloads.tables import Nsm, Pax, Table

    pages = 0
    for name, other in tables(10).items():
        if name == table:
            return pages
        grown = Table(name, other.columns, round(other.records * 1.5))
        pages += (Nsm if layout == "nsm" else Pax)(grown).pages
    raise AssertionError(table)


def test_a_stock_update_fixes_one_page_of_nsm() -> None:
    update = Access(statements.STOCK[0, False], 60)
    assert touches("nsm", update) == [({0}, {0}, [before("stock", "nsm") + 60 // 25])]


def test_lines_of_an_order_may_lie_on_two_pages() -> None:
    first = before("order_line", "nsm")  # 114 records in a page
    assert touches("nsm", Access(statements.LINE_STATUS, 110, 10)) == [({0}, set(), [first, first + 1])]


def test_dsm_fixes_a_page_of_every_column_and_changes_those_written() -> None:
    found = touches("dsm", Access(statements.STOCK[0, False], 60))
    assert len(found) == 17
    assert [place for place, (_, changes, _) in enumerate(found) if changes] == [2, 13, 14]  # s_quantity, s_ytd, s_order_cnt
    assert len({page for _, _, (page,) in found}) == 17


def test_csm_needs_the_columns_of_the_statement() -> None:
    found = touches("csm", Access(statements.STOCK[4, False], 60))
    assert [(needed, changes) for needed, changes, _ in found] == [({2, 7, 13, 14}, {2, 13, 14})]
    assert found[0][2] == [60 // 21]  # 21 x 24 bytes and 21 bits for an s_dist fill a block of 512


def test_csm_stores_columns_that_are_too_many_in_other_a_pages() -> None:
    found = touches("csm", Access(statements.BAD_CREDIT_PAID, 0))
    assert [len(needed) for needed, _, _ in found] == [13, 3, 1]  # the first 16 columns, the last four, c_data by itself
    assert [changes for _, changes, _ in found] == [set(), {0, 1, 2}, {0}]


def test_a_new_order_asks_for_the_column_that_is_stored_apart() -> None:
    """One of its queries does (Clotho, section 7.1); layouts with whole records have it in the page that they read anyway."""
    customer = Access(statements.CUSTOMER_DISCOUNT, 0)
    assert [(len(needed), changes) for needed, changes, _ in touches("csm", customer)] == [(3, set()), (1, set())]
    assert len(touches("nsm", customer)) == 1


def test_insertions_change_whole_records() -> None:
    found = touches("csm", Access(statements.NEW_ORDER, 300_000))
    assert [(needed, changes) for needed, changes, _ in found] == [(set(range(8)), set(range(8)))]
    assert [len(changes) for _, changes, _ in touches("dsm", Access(statements.NEW_ORDER, 300_000))] == [1] * 8


def test_indexes_are_the_same_in_all_layouts() -> None:
    found = [touches(layout, IndexVisit("item", 5, changes=False)) for layout in LAYOUTS]
    assert [len(pages) for ((_, _, pages),) in found] == [1] * 4
    assert [changes for ((_, changes, _),) in found] == [set()] * 4


def test_what_leaves_the_pool_is_what_does_not_fit() -> None:
    """Bookkeeping of a run: frames, misses and blocks, in pages of 16 blocks."""
    period, counts = a_second("nsm")
    pages, blocks = divmod(counts.blocks_read, 16)
    assert blocks == 0
    assert counts.misses - 4 <= pages <= counts.misses  # those of four users may wait for a frame
    assert pages - 4 <= counts.evictions <= pages + 4  # the pool was full from the beginning
    assert 0 < counts.dirty_evictions <= counts.evictions
    assert period.served.blocks <= counts.blocks_read + counts.blocks_written


def test_every_transaction_that_begins_ends() -> None:
    """Users have one transaction each under way; all others that were drawn are complete, by kind."""
    users = some_users("csm")
    drawn: list[str] = []
    draw = users.terminals.next

    def counted(terminal: int) -> Any:
        transaction = draw(terminal)
        drawn.append(transaction.kind)
        return transaction

    users.terminals.next = counted  # type: ignore[method-assign]

    def seen(command: Command, _: Any) -> None:
        if isinstance(command, Filled):
            drawn.clear()

    completed = run_program(DISKS, [watched(users.client(0, 10**12), seen)])[tpcc.MEASURED].completed
    assert len(drawn) > 10
    assert completed.total() == len(drawn) - 4
    under_way = Counter(drawn) - completed
    assert under_way.total() == 4


@settings(max_examples=6)
@given(st.sampled_from(LAYOUTS), st.integers(1, 5), st.integers(0, 3))
def test_columns_fit_together(layout: str, users: int, seed: int) -> None:
    columns = run(layout, users=users, seed=seed)
    assert 0 < columns["cpu_utilization"] <= 1
    assert 0 <= columns["disk_utilization"] <= 1
    done = columns["cpu_utilization"] / 100e-6
    assert done == pytest.approx(columns["transactions"] * columns["page_accesses_per_transaction"], abs=users)
    assert columns["tpmc"] / 60 <= columns["transactions"]


def test_equal_seeds_give_the_same_run_under_any_hash_seed() -> None:
    code = "from test_oltp_storage import run; print([run(layout, measured='300ms') for layout in ('nsm', 'csm')])"
    folder = os.path.dirname(__file__)
    said = set()
    for hash_seed in ("0", "4711"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([folder, os.path.dirname(folder)])}
        said.add(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(said) == 1


def test_own_columns_are_fewer_blocks_than_whole_a_pages() -> None:
    shared, own = run("csm"), run("csm", share_schemas=False)
    assert own["blocks_read_per_transaction"] < shared["blocks_read_per_transaction"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layout": "nsm", "share_schemas": False}, "share_schemas is for layout csm"),
        ({"page_access": "5"}, "has no unit"),
        ({"warehouses": 0}, "too small"),
    ],
)
def test_wrong_settings_are_refused(given: dict[str, Any], said: str) -> None:
    source = Sourced.uniform({"kernel": "tpcc"} | tiny("csm") | given, Place("here.yaml", 1, 1))
    with pytest.raises(UserError, match=said):
        validate(Tpcc, source)


def test_a_database_that_is_too_large_is_refused() -> None:
    with pytest.raises(UserError, match=r"1000 warehouses in nsm take \d+ blocks, and the volume has"):
        run("nsm", warehouses=1000)


def test_a_pages_need_rows_and_columns() -> None:
    with pytest.raises(UserError, match="volume: atropos"):
        Tpcc(kernel="tpcc", **tiny("csm")).run(System(load_device("cheetah-36es"), disks=2, volume="striped"))


def test_a_run_that_outgrows_its_tables_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwalk.workloads.programs.tpcc.ROOM", 1.001)
    with pytest.raises(UserError, match="outgrown"):
        run("nsm")


def test_a_measurement_in_which_nothing_ends_is_refused() -> None:
    with pytest.raises(UserError, match="no transaction ended in the 1e-06 s"):
        run("nsm", measured="1us")


def test_new_orders_are_compared_only_where_there_are_some() -> None:
    """With this seed the one user pays first. It is said before both run side by side: after no more steps than each takes alone."""
    given = tiny("nsm", users=1, warm_up="0s", measured="60ms", pool="8MiB", seed=2)
    query = {"query": "q6", "scale_factor": 0.05}
    alone = [Tpcc(kernel="tpcc", **given), ClothoTpch(kernel="clotho-tpch", layout="nsm", pool="8MiB", **query)]
    assert alone[0].run(DISKS)["tpmc"] == 0
    least = sum(steps_of(lambda one=one: one.run(DISKS)) for one in alone)

    def refused() -> None:
        with pytest.raises(UserError, match=r"program tpcc, alone: its tpmc is 0, .*; measure longer"):
            Compound(kernel="compound", **given, **query).run(DISKS)

    assert steps_of(refused) <= least


def steps_of(act: Callable[[], object]) -> int:
    """Requests served and pages fixed meanwhile."""
    with steps_told_to(None) as steps:
        act()
    return steps.made


def test_a_query_that_reads_more_ahead_than_its_pool_holds_is_refused() -> None:
    """Three runs of 184 pages."""
    query = {"query": "q6", "scale_factor": 0.05}
    told = "what is read ahead takes 552 frames, and the pool has 512"
    with pytest.raises(UserError, match=told):
        ClothoTpch(kernel="clotho-tpch", layout="nsm", pool="4MiB", **query).run(DISKS)
    with pytest.raises(UserError, match=told):
        Compound(kernel="compound", **tiny("nsm", **query)).run(DISKS)


def test_lineitem_as_clotho_stores_it() -> None:
    """63 records in an A-page: a block for each of 13 columns, two for the ten bytes of l_shipmode; l_shipinstruct varies in length."""
    lineitem = tpch.tables(1.0)["lineitem"]
    volume = two_dimensional(DISKS.layout())
    row = volume.row_blocks
    found = {query: scanned("csm", lineitem, tpch.columns(query, lineitem), volume, row) for query in ("q1", "q6", "q12", "q14")}
    assert {query: one.streams[0].records_per_page for query, one in found.items()} == dict.fromkeys(found, 63)
    assert {query: one.pages_per_frame for query, one in found.items()} == {"q1": 2, "q6": 4, "q12": 2, "q14": 4}
    assert len(scanned("dsm", lineitem, tpch.columns("q1", lineitem), None, row).streams) == 7
    assert [stream.records_per_page for stream in scanned("nsm", lineitem, ["l_tax"], None, row).streams] == [62]


def test_the_four_queries_read_no_column_of_variable_length() -> None:
    for query, names in tpch.QUERIES.items():
        for name in names:
            table = tpch.tables(0.1)[name]
            assert not any(column.variable for column in table.pick(tpch.columns(query, table)))


@pytest.fixture(scope="module")
def machine() -> dict[str, Any]:
    layers = read_machine("pentium4-xeon-1700", None).with_dbms("shore-pentium2", None)
    return build_machine(layers, []).native()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_query_takes_as_long_as_the_longer_of_work_and_reading(layout: Any, machine: dict[str, Any]) -> None:
    workload = ClothoTpch(kernel="clotho-tpch", layout=layout, query="q6", scale_factor=0.05, sample_scale_factor=0.002)
    both = workload.run(System(DISKS.device, disks=4, volume="atropos", machine=machine))
    reading = workload.run(DISKS)
    longer = max(both["cpu_seconds"], reading["seconds"])
    turn = 0.006  # requests that come later may meet the disks elsewhere
    assert longer <= both["seconds"] <= both["cpu_seconds"] + reading["seconds"] + turn
    assert both["blocks_read"] == reading["blocks_read"]


def test_joins_fit_into_memory(machine: dict[str, Any]) -> None:
    """So no pages go to temporary files: the kernel writes none, at a heap cut to the sample's share."""
    for query in ("q12", "q14"):
        work = {"kernel": "tpch", "layout": "pax", "query": query, "scale_factor": 0.01, "heap_bytes": (64 << 20) // 100}
        assert native.simulate(machine, work)["workload"]["pages_written"] == 0


def test_the_query_takes_longer_beside_tpcc(machine: dict[str, Any]) -> None:
    given = tiny("nsm", pool="8MiB", scale_factor=0.02, sample_scale_factor=0.002)
    columns = Compound(kernel="compound", **given).run(System(DISKS.device, disks=4, volume="atropos", machine=machine))
    assert columns["query_slowdown"] > 1
    assert columns["tpcc_slowdown"] == pytest.approx(columns["tpmc_alone"] / columns["tpmc_together"])
    assert columns["query_seconds_together"] == pytest.approx(columns["query_slowdown"] * columns["query_seconds_alone"])


def test_statements_name_columns_of_their_tables() -> None:
    known = {name: set(table.names) for name, table in tables(1).items()}
    everything = [one for one in vars(statements).values() if isinstance(one, Statement)]
    assert len(everything) > 15
    for statement in [*everything, *statements.STOCK.values()]:
        assert statement.columns <= known[statement.table]
