"""Indexes of strings in disk pages: what operations find, where they touch pages, when prefixes of keys pay, traces, this processor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import memwalk
from machines import THESIS

from memwalk.simcore.engines import native

# 12 MB of keys before a last cache of 2 MB.
INDEX: dict[str, Any] = {"kernel": "string-index", "keys": 250_000, "operations": 2_000, "caches": "warm", "warm_up": 4_000}
STRUCTURES: dict[str, dict[str, Any]] = {
    "slotted": {"structure": "slotted"},
    "prefix 2": {"structure": "prefix-array", "prefix_bytes": 2},
    "prefix 4": {"structure": "prefix-array", "prefix_bytes": 4},
    "prefix 8": {"structure": "prefix-array", "prefix_bytes": 8},
    "prefix 16": {"structure": "prefix-array", "prefix_bytes": 16},
    "in-page tree": {"structure": "in-page-tree", "node_lines": 8},
}


def run(structure: str, /, **changes: Any) -> dict[str, Any]:
    return native.simulate(THESIS, INDEX | {"operation": "search"} | STRUCTURES[structure] | changes)


@pytest.mark.parametrize("operation", ["search", "insert", "delete", "scan"])
def test_all_find_the_same(operation: str) -> None:
    changes: dict[str, Any] = {
        "operation": operation,
        "keys": 20_000,
        "operations": 500,
        "warm_up": 100,
        "page_bytes": 4096,
        "bits_per_byte": 3,
    }
    changes |= {"range": 300, "operations": 200} if operation == "scan" else {}
    works = [run(structure, **changes, pool_frames=frames)["workload"] for structure in STRUCTURES for frames in (0, 16)]
    assert len({(work["operations"], work["returned"], work["checksum"]) for work in works}) == 1
    assert works[0]["returned"] == {"insert": 0, "scan": 60_000}.get(operation, 500)


def cycles(structure: str, **changes: Any) -> float:
    return float(run(structure, **changes)["cycles"])


@pytest.mark.parametrize(("common", "useful", "useless"), [(0, "prefix 4", ""), (4, "prefix 8", "prefix 4"), (12, "prefix 16", "prefix 8")])
def test_prefixes_pay_only_where_they_tell_keys_apart(common: int, useful: str, useless: str) -> None:
    """250,000 keys and those between them take 21 bits: three bytes behind those that all keys have in common."""
    slotted = cycles("slotted", common_prefix_bytes=common)
    assert cycles(useful, common_prefix_bytes=common) < 0.75 * slotted
    if useless:
        assert cycles(useless, common_prefix_bytes=common) > 0.95 * slotted


def test_scans_of_trees_in_pages_wait_less_and_prefetching_is_why() -> None:
    scan = {"operation": "scan", "range": 5_000, "operations": 20, "warm_up": 4}
    slotted, tree, alone = (
        cycles("slotted", **scan),
        cycles("in-page tree", **scan),
        cycles("in-page tree", **scan, distance_nodes=0),
    )
    assert tree < 0.8 * slotted
    assert tree < 0.8 * alone


@pytest.mark.parametrize(
    ("changes", "where", "message"),
    [
        ({"prefix_bytes": 3, "structure": "prefix-array"}, "prefix_bytes", "3 bytes; it must be one of [2, 4, 8, 16]"),
        ({"shortest_key_bytes": 41}, "shortest_key_bytes", "41 bytes; the longest key has 40"),
        ({"shortest_key_bytes": 6, "common_prefix_bytes": 4}, "shortest_key_bytes", "it must be at least 7"),
        ({"longest_key_bytes": 129}, "longest_key_bytes", "129"),
        (
            {"structure": "in-page-tree", "node_lines": 2},
            "node_lines",
            "2 lines of 64 bytes do not fit pages of 16384 bytes and keys of 40; with the other sizes as they are, 4 to 51 do",
        ),
        ({"pool_frames": 3}, "pool_frames", "or 0 for a frame for every page"),
    ],
)
def test_what_cannot_be_is_refused_by_name(changes: dict[str, Any], where: str, message: str) -> None:
    with pytest.raises(native.SpecError) as refused:
        run("slotted", **changes)
    assert refused.value.args[0] == where
    assert message in refused.value.args[1]


EXPERIMENT = """\
schema_version: 1
id: strings
title: Strings
machine: thesis-simulator
workload: {kernel: string-index, operation: insert, keys: 20000, operations: 300, page_bytes: 4096, caches: empty}
variants:
  slotted: {workload.structure: slotted}
  prefixes: {workload.structure: prefix-array, workload.prefix_bytes: 4}
  nodes: {workload.structure: in-page-tree, workload.node_lines: 8}
"""
PARTS = {
    "slotted": ["page header: load", "slots: load", "keys: load word", "keys: store entry"],
    "prefixes": ["page header: load", "prefixes: load prefix", "slots: store slot", "keys: load pageID"],
    "nodes": ["page header: load", "in-page nodes: load header", "in-page nodes: load word of a key", "in-page nodes: store slot"],
}


def test_indexes_run_record_replay_and_explain_names_the_parts_of_pages(tmp_path: Path) -> None:
    experiment = tmp_path / "strings.yaml"
    experiment.write_text(EXPERIMENT)
    ran = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    for variant, parts in PARTS.items():
        explained = memwalk("explain", tmp_path / "out", "--variant", variant)
        assert "level 0 (leaf pages)" in explained.stdout, explained.stderr
        trace = tmp_path / f"{variant}.parquet"
        recorded = memwalk("trace", "record", experiment, "--variant", variant, "-o", trace)
        assert recorded.returncode == 0, recorded.stderr
        replayed = memwalk("replay", trace, "--machine", "thesis-simulator", "--out", tmp_path / variant)
        assert replayed.returncode == 0, replayed.stderr
        explained = memwalk("explain", tmp_path / variant, "--by", "pc", "--json")
        assert explained.returncode == 0, explained.stderr
        for part in parts:
            assert part in explained.stdout, variant


def test_a_replay_takes_the_cycles_of_the_run(tmp_path: Path) -> None:
    experiment = tmp_path / "strings.yaml"
    experiment.write_text(EXPERIMENT)
    trace = tmp_path / "t.parquet"
    assert memwalk("trace", "record", experiment, "--variant", "nodes", "-o", trace).returncode == 0
    work = {"keys": 20_000, "operations": 300, "operation": "insert", "page_bytes": 4096, "caches": "empty", "warm_up": None}
    live = run("in-page tree", **work)
    assert native.replay_cores([trace], THESIS, shared_addresses=True)["cycles"] == live["cycles"]


def test_strings_are_found_on_this_processor(tmp_path: Path) -> None:
    experiment = tmp_path / "strings.yaml"
    experiment.write_text(EXPERIMENT)
    for variant in PARTS:
        options = ("--machine", "thesis-simulator", "--repetitions", "1", "--json")
        timed = memwalk("native", experiment, "--variant", variant, *options)
        assert timed.returncode == 0, timed.stderr
        assert json.loads(timed.stdout)


STORED = """\
schema_version: 1
id: strings
machine: thesis-simulator
storage: ./device.yaml
workload:
  {kernel: string-index, operation: insert, structure: prefix-array, prefix_bytes: 4, keys: 50000, operations: 500,
   caches: empty, pool_frames: 16}
"""
DEVICE = """\
schema_version: 1
description: two numbers
source: made up
kind: sequential-random
page_bytes: 4KiB
sequential_page: 50us
random_page: 400us
"""


def test_a_run_waits_for_pages_that_its_pool_lacks(tmp_path: Path) -> None:
    (tmp_path / "device.yaml").write_text(DEVICE)
    experiment = tmp_path / "strings.yaml"
    experiment.write_text(STORED)
    ran = memwalk("run", experiment, "--jobs", "1", "--out", tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    row = pd.read_parquet(tmp_path / "out/results.parquet").iloc[0]
    assert 400 < row["pages_read"] <= row["pages_read"] + row["pages_written"] == row["io_requests"]
    assert row["io_seconds"] > 0.9 * row["seconds"]
    experiment.write_text(STORED.replace(", pool_frames: 16", ""))
    refused = memwalk("run", experiment, "--out", tmp_path / "none")
    assert refused.returncode == 2
    assert "it is for a pool of fewer frames than pages" in refused.stderr
