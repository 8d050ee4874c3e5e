"""Values that are lists: of parameters that take one, in grids, in variants and with `--set`."""

from pathlib import Path

import pytest
from files import EXPERIMENT, MACHINE, write_experiment
from small_experiments import CHASE, NEXT, SCAN, experiment, rows

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.schema_paths import takes_list
from memwalk.analysis.experiments.settings import parse_set
from memwalk.simcore.errors import UserError


@pytest.mark.parametrize(
    ("path", "kernels", "is_list"),
    [
        ("machine.caches", (), True),
        ("machine.caches.0.prefetchers", (), True),
        ("machine.caches.L1.prefetchers", (), True),
        ("machine.caches.L1.mshrs", (), False),
        ("machine.caches.L1.prefetchers.0.degree", (), False),
        ("machine.dtlb.levels", (), True),
        ("machine.clock_hz", (), False),
        ("machine", (), False),
        ("dbms", (), False),
        ("storage.disks", (), False),
        ("workload.tree", ("index",), False),
        ("workload.predicates", ("table",), False),
        ("workload.predicates", ("tpch",), True),
        ("workload.abstraction", ("table",), True),
        ("workload.nothing", (), False),
    ],
)
def test_lists_are_known_from_the_schema(path: str, kernels: tuple[str, ...], *, is_list: bool) -> None:
    assert takes_list(tuple(path.split(".")), kernels) is is_list


PREFETCHERS = "machine.caches.0.prefetchers"
STRIDE = "{kind: stride, table_entries: 16, degree: 2}"


def prefetchers(found: list[Row]) -> list[list[str]]:
    each = [[one["kind"] for one in row.point.machine["caches"][0].get("prefetchers", [])] for row in found if row.variant == "B+"]
    return list(dict.fromkeys(map(tuple, each)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("[]", [()]),
        (f"[{NEXT}]", [("next-line",)]),
        (f"[{NEXT}, {STRIDE}]", [("next-line", "stride")]),
        (f"[[], [{NEXT}], [{NEXT}, {STRIDE}]]", [(), ("next-line",), ("next-line", "stride")]),
        ("[[]]", [()]),
    ],
)
def test_a_list_is_one_value_of_a_parameter_that_is_a_list(tmp_path: Path, value: str, found: list[tuple[str, ...]]) -> None:
    files = MACHINE.replace("mshrs: 8}", f"mshrs: 8, prefetchers: [{STRIDE}]}}", 1)
    assert files != MACHINE
    path = write_experiment(tmp_path, EXPERIMENT, files)
    assert prefetchers(expand(load_experiment(path), overrides=[parse_set(f"{PREFETCHERS}={value}")])) == found
    assert prefetchers(expand(load_experiment(path))) == [("stride",)]


def test_in_a_grid_a_value_that_is_a_list_is_a_list_in_the_list(tmp_path: Path) -> None:
    grid = "grid:\n  machine.caches.L1.prefetchers: %s\n"
    assert prefetchers(rows(tmp_path, EXPERIMENT.replace("grid:\n", grid % f"[[], [{NEXT}]]"))) == [(), ("next-line",)]
    with pytest.raises(UserError, match=r"experiment\.yaml:16:\d+: .*prefetchers has no values; its values are lists: write \[\[\]\]"):
        rows(tmp_path, EXPERIMENT.replace("grid:\n", grid % "[]"))
    with pytest.raises(UserError, match=r"experiment\.yaml:16:\d+: .*prefetchers takes lists, so each of its values is one"):
        rows(tmp_path, EXPERIMENT.replace("grid:\n", grid % f"[{NEXT}]"))


HUGE = "machine.dtlb.huge_pages"
WITH_HUGE_PAGES = MACHINE.replace("dtlb:\n", "dtlb:\n  huge_page_bytes: 2MiB\n")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("[none, all]", ["none", "all"]),
        ("[none, [level 1]]", ["none", ["level 1"]]),
        ("[[level 1], [level 0*, level 1]]", [["level 1"], ["level 0*", "level 1"]]),
    ],
)
@pytest.mark.parametrize("in_grid", [True, False])
def test_values_of_a_parameter_that_is_a_word_or_a_list_may_be_both(
    tmp_path: Path, value: str, found: list[object], *, in_grid: bool
) -> None:
    grid, sets = (f"grid: {{{HUGE}: {value}}}\n", ()) if in_grid else ("", (f"{HUGE}={value}",))
    path = write_experiment(tmp_path, experiment(CHASE, grid), WITH_HUGE_PAGES)
    expanded = expand(load_experiment(path), overrides=[parse_set(one) for one in sets])
    assert [row.point.machine["dtlb"]["huge_pages"] for row in expanded] == found


def test_such_a_list_is_one_value_where_no_word_is_in_it(tmp_path: Path) -> None:
    path = write_experiment(tmp_path, experiment(CHASE), WITH_HUGE_PAGES)
    (row,) = expand(load_experiment(path), overrides=[parse_set(f"{HUGE}=[level 0*, level 1]")])
    assert row.point.machine["dtlb"]["huge_pages"] == ["level 0*", "level 1"]
    with pytest.raises(UserError, match=r"huge_pages: `none` is a word that stands alone, not in a list; write `none`"):
        expand(load_experiment(path), overrides=[parse_set(f"{HUGE}=[none, level 1]")])
    path = write_experiment(tmp_path, experiment(CHASE, f"grid: {{{HUGE}: [none, level 1]}}\n"), WITH_HUGE_PAGES)
    with pytest.raises(UserError, match=r"huge_pages takes none, all or lists, so each of its values is one; write \[none, \[\.\.\.\]\]"):
        expand(load_experiment(path))


def test_in_a_variant_a_list_is_a_list(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("  B+: {", f"  B+: {{machine.caches.L1.prefetchers: [{NEXT}], ")
    assert prefetchers(rows(tmp_path, text)) == [("next-line",)]


def test_a_list_of_a_kernel_is_told_from_the_number_of_another(tmp_path: Path) -> None:
    scans = rows(tmp_path, experiment(SCAN), "workload.predicates=[1, 2]")
    assert [row.point.workload["predicates"] for row in scans] == [1, 2]
    selection = experiment("kernel: tpch, query: rs, layout: nsm, scale_factor: 0.001")
    (both,) = rows(tmp_path, selection, "workload.predicates=[l_partkey, l_suppkey]")
    assert both.point.workload["predicates"] == ["l_partkey", "l_suppkey"]
