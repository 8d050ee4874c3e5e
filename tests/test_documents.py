"""What the documents list is what there is."""

import re
from collections import Counter
from pathlib import Path

import pandas as pd
from files import EXPERIMENT, ROOT, memwalk
from markdown_pages import sections

from memwalk.analysis.storage_workloads.columns import PARAMETERS
from memwalk.simcore import _native
from memwalk.simcore.machine import load_machine

NAME = re.compile(r"`([A-Za-z0-9_.]+)`")

PREFETCHERS = "[{kind: next-line, degree: 1}]"
EVERY_FEATURE = (
    "machine.interference.flush_interval_cycles=1ms",
    *(f"machine.caches.{level}.prefetchers={PREFETCHERS}" for level in ("L1", "L2", "L3")),
    "machine.caches.L1.write_policy=write-through",
    "machine.caches.L3.inclusion=inclusive",
    "machine.dtlb.page_table={levels: 3, entry_bytes: 8B, walk_cache_entries: 0, first_cache: L2}",
)
"""Settings that bring every column that only some machines have, code left out."""

CODE = "machine.instruction_cache={size_bytes: 16KiB, line_bytes: 64B, ways: 4, replacement: lru, next_line_prefetch: true}"
CALLS = """\
schema_version: 1
id: calls
machine: itanium2-900
dbms: shore-pentium2
storage: {device: raid0-6-disks, cpu_per_page: 10ns}
observe: [bytes, counts, curve]
workload: {kernel: table, operation: scan, layout: nsm, records: 100}
beside: {other: {kernel: requests, count: 5}}
"""
"""A kernel that calls a DBMS and asks for pages, beside another program."""
PAST = """\
schema_version: 1
id: past
title: Past
machine: thesis-simulator
workload:
  {kernel: parallel-join, algorithm: radix, build_tuples: 1000, probe_tuples: 1000, radix_bits: 4, write_combining: true,
   non_temporal: true}
"""
"""A kernel that writes past the caches."""
SHARED = """\
schema_version: 1
id: shared
title: Shared
machine: zen4-server
workload: {kernel: parallel-join, algorithm: no-partitioning, build_tuples: 1000, probe_tuples: 1000, threads: 2}
"""
"""A kernel of several threads, on caches that are coherent."""
OUTCOMES = """\
schema_version: 1
id: outcomes
machine: itanium2-900
storage: nvme-ssd
variants:
  inserted: {workload: {kernel: disk-index, operation: insert, structure: array, keys: 1000, operations: 10, coloring_way_bytes: 256KiB}}
  scanned:
    workload:
      {kernel: disk-index, operation: scan, structure: array, keys: 1000, operations: 1, range: 10, distance_pages: 2, pool_frames: 18}
  latched:
    machine.cores: 2
    workload:
      {kernel: disk-index, operation: insert, structure: array, keys: 3000, page_bytes: 2048, operations: 10, threads: 2,
       latching: optimistic}
  strings: {workload: {kernel: string-index, operation: insert, structure: slotted, keys: 1000, operations: 10}}
  filtered:
    machine.cores: 2
    workload:
      {kernel: hash-partition, algorithm: grace, tuples: 1000, partitions: 2, filter: multiple, probe_tuples: 1000, order_buffer_pages: 1,
       threads: 2, pages_asked_ahead: 1}
  joined: {workload: {kernel: hash-join, algorithm: sort-merge, build_tuples: 1000, probe_tuples: 1000, order: nearly-sorted}}
  probed: {workload: {kernel: hash-probe, interleaving: amac, build_tuples: 1000, probe_tuples: 100}}
  moved:
    dbms: shore-pentium2
    workload: {kernel: table, operation: update, layout: nsm, records: 1000, strings: [8], first_projected: 8, updated_string_bytes: 64}
"""
"""Kernels with counts of their own, but for TPC-H, whose counts docs/tpch.md has."""
NATIVE = """\
schema_version: 1
id: native
machine: thesis-simulator
workload: {kernel: pointer-chase, lines: 10}
"""
"""A kernel for this processor."""
PROFILE = {*load_machine("itanium2-900", dbms="shore-pentium2").native()["dbms"]["calls"], "(clock tick)"}
"""What it may call, and what interrupts it: there is a column for each."""


def documented() -> list[str]:
    """Give the columns named at the left of the tables of docs/reading-results.md; `L2_...` stands for what L1 has."""
    rows = [line for line in (ROOT / "docs/reading-results.md").read_text().splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in NAME.findall(row.split("|")[1])]
    of_l1 = [name.removeprefix("L1") for name in names if name.startswith("L1_")]
    levels = [name.removesuffix("_...") for name in names if name.endswith("_...")]
    return [name for name in names if not name.endswith("_...")] + [level + count for level in levels for count in of_l1]


def test_every_column_is_documented_once(tmp_path: Path) -> None:
    inserting = ("workload.operation=insert", "workload.keys=500", "workload.operations=10", "workload.caches=warm", *EVERY_FEATURE)
    tables = []
    for name, text, command, settings in (
        ("small", EXPERIMENT.replace("./small.yaml", "itanium2-900"), "run", inserting),
        ("calls", CALLS, "run", (CODE, *EVERY_FEATURE)),
        ("past", PAST, "run", ()),
        ("shared", SHARED, "run", ()),
        ("outcomes", OUTCOMES, "run", ()),
        ("native", NATIVE, "native", ()),
    ):
        (tmp_path / f"{name}.yaml").write_text(text)
        how = ("--jobs", "1", "--out") if command == "run" else ("--machine", "thesis-simulator", "--repetitions", "1", "--out")
        done = memwalk(command, f"{name}.yaml", *(f"--set={one}" for one in settings), *how, name, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        tables += [pd.read_parquet(table) for table in (tmp_path / name).glob("*.parquet")]
    columns = {name for table in tables for name in table.columns if not name.startswith((*(f"{part}." for part in PARAMETERS), "other."))}
    columns -= {name for name in columns if name.startswith("calls_") and name.removeprefix("calls_") in PROFILE}
    columns -= {name for name in columns if name.startswith("counts_") and name.removeprefix("counts_") in columns}
    names = documented()
    assert len(names) == len(set(names))
    assert set(names) - {"L3_back_invalidations"} == columns, "nothing is behind the last level that could invalidate"


def test_every_function_of_the_native_module_is_documented_once() -> None:
    """docs/architecture.md has each in a row of its tables, with the parameters that it takes; three that go together have none."""
    tables = (ROOT / "docs" / "architecture.md").read_text().split("## Python and Rust")[1]
    cells = [line.split(" | ")[0] for line in tables.splitlines() if line.startswith("| `")]
    named = Counter(name for cell in cells for name in re.findall(r"`(\w+)", cell))
    assert named == dict.fromkeys((name for name in dir(_native) if not name.startswith("_") and not name.endswith("Error")), 1)
    for name, parameters in re.findall(r"`(\w+)\(([\w, ]*)\)`", " ".join(cells)):
        taken = re.sub(r"=[^,)]*", "", getattr(_native, name).__text_signature__ or "")
        assert f"({parameters})" == taken, name


def test_every_entry_of_the_analysis_is_documented_once() -> None:
    """docs/architecture.md has each in a row of its table, behind the question that it answers."""
    table = sections(ROOT / "docs" / "architecture.md")["analysis"]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    named = Counter(re.findall(r"`(.*?)`", answer)[0] for _, answer in rows)
    entries = [path for path in (ROOT / "analysis").iterdir() if path.is_dir() or path.suffix == ".py"]
    there = {f"{path.name}/" if path.is_dir() else path.name for path in entries if not path.name.startswith("__")}
    assert named == dict.fromkeys(there, 1)
    assert all(question.endswith("?") for question, _ in rows)
