"""A-pages, C-pages and where they lie: the numbers of Clotho's Figures 3, 5 and 11, and layouts against a plain oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.workloads.clotho import (
    APageFormat,
    Csm,
    a_page_records,
    a_pages_per_c_page,
    slotted_records,
    space_efficiency,
    split_by_length,
)
from memwalk.workloads.tables import Column, Table
from memwalk.workloads.tables.tpch import tables as tpch_tables


@dataclass(frozen=True)
class Rows:
    """A volume whose blocks go well together when they are a row apart."""

    row_blocks: int

    def semi_sequential(self, block: int, count: int) -> Sequence[int]:
        return [block + index * self.row_blocks for index in range(count)]


class Turned(Rows):
    """Every other row runs the other way, as the tracks of a MEMStore do."""

    def semi_sequential(self, block: int, count: int) -> Sequence[int]:
        row, place = divmod(block, self.row_blocks)
        place = self.row_blocks - 1 - place if row % 2 else place
        return [r * self.row_blocks + (self.row_blocks - 1 - place if r % 2 else place) for r in range(row, row + count)]


def floats(columns: int, records: int) -> Table:
    return Table("r", tuple(Column.fixed(f"a{number}", "float", 8) for number in range(1, columns + 1)), records)


def test_figure_3_fits_three_a_pages() -> None:
    assert a_pages_per_c_page([2, 3, 6, 5], [0, 1], 16) == 3
    assert a_pages_per_c_page([2, 3, 6, 5], range(4), 16) == 1
    with pytest.raises(ValueError, match="do not fill a frame"):
        a_pages_per_c_page([2, 3, 6, 5], range(4), 15)


def test_figure_5_is_laid_out_as_drawn() -> None:
    table = floats(12, 1008)
    csm = Csm(table, APageFormat(table.columns, blocks=12), Rows(16))
    assert csm.format.records == 63
    assert csm.pages == 16
    assert csm.scan(["a1"]) == [[(0, 16)]]
    assert [extent.block for extent in csm.record(0, table.names)] == list(range(0, 192, 16))
    assert [extent.blocks for extent in csm.record(63, ["a1", "a5"])] == [1, 1]
    assert csm.record(63, ["a1", "a5"])[1].block == 64 + 1


def test_relation_of_the_microbenchmark() -> None:
    """Fifteen columns take a block each of 16: 63 values of 8 bytes and their presence bits are 512 bytes."""
    table = floats(15, 8_000_000)
    format_ = APageFormat(table.columns)
    assert (format_.records, set(format_.minipage_blocks)) == (63, {1})
    csm = Csm(table, format_, Rows(2952))
    assert [csm.together((1 << columns) - 1) for columns in (1, 2, 5, 8, 15)] == [16, 8, 3, 2, 1]


def test_lineitem_fits_sixteen_blocks() -> None:
    """A block per column is all there is: the 25 bytes of l_shipinstruct bound the records, unless the comment is stored apart."""
    lineitem = tpch_tables(1.0)["lineitem"]
    together = APageFormat(lineitem.columns)
    assert together.minipage_blocks == (1,) * 16
    assert together.records == 19  # 19 comments of 26.49 bytes are 503.3 bytes, and 3 bytes of bits
    fixed, variable = split_by_length(lineitem.columns)
    assert [column.name for column in variable] == ["l_comment"]
    assert APageFormat(fixed).records == 40  # two blocks for l_shipinstruct: 40 x 25 bytes and 5 bytes of bits


def test_fewer_blocks_than_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="take 12 blocks at least"):
        APageFormat(floats(12, 1).columns, blocks=8)


@given(st.lists(st.integers(1, 600), min_size=1, max_size=8), st.integers(0, 40))
def test_no_more_records_would_fit(sizes: list[int], spare: int) -> None:
    columns = tuple(Column.fixed(f"c{index}", "char", size) for index, size in enumerate(sizes))
    format_ = APageFormat(columns, blocks=2 * len(sizes) + spare)

    def blocks(records: int) -> int:
        return sum(-(-(records * size + -(-records // 8)) // 512) or 1 for size in sizes)

    assert sum(format_.minipage_blocks) == blocks(format_.records) <= format_.blocks < blocks(format_.records + 1)
    for column, minipage in zip(columns, format_.minipage_blocks, strict=True):
        assert format_.records * column.bytes <= minipage * 512


@given(
    st.integers(1, 6),
    st.integers(1, 40).map(Rows) | st.integers(1, 40).map(Turned),
    st.integers(0, 150),
    st.integers(1, 60),
    st.integers(1, 63),
)
def test_spans_are_the_blocks_of_their_pages(columns: int, volume: Rows, first: int, pages: int, schema: int) -> None:
    table, row = floats(columns, 63 * 300), volume.row_blocks
    csm = Csm(table, APageFormat(table.columns, blocks=columns), volume, first_block=1000)
    schema &= csm.full_schema
    band = columns * row
    begin = -(-1000 // band) * band
    expected = {
        volume.semi_sequential(begin + page // row * band + page % row, columns)[column]
        for page in range(first, first + pages)
        for column in range(columns)
        if schema >> column & 1
    }
    found = [block for extent in csm.spans(range(first, first + pages), schema) for block in range(extent.block, extent.end)]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert csm.first_block + csm.blocks == begin + -(-csm.pages // row) * band


def test_names_that_are_not_there() -> None:
    table = Table("t", (Column.fixed("a", "integer", 4), Column("b", "varchar", 50, 20.0)), 10)
    csm = Csm(table, APageFormat(split_by_length(table.columns)[0]), Rows(8))
    with pytest.raises(ValueError, match="`b` of t is not in its A-pages"):
        csm.schema(["b"])
    with pytest.raises(ValueError, match="no column `c`"):
        csm.schema(["c"])
    with pytest.raises(ValueError, match="no column `a1`"):
        Csm(table, APageFormat(floats(1, 1).columns), Rows(8))


def test_space_by_hand() -> None:
    """Columns of 2, 20 and 500 bytes in 8 KiB: the small ones keep their blocks up to 25 records, so 14 fit: 512 + 512 + 7000."""
    columns = tuple(Column.fixed(name, "char", size) for name, size in (("a", 2), ("b", 20), ("c", 500)))
    table = Table("t", columns, 1)
    assert (a_page_records(table, 8192, 512), slotted_records(table, 8192)) == (14, 15)
    assert space_efficiency(table, 8192, 512) == 14 / 15
    assert a_page_records(table, 1024, 512) == 0
    with pytest.raises(ValueError, match="make it larger"):
        space_efficiency(table, 512, 512)


@given(st.lists(st.integers(1, 600), min_size=1, max_size=8), st.integers(1, 64))
def test_slotted_pages_are_never_the_worse(sizes: list[int], kilobytes: int) -> None:
    table = Table("t", tuple(Column.fixed(f"c{index}", "char", size) for index, size in enumerate(sizes)), 1)
    assert a_page_records(table, kilobytes << 10, 512) <= slotted_records(table, kilobytes << 10)
