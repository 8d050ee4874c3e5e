"""gem5's `stats.txt`, and the part of it that memwalk's statistics have too."""

import re
from pathlib import Path
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError

_BEGIN = "---------- Begin Simulation Statistics"
_END = "---------- End Simulation Statistics"
_LINE = re.compile(r"(?P<name>\S+)\s+(?P<value>\S+)")


def read_stats(path: Path) -> dict[str, float]:
    """Return the last dump of a `stats.txt` by dotted name; `nan` and `inf` are floating-point numbers.

    Raises UserError, with the line, for a file that is none or stops within a dump.
    """
    stats: dict[str, float] | None = None
    inside = False
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; gem5 did not write its statistics") from None
    for number, line in enumerate(lines, 1):
        if line.startswith(_BEGIN):
            stats, inside = {}, True
        elif line.startswith(_END):
            inside = False
        elif inside and stats is not None and line.strip():
            name, value = _entry(path, number, line)
            # `system.cpu..dside`, as TraceCPU of v24 calls its group ".dside".
            stats[name.replace("..", ".")] = value
    if stats is None:
        raise UserError(f"{path}: not gem5 statistics: no line begins with `{_BEGIN}`")
    if inside:
        raise UserError(f"{path}: cut short: no line begins with `{_END}` after the last dump")
    return stats


def _entry(path: Path, number: int, line: str) -> tuple[str, float]:
    found = _LINE.match(line)
    try:
        if found is None:
            raise ValueError
        return found["name"], float(found["value"])
    except ValueError:
        raise UserError(f"{path}:{number}: `{line.strip()}`: expected a name and a number") from None


def to_statistics(stats: dict[str, float], machine: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return gem5's numbers under the names and meanings of memwalk's statistics.

    ``merges`` are gem5's misses that took no miss handler of their own: the line was on its way. Instruction fetches count if the
    machine has an instruction cache; without one, they are TraceCPU's own. gem5 leaves out what is zero.
    """
    for name in ("system.cpu.numOps", "system.cpu.dside.dataLastTick"):
        if name not in stats:
            raise UserError(f"{path}: no `{name}`; the gem5 engine reads what TraceCPU of gem5 v24 writes")
    requestors = ["cpu.data", "cpu.inst"] if machine.get("instruction_cache") else ["cpu.data"]

    def asked(name: str) -> int:
        return round(sum(stats.get(f"{name}::{requestor}", 0) for requestor in requestors))

    def count(name: str) -> int:
        return round(stats.get(name, 0))

    caches = []
    for level, cache in enumerate(machine["caches"]):
        owner = f"system.cache{level}"
        misses = asked(f"{owner}.overallMshrMisses")
        caches.append(
            {
                "name": cache["name"],
                "accesses": asked(f"{owner}.overallAccesses"),
                "hits": asked(f"{owner}.overallHits"),
                "merges": asked(f"{owner}.overallMisses") - misses,
                "misses": misses,
                "write_backs": count(f"{owner}.writebacks::total"),
            }
        )
    return {
        "instructions": count("system.cpu.numOps"),
        "cycles": round(stats["system.cpu.dside.dataLastTick"] / native.gem5_period_ticks(machine["clock_hz"])),
        "caches": caches,
        "bus": {"fills": asked("system.memory.numReads"), "write_backs": count("system.memory.numWrites::total")},
    }
