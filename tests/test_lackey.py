"""A real program's Lackey trace gives what cachegrind counted of the same run."""

import csv
import lzma
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from oracles.lackey import cachegrind_rules
from oracles.lackey.comparison import TOLERANCE, reference_counts, trace_counts

from memwalk.simcore.engines import native

FOLDER = Path(__file__).parent / "oracles" / "lackey"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kept trace, imported."""
    path = tmp_path_factory.mktemp("lackey") / "true.parquet"
    native.import_trace([str(FOLDER / "true.lackey.xz")], path, {"format": "lackey", "instructions": "fetch"})
    return path


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """Cachegrind's counts of the same program."""
    with (FOLDER / "cachegrind.csv").open(newline="") as file:
        return next(row for row in csv.DictReader(file) if row["program"] == "true")


def test_misses_are_those_of_cachegrind(trace: Path, reference: dict[str, str]) -> None:
    counted, expected = trace_counts(trace), reference_counts(reference)
    assert counted == pytest.approx(expected, rel=TOLERANCE)
    assert counted["instructions"] == expected["instructions"]


def test_what_differs_is_that_cachegrind_counts_an_access_once(reference: dict[str, str]) -> None:
    """An access across two lines is one miss at most: with that rule its counts follow from the trace exactly."""
    with lzma.open(FOLDER / "true.lackey.xz", "rt") as trace:
        counted = cachegrind_rules.misses(trace)
    expected = reference_counts(reference)
    assert counted == {what: expected[what] for what in counted}


def test_references_are_those_of_cachegrind(trace: Path, reference: dict[str, str]) -> None:
    """All of memwalk's surplus is modifications, each a store of the bytes loaded just before."""
    head = native.trace_head(trace, native.trace_info(trace)["summary"]["events"])
    events = [(event["kind"], event["address"], event["size"]) for event in head]
    kinds = Counter(kind for kind, _, _ in events)
    modified = sum(new == ("store", *old[1:]) and old[0] == "load" for old, new in pairwise(events))
    assert kinds["load"] == int(reference["Dr"])
    assert kinds["store"] - modified == int(reference["Dw"])
