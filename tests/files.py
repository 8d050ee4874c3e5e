"""Small machine and experiment files for tests, and the command line run as users run it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner, Result

from memwalk.analysis.claims import Measures
from memwalk.simcore.errors import UserError
from memwalk.simcore.paths import configs
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import load

ROOT = Path(__file__).resolve().parents[1]

MACHINE = """\
schema_version: 1
description: a small machine
source: made up for tests
clock_hz: 1GHz
core:
  kind: out-of-order
  issue_width: 4
  reorder_buffer: 64
  integer_units: 2
  memory_ports: 2
  branch_units: 1
  multiply_latency_cycles: 12cycles
  divide_latency_cycles: 76cycles
  mispredict_penalty_cycles: 7cycles
  branch_predictor: {kind: gshare, history_bits: 8, counters: 256}
  store_buffer_entries: 8
caches:
  - {name: L1, size_bytes: 4KiB, line_bytes: 64B, ways: 4, latency_cycles: 1cycle, replacement: lru, mshrs: 8}
  - {name: L2, size_bytes: 64KiB, line_bytes: 64B, ways: 2, latency_cycles: 15cycles, replacement: lru}
dtlb:
  page_bytes: 8KiB
  levels: [{entries: 64, latency_cycles: 0cycles}]
  walk_latency_cycles: 20cycles
  walker: blocking
  prefetch_on_miss: walk
memory: {model: fixed, latency_cycles: 150ns, interval_cycles: 15cycles, write_backs_use_bus: true}
"""

EXPERIMENT = """\
schema_version: 1
id: small
title: A small search
machine: ./small.yaml
workload:
  kernel: index
  operation: search
  tree: {kind: b+, node_lines: 1, prefetch: false}
  keys: 2000
  operations: 50
  caches: empty
variants:
  B+: {workload.tree: {kind: b+, node_lines: 1, prefetch: false}}
  p8B+: {workload.tree: {kind: b+, node_lines: 8, prefetch: true}}
grid:
  workload.keys: [1000, 2000]
  machine.memory.latency_cycles: [100cycles, 150ns]
repetitions: {workload.seed: [1, 2]}
scales:
  quick: {workload.keys: [500], workload.operations: 10}
"""

SCAN_EXPERIMENT = """\
schema_version: 1
id: scan
machine: ./small.yaml
workload: {kernel: table, operation: scan, layout: nsm, records: 100}
dbms: shore-pentium2
"""
"""A kernel that asks for pages."""


def write_experiment(folder: Path, experiment: str = EXPERIMENT, machine: str = MACHINE) -> Path:
    """Writes ``small.yaml`` (the machine) and ``experiment.yaml`` and returns the latter's path."""
    (folder / "small.yaml").write_text(machine)
    path = folder / "experiment.yaml"
    path.write_text(experiment)
    return path


def memwalk(
    *arguments: str | Path, cwd: Path = ROOT, before: Callable[[], None] | None = None, stdin: str | Path = os.devnull
) -> subprocess.CompletedProcess[str]:
    """Runs the command line in a process of its own, which reads from the file ``stdin``; ``before`` runs in that process first.

    It is forked from one that has imported what commands need, unless it is to differ from that one.
    """
    environ = environment()
    if before is None and environ == _server_environment():
        return served(_server(), arguments, cwd, stdin)
    with Path(stdin).open() as given:
        return subprocess.run(
            command(*arguments), cwd=cwd, env=environ, stdin=given, capture_output=True, text=True, check=False, preexec_fn=before
        )


def invoke(*arguments: str | Path) -> Result:
    """Run the command line in this process, which is quicker and has what tests have replaced."""
    from memwalk.analysis.cli.main import app

    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@cache
def _server_environment() -> dict[str, str]:
    return environment()


@cache
def _server() -> subprocess.Popen[str]:
    return command_server(_server_environment())


def command_server(environ: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a process that forks commands; it ends with this one, whose end closes its input."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "tests/command_server.py")],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def served(
    server: subprocess.Popen[str], arguments: Sequence[str | Path], cwd: Path, stdin: str | Path = os.devnull
) -> subprocess.CompletedProcess[str]:
    """Have a command forked by a server, and wait for its end; it reads from a file."""
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
        asked = {"arguments": [*map(str, arguments)], "cwd": str(cwd), "stdin": str(stdin), "stdout": out.name, "stderr": err.name}
        server.stdin.write(json.dumps(asked) + "\n")
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(command(*arguments), code, Path(out.name).read_text(), Path(err.name).read_text())


def command(*arguments: str | Path) -> list[str]:
    """Gives the command line as a list."""
    return [sys.executable, "-m", "memwalk", *map(str, arguments)]


def environment() -> dict[str, str]:
    """Gives an environment in which the packages of this checkout are found from any folder, and which is the same for all tests."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    return kept | {"PYTHONPATH": os.pathsep.join(paths)}


def wait_for_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Waits until a process has had a processor for so long: on a busy host its start takes longer, too."""
    while process.poll() is None:
        if processor_seconds(process) >= seconds:
            return
        time.sleep(0.02)
    pytest.fail(f"it ended before it could be stopped: {process.communicate()[0]}")


def processor_seconds(process: subprocess.Popen[str]) -> float:
    """Return how long a process that has not ended has had a processor."""
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


def give_measures(monkeypatch: pytest.MonkeyPatch, paper: str, functions: dict[str, Any]) -> None:
    """Stands in for the module of a made-up paper in memwalk.analysis.papers."""
    name = f"memwalk.analysis.papers.{paper.replace('-', '_')}"
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    measure = Measures()
    for claim, function in functions.items():
        measure(claim)(function)
    vars(module)["measure"] = measure
    monkeypatch.setitem(sys.modules, name, module)


def refusal_of_line(model: Any, device: str, line: str, wrong: str, folder: Path) -> str:
    """Say what is told, with its place, of a device's file in which one line is another."""
    lines = (configs() / "devices" / f"{device}.yaml").read_text().splitlines()
    number = lines.index(line)
    lines[number] = wrong
    path = folder / f"{device}.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(UserError) as error:
        validate(model, load(path))
    assert f"{path}:{number + 1}:" in str(error.value)
    return str(error.value)
