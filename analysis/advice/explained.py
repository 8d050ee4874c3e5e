"""When a part of a difference is a reason for it."""

MOST = 0.5
"""A reason is this share of what it is given for, or more."""


def explains(part: float, difference: float) -> bool:
    """Tell whether a part, of either sign, is most of a difference above 0, both in the same unit."""
    return part >= MOST * difference
