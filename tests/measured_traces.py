"""Validation traces of DiskSim: requests that are measured on a drive, as a test writes them."""

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from memwalk.simcore.storage.disksim import Measured
from memwalk.simcore.storage.trace_lines import write_lines


def write_measured(path: Path, requests: Iterable[Measured]) -> None:
    """Write a validation trace, exact to the picosecond; compressed if the name ends in ``.gz``."""
    write_lines(
        path,
        (
            f"{'W' if request.write else 'R'} {request.buffer:4} {request.block:10} {request.blocks:3} "
            f"{_microseconds(request.response_ps):>14} {_microseconds(request.gap_ps):>14}"
            for request in requests
        ),
    )


def _microseconds(ps: int) -> str:
    return f"{Decimal(ps).scaleb(-6):f}"
