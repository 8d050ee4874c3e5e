"""The nearest cache that the simulator can represent: a whole number of sets."""

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
    """Find the size nearest to the one given that is a whole number of sets of ``ways`` lines."""
    changes = [] if ways else [f"ways unknown, {_UNKNOWN_WAYS} assumed"]
    ways = ways or _UNKNOWN_WAYS
    size = max(1, round(size_bytes / (line_bytes * ways))) * line_bytes * ways
    if size != size_bytes:
        changes.append(f"rounded from {size_bytes} bytes, which are no whole number of sets of {ways} ways")
    return Geometry(size, ways, "; ".join(changes))
