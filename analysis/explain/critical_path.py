"""The critical path of a part of a trace: the chain of what waited for what, from its end back to its beginning.

Each event says when it was dispatched, had its operand, issued, completed and graduated. Going back from the last graduation, the path
always follows what was there last: an event's own result, the operand that it needed, the prefetch that had its line brought, the branch
that was mispredicted before it, or the room in the reorder buffer. So its parts follow each other without a gap, and what does not lie on
it could take longer without anybody noticing (Chen's thesis, Figures 4.4 and 4.9).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memwalk.analysis.traces.facts import TraceFacts
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.memories import first_memory

INSTRUCTIONS = "instructions"
"""The core works as fast as its width, units and latencies allow."""
MISPREDICTION = "misprediction"
TRANSLATION = "page walk"
PORTS = "unit or port"
"""An operation waits for a memory port or a unit."""
HANDLER = "miss handler"
"""A miss waits for the end of another, which has the handler."""
WINDOW = "reorder buffer full"
STORE_BUFFER = "store buffer full"
BEFORE = "result from before the part"


@dataclass(frozen=True)
class Part:
    """A piece of the path."""

    start: int
    """Cycles, both of them."""
    end: int
    kind: str
    """What the time went to: ``instructions``, ``line from memory``, ..."""
    event: int
    """Place of the event whose time it is among those watched."""
    by: int
    """Of a line, the place of the event that asked for it: the event itself, or a prefetch before it."""

    @property
    def cycles(self) -> int:
        """How long it is."""
        return self.end - self.start


@dataclass(frozen=True)
class Watched:
    """Events of a window and when they got on; columns of `memwalk.simcore.engines.native.event_times`, with equal lengths."""

    columns: Mapping[str, npt.NDArray[np.uint64]]
    width: int
    """Instructions a cycle."""
    entries: int
    """Of the reorder buffer."""
    levels: Sequence[str]
    """Caches and memory, nearest first."""
    line_bytes: int
    """Of the first cache."""
    penalty: int
    """Cycles from a mispredicted branch's end to the next dispatch."""
    first: int = 0
    """Number in the trace of the first of them."""
    before: int = 0
    """The first of them that come before the part: they are watched as the part may wait for them."""

    @classmethod
    def of(cls, trace: Path, machine: dict[str, Any], first: int, count: int, progress: native.Progress = None) -> Watched:
        """Replay a trace on a machine and watch ``count`` events behind the first ``first``, and those before that fill the reorder buffer.

        Raises UserError for a machine that cannot say when its events got on, and for a trace without dependences or without such events.
        """
        facts = TraceFacts.of(trace)
        if not facts.says_dependences:
            raise UserError(
                f"{trace}: another tool's trace says nothing of dependences, so no path is known; record one with `memwalk trace record`"
            )
        if facts.threads > 1:
            raise UserError(f"{trace}: {facts.threads} threads; a critical path is that of one")
        if first >= facts.events:
            raise UserError(f"--from {first}: the trace has {facts.events} events")
        core = machine["core"]
        if core["kind"] != "out-of-order":
            raise UserError(f"machine {machine['name']}: its core is {core['kind']}; critical paths are those of out-of-order cores")
        if first_memory(machine)["model"] != "fixed":
            raise UserError(
                f"machine {machine['name']}: lines of a simulated DRAM are known too late; take one with memory of fixed latency"
            )
        ahead = min(first, core["reorder_buffer"])
        columns = native.event_times(trace, machine, first - ahead, count + ahead, progress)
        return cls(
            columns=columns,
            width=core["issue_width"],
            entries=core["reorder_buffer"],
            levels=(*(cache["name"] for cache in machine["caches"]), "memory"),
            line_bytes=machine["caches"][0]["line_bytes"],
            penalty=core["mispredict_penalty_cycles"],
            first=first - ahead,
            before=int(np.searchsorted(columns["event"], ahead)) if len(columns["event"]) else 0,
        )

    def __len__(self) -> int:
        """Return how many events of the part there are."""
        return len(self.columns["event"]) - self.before

    def column(self, name: str) -> list[int]:
        """Return a column as plain numbers."""
        return [int(value) for value in self.columns[name]]


def critical_path(watched: Watched) -> list[Part]:
    """Find the path; its parts follow each other from the part's first dispatch to its last graduation, in the order of time."""
    return _Walk(watched).path()


class _Walk:
    """Goes from the end of a window to its beginning, from one moment of an event to the one that it waited for."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._of = {name: watched.column(name) for name in watched.columns}
        self._graduated = [-(-slot // watched.width) for slot in watched.column("graduated_slot")]
        self._places = {event: place for place, event in enumerate(self._of["event"])}
        self._run = np.cumsum(watched.columns["instructions"].astype(np.int64)).tolist()
        self._bringers = self._find_bringers()
        self._walk_began = self._find_walks()
        walked = (place for place, began in enumerate(self._walk_began) if began < self._of["translated"][place])
        self._walks = sorted((self._of["translated"][place], place) for place in walked)
        """When walks ended, and whose they were."""
        self._parts: list[Part] = []

    def _find_bringers(self) -> list[int]:
        """For each event the place of who asked for its line: itself, or one that asked no later, and whose line was still on its way."""
        lines = [address // self._watched.line_bytes for address in self._watched.column("address")]
        coming: dict[int, int] = {}
        found = []
        for place, line in enumerate(lines):
            by = place
            if self._of["is_access"][place] and self._of["level"][place] > 0:
                before, asked = coming.get(line), self._of["translated"]
                if before is not None and asked[before] <= asked[place] < self._of["arrived"][before]:
                    by = before
                else:
                    coming[line] = place
            found.append(by)
        return found

    def _find_walks(self) -> list[int]:
        """For each event when its own walk began: its translation, if it had none. Of the first event it is known only if it shows."""
        of = self._of
        before = [of["walks"][0] - (of["walk_began"][0] >= of["issued"][0]), *of["walks"]] if of["walks"] else []
        each = zip(before, of["walks"], of["walk_began"], of["translated"], strict=False)
        return [min(began, translated) if walks > earlier else translated for earlier, walks, began, translated in each]

    def path(self) -> list[Part]:
        """Return the parts in the order of time."""
        if not len(self._watched):
            return []
        place = len(self._graduated) - 1
        self._time, self._begin = self._graduated[place], self._of["dispatched"][self._watched.before]
        step: _Step | None = _Step(self._graduation, place)
        while step is not None and self._time > self._begin:
            step = step.moment(step.place)
        self._back_to(self._begin, INSTRUCTIONS, 0)
        return self._parts[::-1]

    def _back_to(self, start: int, kind: str, place: int, by: int | None = None) -> None:
        """Put the time since ``start`` on the path."""
        start = max(self._begin, start)
        if start < self._time:
            self._parts.append(Part(start, self._time, kind, place, place if by is None else by))
            self._time = start

    def _graduation(self, place: int) -> _Step | None:
        """Go back from a graduation: it waits for the event's result and for the one before it."""
        before = self._graduated[place - 1] if place else self._begin
        own = max(self._of["complete"][place], before)
        late_store = self._of["is_store"][place] and self._time > own + 1
        self._back_to(own, STORE_BUFFER if late_store else INSTRUCTIONS, place)
        if self._of["complete"][place] > before:
            return _Step(self._completion, place)
        return _Step(self._graduation, place - 1) if place else None

    def _completion(self, place: int) -> _Step | None:
        """Go back from a result: it waits for a line, or for an operand."""
        of = self._of
        self._back_to(of["complete"][place], INSTRUCTIONS, place)
        level = of["level"][place]
        if level > 0 and of["complete"][place] > of["translated"][place] + 1:
            place, by = self._bringers[place], place
            self._back_to(self._handled(place), f"line from {self._watched.levels[level]}", by, place)
            self._back_to(of["translated"][place], self._held(place), by)
        self._back_to(of["translated"][place], INSTRUCTIONS, place)
        return _Step(self._translation, place)

    def _handled(self, place: int) -> int:
        """Return when an access had the miss handler for its line, or was translated if it waited for none."""
        return max(self._of["behind"][place], self._of["translated"][place])

    def _held(self, place: int) -> str:
        """Return what an access waits for that waits for a miss handler."""
        return f"{HANDLER} held by a line from {self._watched.levels[self._of['behind_level'][place]]}"

    def _translation(self, place: int) -> _Step | None:
        """Go back from a translation: it takes a walk, which waits for one that ended since the event issued."""
        of, began = self._of, self._walk_began[place]
        self._back_to(began, TRANSLATION, place)
        behind = bisect_right(self._walks, (began, len(self._graduated)))
        if behind and of["issued"][place] < self._walks[behind - 1][0]:
            ended, walker = self._walks[behind - 1]
            self._back_to(ended, INSTRUCTIONS, place)
            return _Step(self._translation, walker)
        self._back_to(of["issued"][place], INSTRUCTIONS, place)
        self._back_to(of["ready"][place], PORTS, place)
        if of["dep"][place] and of["ready"][place] > of["dispatched"][place] + 1:
            producer = self._places.get(of["event"][place] - of["dep"][place])
            if producer is not None:
                return _Step(self._completion, producer)
            self._back_to(of["dispatched"][place], BEFORE, place)
        self._back_to(of["dispatched"][place], INSTRUCTIONS, place)
        return _Step(self._dispatch, place)

    def _dispatch(self, place: int) -> _Step | None:
        """Go back from a dispatch: it waits for the one before it, for the front end to restart, or for room in the reorder buffer."""
        if not place:
            return None
        of, last = self._of, place - 1
        now = of["dispatched"][place]
        if of["mispredicted"][last] and now >= of["complete"][last] + self._watched.penalty:
            self._back_to(of["complete"][last], MISPREDICTION, last)
            return _Step(self._completion, last)
        if now > of["dispatched"][last] + -(-(self._run[place] - self._run[last]) // self._watched.width) + 1:
            left = bisect_right(self._run, self._run[place] - self._watched.entries) - 1
            if left >= 0 and self._graduated[left] <= now:
                self._back_to(self._graduated[left], WINDOW, place)
                return _Step(self._graduation, left)
        self._back_to(of["dispatched"][last], INSTRUCTIONS, place)
        return _Step(self._dispatch, last)


@dataclass(frozen=True)
class _Step:
    """Where the path goes on."""

    moment: Callable[[int], _Step | None]
    place: int


@dataclass(frozen=True)
class Share:
    """What the path spends on one kind of thing at one place in the code."""

    kind: str
    site: str
    """The place in the code that waits."""
    asked_by: str
    """The place that asked for the line: the same, or a prefetch; empty without a line."""
    cycles: int
    times: int


def shares(path: Sequence[Part], sites: Sequence[str], watched: Watched) -> list[Share]:
    """Sum the path up, the longest first."""
    site = watched.column("site")
    sums: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    for part in path:
        if part.cycles:
            is_line = part.kind.startswith("line")
            asked = sites[site[part.by]] if is_line else ""
            name = "" if part.kind == INSTRUCTIONS else sites[site[part.event]]
            both = sums[part.kind, name, asked]
            both[0] += part.cycles
            both[1] += 1
    found = [Share(*key, *both) for key, both in sums.items()]
    return sorted(found, key=lambda share: (-share.cycles, share.kind, share.site))


def headline(path: Sequence[Part], summed: Sequence[Share]) -> str:
    """Say in one sentence what the path goes through."""
    if not summed:
        return "No instruction of the part takes a cycle: watch more events."
    cycles, most = path[-1].end - path[0].start, summed[0]
    what = most.kind if not most.site else f"{most.kind} that {most.site} waits for"
    asked = f", asked for by {most.asked_by}" if most.asked_by not in ("", most.site) else ""
    working = sum(share.cycles for share in summed if share.kind == INSTRUCTIONS)
    return (
        f"Of {cycles:,} cycles {most.cycles:,} ({most.cycles / cycles:.0%}) are {what}{asked}."
        f" The core works as fast as it can {working / cycles:.0%} of the time."
    )


def plain(path: Sequence[Part], watched: Watched) -> list[dict[str, Any]]:
    """Return the path as plain values; events by their number in the trace, from 0."""
    number = [watched.first + event for event in watched.column("event")]
    return [{"start": p.start, "end": p.end, "kind": p.kind, "event": number[p.event], "asked_by": number[p.by]} for p in path]
