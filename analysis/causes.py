"""What a graduation slot, and so the time of a core, is spent on: the one list of causes, in the order in which people read them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """Something that slots are spent on."""

    name: str
    """Its name in results: the column ``slots_<name>``. The data cache's is also split by level, ``slots_dcache_<level>``."""
    word: str
    """What a list of seconds calls it."""
    meaning: str
    """What a core does meanwhile."""
    within: str = ""
    """The cause that it counts with in shorter lists; empty if it stands by itself everywhere."""
    of_processor: bool = True
    """Whether it is the processor's, and not storage's that it is stopped for."""


SYSTEM = "system"
"""The name of what the operating system takes."""
BARRIER = "barrier"
"""That of what other cores take."""
APART = (BARRIER, SYSTEM)
"""Causes that stand by themselves in the shorter list, too, of runs that have them."""

CAUSES = (
    Cause("busy", "busy", "instructions graduating"),
    Cause("dcache", "cache", "waiting for lines"),
    Cause("dtlb", "TLB", "waiting for translations"),
    Cause("icache", "code", "waiting for code"),
    Cause("branch", "branch", "mispredicted branches"),
    Cause("other", "other", "dependences, latencies and functional units"),
    Cause(BARRIER, "barriers and latches", "waiting for other cores, at a barrier or for a latch", within="other"),
    Cause(SYSTEM, "I/O path", "in the operating system, which asks storage for pages", within="other"),
    Cause("storage", "I/O stall", "stopped at a page that storage has not brought yet", of_processor=False),
    Cause("drain", "drain", "draining at the very end", within="other"),
)
"""Every cause. Slots of all of them sum to the total;
machines without an instruction cache have no ``icache``, those of one core no ``barrier``, runs without storage no ``storage``, and
those whose storage says no `cpu_per_page` no ``system``."""

ENDED = Cause("ended", "ended cores", "having nothing more to do, while other cores go on", of_processor=False)
"""What cores do that have ended before the run. It is in no core's total: the column ``slots_ended`` stands beside it."""

SLOTS_ENDED = f"slots_{ENDED.name}"
"""That column."""

SHORT = tuple(cause for cause in CAUSES if cause.of_processor and not cause.within)
"""The shorter list, of the processor's time."""

_MEANINGS = {cause.name: cause.meaning for cause in (*CAUSES, ENDED)}


def shortened(slots: Mapping[str, float]) -> dict[str, float]:
    """Turn slots by cause into the shorter list of the processor's, every cause of it; one that ``slots`` lacks has none.

    What the operating system takes stands by itself where ``slots`` have it, as storage says then what that is; and barriers and latches,
    if some core has waited at them.
    """
    apart = [name for name in APART if name in slots and (name == SYSTEM or slots[name] > 0)]
    short = dict.fromkeys([*(cause.name for cause in SHORT), *apart], 0.0)
    for cause in (cause for cause in CAUSES if cause.of_processor):
        short[cause.name if cause.name in short else cause.within] += slots.get(cause.name, 0)
    return short


def describe(name: str) -> str:
    """Say in words what a cause is; one of the data cache may name its level."""
    level = name.removeprefix("dcache_")
    return _MEANINGS[name] if level == name else f"waiting for lines from {of_level(level)}"


def of_level(level: str) -> str:
    """Say in words who serves a line: `other_cores` are several words."""
    return level.replace("_", " ")
