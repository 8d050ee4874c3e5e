"""Tables of the documents that stand for simulations: each has its maker, and what makers use is right.

`make check-tables` makes all of them again, which takes long.
"""

from pathlib import Path

import pandas as pd
import pytest
from files import ROOT

from docs.tables.__main__ import PAGES
from docs.tables.cells import best, grid, number, one, values, variants
from docs.tables.markdown import lines, replace, tables
from docs.tables.registry import TABLES
from docs.tables.results import phase_cycles
from memwalk.simcore.storage.device_file import load_device
from memwalk.simcore.storage.ssd import SsdFile


def test_every_table_stands_in_one_document() -> None:
    named = [name for page in PAGES for name in tables(page)]
    assert sorted(named) == sorted(TABLES)


def test_their_experiments_are_there_and_named_beside_them() -> None:
    for page in PAGES:
        for name in tables(page):
            for experiment in {made_from.experiment for made_from in TABLES[name].runs}:
                assert (ROOT / "configs" / "experiments" / f"{experiment}.yaml").is_file()
                assert f"configs/experiments/{experiment}.yaml" in page.read_text(), f"{page.name}: how {name} is made"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rows_have_a_cell_for_each_column(page: Path) -> None:
    for name, there in tables(page).items():
        assert len(there) > 2, f"{name} is empty"
        assert len({line.count("|") for line in there}) == 1, name


def test_tables_are_put_where_their_names_stand(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- table a -->\n| old |\n|---|\n| 1 |\n\nbetween\n<!-- table b -->\n| kept |\n|---|\n")
    replace(page, {"a": lines([["", "new"], ["x", "2"]]), "c": ["| nowhere |"]})
    after = "before\n\n<!-- table a -->\n| | new |\n|---|---|\n| x | 2 |\n\nbetween\n<!-- table b -->\n| kept |\n|---|\n"
    assert page.read_text() == after
    assert tables(page) == {"a": ["| | new |", "|---|---|", "| x | 2 |"], "b": ["| kept |", "|---|"]}
    page.write_text(after + "<!-- table b -->\n")
    with pytest.raises(ValueError, match=r"page.md:12: there is a table b above"):
        tables(page)


def test_numbers_are_written_with_as_many_digits_as_matter() -> None:
    written = {12345.6: "12,346", 103.4: "103", 24.68: "24.7", 8.914: "8.91", 0.5512: "0.551", 0.0231: "0.023", 0.0: "0.000"}
    assert {value: number(value) for value in written} == written
    assert (number(0.926, places=2), number(43.38, places=2), number(2.618, places=1)) == ("0.93", "43.4", "2.6")
    assert best(["3.0", "2.0"], [3.0, 2.0]) == ["3.0", "**2.0**"]


def test_a_cell_is_made_of_one_result() -> None:
    results = pd.DataFrame({"variant": ["a", "a", "b"], "threads": [1, 2, 1], "cycles": [10, 20, 30]})
    made = grid(results, variants("a", ("also a", "a")), values("threads", [1, 2]), lambda row: f"{row['cycles']}", "who")
    assert made == [["who", "1", "2"], ["a", "10", "20"], ["also a", "10", "20"]]
    for few, selection in ((0, {"variant": "c"}), (2, {"variant": "a"})):
        with pytest.raises(ValueError, match=f"{few} rows with"):
            one(results, selection)


def test_a_visit_is_told_without_the_warm_up() -> None:
    row = pd.Series({"cycles": 500, "operations": 10, "slots_total": 2000, "slots_in_visit": 1600, "slots_in_warm-up": 400})
    assert phase_cycles(row, "visit") == 40


def test_a_scan_reads_what_came_from_the_drive_and_nothing_twice() -> None:
    """Pages asked for ahead are among those read: 1,000 pages of 32 blocks in 4 ms are 4.096 GB/s, however many were asked for ahead."""
    results = pd.DataFrame({"io_blocks": [32_000], "seconds": [0.004], "pages_read": [1000], "pages_prefetched": [980]})
    grown = results.merge(pd.DataFrame({"variant": ["no time", "2 us", "10 us"]}), how="cross").merge(
        pd.DataFrame({"workload.threads": [1, 2, 4, 8]}), how="cross"
    )
    assert [row[1:] for row in TABLES["scans-of-a-drive"].function(grown)[1:]] == [["4.1"] * 3] * 4


@pytest.mark.parametrize(("name", "unit"), [("scans-of-a-drive", 1e9), ("searches-beside-scans", 1e6), ("searches-beside-a-backup", 1e6)])
def test_no_speed_is_above_that_of_the_drives_link(name: str, unit: float) -> None:
    page = next(page for page in PAGES if name in tables(page))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in tables(page)[name][2:]]
    speeds = [float(cell.replace(",", "")) for label, *cells in rows for cell in cells if label.isdigit() or "MB" in label]
    drive = load_device("nvme-ssd")
    assert isinstance(drive, SsdFile)
    assert len(speeds) >= 4
    assert max(speeds) * unit <= drive.link
