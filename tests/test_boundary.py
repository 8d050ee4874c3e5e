"""What crosses the boundary to Rust: plain data, and nothing else; statistics are a class of their own."""

from typing import Any

import pytest

from memwalk.simcore import _native
from memwalk.simcore.machine import load_machine

LAYOUT = {"segments": [], "sites": ["site"], "phases": ["run"]}
COLUMNS = {name: [0] for name in ("kind", "address", "instructions", "dep", "chain", "site")} | {"size": [8], "words": [1]}
CHASE = {"kernel": "pointer-chase", "lines": 200}


def machine(**changes: Any) -> dict[str, Any]:
    return load_machine("thesis-simulator").native() | changes


def test_statistics_cannot_be_changed() -> None:
    statistics = _native.replay_events(_native.Machine(machine()), LAYOUT, COLUMNS)
    for name in ("cycles", "as_dict"):
        with pytest.raises(AttributeError):
            setattr(statistics, name, 0)
    tree = statistics.as_dict()
    assert tree["events"] == 1
    tree["caches"].clear()
    assert statistics.as_dict()["caches"] != []


def test_numbers_arrive_as_they_left() -> None:
    for seed in (0, 2**63, 2**64 - 1):
        _native.Workload(CHASE | {"seed": seed})
    for seed in (-1, 2**64, 10**30, 1.0, True):
        with pytest.raises(_native.SpecError, match="expected a whole number from 0 to 18446744073709551615"):
            _native.Workload(CHASE | {"seed": seed})


def test_what_does_not_fit_is_named_by_its_path() -> None:
    wrong = machine()
    wrong["caches"][1]["ways"] = "four"
    with pytest.raises(_native.SpecError) as error:
        _native.Machine(wrong)
    assert error.value.args == ("caches[1].ways", 'invalid type: string "four", expected a whole number from 0 to 4294967295')


@pytest.mark.parametrize("value", [object(), {1}, b"name", float("nan"), float("inf"), {1: 2}])
def test_what_is_no_plain_data_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        _native.Machine(machine(name=value))


def test_names_that_are_no_text_are_refused() -> None:
    for changes in ({"name": "thesis\udcff"}, {"na\udcffme": "thesis"}):
        with pytest.raises(_native.SpecError, match="is no text in Unicode"):
            _native.Machine(machine(**changes))


def test_tuples_are_lists() -> None:
    levels = tuple(machine()["caches"])
    assert _native.replay_events(_native.Machine(machine(caches=levels)), LAYOUT, COLUMNS).as_dict()["events"] == 1
