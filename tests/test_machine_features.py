"""Policies, prefetchers, instruction cache and page table in machine files: read, checked, run and shown."""

from pathlib import Path
from typing import Any

import pytest
from files import MACHINE
from test_machine import machine
from typer.testing import CliRunner

from memwalk.analysis.causes import CAUSES, describe, shortened
from memwalk.analysis.cli.main import app
from memwalk.analysis.experiments.results import causes, flatten
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

FEATURES = (
    MACHINE.replace(
        "replacement: lru, mshrs: 8}",
        "replacement: lru, mshrs: 8, write_policy: write-through, write_allocate: true}",
    )
    .replace(
        "15cycles, replacement: lru}",
        "15cycles, replacement: nru, inclusion: inclusive, prefetchers: [{kind: stream, streams: 4, degree: 2, distance_lines: 8}]}",
    )
    .replace(
        "dtlb:\n",
        "instruction_cache: {size_bytes: 4KiB, line_bytes: 64B, ways: 2, replacement: fifo}\ndtlb:\n"
        "  page_table: {levels: 4, entry_bytes: 8B, walk_cache_entries: 4, first_cache: L2}\n",
    )
)
WORKLOAD = {
    "kernel": "index",
    "operation": "search",
    "tree": {"kind": "b+", "node_lines": 1},
    "keys": 1000,
    "operations": 20,
    "caches": "empty",
}


def test_the_keys_reach_the_simulator(tmp_path: Path) -> None:
    spec = machine(tmp_path, FEATURES).native()
    first, second = spec["caches"]
    assert (first["write_policy"], first["write_allocate"]) == ("write-through", True)
    assert (second["replacement"], second["inclusion"]) == ("nru", "inclusive")
    assert second["prefetchers"] == [{"kind": "stream", "streams": 4, "degree": 2, "distance_lines": 8}]
    assert spec["instruction_cache"] == {"size_bytes": 4096, "line_bytes": 64, "ways": 2, "replacement": "fifo"}
    assert spec["dtlb"]["page_table"] == {"levels": 4, "entry_bytes": 8, "walk_cache_entries": 4, "first_cache": "L2"}


def test_a_machine_that_names_none_has_none(tmp_path: Path) -> None:
    spec = machine(tmp_path).native()
    assert "instruction_cache" not in spec
    assert "page_table" not in spec["dtlb"]
    new = {"inclusion", "write_policy", "write_allocate", "prefetchers"}
    assert not any(new & set(cache) for cache in spec["caches"])


def huge(pages: str) -> str:
    return FEATURES.replace("dtlb:\n", f"dtlb:\n  huge_page_bytes: 8MiB\n  huge_pages: {pages}\n")


def test_segments_are_in_huge_pages(tmp_path: Path) -> None:
    def walks(pages: str) -> tuple[int, int]:
        dtlb = native.simulate(machine(tmp_path, huge(pages)).native(), WORKLOAD)["dtlb"]
        return dtlb["walks"], dtlb["walk_reads"]

    # The tree is so small that all of it lies in the huge page of its leaves.
    assert walks("none") > walks('["level 0*"]') == walks("all") == (1, 3)
    reach = machine(tmp_path, huge("all")).derived()
    assert reach["huge_tlb_reach_bytes"] == [1024 * small for small in reach["tlb_reach_bytes"]]


def test_a_segment_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(native.SpecError) as error:
        native.simulate(machine(tmp_path, huge("[leaves]")).native(), WORKLOAD)
    path, message = error.value.args
    assert path == "dtlb.huge_pages.0"
    assert message.startswith("`leaves` matches no segment of the trace; it has `level 0 (leaves)`, `level 1`")


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("replacement: nru", "replacement: tree-plu", "19:100: caches.1.replacement: `tree-plu` is not one of lru, tree-plru"),
        ("replacement: nru", "replacement: tree-plu", "did you mean `tree-plru`?"),
        ("replacement: nru", "replacement: plru", "did you mean `tree-plru`?"),
        ("inclusion: inclusive", "inclusion: inclusiv", "caches.1.inclusion: `inclusiv` is not one of non-inclusive, inclusive"),
        ("write-through", "through", "caches.0.write_policy: `through` is not one of write-back, write-through"),
        ("write_allocate: true", "write_allocate: 1", "caches.0.write_allocate: `1` is neither true nor false"),
        ("kind: stream", "kind: streem", "caches.1.prefetchers.0: kind `streem` is not one of next-line, stride, stream"),
        ("kind: stream", "kind: streem", "did you mean `stream`?"),
        ("distance_lines: 8", "distance: 8", "unknown key `distance`; did you mean `distance_lines`?"),
        ("degree: 2", "degree: 33", "caches.1.prefetchers.0.degree: 33 is not between 1 and 32"),
        ("degree: 2", "degree: 9", "caches.1.prefetchers.0.degree: 9 lines at each use are more than the 8 that the stream may run ahead"),
        (
            "degree: 2",
            "degree: 1",
            "distance_lines: with one line at each use (degree: 1) the stream never runs 8 lines ahead; a stream that is filled when it "
            "starts has degree: 8",
        ),
        ("first_cache: L2", "first_cache: L9", "dtlb.page_table.first_cache: no cache `L9`; one of L1, L2"),
        ("levels: 4", "levels: 8", "dtlb.page_table.levels: 8 levels; behind nodes of 8192 bytes"),
        ("page_bytes: 8KiB", "page_bytes: 2GiB", "dtlb.page_table.entry_bytes: entries of 8 bytes in nodes of 2147483648 bytes"),
        ("dtlb:\n", "dtlb:\n  huge_pages: all\n", "dtlb.huge_pages: this machine has no huge pages; give dtlb.huge_page_bytes too"),
        ("dtlb:\n", "dtlb:\n  huge_page_bytes: 2MiB\n", "dtlb.huge_page_bytes: 2097152 bytes are no entry of the page table"),
        ("entries: 64", "entries: 64, ways: 5", "dtlb.levels.0.ways: 5 ways; 64 entries are no whole number of such sets"),
        ("64B, ways: 2, replacement: fifo", "128B, ways: 2, replacement: fifo", "instruction_cache.line_bytes: 128 is larger"),
        ("inclusion: inclusive", "inclusion: exclusive", "caches.1.inclusion: an exclusive level takes what L1 evicts"),
        ("ways: 4, latency_cycles: 1cycle", "inclusion: inclusive, ways: 4, latency_cycles: 1cycle", "caches.0.inclusion: the first level"),
    ],
)
def test_mistakes_are_told_where_they_stand(tmp_path: Path, old: str, new: str, answer: str) -> None:
    assert old in FEATURES
    with pytest.raises(UserError) as error:
        machine(tmp_path, FEATURES.replace(old, new, 1))
    assert answer in str(error.value)
    assert str(error.value).startswith("small.yaml:") or "/small.yaml:" in str(error.value)


@pytest.mark.parametrize(
    ("new", "answer"),
    [
        ("96KiB, line_bytes: 64B, ways: 3, latency_cycles: 15cycles, replacement: tree-plru", "caches.1.ways: 3 ways make no tree"),
        (
            "64KiB, line_bytes: 128B, ways: 2, latency_cycles: 15cycles, inclusion: exclusive, replacement: lru",
            "caches.1.inclusion: an exclusive level takes the lines of the level before; L1 has lines of 64 bytes, not 128",
        ),
    ],
)
def test_geometry_that_a_policy_cannot_have(tmp_path: Path, new: str, answer: str) -> None:
    old = "64KiB, line_bytes: 64B, ways: 2, latency_cycles: 15cycles, replacement: lru"
    with pytest.raises(UserError, match=r"small\.yaml:19:") as error:
        machine(tmp_path, MACHINE.replace(old, new, 1))
    assert answer in str(error.value)


def test_results_name_what_only_some_machines_have(tmp_path: Path) -> None:
    plain = flatten(native.simulate(machine(tmp_path).native(), WORKLOAD))
    rich = flatten(native.simulate(machine(tmp_path, FEATURES).native(), WORKLOAD))
    extra = {
        "slots_icache",
        "L2_code_misses",
        "L2_data_misses",
        "L1_back_invalidations",
        *(f"L2_prefetches_{key}" for key in ("issued", "dropped", "useful", "late", "unused")),
        *(f"instruction_cache_{key}" for key in ("accesses", "hits", "misses", "served_L2", "served_memory")),
        "dtlb_walk_reads",
        "bus_write_throughs",
    }
    assert set(rich) - set(plain) == extra
    assert not set(plain) - set(rich)
    assert rich["dtlb_walk_reads"] > 0
    assert rich["checksum"] == plain["checksum"]
    assert all(isinstance(value, int) for value in rich.values())


def flat_slots(slots: dict[str, Any]) -> dict[str, float]:
    return slots | {"dcache": sum(slots["dcache"].values())}


def test_waits_for_code_are_a_cause(tmp_path: Path) -> None:
    slots = native.simulate(machine(tmp_path, FEATURES).native(), WORKLOAD)["slots"]
    assert causes(slots)["icache"] == 0
    assert {cause.name for cause in CAUSES} == set(slots) - {"total"} | {"barrier", "system", "storage"}, "no other core, no storage"
    assert sum(shortened(flat_slots(slots)).values()) == slots["total"]
    assert describe("icache") == "waiting for code"


def test_machines_with_and_without_share_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.yaml").write_text(MACHINE)
    (tmp_path / "rich.yaml").write_text(FEATURES)
    (tmp_path / "e.yaml").write_text(
        "schema_version: 1\nid: e\ntitle: Two machines\nmachine: ./small.yaml\n"
        "workload: {kernel: index, operation: search, tree: {kind: b+, node_lines: 1, prefetch: false}, "
        "keys: 1000, operations: 20, caches: empty}\n"
        "variants:\n  plain: {machine: ./small.yaml}\n  rich: {machine: ./rich.yaml}\n"
        "  next: {machine.caches.L1.prefetchers: [{kind: next-line, degree: 1}]}\n"
    )
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", "./e.yaml", "--out", "out", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "icache" in done.stdout
    for variant in ("plain", "rich", "next"):
        shown = CliRunner().invoke(app, ["explain", "out", "--variant", variant])
        assert shown.exit_code == 0, shown.output
        assert "nan" not in shown.stdout
