"""Scans of pages: the misses that the page format gives, and the bytes that its parts use."""

from typing import Any

import pytest

from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine

LINE_BYTES = 32
SELECTION = {"kernel": "table", "selectivity": 0.0}
STORE = {"kernel": "table", "page_bytes": 32768, "header_bytes": 768, "attribute_bytes": 4, "projected": 3}


def pentium2(profile: str) -> dict[str, Any]:
    return load_machine("pentium2-xeon-400", dbms=profile).native()


def data_misses_per_record(workload: dict[str, Any], profile: str) -> float:
    statistics = native.simulate(pentium2(profile), workload)
    (second,) = [cache for cache in statistics["caches"] if cache["name"] == "L2"]
    instruction_misses = statistics["instruction_cache"]["served"]["memory"]
    return float((second["misses"] - instruction_misses) / statistics["workload"]["records"])


@pytest.mark.parametrize(("layout", "attribute"), [("nsm", 1), ("nsm", 2), ("nsm", 8), ("pax", 1), ("pax", 7), ("dsm", 3)])
def test_misses_of_a_predicate_are_those_of_the_page_format(layout: str, attribute: int) -> None:
    workload = SELECTION | {"layout": layout, "records": 40_000, "first_predicate": attribute}
    lines = native.scan_lines(workload, LINE_BYTES)
    assert data_misses_per_record(workload, "shore-pentium2") == pytest.approx(sum(lines.values()), rel=0.02)


@pytest.mark.parametrize("layout", ["standard-row", "super-row", "super-column"])
def test_misses_of_a_store_are_those_of_the_page_format(layout: str) -> None:
    workload = STORE | {"layout": layout, "records": 160_000}
    lines = native.scan_lines(workload, LINE_BYTES)
    assert data_misses_per_record(workload, "shore-pentium4") == pytest.approx(sum(lines.values()), rel=0.02)


def test_lines_of_the_published_relation() -> None:
    """Worked out by hand for the last of eight attributes: 13 lines of slots for 102 records, 32 of values for 125."""
    nsm = native.scan_lines(SELECTION | {"layout": "nsm", "first_predicate": 8}, LINE_BYTES)
    assert nsm["slots"] == pytest.approx(13 / 102)
    assert nsm["values"] == pytest.approx(1.125, abs=0.02)
    pax = native.scan_lines(SELECTION | {"layout": "pax", "first_predicate": 8}, LINE_BYTES)
    assert pax == {"header": pytest.approx(2 / 125), "slots": 0, "values": pytest.approx(32 / 125)}


def test_bytes_of_pax_pages_are_used_and_those_of_slotted_pages_are_not() -> None:
    def used_share(layout: str) -> float:
        workload = SELECTION | {"layout": layout, "records": 20_000, "first_predicate": 2}
        rows = native.simulate(pentium2("shore-pentium2"), workload, observe={"bytes": True})["byte_usage"]["rows"]
        (values,) = [row for row in rows if row["site"] == "attribute a2"]
        return float(values["used_bytes"] / values["fetched_bytes"])

    assert used_share("pax") > 0.95
    assert used_share("nsm") == pytest.approx(8 / 36, abs=0.02)


@pytest.mark.parametrize(
    ("workload", "answer"),
    [
        ({"kernel": "index"}, ("kernel", "only `table` scans pages")),
        (SELECTION | {"attribute_bytes": 3}, ("attribute_bytes", "3 bytes; it must be 4 or 8")),
    ],
)
def test_mistakes_are_named(workload: dict[str, Any], answer: tuple[str, str]) -> None:
    with pytest.raises(native.SpecError) as error:
        native.scan_lines(workload, LINE_BYTES)
    assert error.value.args == answer
