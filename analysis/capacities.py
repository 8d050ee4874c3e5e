"""The capacities of a miss curve, and its columns: plain numbers, which cost no library to import."""

from collections.abc import Sequence
from dataclasses import dataclass

from memwalk.simcore.errors import UserError

STEPS_PER_OCTAVE = 4
"""Capacities between one power of two and the next, where nobody chose any."""

MOST_LINES = 2**34
"""More lines than any trace uses."""
_MOST_BYTES = 2**63 - 1
"""The largest capacity that a table holds."""


@dataclass(frozen=True)
class Geometry:
    """What the caches of a curve have in common: line size, and number of sets (one is full associativity)."""

    line_bytes: int
    sets: int = 1

    @property
    def step_bytes(self) -> int:
        """Capacities are multiples of one line in each set."""
        return self.line_bytes * self.sets

    def ways(self, sizes: Sequence[int]) -> list[int]:
        """Lines per set of caches of these sizes in bytes. Raises UserError for a size that no such cache has."""
        for size in sizes:
            if size % self.step_bytes or size < 1:
                below = max(size // self.step_bytes, 0) * self.step_bytes
                near = " or ".join(str(bytes_) for bytes_ in (below, below + self.step_bytes) if bytes_)
                raise UserError(f"--sizes: {size} bytes are no multiple of {self.step_bytes} (line x sets); the nearest: {near}")
        return [size // self.step_bytes for size in sizes]


LINES = Geometry(1)
"""A fully associative cache, counted in lines."""


def octaves(most: int = MOST_LINES, geometry: Geometry = LINES) -> list[int]:
    """Lines per set, up to the first power of two that is not below ``most``, a few per octave."""
    last = STEPS_PER_OCTAVE * max(most - 1, 0).bit_length()
    largest = _MOST_BYTES // geometry.step_bytes
    return sorted({ways for step in range(last + 1) if (ways := round(2 ** (step / STEPS_PER_OCTAVE))) <= largest})


def columns(geometry: Geometry, ways: Sequence[int], misses: Sequence[int], accesses: int) -> dict[str, list[int] | list[float]]:
    """Make the columns of a curve: ``capacity_bytes``, ``ways`` (lines per set), ``misses``, ``miss_ratio``."""
    return {
        "capacity_bytes": [each * geometry.step_bytes for each in ways],
        "ways": list(ways),
        "misses": list(misses),
        "miss_ratio": [missed / max(accesses, 1) for missed in misses],
    }


def trimmed(line_bytes: int, misses: Sequence[int], accesses: int) -> dict[str, list[int] | list[float]]:
    """Make the columns of the curve of fully associative caches of `octaves` lines, up to where only cold misses are left."""
    known = [ways for ways in octaves() if ways * line_bytes <= _MOST_BYTES]
    flat = misses.index(min(misses))
    return columns(Geometry(line_bytes), known[: flat + 1], misses[: len(known)][: flat + 1], accesses)
