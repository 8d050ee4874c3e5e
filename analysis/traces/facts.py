"""What a trace file says of itself, and what it cannot say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import nearest

DIFFERS = "differs_from_timing"
"""Under which counts say how those of a run in time are others."""
NPY = ".npy"
"""How names of arrays of addresses end, which are counted as traces are, and say nothing of themselves."""
_DEPENDENCES = "dependences"
"""What is among those that a trace lacks if it says of no access which it needs."""
IMPORTED = "imported"
"""Where the description of an imported trace stands, below ``workload``."""
_SAID_OF = {"branches": "branch outcomes", "prefetches": "software prefetches"}
"""What is among those that a trace lacks if it has no such instructions."""
_PHASE = "phase:"
_POSITION = re.compile(r"([0-9][0-9_]{0,40})([kMG]?)(events?|instructions?)?")
_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}

Position = dict[str, int]
"""A place in a trace, as the native module takes it: ``events``, ``instructions`` or ``phase`` (its number)."""


@dataclass(frozen=True)
class TraceFacts:
    """The description of a trace file, as far as its replay needs it."""

    path: Path
    events: int
    threads: int
    """Threads of the program, each of which takes a core."""
    phases: tuple[str, ...]
    calls: bool
    """Its program calls a host DBMS."""
    instructions: frozenset[str] | None
    """Kinds of instructions that it may have, of those that others do without; None if nobody says."""
    imported: bool
    """Another tool's trace."""
    says_dependences: bool
    """It says which accesses need the result of which: of all, or of those through pointers if it is imported."""
    lacks: tuple[str, ...]
    """What another tool's trace does not say."""
    warnings: tuple[str, ...]
    """What its import found doubtful."""

    @classmethod
    def of(cls, path: Path) -> "TraceFacts":
        """Read the description of the trace file at ``path``. Raises UserError if it is none."""
        info = native.trace_info(path)
        workload: dict[str, Any] = info["workload"] if isinstance(info["workload"], dict) else {}
        imported = workload.get(IMPORTED) or {}
        return cls(
            path=path,
            events=int(info["summary"]["events"]),
            threads=int(info.get("threads", 1)),
            phases=tuple(info["layout"]["phases"]),
            calls=bool(info["layout"].get("calls")),
            instructions=_instructions(workload, imported.get("lost", ())),
            imported=bool(imported),
            says_dependences=_DEPENDENCES not in imported.get("lost", ()),
            lacks=tuple(imported.get("lost", ())),
            warnings=tuple(imported.get("warnings", ())),
        )

    @property
    def in_turn(self) -> str:
        """How its threads are counted without time, which says when each of them goes on; empty if there is one."""
        return f"its {self.threads} threads run in turn on one core, and share its caches" if self.threads > 1 else ""

    def described(self) -> dict[str, Any]:
        """Return what a result says of its trace."""
        return {"file": str(self.path), IMPORTED: self.imported, "lacks": list(self.lacks), "warnings": list(self.warnings)}

    def position(self, option: str, text: str) -> Position:
        """Read a place in the trace: ``1000000`` (events), ``2Minstructions`` or ``phase:NAME``. Raises UserError for others."""
        if text.startswith(_PHASE):
            name = text.removeprefix(_PHASE)
            if name not in self.phases:
                raise UserError(f"{option} {text}: {self.path} has no phase `{name}`; {nearest(name, self.phases)}")
            return {"phase": self.phases.index(name)}
        match = _POSITION.fullmatch(text)
        count = int(match[1].replace("_", "")) * _PREFIXES[match[2]] if match else 2**64
        if match is None or count >= 2**64:
            raise UserError(
                f"{option} {text}: give a number of events such as 1000000, of instructions such as 2Minstructions, or phase:NAME"
            )
        return {"instructions" if (match[3] or "").startswith("i") else "events": count}


def _instructions(workload: Mapping[str, Any], lost: Sequence[str]) -> frozenset[str] | None:
    """Tell what the workload says of its instructions, or what an import leaves; arithmetic is plain in all that is imported."""
    if IMPORTED in workload:
        return frozenset({"stores", "exchanges", *(kind for kind, phrase in _SAID_OF.items() if phrase not in lost)})
    try:
        return native.instructions(dict(workload))
    except native.SpecError:
        return None  # of another version
