"""Quantities with units, as machine files and experiments write them: ``16KiB``, ``250cycles``, ``30ns``, ``1.5GHz``.

A quantity always names its unit; bare numbers are for counts. All arithmetic is exact (fractions), and only the
last step, to a whole number of bytes, cycles or hertz, may round.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

PS_PER_SECOND = 10**12
"""Picoseconds, in which storage keeps its times."""
PS_PER_MS = 10**9
"""The same in a millisecond, in which disks are spoken of."""

UNITS: dict[str, dict[str, Fraction]] = {
    "size": {
        "B": Fraction(1),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
        "TiB": Fraction(2**40),
    },
    "cycles": {"cycle": Fraction(1), "cycles": Fraction(1)},
    "time": {
        "ps": Fraction(1, PS_PER_SECOND),
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "ms": Fraction(1, 10**3),
        "s": Fraction(1),
    },
    "frequency": {"Hz": Fraction(1), "kHz": Fraction(10**3), "MHz": Fraction(10**6), "GHz": Fraction(10**9)},
    "bandwidth": {"B/s": Fraction(1), "kB/s": Fraction(10**3), "MB/s": Fraction(10**6), "GB/s": Fraction(10**9)},
    "bit rate": {"bit/s": Fraction(1), "kbit/s": Fraction(10**3), "Mbit/s": Fraction(10**6)},
    "length": {"nm": Fraction(1, 10**9), "um": Fraction(1, 10**6), "mm": Fraction(1, 10**3)},
    "acceleration": {"m/s2": Fraction(1)},
}
"""Units by dimension, each with its worth in bytes, cycles, seconds, hertz, bytes or bits per second, metres, or metres per second
squared. The only table of units there is."""

_BINARY_PREFIXES = {"k": "KiB", "m": "MiB", "g": "GiB", "t": "TiB"}
_QUANTITY = re.compile(r"\s*([+-]?(?:[0-9][0-9_]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*((?:[A-Za-zµ/%]+2?)?)\s*")
_LARGEST = 2**63 - 1
_LONGEST = 64
"""Characters of a quantity: more digits, or powers of ten beyond a thousand, would take long to read and mean nothing."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit; ``amount`` is in the base unit of ``dimension``, the one that `UNITS` gives as 1."""

    amount: Fraction
    dimension: str
    text: str


def parse_quantity(value: Any, example: str) -> Quantity:
    """Read a quantity. Raises ValueError naming the remedy; ``example`` shows what the field would take."""
    match = None if isinstance(value, bool | list | dict) or _is_long(value) else _QUANTITY.fullmatch(str(value))
    if match is None:
        raise ValueError(f"{_shown(value)} is not a number with a unit; write for example {example}")
    number, unit = match.groups()
    if not unit:
        raise ValueError(f"{_shown(value)} has no unit; write for example {example}")
    for dimension, units in UNITS.items():
        if unit in units:
            amount = Fraction(number.replace("_", "")) * units[unit]
            if amount < 0:
                raise ValueError(f"`{value}` is negative; write for example {example}")
            return Quantity(amount, dimension, str(value))
    raise ValueError(_unknown_unit(str(value), number, unit, example))


def to_bytes(value: Any) -> int:
    """Convert a size such as ``16KiB`` to bytes."""
    quantity = _of_dimension(value, "size", "64B or 16KiB")
    return _whole(quantity, quantity.amount, "bytes")


def in_units(size_bytes: int) -> str:
    """Write bytes with the largest unit that leaves a whole number: ``16 KiB``."""
    for unit, worth in reversed(UNITS["size"].items()):
        if size_bytes >= worth and size_bytes % worth == 0:
            return f"{size_bytes // int(worth)} {unit}"
    return f"{size_bytes} B"


def to_hertz(value: Any) -> int:
    """Convert a frequency such as ``1.5GHz`` to hertz; 0 is none."""
    quantity = _of_dimension(value, "frequency", "1GHz")
    if not quantity.amount:
        raise ValueError(f"`{value}` is too small; write for example 1GHz")
    return _whole(quantity, quantity.amount, "hertz")


def to_cycles(value: Any, clock_hz: int | None, most: int = _LARGEST) -> int:
    """Convert ``250cycles``, or a time such as ``30ns`` with the machine's clock, to cycles, of which a time may be ``most``.

    A time that is no whole number of cycles goes to the nearest one; half a cycle goes up.
    """
    quantity = parse_quantity(value, "250cycles")
    if quantity.dimension == "cycles":
        return _whole(quantity, quantity.amount, "cycles")
    if quantity.dimension != "time":
        raise ValueError(f"`{value}` is a {quantity.dimension}; cycles or a time belong here, such as 250cycles or 30ns")
    cycles = (quantity.amount * _known_clock(value, clock_hz) * 2 + 1) // 2
    if quantity.amount and not cycles:
        raise ValueError(f"`{value}` is less than half a cycle{_at(quantity, clock_hz)}; give a longer time, a faster clock, or cycles")
    if cycles > most:
        remedy = "give a shorter time, a slower clock, or cycles"
        raise ValueError(f"`{value}` is more than {most} cycles at a clock_hz of {clock_hz}Hz; {remedy}")
    return _whole(quantity, Fraction(cycles), "cycles")


def to_parts_of_cycles(value: Any, clock_hz: int | None, part: Fraction) -> int | float:
    """Convert ``4.5cycles``, or a time such as ``1.11ns`` with the machine's clock, to cycles, of which fractions count.

    What comes out is the nearest whole number of ``part`` of a cycle, which the simulator counts.
    """
    quantity = parse_quantity(value, "15cycles")
    if quantity.dimension not in ("cycles", "time"):
        raise ValueError(f"`{value}` is a {quantity.dimension}; cycles or a time belong here, such as 15cycles or 1.11ns")
    amount = quantity.amount
    if quantity.dimension == "time":
        amount *= _known_clock(value, clock_hz)
    parts = (amount / part * 2 + 1) // 2
    if amount and not parts:
        raise ValueError(f"`{value}` is less than {part} of a cycle{_at(quantity, clock_hz)}, the least that there is")
    cycles = parts * part
    _check_largest(quantity, cycles, "cycles")
    return int(cycles) if cycles.denominator == 1 else float(cycles)


def to_picoseconds(value: Any) -> int:
    """Convert a time such as ``241.5us`` to picoseconds."""
    quantity = _of_dimension(value, "time", "7.2ms")
    return _whole(quantity, quantity.amount * PS_PER_SECOND, "picoseconds")


def to_bytes_per_second(value: Any) -> int:
    """Convert a bandwidth such as ``160MB/s`` to bytes per second; M is a million."""
    quantity = _of_dimension(value, "bandwidth", "160MB/s")
    return _whole(quantity, quantity.amount, "bytes per second")


def to_bits_per_second(value: Any) -> int:
    """Convert a bit rate such as ``700kbit/s`` to bits per second."""
    quantity = _of_dimension(value, "bit rate", "700kbit/s")
    return _whole(quantity, quantity.amount, "bits per second")


def to_nanometres(value: Any) -> int:
    """Convert a length such as ``100um`` to nanometres."""
    quantity = _of_dimension(value, "length", "100um")
    return _whole(quantity, quantity.amount * 10**9, "nanometres")


def to_metres_per_second_squared(value: Any) -> float:
    """Convert an acceleration such as ``803.6m/s2``; the only quantity that need not be whole."""
    quantity = _of_dimension(value, "acceleration", "803.6m/s2")
    _check_largest(quantity, quantity.amount, "metres per second squared")
    return float(quantity.amount)


def to_count(value: Any) -> int:
    """Take a bare whole number; ``1e6`` is one too."""
    if isinstance(value, str) and not _is_long(value) and (match := _QUANTITY.fullmatch(value)):
        wrong = "has a unit" if match[2] else "is text"
        raise ValueError(f"`{value}` {wrong}, but a count belongs here; write a bare number such as {4 if match[2] else value.strip()}")
    match value:
        case bool():
            pass
        case int() | float() if not abs(value) <= _LARGEST:  # not a number is not at most anything
            raise ValueError(f"{_shown(value)} is out of range; write a whole number up to {_LARGEST}")
        case int() | float() if value == int(value):
            return int(value)
    raise ValueError(f"{_shown(value)} is not a whole number; write for example 4")


def _schema(pattern: str, *examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": rf"^[0-9][0-9_]*(\.[0-9]+)? ?({pattern})$", "examples": list(examples)})


MOST_32_BITS = 2**32 - 1
"""The largest number that the simulator keeps in 32 bits."""


def counted(least: int, most: int | None = None) -> WithJsonSchema:
    """Return what JSON Schema says of a count."""
    return WithJsonSchema({"type": "integer", "minimum": least} | ({} if most is None else {"maximum": most}))


def _names(*dimensions: str) -> str:
    return "|".join(unit for dimension in dimensions for unit in UNITS[dimension])


def cycles_up_to(most: int | None) -> Any:
    """Return the type of a latency; cycles once read. Times need ``clock_hz`` in the validation context."""

    def read(value: Any, info: ValidationInfo) -> int:
        return to_cycles(value, (info.context or {}).get("clock_hz"), _LARGEST if most is None else most)

    return Annotated[int, BeforeValidator(read), _schema(_names("cycles", "time"), "250cycles", "30ns")]


def cycles_in_parts(part: Fraction) -> Any:
    """Return the type of a time of which parts of a cycle count; cycles once read. Times need ``clock_hz`` in the validation context."""

    def read(value: Any, info: ValidationInfo) -> int | float:
        return to_parts_of_cycles(value, (info.context or {}).get("clock_hz"), part)

    return Annotated[int | float, BeforeValidator(read), _schema(_names("cycles", "time"), "15cycles", "1.11ns")]


Bytes = Annotated[int, BeforeValidator(to_bytes), _schema(_names("size"), "64B", "16KiB")]
"""A size; bytes once read."""
Hertz = Annotated[int, BeforeValidator(to_hertz), _schema(_names("frequency"), "1GHz")]
"""A frequency; hertz once read."""
Picoseconds = Annotated[int, BeforeValidator(to_picoseconds), _schema(_names("time"), "7.2ms")]
"""A time; picoseconds once read."""
BytesPerSecond = Annotated[int, BeforeValidator(to_bytes_per_second), _schema(_names("bandwidth"), "160MB/s")]
"""A bandwidth; bytes per second once read."""
BitsPerSecond = Annotated[int, BeforeValidator(to_bits_per_second), _schema(_names("bit rate"), "700kbit/s")]
"""A bit rate; bits per second once read."""
Nanometres = Annotated[int, BeforeValidator(to_nanometres), _schema(_names("length"), "100um", "40nm")]
"""A length; nanometres once read."""
Acceleration = Annotated[float, BeforeValidator(to_metres_per_second_squared), _schema(_names("acceleration"), "803.6m/s2")]
"""An acceleration; metres per second squared once read."""
Real = Annotated[float, Field(strict=True)]
"""A bare number; true and false are none."""
Count = Annotated[int, BeforeValidator(to_count), Field(ge=0), counted(0)]
"""A bare whole number, 0 or more."""
PositiveCount = Annotated[int, BeforeValidator(to_count), Field(ge=1), counted(1)]
"""A bare whole number, 1 or more."""


def _known_clock(value: Any, clock_hz: int | None) -> int:
    if clock_hz is None:
        raise ValueError(f"`{value}` needs the machine's clock to become cycles; give clock_hz, or write cycles")
    return clock_hz


def _at(quantity: Quantity, clock_hz: int | None) -> str:
    return f" at a clock_hz of {clock_hz}Hz" if quantity.dimension == "time" else ""


def _of_dimension(value: Any, dimension: str, example: str) -> Quantity:
    quantity = parse_quantity(value, example)
    if quantity.dimension != dimension:
        raise ValueError(f"`{value}` is in {quantity.dimension}, but a {dimension} belongs here; write for example {example}")
    return quantity


def _whole(quantity: Quantity, amount: Fraction, unit: str) -> int:
    if amount.denominator != 1:
        raise ValueError(f"`{quantity.text}` is no whole number of {unit} ({float(amount):g}); write a whole one")
    _check_largest(quantity, amount, unit)
    return int(amount)


def _check_largest(quantity: Quantity, amount: Fraction, unit: str) -> None:
    if amount > _LARGEST:
        raise ValueError(f"`{quantity.text}` is more than {_LARGEST} {unit}; write a smaller one")


def _unknown_unit(text: str, number: str, unit: str, example: str) -> str:
    binary = _BINARY_PREFIXES.get(unit[0].lower()) if unit.lower() in {"k", "m", "g", "t", "kb", "mb", "gb", "tb"} else None
    if binary is not None:
        decimal = Fraction(number.replace("_", "")) * 1000 ** (list(_BINARY_PREFIXES).index(unit[0].lower()) + 1)
        plain = f" ({decimal.numerator} bytes is {decimal.numerator}B)" if decimal.denominator == 1 else ""
        return f"`{text}` leaves open whether {unit[0]} means 1000 or 1024; write {number}{binary}{plain}"
    same = [known for units in UNITS.values() for known in units if known.lower() == unit.lower()]
    remedy = f"write {number}{same[0]}" if same else f"write for example {example}"
    return f"`{text}`: `{unit}` is no unit memwalk knows; {remedy}"


def _is_long(value: Any) -> bool:
    """Whether a text or number is longer than any that is meant; numbers are told by their bits, which takes no time."""
    return value.bit_length() > 4 * _LONGEST if isinstance(value, int) else isinstance(value, str) and len(value) > _LONGEST


def _shown(value: Any) -> str:
    if _is_long(value):
        return "a number of more digits than any that is meant" if isinstance(value, int) else f"`{value[:_LONGEST]}...`"
    names: dict[type, Callable[[], str]] = {
        dict: lambda: "a map",
        list: lambda: "a list",
        type(None): lambda: "nothing",
    }
    return names.get(type(value), lambda: f"`{value}`")()
