"""When a part of a difference is a reason for it, and how its numbers are written."""

CLOSE = 1.03
"""Numbers that differ by no more than so many times are told as equal."""
MOST = 0.5
"""A reason is this share of what it is given for, or more."""


def explains(part: float, difference: float) -> bool:
    """Tell whether a part, of either sign, is most of a difference above 0, both in the same unit."""
    return part >= MOST * difference


def three_digits(value: float) -> str:
    """Write a number with three significant digits, and with all before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def microseconds(seconds: float) -> str:
    """Write a time in microseconds with `three_digits`."""
    return f"{three_digits(seconds * 1e6)} us"
