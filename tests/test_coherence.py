"""Cores that write to the same lines: who waits for whom, how results say so, and which machines and runs may have it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from files import ROOT, memwalk

from memwalk.analysis.cli.machine_settings import machine_settings
from memwalk.analysis.experiments.results import flatten
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import load_machine

ZEN4 = "zen4-server"
WITHOUT = ("--set", "machine.coherence=null")
MANY = "build_tuples: 5000, probe_tuples: 10000, radix_bits: 13, passes: 2"
QUEUE = f"""\
schema_version: 1
id: queue
title: Threads take tiny partitions from one queue
machine: xeon-silver-4110
workload:
  {{kernel: parallel-join, algorithm: radix, {MANY}, threads: 8}}
variants:
  coherent: {{machine.dtlb.huge_pages: all}}
  not coherent: {{machine.dtlb.huge_pages: all, machine.coherence: null}}
"""
LINE = 64


def write_counters(folder: Path, increments: int) -> Path:
    """Writes the traces of threads that increment a counter each: the same, one beside it, one a line further."""
    for name, address in (("first", 0x10000), ("beside", 0x10008), ("apart", 0x10000 + LINE)):
        (folder / f"{name}.din").write_text(f"0 {address:x}\n1 {address:x}\n" * increments)
        done = memwalk("trace", "import", f"{name}.din", "--format", "din", "-o", f"{name}.parquet", cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the traces of threads that increment 5000 times."""
    return write_counters(tmp_path_factory.mktemp("counters"), 5000)


def replay(folder: Path, other: str, *options: str) -> dict[str, Any]:
    both = ("first.parquet", f"{other}.parquet", "--shared-addresses", "--json")
    done = memwalk("replay", *both, "--machine", ZEN4, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_the_documented_counters_take_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "machine-features.md").read_text()
    (said,) = re.findall(r"take ([\d,]+) and ([\d,]+) cycles: .* the other (\d+) times, and (\d+) accesses miss", page)
    write_counters(tmp_path, 20_000)
    beside, apart = (replay(tmp_path, other) for other in ("beside", "apart"))
    moved = beside["coherence"]
    assert [beside["cycles"], apart["cycles"], moved["transfers"], moved["false_sharing"]] == [int(one.replace(",", "")) for one in said]


def test_counters_in_one_line_cost_their_threads_more_than_twice_as_much(folder: Path) -> None:
    beside, apart = replay(folder, "beside"), replay(folder, "apart")
    assert beside["cycles"] > 2 * apart["cycles"]
    # The next line is prefetched, too, and so are entries of page tables read.
    assert apart["coherence"]["transfers"] < 10
    assert apart["coherence"]["false_sharing"] == apart["coherence"]["true_sharing"] == 0
    assert replay(folder, "beside", *WITHOUT)["cycles"] == pytest.approx(apart["cycles"], rel=0.05)
    shared, falsely = replay(folder, "first")["coherence"], beside["coherence"]
    assert (shared["true_sharing"], shared["false_sharing"]) == (falsely["false_sharing"], falsely["true_sharing"])
    assert falsely["false_sharing"] > 50
    assert falsely["true_sharing"] == 0


def test_misses_of_code_are_those_of_each_level_where_other_cores_serve_some(tmp_path: Path) -> None:
    native.record({"kernel": "table", "operation": "scan", "layout": "nsm", "records": 200}, tmp_path / "t.parquet")
    machine = load_machine(ZEN4, dbms="shore-pentium2").native()
    both = native.replay_cores([tmp_path / "t.parquet"] * 2, machine, shared_addresses=True)
    flat = flatten(both | {"workload": {}})
    served = both["instruction_cache"]["served"]
    assert served["other_cores"] == served["memory"] > 500, "the second core has each line from the first"
    assert flat["L2_code_misses"] == served["L3"] + served["memory"] + served["other_cores"]
    assert flat["L3_code_misses"] == served["memory"]
    assert flat["L3_data_misses"] == both["caches"][2]["misses"] - served["memory"]


def test_results_say_where_cores_wait_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "queue.yaml").write_text(QUEUE)
    done = memwalk("run", "queue.yaml", "--jobs", "1", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = pd.read_parquet(tmp_path / "out/results.parquet").set_index("variant")
    coherent, plain = results.loc["coherent"], results.loc["not coherent"]
    assert coherent["cycles"] > 1.4 * plain["cycles"]
    assert pd.isna(plain["coherence_transfers"])
    assert coherent["coherence_transfers"] > 1000
    breakdown = pd.read_parquet(tmp_path / "out/breakdown.parquet").query("variant == 'coherent' and cause == 'dcache_other_cores'")
    assert breakdown["slots"].sum() == coherent["slots_dcache_other_cores"]
    assert breakdown.set_index("segment")["slots"].idxmax() == "task queues"
    once = breakdown.drop_duplicates(["phase", "segment"])
    assert once["false_sharing"].sum() == coherent["coherence_false_sharing"] > 0
    said = memwalk("explain", "out", "--variant", "coherent", cwd=tmp_path).stdout
    assert "waiting for lines from other cores. There, per operation: accesses served" in said
    assert "by other cores; " in said
    assert "other_cores" not in said


def test_partitions_smaller_than_a_line_are_shared_falsely_and_explain_says_so(tmp_path: Path) -> None:
    small = QUEUE.replace(MANY, "build_tuples: 1000, probe_tuples: 1000, radix_bits: 6, passes: 1")
    (tmp_path / "queue.yaml").write_text(small)
    done = memwalk("run", "queue.yaml", "--jobs", "1", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = memwalk("explain", "out", "--variant", "coherent", cwd=tmp_path)
    said = re.search(r"Missed because another core had written other parts of the line \(false sharing\): (.*)\.\n", done.stdout)
    assert said is not None
    assert sorted(part.rsplit(" ", 1)[0] for part in said[1].split(", ")) == ["build partitions", "probe partitions"]
    done = memwalk("explain", "out", "--variant", "not coherent", cwd=tmp_path)
    assert "false sharing" not in done.stdout


def test_a_coherent_run_is_the_same_live_and_replayed(tmp_path: Path) -> None:
    work = {"kernel": "parallel-join", "algorithm": "no-partitioning", "build_tuples": 3000, "probe_tuples": 3000, "threads": 4}
    machine = load_machine(ZEN4).native()
    native.record(work, tmp_path / "t.parquet")
    replayed, live = native.replay_cores([tmp_path / "t.parquet"], machine, shared_addresses=True), native.simulate(machine, work)
    assert live["coherence"]["transfers"] > 1000
    assert (replayed["cycles"], replayed["coherence"]) == (live["cycles"], live["coherence"])


def test_coherence_of_a_run_of_one_thread_is_refused(folder: Path) -> None:
    changed = ("--set", "machine.coherence.transfer_cycles=50ns")
    done = memwalk("replay", "first.parquet", "--machine", ZEN4, *changed, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "machine.coherence.transfer_cycles has no effect on this run: it is for runs of several threads" in done.stderr


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("machine.cores=1", "the machine has one core, and no other to be coherent with"),
        ("machine.caches.L1.line_bytes=32B", "coherent caches have lines of one size; L2 has 64 bytes, and L1 32"),
        ("machine.caches.L1.write_policy=write-through", "L1 is a core's own, and coherent caches of a core's own write back and allocate"),
        ("machine.coherence.transfer_cycles=0cycles", "is too small; the least is 1"),
        ("machine.coherence.protocol=mosi", "moesi"),
    ],
)
def test_machines_that_cannot_be_coherent_are_refused(setting: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load_machine("xeon-silver-4110", machine_settings([setting]))


@pytest.mark.parametrize(
    "work",
    [
        {"kernel": "hash-join", "build_tuples": 2000, "probe_tuples": 4000, "partitions": 8},
        {"kernel": "hash-partition", "tuples": 4000, "partitions": 20},
    ],
)
@pytest.mark.parametrize("algorithm", ["group", "pipelined"])
def test_threads_that_join_apart_share_no_states(work: dict[str, Any], algorithm: str) -> None:
    machine = load_machine("xeon-silver-4110").native()
    coherent = native.simulate(machine, work | {"algorithm": algorithm, "threads": 8})
    rows = {row["segment"]: row["false_sharing"] for row in coherent["breakdown"]}
    assert rows["state"] == 0
    assert coherent["coherence"]["false_sharing"] < 100
