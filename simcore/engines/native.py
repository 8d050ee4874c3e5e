"""The built-in engine: Python's only door to the Rust simulator (`simcore._native`).

Machines, workloads and statistics are plain dicts here and JSON text on the other side.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simcore import _native
from simcore._native import SpecError
from simcore.errors import UserError

__all__ = [
    "SpecError",
    "Statistics",
    "build_info",
    "check_machine",
    "check_workload",
    "gem5_period_ticks",
    "list_export_formats",
    "list_workloads",
    "record",
    "replay",
    "simulate",
    "trace_check",
    "trace_export",
    "trace_head",
    "trace_info",
]

Statistics = dict[str, Any]
"""The statistics tree of one run, as the simulator gives it (see docs/architecture.md)."""

Progress = Callable[[int], None] | None


def simulate(machine: dict[str, Any], workload: dict[str, Any], progress: Progress = None) -> Statistics:
    """Run a workload live on a machine. Raises SpecError if either cannot be, KeyboardInterrupt on Ctrl-C."""
    return _object(_native.simulate(json.dumps(machine), json.dumps(workload), progress))


def record(workload: dict[str, Any], path: Path, progress: Progress = None) -> Statistics:
    """Run a workload into a trace file at ``path``; returns what the file holds."""
    return _object(_guarded(_native.record, json.dumps(workload), str(path), progress))


def replay(path: Path, machine: dict[str, Any], progress: Progress = None) -> Statistics:
    """Run a trace file on a machine: the same statistics as simulating its workload live."""
    return _object(_guarded(_native.replay, str(path), json.dumps(machine), progress))


def trace_info(path: Path) -> dict[str, Any]:
    """Return the description that a trace file carries."""
    return _object(_guarded(_native.trace_info, str(path)))


def trace_head(path: Path, count: int) -> list[dict[str, Any]]:
    """Return the first ``count`` events of a trace file, one dict each."""
    events = json.loads(_guarded(_native.trace_head, str(path), count))
    assert isinstance(events, list)
    return events


def trace_check(path: Path) -> dict[str, Any]:
    """Read a whole trace file and returns its totals. Raises UserError at the first damage found."""
    return _object(_guarded(_native.trace_check, str(path)))


def trace_export(
    path: Path, format_: str, output: Path, machine: dict[str, Any] | None = None, progress: Progress = None
) -> dict[str, Any]:
    """Write a trace file in another simulator's format; returns what was written, left out and lost.

    ``format_`` is a name of ``list_export_formats``. Lines and times are the machine's.
    """
    text = None if machine is None else json.dumps(machine)
    return _object(_guarded(_native.trace_export, str(path), format_, str(output), text, progress))


def list_export_formats() -> list[dict[str, Any]]:
    """Return the formats of ``trace_export``: ``name``, ``needs_machine``, and the phrases of what is ``lost``."""
    formats = json.loads(_native.list_export_formats())
    assert isinstance(formats, list)
    return formats


def gem5_period_ticks(clock_hz: int) -> int:
    """Return the period of a clock in gem5's ticks (picoseconds), as exported traces have it."""
    return _native.gem5_period_ticks(clock_hz)


def check_machine(machine: dict[str, Any]) -> None:
    """Raise SpecError if the machine's geometry cannot be."""
    _native.check_machine(json.dumps(machine))


def check_workload(workload: dict[str, Any]) -> None:
    """Raise SpecError if the workload cannot be."""
    _native.check_workload(json.dumps(workload))


def list_workloads() -> list[dict[str, Any]]:
    """Return the kernels that a workload can name: ``name``, ``description``, and ``defaults`` of the parameters."""
    kernels = json.loads(_native.list_workloads())
    assert isinstance(kernels, list)
    return kernels


def build_info() -> dict[str, str]:
    """Return version, commit and profile (``release`` or ``debug``) of the native module."""
    return _object(_native.build_info())


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    assert isinstance(value, dict), "the native module returns JSON objects"
    return value


def _guarded(function: Callable[..., str], *arguments: Any) -> str:
    """Call the native module; what it finds wrong with a trace file is the user's to mend."""
    try:
        return function(*arguments)
    except _native.TraceError as error:
        raise UserError(str(error)) from None
