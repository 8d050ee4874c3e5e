"""What is too large is refused by name before anything is made: machines, workloads, streams of requests, and lists of points."""

import json
import pickle
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from files import ROOT, memwalk, write_experiment

from memwalk.analysis.experiments.expansion import count_rows, expand, sample_rows
from memwalk.analysis.experiments.refused import RefusedError, told_where_written
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.settings import parse_set
from memwalk.analysis.experiments.work import totals, works
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

STORAGE = """\
schema_version: 1
id: storage
storage: {device}
workload: {workload}
"""


@pytest.mark.parametrize(
    ("workload", "parameter"),
    [
        ("{kernel: requests, count: 1000000000000000000}", "count"),
        ("{kernel: requests, count: 10, in_flight: 10000000}", "in_flight"),
        ("{kernel: requests, count: 10, blocks: 8000000}", "blocks"),
        ("{kernel: interleaved-read, pages: 1000000000000}", "pages"),
        ("{kernel: interleaved-read, command_bytes: 1GiB}", "command_bytes"),
        ("{kernel: layout-scan, layout: nsm, data: {kind: uniform, attributes: 1000000000}}", "data.attributes"),
        ("{kernel: layout-scan, layout: nsm, data: {kind: tpch, scale_factor: 1.0e+18}}", "data.scale_factor"),
        ("{kernel: layout-point, layout: nsm, table: r, data: {kind: uniform}, clients: 10000000}", "clients"),
        ("{kernel: layout-update, layout: nsm, table: r, data: {kind: uniform}, records: 1000000000000}", "records"),
        ("{kernel: clotho-scan, layout: nsm, attributes: 1000000000}", "attributes"),
        ("{kernel: clotho-scan, layout: nsm, runs_ahead: 1000000000000}", "runs_ahead"),
        ("{kernel: clotho-insert, layout: nsm, runs_ahead: 1000000000000}", "runs_ahead"),
        ("{kernel: clotho-point, layout: nsm, queries: 1000000000000}", "queries"),
        ("{kernel: clotho-column, blocks: 100000000}", "blocks"),
        ("{kernel: clotho-tpch, layout: nsm, query: q6, sample_scale_factor: 1000}", "sample_scale_factor"),
        ("{kernel: tpcc, layout: nsm, page_access: 400us, warehouses: 1000000000000}", "warehouses"),
        ("{kernel: tpcc, layout: nsm, page_access: 400us, users: 1000000000000}", "users"),
        ("{kernel: tpcc, layout: nsm, page_access: 0us}", "page_access"),
    ],
)
def test_streams_of_requests_have_bounds(workload: str, parameter: str, tmp_path: Path) -> None:
    write_experiment(tmp_path, STORAGE.format(device="cheetah-36es", workload=workload))
    with pytest.raises(UserError, match=rf"experiment\.yaml:4:\d+: {parameter}: `.*` is too (large|small); "):
        expand(load_experiment(tmp_path / "experiment.yaml"))


@pytest.mark.parametrize("layout", ["nsm", "dsm", "mbsm"])
def test_tables_that_a_disk_has_no_room_for_are_refused_at_once(layout: str, tmp_path: Path) -> None:
    data = "{kind: uniform, records: 1000000000000}"
    write_experiment(tmp_path, STORAGE.format(device="cheetah-36es", workload=f"{{kernel: layout-scan, layout: {layout}, data: {data}}}"))
    began = time.monotonic()
    done = memwalk("run", "experiment.yaml", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "blocks and the volume has" in done.stderr
    assert time.monotonic() - began < 20


def test_advice_on_a_table_that_the_disk_has_no_room_for(tmp_path: Path) -> None:
    schema = (ROOT / "configs/advice/readings.yaml").read_text().splitlines()
    large = ["records: 1000000000000" if line.startswith("records:") else line for line in schema]
    (tmp_path / "large.yaml").write_text("\n".join(large) + "\n")
    workload = str(ROOT / "configs/advice/few-columns.yaml")
    files = ("--schema", "large.yaml", "--workload", workload)
    for device in ("cheetah-36es", "nvme-ssd", "raid0-6-disks"):
        options = ("--machine", "pentium4-2400", "--dbms", "shore-pentium4", "--storage", device, "--sample", "1000")
        done = memwalk("advise", "layout", *files, *options, cwd=tmp_path)
        assert done.returncode == 2, done.stdout
        assert re.search(r"large\.yaml:\d+:\d+: records: ", done.stderr)
        assert "Traceback" not in done.stderr


def short_of_memory(code: str) -> str:
    """Run Python in a process that may take 300 MB more than it has; returns what it printed."""
    prelude = (
        "import resource\n"
        "from memwalk.simcore.engines import native\n"
        "from memwalk.simcore.errors import UserError\n"
        "from memwalk.simcore.machine import load_machine\n"
        "machine = load_machine('thesis-simulator').native()\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + 300_000_000\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
    )
    done = subprocess.run([sys.executable, "-c", prelude + code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LARGE: list[tuple[dict[str, Any], str]] = [
    ({"kernel": "index", "keys": 200_000_000, "word_bytes": 8, "maturity": "mature"}, "workload.keys"),
    ({"kernel": "index", "keys": 100_000_000, "operations": 100_000_000, "operation": "delete", "word_bytes": 8}, "workload.keys"),
    ({"kernel": "table", "records": 134_217_728}, "workload.records"),
    ({"kernel": "tpch", "scale_factor": 4.0}, "workload.scale_factor"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is free")
@pytest.mark.parametrize(("workload", "parameter"), LARGE, ids=["mature", "delete", "table", "tpch"])
def test_workloads_beyond_memory_are_refused(workload: dict[str, Any], parameter: str) -> None:
    code = f"""
from pathlib import Path
workload = {workload | ({"caches": "empty"} if workload["kernel"] != "tpch" else {})!r}
for run in (
    lambda: native.simulate(machine, workload),
    lambda: native.record(workload, Path('never.parquet')),
    lambda: native.run_native(workload, 1, 0),
    lambda: native.simulate_on([machine, machine], workload),
):
    try:
        run()
    except UserError as error:
        print(error)
"""
    told = short_of_memory(code).splitlines()
    assert len(told) == 4, told
    for line in told:
        assert line.startswith(f"{parameter}: would take about "), line
        assert " MiB of memory are free; take " in line


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is free")
def test_machines_beyond_memory_are_refused() -> None:
    code = """
machine['caches'][1]['size_bytes'] = 128 << 30
native.check_machine(machine)  # it can exist, on a larger host
try:
    native.simulate(machine, {'kernel': 'index', 'keys': 1000, 'operations': 10, 'caches': 'empty'})
except UserError as error:
    print(error)
"""
    told = short_of_memory(code)
    assert told.startswith("machine.caches.1.size_bytes: the tags of L2 would take ")
    assert " GiB; " in told
    assert told.endswith(" of memory are free; make it smaller")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is free")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_machine_beyond_memory_is_told_where_it_was_written(jobs: str, tmp_path: Path) -> None:
    write_experiment(tmp_path)
    sizes = "machine.caches.L2.size_bytes=[64KiB,8TiB]"
    few = ("--set", "workload.seed=1", "--set", "machine.memory.latency_cycles=150ns", "--set", "machine.caches.L2.ways=64")
    done = memwalk("run", "experiment.yaml", "--scale", "quick", *few, "--set", sizes, "--jobs", jobs, cwd=tmp_path)
    assert done.returncode == 2
    assert f"memwalk: error: --set {sizes}: caches.1.size_bytes: the tags of L2 would take 2.2 TiB; " in done.stderr


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("machine.caches.1.size_bytes", "small.yaml:19:28: caches.1.size_bytes: would not fit"),
        ("workload.keys", "--set workload.keys=500: keys: would not fit"),
        ("trace", "experiment.yaml:6:3: trace: would not fit"),
    ],
)
def test_what_is_beyond_memory_is_told_where_it_was_written(path: str, place: str, tmp_path: Path) -> None:
    experiment = load_experiment(write_experiment(tmp_path))
    rows = expand(experiment, overrides=[parse_set("workload.keys=500")])
    refused = RefusedError(rows[0].point.id, native.ShortageError(path, "would not fit"))
    with pytest.raises(UserError) as told, told_where_written(rows):
        raise pickle.loads(pickle.dumps(refused))
    assert str(told.value).endswith(place)


ESTIMATED: dict[str, dict[str, Any]] = {
    "mature": {"kernel": "index", "keys": 500_000, "word_bytes": 8, "maturity": "mature", "caches": "empty", "operations": 10},
    "delete": {"kernel": "index", "keys": 250_000, "operation": "delete", "operations": 62_500, "caches": "empty"},
    "mature pages": {
        "kernel": "disk-index",
        "keys": 500_000,
        "maturity": "mature",
        "structure": "slotted",
        "caches": "empty",
        "operations": 10,
    },
    "delete from pages": {
        "kernel": "disk-index",
        "keys": 200_000,
        "operation": "delete",
        "operations": 2000,
        "structure": "array",
        "caches": "empty",
    },
    "trees in pages": {
        "kernel": "disk-index",
        "keys": 500_000,
        "structure": "disk-first",
        "nonleaf_lines": 2,
        "leaf_lines": 12,
        "caches": "empty",
    },
    "few frames": {
        "kernel": "disk-index",
        "keys": 250_000,
        "structure": "cache-first",
        "node_lines": 15,
        "pool_frames": 500,
        "caches": "empty",
    },
    "mature strings": {
        "kernel": "string-index",
        "keys": 125_000,
        "maturity": "mature",
        "structure": "slotted",
        "caches": "empty",
        "operations": 10,
    },
    "insertion of strings": {
        "kernel": "string-index",
        "keys": 50_000,
        "operation": "insert",
        "operations": 10_000,
        "structure": "prefix-array",
        "prefix_bytes": 8,
        "caches": "empty",
    },
    "few frames of strings": {
        "kernel": "string-index",
        "keys": 125_000,
        "structure": "in-page-tree",
        "node_lines": 8,
        "pool_frames": 500,
        "caches": "empty",
    },
    "rows": {"kernel": "table", "records": 125_000},
    "decomposed": {"kernel": "table", "records": 50_000, "layout": "dsm"},
    "columns": {"kernel": "table", "records": 125_000, "layout": "super-column"},
    "tpch": {"kernel": "tpch", "scale_factor": 0.005, "layout": "pax"},
    "partitions": {"kernel": "hash-partition", "algorithm": "group", "tuples": 50_000, "partitions": 100},
    "reused pages": {"kernel": "hash-partition", "algorithm": "grace", "tuples": 50_000, "partitions": 100, "output": "reused"},
    "nearly sorted": {
        "kernel": "hash-partition",
        "algorithm": "group",
        "tuples": 50_000,
        "partitions": 100,
        "order": "nearly-sorted",
        "order_buffer_pages": 90,
        "displaced": 0.05,
    },
    "sort-merge": {
        "kernel": "hash-join",
        "algorithm": "sort-merge",
        "build_tuples": 20_000,
        "probe_tuples": 40_000,
        "order": "nearly-sorted",
        "displaced": 0.05,
        "output": "reused",
    },
    "uneven tuples": {
        "kernel": "hash-join",
        "algorithm": "group",
        "build_tuples": 20_000,
        "probe_tuples": 40_000,
        "tuple_lengths": "uniform",
        "tuple_bytes": 140,
    },
    "partitions of uneven tuples": {
        "kernel": "hash-partition",
        "algorithm": "group",
        "tuples": 50_000,
        "partitions": 100,
        "tuple_lengths": "uniform",
        "tuple_bytes": 140,
    },
    "probes": {"kernel": "hash-probe", "build_tuples": 250_000, "probe_tuples": 250},
    "one table": {
        "kernel": "parallel-join",
        "algorithm": "no-partitioning",
        "build_tuples": 100_000,
        "probe_tuples": 50_000,
        "keys": "scattered",
    },
    "radix": {"kernel": "parallel-join", "algorithm": "radix", "build_tuples": 50_000, "probe_tuples": 100_000, "radix_bits": 12},
    "one table of small tuples": {
        "kernel": "parallel-join",
        "algorithm": "no-partitioning",
        "build_tuples": 100_000,
        "probe_tuples": 50_000,
        "tuple_bytes": 8,
        "keys": "scattered",
    },
    "radix of small tuples": {
        "kernel": "parallel-join",
        "algorithm": "radix",
        "build_tuples": 50_000,
        "probe_tuples": 100_000,
        "tuple_bytes": 8,
    },
}

TAKEN = """\
import json, os, sys
from memwalk.simcore.engines import native
from memwalk.simcore.machine import load_machine
def taken():
    lines = dict(line.split(':') for line in open('/proc/self/status'))
    most, files = (int(lines[name].split()[0]) for name in ('VmHWM', 'RssFile'))
    return 1024 * (most - files)
machine = load_machine('pentium4-2400', dbms='compiled').native()
for line in sys.stdin:
    if not os.fork():
        before = taken()
        native.simulate(machine, json.loads(line))
        print(taken() - before, flush=True)
        os._exit(0)
    if os.wait()[1]:
        print('failed', flush=True)
"""
"""Forks a process for each workload that it is asked for, and prints how many bytes that one took; what a fork shares, it has before."""


@pytest.fixture(scope="module")
def simulating() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, "-c", TAKEN], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what was taken")
@pytest.mark.parametrize("workload", [pytest.param(workload, id=name) for name, workload in ESTIMATED.items()])
def test_what_a_workload_takes_is_estimated(workload: dict[str, Any], simulating: "subprocess.Popen[str]") -> None:
    """What its code takes of memory, which is a few megabytes of files, is no part of that."""
    assert simulating.stdin is not None
    assert simulating.stdout is not None
    simulating.stdin.write(json.dumps(workload) + "\n")
    simulating.stdin.flush()
    memory = native.estimate_memory(workload)
    assert 0.5 < int(simulating.stdout.readline()) / (memory["building"] + memory["running"]) < 1.25


def test_what_is_free_is_known() -> None:
    assert native.free_memory() > 1 << 20


GRID = """\
schema_version: 1
id: grid
machine: ./small.yaml
workload:
  kernel: index
  operation: search
  tree: {kind: b+, node_lines: 1}
  keys: 2000
  operations: 50
  caches: empty
variants:
  one: {}
  two: {workload.tree: {kind: b+, node_lines: 2}}
grid:
  workload.seed: SEEDS
  workload.operations: [10, 20, 40]
"""


def grid(folder: Path, seeds: int) -> Path:
    return write_experiment(folder, GRID.replace("SEEDS", str(list(range(seeds)))))


def test_a_sample_of_the_rows_is_of_the_rows(tmp_path: Path) -> None:
    experiment = load_experiment(grid(tmp_path, 20))
    heard: list[tuple[int, int]] = []
    rows = expand(experiment, heard=lambda *so_far: heard.append(so_far))
    assert heard == [(number, 120) for number in range(1, 121)]
    assert count_rows(experiment) == 120
    some = sample_rows(experiment, "paper", (), 40)
    assert some == rows[::3]
    assert sample_rows(experiment, "paper", (), 1000) == rows
    whole, part = (totals(works(row.point for row in list_))["seconds"] for list_ in (rows, some))
    assert 3 * part == pytest.approx(whole, rel=0.5)


def test_a_dry_run_of_very_many_points_is_fast(tmp_path: Path) -> None:
    file = grid(tmp_path, 1)
    many = "workload.keys=" + str(list(range(1000, 1500)))
    seeds = "workload.seed=" + str(list(range(400)))
    began = time.monotonic()
    done = memwalk("run", str(file), "--dry-run", "--set", many, "--set", seeds, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first.startswith("1,200,000 rows, too many to list (--json lists all); estimated from 500 of them")
    assert last.startswith("estimated work: ")
    assert time.monotonic() - began < 30
