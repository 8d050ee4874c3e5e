"""Workloads over layouts on storage: volumes and times by hand on a device of two numbers, and what disks are known to do."""

from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from memwalk.analysis.storage_workloads import StorageWorkload
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.system import System

RANDOM_MS, SEQUENTIAL_MS = 12.713, 0.546133
"""A page of 8 KiB on scsi-disk-1999."""
ANY: TypeAdapter[Any] = TypeAdapter(Annotated[StorageWorkload, Field(discriminator="kernel")])


def run(kernel: str, device: str = "scsi-disk-1999", **values: Any) -> dict[str, Any]:
    found: dict[str, Any] = ANY.validate_python({"kernel": kernel} | values).run(System(load_device(device)))
    return found


def uniform(records: int = 1000) -> dict[str, Any]:
    return {"kind": "uniform", "records": records}


def test_interleaved_reading_goes_to_every_block_anew() -> None:
    apart = run("interleaved-read", pages=10, run_pages=4)
    assert (apart["pages_read"], apart["runs_read"], apart["io_requests"]) == (10, 3, 3)
    assert apart["io_seconds"] == pytest.approx((3 * (RANDOM_MS - SEQUENTIAL_MS) + 10 * SEQUENTIAL_MS) / 1000, rel=1e-6)
    in_sequence = run("interleaved-read", pages=10, run_pages=4, skipped_runs=0)
    assert in_sequence["io_seconds"] == pytest.approx((RANDOM_MS + 9 * SEQUENTIAL_MS) / 1000, rel=1e-6)


def test_a_command_reads_no_more_than_it_may() -> None:
    assert run("interleaved-read", pages=20, run_pages=20)["io_requests"] == 3
    assert run("interleaved-read", pages=20, run_pages=20, command_bytes="8KiB")["io_requests"] == 20


def test_scans_read_the_pages_of_their_columns() -> None:
    # 1000 records: 10 pages of 102 in NSM, 8 of 125 in PAX, a file of 2 pages for each column in DSM.
    pages = {layout: run("layout-scan", layout=layout, data=uniform(), query="3")["pages_read"] for layout in ("nsm", "pax", "dsm")}
    assert pages == {"nsm": 10, "pax": 8, "dsm": 6}
    nsm = run("layout-scan", layout="nsm", data=uniform(), query="3")
    assert nsm["io_seconds"] == pytest.approx((RANDOM_MS + 9 * SEQUENTIAL_MS) / 1000, rel=1e-6)
    assert (nsm["columns_read"], nsm["pages_stored"], nsm["megabytes_read"]) == (3, 10, 10 * 8192 / 1e6)


def test_mbsm_reads_a_run_of_each_mega_block() -> None:
    # 1004 records in a super-block of 8 pages, one column on each; 20 super-blocks, 8 of them in a mega-block.
    read = run("layout-scan", layout="mbsm", data=uniform(20_000), query="1", mbsm={"run_pages": 8})
    assert (read["pages_read"], read["pages_stored"], read["io_requests"]) == (20, 160, 3)
    assert read["io_seconds"] == pytest.approx((3 * (RANDOM_MS - SEQUENTIAL_MS) + 20 * SEQUENTIAL_MS) / 1000, rel=1e-6)


def test_all_is_the_mean_of_the_queries() -> None:
    each = [run("layout-scan", layout="dsm", data=uniform(), query=str(query)) for query in range(1, 9)]
    mean = run("layout-scan", layout="dsm", data=uniform())
    assert mean["io_seconds"] == pytest.approx(sum(one["io_seconds"] for one in each) / 8)
    assert mean["pages_read"] == sum(one["pages_read"] for one in each) / 8 == 9


def test_space_by_table_sums_to_what_a_scan_has_stored() -> None:
    data = {"kind": "tpch", "scale_factor": 0.001}
    for layout in ("nsm", "dsm", "pax", "mbsm"):
        names = ("region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem")
        stored = sum(run("layout-space", layout=layout, data=data, table=name)["pages_stored"] for name in names)
        assert stored == run("layout-scan", layout=layout, data=data, query="Q6")["pages_stored"], layout


def test_an_insertion_writes_each_page_once_and_all_far_apart_in_dsm() -> None:
    data = uniform(1_000_000)
    for layout, pages, far in (("nsm", 1, 1), ("pax", 1, 1), ("dsm", 8, 8)):
        found = run("layout-update", layout=layout, data=data, table="r", starts=5)
        assert (found["pages"], found["most_pages"], found["random_pages"], found["operations"]) == (pages, pages, far, 50), layout
        assert found["io_ms"] == pytest.approx(pages * RANDOM_MS, rel=0.01), layout
        assert found["least_ms"] <= found["io_ms"] <= found["greatest_ms"]
    both = run("layout-update", layout="nsm", data=data, table="r", starts=5, read_first=True)
    assert both["io_ms"] == pytest.approx(2 * RANDOM_MS, rel=0.01)


def test_mbsm_writes_its_bound_or_the_pages_with_values() -> None:
    data = {"kind": "tpch", "scale_factor": 0.01}
    bound = run("layout-update", layout="mbsm", data=data, table="lineitem", starts=2)
    touched = run("layout-update", layout="mbsm", data=data, table="lineitem", starts=2, written="touched")
    assert (bound["most_pages"], bound["random_pages"]) == (16, 1)
    assert 11 <= touched["pages"] <= touched["most_pages"] <= 13
    modified = run("layout-update", layout="mbsm", data=data, table="lineitem", starts=2, operation="modify")
    assert modified["most_pages"] == 1
    looked_up = run("layout-update", layout="mbsm", data=data, table="lineitem", starts=2, operation="lookup", columns=4)
    assert 1 <= looked_up["most_pages"] <= 4


def test_the_same_seed_draws_the_same_records_for_every_run() -> None:
    values = {"layout": "dsm", "data": uniform(100_000), "table": "r", "starts": 3}
    assert run("layout-update", "cheetah-x15", **values) == run("layout-update", "cheetah-x15", **values)
    assert run("layout-update", "cheetah-x15", **values) != run("layout-update", "cheetah-x15", **values, seed=2)


def test_a_placement_is_numbered_like_another_one() -> None:
    data = {"kind": "given", "columns": {"a": "4B", "b": "2B", "c": "2B"}, "reads": {"one": ["a"], "two": ["b", "c"]}}
    found = run("super-block", data=data, pages=2, like={"a": {7: 4}, "b": {3: 2}, "c": {7: 2}})
    assert {name: value for name, value in found.items() if name.startswith(("placed.", "alike."))} == {
        "placed.b.3": 2, "placed.c.3": 2, "placed.a.7": 4, "alike.a": 4, "alike.b": 2, "alike.c": 0,
    }  # fmt: skip
    assert (found["load_bytes"], found["fragmentation"], found["queries_pages"], found["score"]) == (4, 0, 2, 4)
    assert found["scan_pages_per_record.two"] == 4 / 8192


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kernel": "layout-scan", "layout": "nsm", "data": uniform(), "query": "9"}, "uniform has no query `9`"),
        ({"kernel": "layout-scan", "layout": "nsm", "data": {"kind": "tpch"}, "query": "Q23"}, "did you mean `Q3`"),
        ({"kernel": "layout-scan", "layout": "nsm", "data": uniform(), "mbsm": {"run_pages": 3}}, "mbsm is for layout mbsm"),
        ({"kernel": "layout-scan", "layout": "mbsm", "data": uniform(), "mbsm": {"run_pages": 600}}, "a run of 600 pages does not fit"),
        (
            {"kernel": "layout-scan", "layout": "nsm", "data": uniform(), "page_bytes": "1000B"},
            "page_bytes 1000 is not one or more blocks",
        ),
        ({"kernel": "layout-update", "layout": "nsm", "data": uniform(), "table": "s"}, "uniform has no table `s`"),
        ({"kernel": "layout-update", "layout": "nsm", "data": uniform(), "table": "r", "columns": 9}, "table r has 8 columns, not 9"),
        ({"kernel": "super-block", "data": {"kind": "given", "columns": {"a": "4B"}, "reads": {"q": ["b"]}}}, "query q reads `b`"),
        ({"kernel": "interleaved-read", "command_bytes": "100B"}, "command_bytes 100 is not one or more blocks of 512 bytes"),
        ({"kernel": "interleaved-read", "command_bytes": "0B"}, "command_bytes 0 is not one or more blocks"),
        ({"kernel": "interleaved-read", "page_bytes": "0B"}, "page_bytes 0 is not one or more blocks"),
        ({"kernel": "layout-scan", "layout": "nsm", "data": uniform(), "command_bytes": "0B"}, "command_bytes 0 is not one or more"),
        ({"kernel": "layout-scan", "layout": "nsm", "data": uniform(), "page_bytes": "0B"}, "page_bytes 0 is not one or more blocks"),
        ({"kernel": "super-block", "data": uniform(), "page_bytes": "0B"}, "greater than 0"),
        ({"kernel": "super-block", "data": uniform(), "mbsm": {"mega_block_bytes": "0B"}}, "a run of 30 pages does not fit"),
        ({"kernel": "super-block", "data": uniform(), "mbsm": {"most_pages": 1000}}, "less than or equal to 32"),
        ({"kernel": "super-block", "data": uniform(), "pages": 1000}, "less than or equal to 32"),
    ],
)
def test_mistakes_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ANY.validate_python(values)


def test_tables_that_are_too_large_are_refused() -> None:
    with pytest.raises(UserError, match=r"layout-scan: its data take \d+ blocks and the volume has \d+; make them smaller"):
        run("layout-scan", "cheetah-x15", layout="nsm", data=uniform(2_000_000_000), query="1")
    with pytest.raises(UserError, match="workload interleaved-read: its data take"):
        run("interleaved-read", "cheetah-x15", pages=10_000_000)


@pytest.mark.parametrize("layout", ["nsm", "pax", "mbsm"])
def test_records_that_are_larger_than_a_page_are_refused(layout: str) -> None:
    data = {"kind": "given", "columns": {"a": "400B", "b": "400B"}, "reads": {"q": ["a"]}}
    mbsm = {"mbsm": {"most_pages": 1}} if layout == "mbsm" else {}
    with pytest.raises(UserError, match=f"table r in layout {layout}: .*make pages larger"):
        run("layout-space", layout=layout, data=data, table="r", page_bytes="512B", **mbsm)
