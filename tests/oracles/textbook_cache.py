"""A set-associative LRU hierarchy written as a textbook would, to check the engine's counts against.

It knows no time: no latencies, miss handlers, bus or pipeline. Every set is a row of as many places as there are ways, in the
order of use, most recent first. The rules:

- Events act in program order. A load or store looks up, one after the other, every first-level line that its bytes touch
  (bytes past 2**64 do not exist); a software prefetch looks up the one line of its address.
- A level is looked up only on a miss in all levels before it. A look-up that finds its line makes it the most recently used.
- Every level that missed is filled, the farthest first: the line in the last place leaves, the new one takes the first place.
  A streaming (non-temporal) prefetch fills the first level only, and takes the last place there, even if places before it are
  empty: the next fill of the set displaces it.
- A line that leaves a level stays in the others. If it is dirty it is written to the next level, which makes it the most
  recently used there and allocates it if it is gone. A level of longer lines that has lost what the line is a part of leaves it to
  the next one. Behind the last level it goes to memory.
- A store makes its lines dirty in the first level (write-allocate, write-back).
- A line belongs to the set that its number, modulo the number of sets, says; so does a page in a TLB level with ways.
- A load or store translates once for every page that its bytes touch, a prefetch for that of its address. A TLB level is looked up
  only on a miss before it, and is then filled; a miss in all levels is a walk. When the walk ends does not matter to what is held. A
  page is huge if it holds a byte of a segment that is said to be in huge pages, and a level has entries for huge pages alone or lets
  both sizes share what it has. A prefetch that misses every TLB level is dropped without a trace if the machine says so.
- A flush empties caches and TLB; dirty lines are forgotten.

The engine's hits and merges (look-ups that find the line still on its way) are both "found" here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

LOAD, STORE, PREFETCH, PREFETCH_NTA, MARK, FLUSH = 0, 1, 2, 3, 8, 12
END_OF_MEMORY = 2**64


@dataclass
class Level:
    """One cache level: `sets[i]` lists line numbers, most recently used first; None is an empty place."""

    line_bytes: int
    ways: int
    sets: list[list[int | None]]
    dirty: set[int] = field(default_factory=set)
    accesses: int = 0
    found: int = 0
    misses: int = 0
    write_backs: int = 0

    def find(self, line: int) -> bool:
        """Whether the line is there; it becomes the most recently used."""
        lines = self.sets[line % len(self.sets)]
        if line not in lines:
            return False
        lines.remove(line)
        lines.insert(0, line)
        return True


Page = tuple[int, int]
"""Bytes of a page, and its number among those of that size."""


class TlbEntries:
    """Entries of one TLB level: per set its pages, most recently used first."""

    def __init__(self, entries: int, ways: int | None) -> None:
        self.ways = entries if ways is None else ways
        self.sets: list[list[Page]] = [[] for _ in range(entries // self.ways if entries else 1)]

    def set_of(self, page: Page) -> list[Page]:
        """Return the set that the page belongs to."""
        return self.sets[page[1] % len(self.sets)]

    def use(self, page: Page) -> bool:
        """Whether the page is there; it is from now on, and the most recently used of its set."""
        pages = self.set_of(page)
        found = page in pages
        if found:
            pages.remove(page)
        pages.insert(0, page)
        del pages[self.ways :]
        return found


class TlbLevel:
    """One TLB level: entries of small pages, and those of huge ones, which may be the same."""

    def __init__(self, level: Mapping[str, Any], page_bytes: int) -> None:
        self.page_bytes = page_bytes
        self.hits = 0
        self.small = TlbEntries(level["entries"], level.get("ways"))
        own = level.get("huge_entries")
        self.huge = self.small if own is None else TlbEntries(own, level.get("huge_ways"))

    def entries(self, page: Page) -> TlbEntries:
        """Return the entries that the page may be in."""
        return self.small if page[0] == self.page_bytes else self.huge

    def clear(self) -> None:
        """Forget all pages."""
        for pages in (*self.small.sets, *self.huge.sets):
            pages.clear()


class TextbookMachine:
    """Caches and TLB of a machine given as plain JSON (the engine's own specification, units resolved).

    ``huge_segments`` are the first and last addresses of the segments that are in huge pages, if not all are.
    """

    def __init__(self, machine: Mapping[str, Any], huge_segments: Iterable[tuple[int, int]] = ()) -> None:
        self.caches = []
        for cache in machine["caches"]:
            sets = cache["size_bytes"] // (cache["ways"] * cache["line_bytes"])
            empty: list[list[int | None]] = [[None] * cache["ways"] for _ in range(sets)]
            self.caches.append(Level(cache["line_bytes"], cache["ways"], empty))
        self.page_bytes: int = machine["dtlb"]["page_bytes"]
        self.huge_page_bytes: int = machine["dtlb"].get("huge_page_bytes", self.page_bytes)
        self.all_huge: bool = machine["dtlb"].get("huge_pages") == "all"
        self.huge_segments = tuple(huge_segments)
        self.tlb = [TlbLevel(level, self.page_bytes) for level in machine["dtlb"]["levels"]]
        self.drops_prefetches: bool = machine["dtlb"]["prefetch_on_miss"] == "drop"
        self.walks = self.prefetches = self.useless_prefetches = self.dropped_prefetches = 0
        self.written_lines = 0

    def run(self, events: Iterable[tuple[int, int, int]]) -> None:
        """Runs events given as (kind, address, size in bytes)."""
        for kind, address, size in events:
            if kind == FLUSH:
                self.flush()
            elif kind in (LOAD, STORE):
                line_bytes = self.caches[0].line_bytes
                last_byte = min(address + size, END_OF_MEMORY) - 1
                self.translate_all(address, last_byte)
                for line in range(address // line_bytes, last_byte // line_bytes + 1):
                    self.access(line * line_bytes, kind)
            elif kind in (PREFETCH, PREFETCH_NTA):
                self.prefetch(address, kind)

    def flush(self) -> None:
        """Empties everything."""
        for cache in self.caches:
            cache.sets = [[None] * cache.ways for _ in cache.sets]
            cache.dirty.clear()
        for level in self.tlb:
            level.clear()

    def page(self, address: int) -> Page:
        """Return the page that an address lies in."""
        huge = (self.huge_page_bytes, address // self.huge_page_bytes)
        first, last = huge[1] * huge[0], (huge[1] + 1) * huge[0] - 1
        if self.all_huge or any(start <= last and end >= first for start, end in self.huge_segments):
            return huge
        return self.page_bytes, address // self.page_bytes

    def prefetch(self, address: int, kind: int) -> None:
        """Translates and fetches one line, unless the machine drops prefetches without a translation."""
        self.prefetches += 1
        page = self.page(address)
        if self.drops_prefetches and not any(page in level.entries(page).set_of(page) for level in self.tlb):
            self.dropped_prefetches += 1
            return
        self.translate(address)
        found_first = self.access(address, kind)
        self.useless_prefetches += found_first

    def translate_all(self, address: int, last_byte: int) -> None:
        """Translates each page of an access."""
        while address <= last_byte:
            self.translate(address)
            page_bytes, number = self.page(address)
            address = (number + 1) * page_bytes

    def translate(self, address: int) -> None:
        """Looks the page up, nearest level first, and fills every level that lacks it."""
        page = self.page(address)
        for level in self.tlb:
            if level.entries(page).use(page):
                level.hits += 1
                return
        self.walks += 1

    def access(self, address: int, kind: int) -> bool:
        """Looks one line up and fills what missed; says whether the first level had it."""
        missed = 0
        for cache in self.caches:
            cache.accesses += 1
            if cache.find(address // cache.line_bytes):
                cache.found += 1
                break
            cache.misses += 1
            missed += 1
        streaming = kind == PREFETCH_NTA
        for number in reversed(range(min(missed, 1) if streaming else missed)):
            self.fill(number, address, streaming)
        if kind == STORE:
            self.caches[0].dirty.add(address // self.caches[0].line_bytes)
        return missed == 0

    def fill(self, number: int, address: int, streaming: bool = False) -> None:
        """Puts a line into a level that lacks it; a dirty victim goes to the next level."""
        cache = self.caches[number]
        line = address // cache.line_bytes
        lines = cache.sets[line % len(cache.sets)]
        victim = lines.pop()
        lines.insert(sum(held is not None for held in lines) if streaming else 0, line)
        if victim is not None and victim in cache.dirty:
            cache.dirty.remove(victim)
            cache.write_backs += 1
            self.write_back(number + 1, victim * cache.line_bytes, cache.line_bytes)

    def write_back(self, number: int, address: int, size: int) -> None:
        """Writes a dirty line of so many bytes that left a level before; memory takes everything."""
        if number == len(self.caches):
            self.written_lines += 1
            return
        cache = self.caches[number]
        line = address // cache.line_bytes
        if not cache.find(line):
            if size < cache.line_bytes:
                self.write_back(number + 1, address, size)
                return
            self.fill(number, address)
        cache.dirty.add(line)
