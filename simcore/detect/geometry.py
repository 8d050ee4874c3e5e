"""The nearest cache that the simulator can represent: its number of sets is a power of two."""

from dataclasses import dataclass

_UNKNOWN_WAYS = 16
"""Ways of a cache whose ways are not known: what most last-level caches have."""


@dataclass(frozen=True)
class Geometry:
    """A cache that can be simulated, and what was changed to get there (empty if nothing)."""

    size_bytes: int
    ways: int
    change: str


def representable(size_bytes: int, line_bytes: int, ways: int) -> Geometry:
    """Find the size and ways nearest to those given for which the number of sets is a power of two.

    The size is kept as well as possible, and of two equally good choices the one with the nearer number of ways is taken.
    """
    assumed = "" if ways else f"ways unknown, {_UNKNOWN_WAYS} assumed"
    ways = ways or _UNKNOWN_WAYS
    lines = size_bytes // line_bytes
    sets = max(1, lines // ways)
    if sets & (sets - 1) == 0 and sets * ways * line_bytes == size_bytes:
        return Geometry(size_bytes, ways, assumed)
    below = 1 << (sets.bit_length() - 1)
    choices = [(number, max(1, round(lines / number))) for number in (below, 2 * below)]
    sets, nearest = min(choices, key=lambda one: (abs(one[0] * one[1] - lines), abs(one[1] - ways)))
    size = sets * nearest * line_bytes
    rounded = f"rounded from {size_bytes} bytes in {ways} ways, because simulated caches have a power of two of sets"
    return Geometry(size, nearest, "; ".join(filter(None, (assumed, rounded))))
