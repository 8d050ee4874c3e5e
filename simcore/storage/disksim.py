"""DiskSim's traces of disk requests: the ASCII format and the validation format of DiskSim 4.0.

ASCII: when each request arrives, whatever happens to those before it. Five fields: time in ms, device number, first block, blocks,
and flags in hexadecimal, of which memwalk knows 0 (write) and 1 (read).

Validation: requests measured on a drive, one at a time. Six fields: R or W, what the drive's buffer did (Hit, Miss, Doub, Trip), first
block, blocks, response time in us, and time from its end to the next request in us. A block has 512 bytes in both.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from memwalk.simcore.storage.trace_lines import TraceLines, shortened, write_lines
from memwalk.simcore.units import PS_PER_MS, PS_PER_SECOND

_ASCII_FIELDS = "`time_ms device block blocks flags`"
_VALIDATION_FIELDS = "`R|W buffer block blocks response_us gap_us`"
_DIRECTIONS = {"R": False, "W": True}
_PS_PER_US = 10**6
_PS_PER_DAY = 24 * 60 * 60 * PS_PER_SECOND
_LARGEST = 2**62
"""Of any number: blocks, and picoseconds (53 days)."""


class Format(StrEnum):
    """What the lines of a trace are."""

    ASCII = "ascii"
    VALIDATION = "validation"


class Arrival(NamedTuple):
    """A request that arrives at a known time."""

    arrival_ps: int
    device: int
    block: int
    blocks: int
    write: bool


class Measured(NamedTuple):
    """A request that was measured on a drive; the next one begins ``gap_ps`` after its end."""

    write: bool
    buffer: str
    block: int
    blocks: int
    response_ps: int
    gap_ps: int


def format_of(lines: TraceLines) -> Format:
    """Tell the format by the first line: validation traces begin with a letter. Raises UserError if it is neither."""
    fields = lines.first.split()
    if fields[0] in _DIRECTIONS:
        return Format.VALIDATION
    if len(fields) == 5:
        return Format.ASCII
    raise lines.mistake(f"neither {_ASCII_FIELDS} (ASCII) nor {_VALIDATION_FIELDS} (validation)")


def arrivals(lines: TraceLines) -> Iterator[Arrival]:
    """Read an ASCII trace. Raises UserError at a line that is not one, or that arrives before the one above it."""
    before = 0
    for line in lines:
        try:
            time, device, block, blocks, flags = _fields(line, 5, _ASCII_FIELDS)
            arrival = _time("time_ms", time, PS_PER_MS)
            if arrival < before:
                raise ValueError(f"time_ms `{shortened(time)}` is before the request above; sort the trace by time")
            before = arrival
            request = Arrival(arrival, _count("device", device), _count("block", block), _count("blocks", blocks, 1), _is_write(flags))
        except ValueError as error:
            raise lines.mistake(str(error)) from None
        yield request


def measured(lines: TraceLines) -> Iterator[Measured]:
    """Read a validation trace. Raises UserError at a line that is not one."""
    for line in lines:
        try:
            direction, buffer, block, blocks, response, gap = _fields(line, 6, _VALIDATION_FIELDS)
            if direction not in _DIRECTIONS:
                raise ValueError(f"`{shortened(direction)}` is neither R (read) nor W (write)")
            if not (buffer.isascii() and buffer.isalpha()):
                raise ValueError(f"buffer `{shortened(buffer)}` is not a word such as Hit or Miss")
            request = Measured(
                _DIRECTIONS[direction],
                buffer,
                _count("block", block),
                _count("blocks", blocks, 1),
                _time("response_us", response, _PS_PER_US),
                _time("gap_us", gap, _PS_PER_US),
            )
        except ValueError as error:
            raise lines.mistake(str(error)) from None
        yield request


def as_arrivals(lines: TraceLines) -> Iterator[Arrival]:
    """Read a validation trace as requests that arrive when they did at the drive that was measured, the first at 0.

    Raises UserError at a line that is not one of such a trace, and at a request that arrives later than `arrivals` would read.
    """
    now = 0
    for request in measured(lines):
        if now >= _LARGEST:
            raise lines.mistake(f"the request arrives {now // _PS_PER_DAY} days after the first; convert a shorter trace")
        yield Arrival(now, 0, request.block, request.blocks, request.write)
        now += request.response_ps + request.gap_ps


def write_arrivals(path: Path, requests: Iterable[Arrival]) -> int:
    """Write an ASCII trace, exact to the picosecond, and return how many requests it has; compressed if the name ends in ``.gz``.

    Raises UserError if that fails.
    """
    return write_lines(
        path,
        (
            f"{_milliseconds(request.arrival_ps)}\t{request.device}\t{request.block}\t{request.blocks}\t{0 if request.write else 1}"
            for request in requests
        ),
    )


def _fields(line: str, number: int, names: str) -> list[str]:
    fields = line.split()
    if len(fields) != number:
        raise ValueError(f"{len(fields)} fields where {number} belong: {names}")
    return fields


def _count(name: str, text: str, least: int = 0) -> int:
    if text.isdecimal() and least <= (number := int(text)):
        if number < _LARGEST:
            return number
        raise ValueError(f"{name} `{shortened(text)}` is too large; the most is {_LARGEST - 1}")
    raise ValueError(f"{name} `{shortened(text)}` is not a whole number from {least} on")


def _time(name: str, text: str, unit_ps: int) -> int:
    """Read a time, exactly; what is less than a picosecond is cut off."""
    try:
        if "_" not in text and 0 <= (time_ps := Decimal(text) * unit_ps) < Decimal("inf"):
            if time_ps < _LARGEST:
                return int(time_ps)
            raise ValueError(f"{name} `{shortened(text)}` is too large; it must be less than {_LARGEST / unit_ps:,.0f}")
    except ArithmeticError:  # no number, or not a number
        pass
    raise ValueError(f"{name} `{shortened(text)}` is not a time of 0 or more, such as 12.5")


def _is_write(flags: str) -> bool:
    if flags in ("0", "1"):
        return flags == "0"
    try:
        value = -1 if "_" in flags else int(flags, 16)
    except ValueError:
        value = -1
    if value not in (0, 1):
        raise ValueError(f"flags `{shortened(flags)}` is neither 0 (write) nor 1 (read)")
    return value == 0


def _milliseconds(ps: int) -> str:
    return f"{ps // PS_PER_MS}.{ps % PS_PER_MS:09}"
