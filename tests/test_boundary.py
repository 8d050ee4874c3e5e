"""What crosses the boundary to Rust: plain data, and nothing else; statistics are a class of their own."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memwalk.simcore import _native
from memwalk.simcore.engines import native
from memwalk.simcore.engines.native import Side
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
    assert error.value.args == ("caches.1.ways", 'invalid type: string "four", expected a whole number from 0 to 4294967295')


@pytest.mark.parametrize("value", [object(), {1}, b"name", float("nan"), float("inf"), {1: 2}])
def test_what_is_no_plain_data_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        _native.Machine(machine(name=value))


def test_what_is_no_plain_data_is_named_by_its_path() -> None:
    for value, said in (({1}, r"\{1\} \(set\)"), (float("nan"), r"nan \(float\)"), (b"x", r"b'x' \(bytes\)")):
        with pytest.raises(TypeError, match=rf"^caches\.0\.ways: {said} is no plain data; dicts, lists, texts, finite numbers"):
            _native.Machine(machine(caches=[{"ways": value}]))


def test_data_within_data_ends() -> None:
    circle: dict[str, Any] = {}
    circle["a"] = circle
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    for endless, path in ((circle, "a.a.a"), ({"deep": deep}, r"deep\.0\.0")):
        with pytest.raises(TypeError, match=rf"^{path}.*: data within data, more than 128 times"):
            _native.Workload(endless)


def test_numbers_of_numpy_are_numbers() -> None:
    for seed in (np.int64(7), np.uint8(7)):
        assert _native.Workload(CHASE | {"seed": seed}).work() == _native.Workload(CHASE | {"seed": 7}).work()
    join = {"kernel": "index", "operation": "search", "keys": 100, "operations": 1, "tree": {"kind": "b+", "prefetch": np.True_}}
    _native.Workload(join)
    with pytest.raises(TypeError, match=r"seed: \[7 8\] \(ndarray\) is no plain data"):
        _native.Workload(CHASE | {"seed": np.array([7, 8])})


@pytest.mark.parametrize(
    ("call", "path", "said"),
    [
        (
            lambda: native.classify(np.zeros(1, dtype=np.uint64), machine(), 9),
            "cache",
            "machine thesis-simulator has no cache 9; give 0 to 2",
        ),
        (lambda: native.build_index(CHASE, Path("x")), "kernel", "only indexes in disk pages have page files; name the kernel disk-index"),
        (lambda: native.gem5_period_ticks(0), "clock_hz", "0 is no clock; give hertz, from 1 on"),
        (lambda: native.SideBySide(machine(), [], stored=False), "workloads", "none is given; give those that run, one at least"),
        (lambda: beside(2).run([Side()]), "sides", "1 for 2 workloads; give one for each"),
        (lambda: beside(1).run([Side(), Side()]), "sides", "2 for 1 workloads; give one for each"),
        (
            lambda: beside(2).run([Side(runs=0), Side(runs=None)]),
            "sides",
            "none has a number of runs from 1 on, which the others go on for; give one such",
        ),
        (lambda: native.export_tpch("region", -1.0, Path("x")), "scale_factor", "-1 is no size of a database; 1 is 1 GB, 0.1 100 MB"),
        (lambda: native.export_tpch("region", math.nan, Path("x")), "scale_factor", "NaN is no size of a database; 1 is 1 GB, 0.1 100 MB"),
    ],
)
def test_mistakes_are_told_as_such(call: Callable[[], object], path: str, said: str) -> None:
    with pytest.raises(_native.SpecError) as error:
        call()
    assert error.value.args == (path, said)


def beside(count: int) -> native.SideBySide:
    return native.SideBySide(machine(cores=2), [CHASE] * count, stored=False)


def test_a_table_for_others_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "region.csv"
    path.write_text("before")
    with pytest.raises(OSError, match="regular file"):
        native.export_tpch("region", 1.0, tmp_path)
    native.export_tpch("region", 1.0, path)
    assert path.read_text().startswith("r_regionkey,")
    assert list(tmp_path.iterdir()) == [path]


def test_who_hears_of_building_may_simulate() -> None:
    """That was a deadlock: the tree that is built was locked meanwhile."""
    search = {"kernel": "index", "operation": "search", "operations": 1, "caches": "empty", "tree": {"kind": "b+"}}
    heard: list[int] = []

    def building(steps: int) -> None:
        if not heard:
            heard.append(steps)
            native.simulate(machine(), search | {"keys": 1000})

    # A tree is told of that takes a while to be built, which depends on the computer.
    for keys in (3_000_000, 10_000_000, 30_000_000, 100_000_000):
        if not heard:
            native.simulate(machine(), search | {"keys": keys}, building=building)
    assert heard


def test_machines_and_workloads_say_what_they_are() -> None:
    assert repr(_native.Machine(machine())) == "<Machine thesis-simulator>"
    assert repr(_native.Workload(CHASE)) == "<Workload pointer-chase>"


def test_names_that_are_no_text_are_refused() -> None:
    for changes in ({"name": "thesis\udcff"}, {"na\udcffme": "thesis"}):
        with pytest.raises(_native.SpecError, match="is no text in Unicode"):
            _native.Machine(machine(**changes))


def test_tuples_are_lists() -> None:
    levels = tuple(machine()["caches"])
    assert _native.replay_events(_native.Machine(machine(caches=levels)), LAYOUT, COLUMNS).as_dict()["events"] == 1
