"""Kernel `layout-point`: single records in any layout."""

from typing import Any

import pytest
from pydantic import ValidationError

from memwalk.analysis.storage_workloads.layout_point import LayoutPoint
from memwalk.simcore.errors import UserError
from memwalk.simcore.storage import load_device
from memwalk.simcore.storage.system import System

DATA = {"kind": "uniform", "attributes": 4, "records": 10_000_000}
DISK = System(load_device("scsi-disk-1999"))
PAGE_MS = 12.713


def ask(system: System = DISK, **values: Any) -> dict[str, float | int]:
    return LayoutPoint(**{"kernel": "layout-point", "table": "r", "data": DATA, "layout": "nsm", "records": 200} | values).run(system)


@pytest.mark.parametrize(("layout", "pages"), [("nsm", 1), ("pax", 1), ("dsm", 3), ("mbsm", 3)])
def test_a_layout_asks_for_the_pages_that_hold_the_columns(layout: str, pages: int) -> None:
    found = ask(layout=layout, columns=3)
    assert found["pages_per_record"] == pages
    assert found["io_requests"] == 200 * pages


def test_a_random_page_a_record_is_what_nsm_costs() -> None:
    found = ask()
    assert found["ms_per_record"] == pytest.approx(PAGE_MS, rel=1e-3)
    assert found["seconds"] == pytest.approx(0.2 * PAGE_MS, rel=1e-3)


def test_an_update_writes_what_it_read() -> None:
    """Two columns of DSM: two pages are read, then the same two are written."""
    found = ask(layout="dsm", columns=2, operation="update")
    assert found["pages_per_record"] == 2
    assert found["io_requests"] == 200 * 4
    assert found["ms_per_record"] == pytest.approx(4 * PAGE_MS, rel=1e-2)


def test_clients_share_the_records() -> None:
    """Four clients at one disk: each waits for the other three, and the whole takes as long as with one."""
    alone, together = ask(), ask(clients=4)
    assert together["io_requests"] == alone["io_requests"]
    assert together["seconds"] == pytest.approx(alone["seconds"], rel=1e-3)
    assert together["ms_per_record"] == pytest.approx(4 * alone["ms_per_record"], rel=1e-3)
    assert together["io_queue_seconds"] == pytest.approx(3 * together["seconds"], rel=0.03)


def test_wrong_workloads_are_refused() -> None:
    with pytest.raises(ValidationError, match="columns 5 is more than the 4 of r; ask for fewer"):
        ask(columns=5)
    with pytest.raises(ValidationError, match="uniform has no table `s`"):
        ask(table="s")
    with pytest.raises(UserError, match="layout-point: its data take"):
        ask(data=DATA | {"records": 10**10})
