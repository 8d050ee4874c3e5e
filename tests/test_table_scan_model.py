"""The scan cost model gives what its equations give by hand, and moves as they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.analysis.cost_models import model
from memwalk.analysis.cost_models.table_scan import (
    Constants,
    ScanCost,
    Store,
    Table,
    abstraction_savings,
    pages_stored,
    prefetch_pages,
    random_ios,
    scan_cost,
    scan_total,
)

PROTOTYPE = Constants()
STORES: tuple[Store, ...] = ("standard-row", "super-row", "super-column")

FIGURE_9 = Table(8_000_000, 16, 4)
FIGURE_10 = Table(8_000_000, 16)
FIGURE_11 = Table(8_000_000, 4)
FIGURE_12 = Table(1_000_000, 32)
CUSTOMERS = Table(8_000_000, 4, levels="200000_10_4", level_columns="1_1_2")
FLAGS = Table(8_000_000, 4, levels="10_4_200000", level_columns="1_1_2")

# Worked by hand. 8M rows of 16 columns: 8M x (16 + 64) / 32000 = 20,000 pages, packed 8M x 64 / 32000 = 16,000; 4 columns of 4:
# 8,000 and 4,000; 1M of 32: 1M x 144 / 32000 = 4,500 and 4,000. A column store reads S/C of the packed pages, in runs of 8192/S
# pages, each run's first page for 450,000 instead of 15,000. Iteration is 80 per row or per packed page, a field 6.
BY_HAND: list[tuple[Table, tuple[ScanCost, ScanCost, ScanCost]]] = [
    (
        FIGURE_9,
        (
            ScanCost(300_000_000, 640_000_000, 48_000_000),
            ScanCost(240_000_000, 1_280_000, 48_000_000),
            ScanCost(60_000_000 + 4000 / 2048 * 435_000, 320_000, 192_000_000),
        ),
    ),
    (
        FIGURE_10,
        (
            ScanCost(300_000_000, 640_000_000, 48_000_000),
            ScanCost(240_000_000, 1_280_000, 48_000_000),
            ScanCost(240_000_000 + 16_000 / 512 * 435_000, 1_280_000, 768_000_000),
        ),
    ),
    (
        FIGURE_11,
        (
            ScanCost(120_000_000, 640_000_000, 48_000_000),
            ScanCost(60_000_000, 320_000, 48_000_000),
            ScanCost(60_000_000 + 4000 / 2048 * 435_000, 320_000, 192_000_000),
        ),
    ),
    (
        FIGURE_12,
        (
            ScanCost(67_500_000, 80_000_000, 6_000_000),
            ScanCost(60_000_000, 320_000, 6_000_000),
            ScanCost(60_000_000 + 4000 / 256 * 435_000, 320_000, 192_000_000),
        ),
    ),
]


@pytest.mark.parametrize(("table", "costs"), BY_HAND, ids=["fig-9", "fig-10", "fig-11", "fig-12"])
def test_figures_9_to_12_by_hand(table: Table, costs: tuple[ScanCost, ScanCost, ScanCost]) -> None:
    assert tuple(scan_cost(store, table, PROTOTYPE) for store in STORES) == costs


def test_a_light_iterator_is_figure_13() -> None:
    light = Constants(iteration=8)
    assert [scan_total(store, FIGURE_11, light) for store in STORES] == [232_000_000, 108_032_000, 252_881_609.375]


@pytest.mark.parametrize(("columns", "row", "column"), [(64, 1708e6, 1022.87375e6), (512, 8428e6, 8944.24e6)])
def test_the_ends_of_figure_14(columns: int, row: float, column: float) -> None:
    wide = Table(8_000_000, columns, columns / 4)
    assert scan_total("standard-row", wide, PROTOTYPE) == row
    assert scan_total("super-column", wide, PROTOTYPE) == column


def test_column_abstraction_by_hand() -> None:
    # 200,000 customers, 2M orders, 8M lines: 4 B x (8M - 0.2M) + 4 B x (8M - 2M) saved; 10.2M tuples iterated over, and
    # 0.2M + 2M + 2 x 8M values stored.
    assert abstraction_savings(CUSTOMERS, PROTOTYPE) == 55_200_000
    assert scan_cost("standard-row", CUSTOMERS, PROTOTYPE) == ScanCost(6275 * 15_000, 816_000_000, 48_000_000)
    assert scan_cost("super-row", CUSTOMERS, PROTOTYPE) == ScanCost(2275 * 15_000, 182_000, 48_000_000)
    assert scan_cost("super-column", CUSTOMERS, PROTOTYPE).reconstruction == 109_200_000
    # 10 flags, 40 nations: 10 + 40 + 2 x 8M values.
    assert pages_stored("super-row", FLAGS, PROTOTYPE) == 2000.00625
    assert scan_cost("super-column", FLAGS, PROTOTYPE).reconstruction == 96_000_300


def test_prefetching_by_hand() -> None:
    assert (prefetch_pages(FIGURE_9, PROTOTYPE), random_ios(FIGURE_9, PROTOTYPE)) == (2048, 1.953125)
    assert (prefetch_pages(FIGURE_10, PROTOTYPE), random_ios(FIGURE_10, PROTOTYPE)) == (512, 31.25)


@pytest.mark.parametrize(
    ("store", "over", "along", "given_values", "crossing"),
    [
        # Standard row 120M + 8M x IC + 48M, column store 252.85M + 4000 x IC: 84.85M / 7.996M.
        (
            "super-column",
            "standard-row",
            "iteration",
            {"least": 1, "most": 80, "rows": 8_000_000, "columns": 4},
            84_849_609.375 / 7_996_000,
        ),
        # Without random I/O a quarter of w columns costs 3.75M w + 0.02M w + 12M w, rows 748M + 15M w.
        (
            "super-column",
            "standard-row",
            "columns",
            {"least": 64, "most": 2000, "rows": 8_000_000, "columns": 64, "scanned": 16, "random_io": 15_000},
            971.4286,
        ),
        # 32M fields in w columns: rows 60M + 2992M / w, columns 252.32M + 435,000 x 4000 w / 8192.
        ("super-column", "standard-row", "columns-at-constant-fields", {"least": 4, "most": 32, "rows": 8_000_000, "columns": 4}, 15.299),
        ("super-column", "super-row", "scanned", {"least": 1, "most": 32, "rows": 8_000_000, "columns": 32}, 8.3522),
    ],
)
def test_crossings(store: str, over: str, along: str, given_values: dict[str, float], crossing: float) -> None:
    values = {"store": store, "over": over, "along": along} | given_values
    assert model("scan-crossing")(values) == pytest.approx(crossing, rel=1e-4)


def test_one_unit_of_the_prototype() -> None:
    """Thirteen seconds for 120M + 640M + 48M units."""
    given_values = {"seconds": 13, "store": "standard-row", "rows": 8_000_000, "columns": 4}
    assert model("scan-unit")(given_values) == pytest.approx(13e9 / 808e6)


def test_models_take_plain_values() -> None:
    parameters = model("scan-total").parameters
    assert parameters[:4] == ("store", "rows", "columns", "scanned")
    assert "iteration" in parameters
    ratio = {"store": "standard-row", "over": "super-row", "rows": 8_000_000, "columns": 16}
    assert model("scan-ratio")(ratio) == 988_000_000 / 289_280_000
    assert model("iteration-over-io")({"tuples": 1000}) == 80_000 / 15_000


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"store": "nsm", "rows": 10, "columns": 4}, "store 'nsm': expected 'standard-row'"),
        ({"store": "super-row", "rows": 10, "columns": 4, "scanned": 5}, "5 of 4 columns"),
        ({"store": "super-row", "rows": 80, "columns": 4, "levels": "20_4"}, "as many of one as of the other"),
        ({"store": "super-row", "rows": 81, "columns": 4, "levels": "20_4", "level_columns": "1_3"}, "the product 81 and the sum 4"),
        ({"store": "super-row", "rows": 80, "columns": 4, "levels": "20x4", "level_columns": "1_3"}, "such as '200000_10_4'"),
        ({"store": "super-row", "columns": 4}, "parameter 'rows' is missing"),
    ],
)
def test_mistakes_name_what_would_be_right(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model("scan-total")(values)


def test_stores_that_never_cross_are_a_mistake() -> None:
    values = {"store": "standard-row", "over": "super-row", "along": "scanned", "least": 1, "most": 4, "rows": 100, "columns": 4}
    with pytest.raises(ValueError, match="do not cross between 1 and 4"):
        model("scan-crossing")(values)
    with pytest.raises(ValueError, match="expected one of scanned"):
        model("scan-crossing")(values | {"along": "rows"})


TABLES = st.tuples(st.integers(1, 10**7), st.integers(1, 256)).flatmap(
    lambda size: st.builds(Table, st.just(size[0]), st.just(size[1]), st.integers(1, size[1]))
)


@given(TABLES)
def test_super_rows_never_cost_more_than_standard_rows_of_fewer_bytes_than_a_page(table: Table) -> None:
    assert scan_total("super-row", table, PROTOTYPE) <= scan_total("standard-row", table, PROTOTYPE)


@given(TABLES, st.floats(0, 1))
def test_warm_pages_save_their_share_of_io_and_nothing_else(table: Table, cold: float) -> None:
    for store in STORES:
        warm, all_cold = scan_cost(store, table, Constants(cold=cold)), scan_cost(store, table, PROTOTYPE)
        assert warm.io == pytest.approx(cold * all_cold.io)
        assert (warm.iteration, warm.reconstruction) == (all_cold.iteration, all_cold.reconstruction)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 8)), min_size=1, max_size=4))
def test_abstraction_stores_each_value_of_a_level_once(levels: list[tuple[int, int]]) -> None:
    rows, columns, stored = 1, 0, 0
    for groups, width in levels:
        rows, columns = rows * groups, columns + width
        stored += rows * width
    table = Table(rows, columns, levels="_".join(str(n) for n, _ in levels), level_columns="_".join(str(c) for _, c in levels))
    assert pages_stored("super-row", table, PROTOTYPE) * PROTOTYPE.page_bytes == pytest.approx(4 * stored)
    assert scan_cost("super-column", table, PROTOTYPE).reconstruction == pytest.approx(6 * stored)
