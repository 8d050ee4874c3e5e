"""Quantities with units: the table, exact rounding, and what a mistake is answered with."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwalk.simcore.units import UNITS, parse_quantity, to_bytes, to_count, to_cycles, to_hertz


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("64B", 64),
        ("0B", 0),
        ("16KiB", 16_384),
        ("16 KiB", 16_384),
        ("1.5KiB", 1_536),
        ("2MiB", 2_097_152),
        ("3GiB", 3_221_225_472),
        ("1TiB", 1_099_511_627_776),
        ("1_000B", 1_000),
    ],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert to_bytes(text) == bytes_


@pytest.mark.parametrize(("text", "hertz"), [("50Hz", 50), ("33kHz", 33_000), ("900MHz", 900_000_000), ("1.5GHz", 1_500_000_000)])
def test_frequencies(text: str, hertz: int) -> None:
    assert to_hertz(text) == hertz


@pytest.mark.parametrize(
    ("text", "clock_hz", "cycles"),
    [
        ("250cycles", None, 250),
        ("1cycle", None, 1),
        ("30ns", 1_500_000_000, 45),
        ("120ns", 2_600_000_000, 312),
        ("1us", 900_000_000, 900),
        ("2ms", 1_000_000_000, 2_000_000),
        ("1s", 7, 7),
        ("100ps", 10_000_000_000, 1),
        ("1ns", 1_500_000_000, 2),  # 1.5 goes up
        ("1ns", 1_499_999_999, 1),  # 1.499999999 goes down
        ("1ns", 500_000_000, 1),
        ("0ns", 499_999_999, 0),
    ],
)
def test_times_become_cycles_of_the_clock(text: str, clock_hz: int | None, cycles: int) -> None:
    assert to_cycles(text, clock_hz) == cycles


@given(st.integers(0, 10**6), st.integers(1, 10**10))
def test_times_are_rounded_to_the_nearest_cycle(nanoseconds: int, clock_hz: int) -> None:
    exact = Fraction(nanoseconds * clock_hz, 10**9)
    if 0 < exact < Fraction(1, 2):
        with pytest.raises(ValueError, match=f"`{nanoseconds}ns` is less than half a cycle at a clock_hz of {clock_hz}Hz"):
            to_cycles(f"{nanoseconds}ns", clock_hz)
        return
    cycles = to_cycles(f"{nanoseconds}ns", clock_hz)
    assert cycles - Fraction(1, 2) <= exact < cycles + Fraction(1, 2)


def test_a_time_of_too_many_cycles_names_the_clock() -> None:
    assert to_cycles("2us", 10**9, most=2000) == 2000
    with pytest.raises(
        ValueError, match="`2us` is more than 1999 cycles at a clock_hz of 1000000000Hz; give a shorter time, a slower clock"
    ):
        to_cycles("2us", 10**9, most=1999)
    with pytest.raises(ValueError, match=f"`118s` is more than {2**63 - 1} cycles at a clock_hz of {10**18}Hz"):
        to_cycles("118s", 10**18)


@pytest.mark.parametrize("dimension", UNITS)
def test_every_unit_of_the_table_is_read_with_its_worth(dimension: str) -> None:
    for unit, worth in UNITS[dimension].items():
        quantity = parse_quantity(f"3{unit}", "")
        assert (quantity.dimension, quantity.amount) == (dimension, 3 * worth)


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (32, "no unit; write for example 64B or 16KiB"),
        ("32", "no unit"),
        ("32k", "1000 or 1024; write 32KiB (32000 bytes is 32000B)"),
        ("16kB", "1000 or 1024; write 16KiB (16000 bytes is 16000B)"),
        ("1.5M", "write 1.5MiB (1500000 bytes is 1500000B)"),
        ("16kib", "`kib` is no unit memwalk knows; write 16KiB"),
        ("16bytes", "`bytes` is no unit memwalk knows; write for example 64B"),
        ("30ns", "is in time, but a size belongs here"),
        ("-16KiB", "negative"),
        ("0.3B", "no whole number of bytes"),
        ("16EiB", "`EiB` is no unit"),
        ("99999999999GiB", "write a smaller one"),
        ("large", "not a number with a unit"),
        (True, "not a number with a unit"),
        (None, "nothing is not a number with a unit"),
        ([1], "a list is not a number with a unit"),
    ],
)
def test_wrong_sizes_name_the_remedy(value: Any, answer: str) -> None:
    with pytest.raises(ValueError, match=re.escape(answer)):
        to_bytes(value)


@pytest.mark.parametrize(
    ("value", "clock_hz", "answer"),
    [
        (250, 1, "no unit; write for example 250cycles"),
        ("4KiB", 1, "is a size; cycles or a time belong here"),
        ("30ns", None, "needs the machine's clock"),
        ("2.5cycles", 1, "no whole number of cycles"),
    ],
)
def test_wrong_latencies_name_the_remedy(value: Any, clock_hz: int | None, answer: str) -> None:
    with pytest.raises(ValueError, match=re.escape(answer)):
        to_cycles(value, clock_hz)


@pytest.mark.parametrize(("value", "count"), [(0, 0), (4, 4), (-4, -4), (1e6, 1_000_000), (3.0, 3)])
def test_counts_are_bare_whole_numbers(value: float, count: int) -> None:
    assert to_count(value) == count


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("4cycles", "`4cycles` has a unit, but a count belongs here"),
        (2.5, "not a whole number"),
        (True, "not a whole number"),
        ("many", "not a whole number"),
        (float("nan"), "out of range"),
        (float("inf"), "out of range"),
        (2**63, "out of range"),
    ],
)
def test_wrong_counts_name_the_remedy(value: Any, answer: str) -> None:
    with pytest.raises(ValueError, match=re.escape(answer)):
        to_count(value)
