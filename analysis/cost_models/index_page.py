"""How index entries lie in the pages of fractal prefetching B+-trees and of micro-indexing (thesis sections 3.3.2 to 3.4.1).

Every page begins with a header. Nodes begin at cache lines, keys stand before pointers, and a node of n children has n keys.
The lengths of headers are inferred from Tables 3.1 and 3.2: docs/decisions/037-widths-of-fractal-trees.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

PAGE_HEADER_BYTES = 16
LEAF_HEADER_BYTES, NONLEAF_HEADER_BYTES = 4, 2
"""Headers of in-page nodes."""
CACHE_FIRST_LEAF_HEADER_BYTES, CACHE_FIRST_NONLEAF_HEADER_BYTES = 8, 4
"""Headers of nodes of a cache-first tree."""


@dataclass(frozen=True)
class IndexPage:
    """A page of an index, and what its entries are made of; all in bytes.

    Raises ValueError for a page or a line that is no power of two or holds no entry, and for fields of no bytes.
    """

    page_bytes: int
    line_bytes: int = 64
    key_bytes: int = 4
    id_bytes: int = 4
    """A pageID or a tupleID."""
    offset_bytes: int = 2
    """The number of a line in its page."""

    def __post_init__(self) -> None:
        for name in ("page_bytes", "line_bytes", "key_bytes", "id_bytes", "offset_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is a positive number of bytes")
        for name in ("page_bytes", "line_bytes"):
            if getattr(self, name).bit_count() != 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it is a power of two")
        least = PAGE_HEADER_BYTES + self.key_bytes + self.id_bytes + self.offset_bytes
        if self.line_bytes < least:
            raise ValueError(f"line_bytes is {self.line_bytes}; a header and an entry take {least}")
        least = 4 * self.line_bytes
        if self.page_bytes < least:
            raise ValueError(f"page_bytes is {self.page_bytes}; with lines of {self.line_bytes} bytes a page has at least {least}")
        if self.page_bytes // self.line_bytes > 1 << 8 * self.offset_bytes:
            raise ValueError(f"page_bytes is {self.page_bytes}; offsets of {self.offset_bytes} bytes reach {self.offset_reach} bytes")

    @property
    def node_lines(self) -> int:
        """Lines of a page that nodes may have: all but the header's."""
        return self.page_bytes // self.line_bytes - 1

    @property
    def offset_reach(self) -> int:
        """Bytes of the largest page whose lines an offset can number."""
        return (1 << 8 * self.offset_bytes) * self.line_bytes

    @property
    def array_entries(self) -> int:
        """Entries of a page with one array of keys and one of pointers."""
        return (self.page_bytes - self.line_bytes) // (self.key_bytes + self.id_bytes)

    def leaf_entries(self, lines: int) -> int:
        """Entries of an in-page leaf node of a disk-first tree."""
        return (lines * self.line_bytes - LEAF_HEADER_BYTES) // (self.key_bytes + self.id_bytes)

    def in_page_children(self, lines: int) -> int:
        """Children of an in-page non-leaf node of a disk-first tree."""
        return (lines * self.line_bytes - NONLEAF_HEADER_BYTES) // (self.key_bytes + self.offset_bytes)

    def cache_first_entries(self, lines: int) -> int:
        """Entries of a leaf node of a cache-first tree."""
        return (lines * self.line_bytes - CACHE_FIRST_LEAF_HEADER_BYTES) // (self.key_bytes + self.id_bytes)

    def cache_first_children(self, lines: int) -> int:
        """Children of a non-leaf node of a cache-first tree, whose pointers have a pageID and an offset."""
        return (lines * self.line_bytes - CACHE_FIRST_NONLEAF_HEADER_BYTES) // (self.key_bytes + self.id_bytes + self.offset_bytes)

    def micro_index(self, sub_array_lines: int) -> MicroIndex | None:
        """Fill a page with as many entries as a micro-index of sub-arrays of so many lines allows; None if it has no room for any."""
        if sub_array_lines < 1:
            raise ValueError(f"sub_array_lines is {sub_array_lines}; a sub-array has at least one line")
        step = self.line_bytes // gcd(self.line_bytes, self.key_bytes)  # the fewest keys that fill whole lines
        sub_array_keys = sub_array_lines * self.line_bytes // self.key_bytes
        most = self.page_bytes // (self.key_bytes + self.id_bytes)
        for entries in range(most - most % step, 0, -step):
            sub_arrays = -(-entries // sub_array_keys)
            head = self._lines(PAGE_HEADER_BYTES + sub_arrays * self.key_bytes)
            if head * self.line_bytes + entries * (self.key_bytes + self.id_bytes) <= self.page_bytes:
                return MicroIndex(entries, sub_arrays, head, sub_array_lines, self._lines(sub_array_keys * self.id_bytes))
        return None

    def _lines(self, size: int) -> int:
        return -(-size // self.line_bytes)


@dataclass(frozen=True)
class MicroIndex:
    """A full page of micro-indexing: header and first keys of the sub-arrays, keys, pointers, each from a line on."""

    entries: int
    sub_arrays: int
    head_lines: int
    """Lines of page header and first keys."""
    key_lines: int
    """Lines of a sub-array of keys."""
    pointer_lines: int
    """Lines that a sub-array's pointers take."""
