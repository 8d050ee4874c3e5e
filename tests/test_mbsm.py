"""Super-blocks and mega-blocks: the published example, bounds of the placement, and where a record lies."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memwalk.workloads.mbsm import Affinities, Mbsm, Query, Share, SuperBlock, construct, super_block_of
from memwalk.workloads.mbsm.placement import Cluster, LargestFirst, Pages, loads_in_order, loads_largest_first
from memwalk.workloads.mbsm.run_order import run_order
from memwalk.workloads.tables import Column, Extent, PageFormat, Table, tpch

TABLES = tpch.tables(1, date_bytes=10)
QUERIES = [Query(frozenset(columns)) for columns in tpch.QUERIES.values()]
LINEITEM = TABLES["lineitem"]

FIGURE_2 = Table("r", tuple(Column.fixed(name, "char", size) for name, size in (("a1", 4), ("a2", 2), ("a3", 1), ("a4", 2))), 12)
"""The relation of Figure 2, a page having room for 12 bytes of values: 3/4 of a page per record."""
TOGETHER = [Query(frozenset(["a2", "a3"]))]


def contents(block: SuperBlock) -> list[dict[str, int]]:
    return [dict(page) for page in block.pages]


def test_one_column_per_page() -> None:
    block = super_block_of(FIGURE_2, TOGETHER, 4, threshold=1, split=False)
    assert sorted(block.loads) == [1, 2, 2, 4]
    assert 12 // block.load == 3
    assert block.fragmentation == 7 / 16


def test_columns_read_together_share_a_page() -> None:
    block = super_block_of(FIGURE_2, TOGETHER, 3, threshold=0, split=False)
    assert {"a2": 2, "a3": 1} in contents(block)
    assert block.fragmentation == 1 / 4
    assert len(block.pages_of(["a2", "a3"])) == 1


def test_a_large_column_is_split() -> None:
    block = super_block_of(FIGURE_2, TOGETHER, 3, threshold=0)
    assert sorted(map(str, contents(block))) == ["{'a1': 1, 'a4': 2}", "{'a1': 3}", "{'a2': 2, 'a3': 1}"]
    assert block.fragmentation == 0
    assert 12 // block.load == 4
    assert [len(block.pages_of([name])) for name in FIGURE_2.names] == [2, 1, 1, 1]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=7), st.integers(1, 4))
def test_placements_are_within_their_bounds(sizes: list[int], pages: int) -> None:
    def heaviest(choice: tuple[int, ...]) -> int:
        return max(sum(size for size, page in zip(sizes, choice, strict=True) if page == number) for number in range(pages))

    best = min(map(heaviest, product(range(pages), repeat=len(sizes))))
    assert max(loads_in_order(sizes, pages)) <= 2 * best
    assert 3 * max(loads_largest_first(sizes, pages)) <= 4 * best


def every_placement(pieces: list[Cluster], pages: Pages) -> Iterator[Pages]:
    """Follow every choice that largest first leaves open, symmetric ones too."""
    largest, least = max((piece.bytes for piece in pieces), default=0), min(sum(size for _, size in page) for page in pages)
    for piece in pieces:
        for number, page in enumerate(pages):
            if piece.bytes == largest and sum(size for _, size in page) == least:
                left = pieces.copy()
                left.remove(piece)
                sizes = dict(page)
                for column, size in piece.columns:
                    sizes[column] = sizes.get(column, 0) + size
                yield from every_placement(left, (*pages[:number], tuple(sorted(sizes.items())), *pages[number + 1 :]))
    if not pieces:
        yield tuple(sorted(page for page in pages if page))


@given(
    st.lists(st.tuples(st.integers(1, 3), st.frozensets(st.integers(0, 2))), min_size=1, max_size=5), st.integers(1, 4), st.integers(1, 3)
)
def test_symmetric_placements_are_left_out_and_no_others(columns: list[tuple[int, frozenset[int]]], pages: int, largest: int) -> None:
    def weight(readers: frozenset[int]) -> float:
        return sum(1 + number for number in readers)

    def cost(placed: Pages) -> float:
        return sum(weight(frozenset(reader for column, _ in page for reader in columns[column][1])) for page in placed)

    clusters = [Cluster(((number, size),), readers) for number, (size, readers) in enumerate(columns)]
    pieces = [
        Cluster(((number, min(largest, size - start)),), readers)
        for number, (size, readers) in enumerate(columns)
        for start in range(0, size, largest)
    ]
    assume(len(pieces) <= 6)
    every = set(every_placement(pieces, ((),) * pages))
    found = LargestFirst(clusters, largest, weight).place(pages)
    assert found in every
    assert cost(found) == min(map(cost, every))
    if len(pieces) == len(columns):
        assert found == min(every, key=lambda placed: (cost(placed), placed))


@pytest.mark.parametrize("read", [1, 15])
def test_many_equal_columns_take_no_time(read: int) -> None:
    table = Table("t", tuple(Column.fixed(f"c{number}", "char", 4) for number in range(15)), 1)
    block = construct(table, [Query(frozenset(table.names[:read]))], 17)
    assert (len(block.pages), block.load) == ((15, 4) if read == 1 else (1, 60))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(1, 8), st.data())
def test_a_super_block_holds_every_column_in_pages_as_full_as_largest_first_makes_them(
    sizes: list[int], pages: int, data: st.DataObject
) -> None:
    table = Table("t", tuple(Column.fixed(f"c{number}", "char", size) for number, size in enumerate(sizes)), 1000)
    queries = data.draw(st.lists(st.sets(st.sampled_from(table.names), min_size=1).map(lambda names: Query(frozenset(names))), min_size=1))
    block = super_block_of(table, queries, pages, threshold=len(queries))  # nothing is merged
    for column in table.columns:
        assert sum(size for _, size in block.shares(column.name)) == column.bytes
    largest = -(-table.bytes // pages)
    pieces = [piece for size in sizes for piece in [largest] * (size // largest) + [size % largest] * (size % largest > 0)]
    assert sorted(block.loads) == sorted(load for load in loads_largest_first(pieces, pages) if load)


@pytest.mark.parametrize(("name", "pages", "load", "percent"), [
    ("part", 15, 11, 0.61), ("supplier", 16, 13, 5.29), ("partsupp", 11, 20, 0.45),
    ("customer", 17, 14, 6.30), ("orders", 15, 10, 6.67), ("lineitem", 17, 10, 6.47),
])  # fmt: skip
def test_super_blocks_of_tpch(name: str, pages: int, load: int, percent: float) -> None:
    block = construct(TABLES[name], QUERIES, 17)
    assert (len(block.pages), block.load) == (pages, load)
    assert 100 * block.fragmentation == pytest.approx(percent, abs=0.005)


def test_lineitem_on_17_pages_is_as_published_but_for_one_column() -> None:
    block = construct(LINEITEM, QUERIES, 17)
    assert block.pages_read(QUERIES) == 67
    expected = [
        {"l_orderkey": 4, "l_suppkey": 4}, {"l_partkey": 4, "l_shipinstruct": 5}, {"l_discount": 8, "l_returnflag": 1},
        {"l_linenumber": 4, "l_comment": 4}, {"l_extendedprice": 8}, {"l_shipdate": 10},
    ]  # fmt: skip
    assert all(page in contents(block) for page in expected)
    assert {"l_tax": 8, "l_linestatus": 1} in contents(block)  # published: with l_quantity, at the same score


def test_lineitem_within_10_pages_takes_9() -> None:
    block = construct(LINEITEM, QUERIES, 10)
    assert (len(block.pages), block.load, block.pages_read(QUERIES)) == (9, 18, 49)


def test_affinities_count_queries_that_read_both() -> None:
    affinities = Affinities(LINEITEM.names, QUERIES)
    assert affinities.between("l_extendedprice", "l_discount") == 11
    assert affinities.between("l_partkey", "l_extendedprice") == 5
    assert ("l_orderkey", "l_suppkey") in affinities.above(4)
    assert len(affinities.above(4)) == 10


def test_runs_of_a_split_column_and_of_columns_read_together_are_neighbours() -> None:
    table = Table("t", tuple(Column.fixed(name, "char", 8) for name in "abcd"), 1)
    queries = [Query(frozenset("bd"), 3), Query(frozenset("bc"))]
    pages = tuple((Share(name, size),) for name, size in (("a", 4), ("b", 8), ("c", 8), ("a", 4), ("d", 8)))
    ordered = ["".join(share.column for share in page) for page in run_order(pages, Affinities(table.names, queries))]
    assert ordered == ["a", "a", "d", "b", "c"]


def test_addresses_within_mega_blocks() -> None:
    block = SuperBlock(((Share("a", 2), Share("b", 6)), (Share("b", 2), Share("c", 6))))
    table = Table("t", tuple(Column.fixed(name, "char", size) for name, size in (("a", 2), ("b", 8), ("c", 6))), 100)
    laid = Mbsm(table, block, run_pages=3, first_block=1000, page=PageFormat(bytes=74, blocks=1, header_bytes=0))
    assert laid.records_per_super_block == 8  # with 9, three values of b and nine of c take 78 bytes
    assert (laid.super_blocks, laid.mega_blocks, laid.pages, laid.blocks) == (13, 5, 26, 30)
    assert laid.record(0, ["b"]) == [Extent(1000, 1)]
    assert laid.record(6, ["b"]) == [Extent(1003, 1)]  # the seventh value of b is on the second page, one run on
    assert laid.record(3 * 8, ["a", "c"]) == [Extent(1006, 1), Extent(1009, 1)]  # the second mega-block
    assert laid.scan(["a"])[0][:2] == [Extent(1000, 3), Extent(1006, 3)]
    assert laid.scan(["b"]) == [[Extent(1000, 25), Extent(1027, 1)]]
    assert laid.super_block_pages(99) == [Extent(1024, 1), Extent(1027, 1)]


def test_a_super_block_without_room_for_a_record_is_refused() -> None:
    table = Table("t", (Column.fixed("a", "char", 100),), 10)
    halves = SuperBlock(((Share("a", 50),), (Share("a", 50),)))
    with pytest.raises(ValueError, match="no record of 100 bytes fits into a super-block of 2 pages; make pages larger"):
        _ = Mbsm(table, halves, run_pages=1, page=PageFormat(bytes=64, blocks=1, header_bytes=0)).pages


@given(st.data())
def test_a_record_of_lineitem_is_where_scans_look_for_it(data: st.DataObject) -> None:
    table = Table("lineitem", LINEITEM.columns, 20_000)
    laid = Mbsm(table, BLOCKS[data.draw(st.sampled_from([1, 9, 17]))], run_pages=4)
    record = data.draw(st.integers(0, table.records - 1))
    wanted = data.draw(st.lists(st.sampled_from(table.names), min_size=1, unique=True))
    pages = laid.record(record, wanted)
    assert len(set(pages)) == len(pages) <= min(len(wanted), len(laid.super_block.pages))
    assert set(pages) <= set(laid.super_block_pages(record))
    (stream,) = laid.scan(wanted)
    read = {block for extent in stream for block in range(extent.block, extent.end)}
    assert all(read.issuperset(range(page.block, page.end)) for page in pages)
    assert len(read) == laid.super_blocks * len(laid.super_block.pages_of(wanted)) * 16


BLOCKS = {pages: super_block_of(LINEITEM, QUERIES, pages) for pages in (1, 9, 17)}
