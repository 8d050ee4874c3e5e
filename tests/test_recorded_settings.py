"""What is set for `memwalk trace record`: it has an effect on the trace, or is refused by name."""

from pathlib import Path

import pytest
from files import memwalk, write_experiment
from small_experiments import CHASE, SCAN, experiment

LATENCY = "machine.memory.latency_cycles"
STREAM = "kernel: index, operation: search, keys: 2000, operations: 5, tree: {kind: b+}"
NUMBER = STREAM + ", warm_up: 9"
CALLS_NONE = "dbms has no effect on this run: it is for kernels that call a DBMS"
NO_AUTO = "has no effect, for the workload does not say `warm_up: auto`; remove it"
STORED = "kernel: table, operation: point, layout: nsm, records: 1000, point_queries: 5, index_pages: stored"
ON = ("--machine", "./small.yaml")


@pytest.mark.parametrize(
    ("workload", "arguments", "messages"),
    [
        (STREAM, (*ON, "--dbms", "compiled"), (f"--dbms compiled: {CALLS_NONE}",)),
        (STREAM, (*ON, "--set", "machine=zen4-server"), ("machine=zen4-server: has no effect, for --machine is given",)),
        (STREAM, (*ON, "--set", "machine.cores=8"), ("machine.cores has no effect on this run: it is for runs of",)),
        (NUMBER, ("--set", "machine=zen4-server"), (f"machine {NO_AUTO}",)),
        (NUMBER, ("--set", f"{LATENCY}=300ns"), (f"--set {LATENCY}=300ns: {LATENCY} {NO_AUTO}",)),
        (NUMBER, ("--set", f"{LATENCY}=300ns", "--set", "machine=zen4-server"), (f"{LATENCY} {NO_AUTO}", f"machine {NO_AUTO}")),
        (NUMBER, ("--dbms", "compiled"), (f"--dbms compiled: {CALLS_NONE}",)),
        (SCAN, ("--set", "dbms=compiled"), (f"dbms {NO_AUTO}",)),
        (SCAN, ("--set", "storage=cheetah-x15"), ("storage has no effect, for a trace has its pages in memory; remove it",)),
        (
            SCAN,
            ("--set", "beside={other: {shares: machine, kernel: pointer-chase, lines: 9}}", "--set", "machine.cores=2"),
            ("beside has no effect, for a trace is of the workload by itself; remove it", f"machine.cores {NO_AUTO}"),
        ),
        (STORED, ("--set", "storage=cheetah-x15", "--set", "storage.cpu_per_page=20us"), ("cpu_per_page has no effect, for a trace",)),
    ],
)
def test_what_has_no_effect_on_a_trace_is_refused(
    workload: str, arguments: tuple[str, ...], messages: tuple[str, ...], tmp_path: Path
) -> None:
    write_experiment(tmp_path, experiment(workload))
    done = memwalk("trace", "record", "experiment.yaml", *arguments, "-o", "t.parquet", cwd=tmp_path)
    assert done.returncode == 2
    for line, message in zip(done.stderr.splitlines(), messages, strict=True):
        assert message in line
    assert not (tmp_path / "t.parquet").exists()


@pytest.mark.parametrize(
    ("workload", "arguments"),
    [
        # Without these the experiment would not be one.
        (STREAM + ", threads: 2, warm_up: 9", ("--set", "machine.cores=2")),
        (STORED, ("--set", "storage=cheetah-x15")),
        (CHASE, ("--set", "storage=null", "--set", "beside=null")),
    ],
)
def test_what_the_experiment_needs_is_not(workload: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    write_experiment(tmp_path, experiment(workload))
    done = memwalk("trace", "record", "experiment.yaml", *arguments, "-o", "t.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_nothing_but_a_workload_is_set_without_an_experiment(tmp_path: Path) -> None:
    sets = ("beside={other: {kernel: pointer-chase, lines: 9}}", "storage=cheetah-x15", f"{LATENCY}=300ns", "dbms=compiled")
    words = [f"--set={text}" for text in (f"workload={{{NUMBER}}}", *sets)]
    done = memwalk("trace", "record", *words, "-o", "t.parquet", cwd=tmp_path)
    assert done.returncode == 2
    for line, path in zip(done.stderr.splitlines(), ("beside", "storage", LATENCY, "dbms"), strict=True):
        assert f": {path} has no effect, for" in line
