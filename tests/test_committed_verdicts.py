"""Committed verdicts: what differs from them is told, better or worse."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memwalk.analysis.claims import Outcome, committed
from memwalk.simcore.errors import UserError

MET = Outcome("met", "p/f", "result", "simulation", "m", "x", 2, 4, 2.1, 3.9, "tolerant", True, False, None, None, None)
MISSED = replace(MET, id="missed", verdict="missed", agrees=False, reason="docs/fidelity.md#why")
CLAIMS = ["met", "missed"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / committed.VERDICTS).write_bytes(committed.merged([MISSED, MET], None, CLAIMS))
    return tmp_path


def told(folder: Path, *outcomes: Outcome) -> list[str]:
    return committed.flips(outcomes, committed.read(folder), CLAIMS)


def test_a_claim_is_a_line_in_the_order_of_the_paper(folder: Path) -> None:
    text = (folder / committed.VERDICTS).read_text()
    assert [line.split(":")[0].strip() for line in text.splitlines()[1:-1]] == ['"met"', '"missed"']
    assert json.loads(text)["met"] == {"class": "result", "verdict": "tolerant", "low": 2.1, "high": 3.9}


def test_the_same_verdicts_are_no_flips(folder: Path) -> None:
    assert told(folder, MET, MISSED) == []
    assert told(folder, MET) == [], "a part of the paper"


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (replace(MET, verdict="missed"), "met: tolerant (result, 2.1 to 3.9) -> missed (result, 2.1 to 3.9)"),
        (replace(MISSED, verdict="strict"), "missed: missed (result, 2.1 to 3.9) -> strict (result, 2.1 to 3.9)"),
        (replace(MET, verdict="strict"), "met: tolerant (result, 2.1 to 3.9) -> strict (result, 2.1 to 3.9)"),
        (replace(MET, claim_class="order"), "met: tolerant (result, 2.1 to 3.9) -> tolerant (order, 2.1 to 3.9)"),
    ],
)
def test_a_flip_is_told_in_either_direction(folder: Path, outcome: Outcome, line: str) -> None:
    assert told(folder, outcome) == [line]


def test_what_is_on_one_side_only_is_told(folder: Path) -> None:
    new = replace(MET, id="new")
    assert told(folder, new) == ["new: not committed -> tolerant (result, 2.1 to 3.9)"]
    assert committed.flips([MET], committed.read(folder), ["met"]) == ["missed: missed (result, 2.1 to 3.9) -> no such claim"]


def test_without_a_file_nothing_may_be_missed(tmp_path: Path) -> None:
    assert told(tmp_path, MET, MISSED) == ["missed: missed, and no verdicts are committed"]


def test_numbers_that_moved_are_told_apart_from_flips(folder: Path) -> None:
    other = replace(MET, simulated_high=3.8)
    assert told(folder, other) == []
    assert committed.moved([other, MISSED], committed.read(folder)) == ["met"]
    assert committed.moved([replace(MET, simulated_high=3.9000001)], committed.read(folder)) == []


def test_a_part_is_written_among_the_rest_and_what_is_gone_is_left_out(folder: Path) -> None:
    before = committed.read(folder)
    written = json.loads(committed.merged([replace(MISSED, verdict="strict")], before, ["missed", "met"]))
    assert [(name, entry["verdict"]) for name, entry in written.items()] == [("missed", "strict"), ("met", "tolerant")]
    assert list(json.loads(committed.merged([MET], before, ["met"]))) == ["met"]


@pytest.mark.parametrize("text", ["{", "[]", '{"met": 1}', '{"met": {"class": "result"}}'])
def test_a_file_that_is_not_right_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / committed.VERDICTS).write_text(text)
    with pytest.raises(UserError, match=r"verdicts\.json: .*--update-verdicts"):
        committed.read(tmp_path)
