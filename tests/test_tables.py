"""Layouts of tables on storage: sizes by hand, and that a scan reads what a record's pages are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.engines import native
from memwalk.workloads.tables import Column, ColumnFiles, Dsm, Extent, Layout, Nsm, PageFormat, Pax, Table, joined, tpch

RELATION = Table("r", tuple(Column.fixed(f"a{number}", "integer", 8) for number in range(1, 9)), 10_000_000)
LAYOUTS: tuple[type[Nsm | Pax | Dsm], ...] = (Nsm, Pax, Dsm, ColumnFiles)


def test_pages_of_a_relation_of_eight_columns_of_eight_bytes() -> None:
    assert Nsm(RELATION).records_per_page == 102  # 8160 / (64 + 16)
    assert Nsm(RELATION).pages == 98_040
    assert Pax(RELATION).records_per_page == 125  # (8160 - 8 * 4) / (64 + 1)
    assert Pax(RELATION).pages == 80_000
    assert Dsm(RELATION).pages == 8 * 14_881  # 8160 / (8 + 4 + 1/8) = 672 values
    assert ColumnFiles(RELATION).pages == 8 * 9971  # (8160 - 4) / (8 + 1/8) = 1003 values


def test_a_record_is_in_one_page_or_in_one_of_each_file() -> None:
    assert Nsm(RELATION, first_block=160).record(102, ["a1", "a8"]) == [Extent(176, 16)]
    assert Pax(RELATION).record(124, ["a1"]) == [Extent(0, 16)]
    assert Dsm(RELATION).record(672, ["a3", "a1"]) == [Extent(16, 16), Extent(2 * 14_881 * 16 + 16, 16)]


def test_scans_read_everything_or_the_files_of_their_columns() -> None:
    assert Nsm(RELATION).scan(["a1"]) == [[Extent(0, 98_040 * 16)]]
    assert Dsm(RELATION).scan(["a8"]) == [[Extent(7 * 14_881 * 16, 14_881 * 16)]]


def test_values_of_variable_length_count_with_their_average_and_an_end_or_a_slot() -> None:
    table = Table("t", (Column.fixed("key", "integer", 4), Column("text", "varchar", 100, 50.0)), 1000)
    assert Nsm(table).records_per_page == 113  # 8160 / (54 + 16 + 2)
    assert Pax(table).records_per_page == 140  # (8160 - 8) / (54 + 4 + 1/8)
    assert Dsm(table).pages == 1 + 8  # 8160 / 8.125 = 1004, 8160 / (50 + 4 + 4) = 140
    assert ColumnFiles(table).pages == 1 + 7  # (8160 - 4) / (50 + 4) = 151


@given(
    columns=st.lists(st.tuples(st.integers(1, 200), st.floats(0, 1), st.booleans()), min_size=1, max_size=20),
    page=st.sampled_from([PageFormat(), PageFormat(32_768, 64, 100), PageFormat(512, 1, 0)]),
)
def test_pages_hold_what_a_plain_formula_says(columns: list[tuple[int, float, bool]], page: PageFormat) -> None:
    made = tuple(
        Column(f"c{place}", "varchar", size, size * share) if variable else Column.fixed(f"c{place}", "char", size)
        for place, (size, share, variable) in enumerate(columns)
    )
    table = Table("t", made, 1)
    varying = sum(column.variable for column in made)
    slotted = table.average_bytes + 4 + 2 * varying
    minipages = table.average_bytes + 4 * varying + (len(made) - varying) / 8
    room = page.bytes - page.header_bytes
    expected = {
        Nsm(table, page=page): int(room / (slotted + 12)),
        Pax(table, page=page): int((room - 4 * len(made)) / minipages),
    }
    for layout, records in expected.items():
        if records < 1:
            with pytest.raises(ValueError, match="does not fit into a page"):
                _ = layout.records_per_page
        else:
            assert layout.records_per_page == records


@pytest.mark.parametrize(("layout", "laid"), [("nsm", Nsm), ("pax", Pax)])
def test_a_table_has_as_many_pages_as_the_kernel_fills(layout: str, laid: type[Nsm | Pax]) -> None:
    relation = Table("r", RELATION.columns, 5001)
    workload = {"kernel": "table", "layout": layout, "attributes": 8, "attribute_bytes": 8, "records": relation.records}
    filled = native.run_native(workload, repetitions=1, evict_bytes=0)["workload"]["pages"]
    assert laid(relation).pages == filled


@given(
    records=st.integers(1, 5000),
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    layout=st.sampled_from(LAYOUTS),
    data=st.data(),
)
def test_the_pages_of_a_record_are_pages_that_a_scan_reads(
    records: int, sizes: list[int], layout: type[Nsm | Pax | Dsm], data: st.DataObject
) -> None:
    columns = tuple(Column.fixed(f"c{place}", "char", size) for place, size in enumerate(sizes))
    laid: Layout = layout(Table("t", columns, records), first_block=64)
    wanted = data.draw(st.lists(st.sampled_from(laid.table.names), min_size=1, unique=True))
    read = {block for stream in laid.scan(wanted) for extent in stream for block in range(extent.block, extent.end)}
    assert min(read) >= 64
    assert max(read) < 64 + laid.blocks
    for record in (0, data.draw(st.integers(0, records - 1)), records - 1):
        pages = laid.record(record, wanted)
        assert len(set(pages)) == len(pages)
        assert all(page.blocks == 16 and read.issuperset(range(page.block, page.end)) for page in pages)


def test_wrong_names_and_records_too_large_are_refused() -> None:
    with pytest.raises(ValueError, match="table r has no column `b`; it has a1, a2"):
        Nsm(RELATION).scan(["a1", "b"])
    with pytest.raises(ValueError, match="a record of 80 bytes does not fit into a page of 64; make pages larger"):
        _ = Nsm(RELATION, page=PageFormat(64, 1, 0)).pages
    with pytest.raises(ValueError, match="a page of 512 bytes with a header of 512 in 1 blocks holds nothing"):
        PageFormat(512, 1, 512)


def test_neighbouring_extents_are_joined() -> None:
    assert joined([Extent(0, 16), Extent(16, 32), Extent(64, 16)]) == [Extent(0, 48), Extent(64, 16)]


def test_tables_of_tpch_and_the_columns_of_its_queries() -> None:
    tables = tpch.tables(1)
    assert {name: table.bytes for name, table in tables.items()} == {
        "region": 181, "nation": 185, "supplier": 197, "part": 164, "partsupp": 219, "customer": 223, "orders": 134, "lineitem": 141,
    }  # fmt: skip
    assert tpch.tables(1, date_bytes=10)["lineitem"].bytes == 159
    assert tpch.tables(10)["lineitem"].records == 60_012_150
    assert tpch.tables(0.1)["nation"].records == 25
    known = {name for table in tables.values() for name in table.names}
    assert len(tpch.QUERIES) == 22
    assert all(known.issuperset(query) and len(set(query)) == len(query) for query in tpch.QUERIES.values())
    assert tpch.columns_in(tables["part"], tpch.QUERIES["Q14"]) == ("p_partkey", "p_type")
