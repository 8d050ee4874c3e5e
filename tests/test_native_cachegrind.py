"""Searches that ran natively under cachegrind miss as often as the same searches' trace does."""

import csv
from pathlib import Path

import pytest
from oracles.lackey.comparison import cachegrind_machine
from oracles.native.searches import SEARCHES, WORKLOAD

from memwalk.simcore.engines import native

LINE, KEY_BYTES = 64, 8
REFERENCE = Path(__file__).parent / "oracles" / "native" / "cachegrind.csv"


def test_misses_per_search_are_those_of_the_native_program(tmp_path: Path) -> None:
    counted = []
    for times in (1, 2):
        path = tmp_path / f"{times}.parquet"
        native.record(WORKLOAD | {"operations": times * SEARCHES}, path)
        counted.append([cache["misses"] for cache in native.count(path, cachegrind_machine())["caches"]])
    ours = [twice - once for once, twice in zip(*counted, strict=True)]
    with REFERENCE.open(newline="") as file:
        row = next(csv.DictReader(file))
    theirs = [int(row["D1mr"]) + int(row["D1mw"]), int(row["DLmr"]) + int(row["DLmw"])]
    # The native program also writes and reads a list of the keys to search for, once each.
    list_misses = 2 * SEARCHES * KEY_BYTES // LINE
    assert ours == pytest.approx([count - list_misses for count in theirs], rel=0.05)
