"""Advice on indexes in pages as tests ask for it: tasks for the functions, the command, and advice made up."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from memwalk.analysis.advice.indexes import page_intervals
from memwalk.analysis.advice.indexes.candidates import CONSCIOUS, STRUCTURES, Candidate, candidates
from memwalk.analysis.advice.indexes.rank import IndexAdvice
from memwalk.analysis.advice.indexes.simulate import OPERATIONS
from memwalk.analysis.advice.indexes.task import IndexTask, Operation
from memwalk.analysis.cli.main import app
from memwalk.simcore.machine import load_machine
from memwalk.simcore.storage import load_device

NAMES = {structure.name for structure in STRUCTURES}
NOTHING: dict[Operation, float] = {"search": 0.0, "scan": 0.0, "insert": 0.0}
MIB = 1 << 20


@cache
def thesis() -> dict[str, Any]:
    return load_machine("thesis-simulator").native()


def small_caches() -> dict[str, Any]:
    """The thesis's machine with little caches, so that little indexes leave them."""
    machine = thesis()
    sizes = [machine["caches"][0]["size_bytes"], 32 << 10, 128 << 10]
    return {**machine, "caches": [{**cache, "size_bytes": size} for cache, size in zip(machine["caches"], sizes, strict=True)]}


def task(**given: Any) -> IndexTask:
    asked = {"machine": small_caches(), "device": load_device("nvme-ssd"), "keys": 1_000_000, "memory_bytes": 64 * MIB, "key_bytes": 4}
    also = {"page_sizes": (4096,), "mix": {**NOTHING, "search": 1.0}, "scan_range": 1000, "sample": 20_000_000}
    return IndexTask(**(asked | also | given))


def several(cores: int, *, machine: dict[str, Any] | None = None, coherent: bool = False, **given: Any) -> IndexTask:
    """A task for so many cores, of little caches unless a machine is given, which know of each other or do not."""
    one = machine or small_caches()
    coherence = {"protocol": "moesi", "transfer_cycles": 60} if coherent else None
    return task(machine={**one, "cores": cores, "coherence": coherence} if cores > 1 else one, **given)


def simulate_few(monkeypatch: pytest.MonkeyPatch, *, requests: int = page_intervals.REQUESTS, **operations: int) -> None:
    """Have so few operations of a kind simulated, and so few requests of a device, where the advice has more only to be exact."""
    for operation, count in operations.items():
        assert operation in OPERATIONS
        monkeypatch.setitem(OPERATIONS, operation, count)
    monkeypatch.setattr(page_intervals, "REQUESTS", requests)


def by_name(asked: IndexTask) -> dict[str, Candidate]:
    return {one.structure.name: one for one in candidates(asked)}


def advise(*arguments: str, machine: str = "thesis-simulator", small: bool = True, storage: str = "nvme-ssd") -> Result:
    settings = ("machine.caches.L2.size_bytes=32KiB", "machine.caches.L3.size_bytes=128KiB") if small else ()
    words = [word for setting in settings for word in ("--set", setting)]
    given = ["--machine", machine, "--storage", storage, *words]
    if "--keys" not in arguments:
        given += ["--keys", "1000000"]
    if "--memory" not in arguments:
        given += ["--memory", "64MiB"]
    return CliRunner().invoke(app, ["advise", "index", *given, *arguments])


def ranked(*arguments: str, **others: Any) -> dict[str, Any]:
    result = advise("--json", *arguments, **others)
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def seconds(answer: dict[str, Any]) -> dict[tuple[str, int], float]:
    return {(one["index"], one["page_bytes"]): one["simulated_seconds"] for one in answer["indexes"]}


def an_advice(
    index: str,
    size: int,
    processor: float,
    reads: float,
    *,
    page: float = 100.0,
    queued: float = 0.0,
    cores: int = 1,
    interval: float = 100.0,
    latches: float = 0.0,
    transfers: float = 0.0,
    inserting: float = 0.0,
) -> IndexAdvice:
    """Times in microseconds."""
    total = (processor + (reads + queued) * page) * 1e-6
    share, does, moves = (0.5 if reads else 1.0), f"{index} does it", f"{index} moves it"
    times = {"simulated_seconds": total, "predicted_seconds": total, "page_seconds": page * 1e-6, "processor_seconds": processor * 1e-6}
    counts = {
        "simulated_page_reads": reads,
        "predicted_page_reads": reads,
        "queued": queued,
        "simulated_cycles": 1.0,
        "predicted_cycles": 1.0,
    }
    times["device_seconds"] = cores * reads * interval * 1e-6
    times["inserting_seconds"] = inserting * 1e-6
    times |= {"page_interval_seconds": interval * 1e-6, "latch_seconds": latches * 1e-6, "transfer_seconds": transfers * 1e-6}
    rate = cores / total
    pages = {"pages": 1000, "simulated_pages": 1000, "held": share, "simulated_held": share}
    return IndexAdvice(index, size, {}, does, moves, index in CONSCIOUS, **times, **counts, **pages, operations_per_second=rate)
