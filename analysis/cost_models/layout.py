"""Where keys and pointers stand in a tree node (thesis sections 2.2.1 and 2.4.3).

All fields (key count, keys, pointers, tupleIDs) are one word. Keys come before pointers, so that a binary search can
run while the pointers are still arriving. In words of a node of ``words`` words:

- B+ non-leaf: key count, f - 1 keys, f child pointers, with f = words / 2;
- CSB+ non-leaf: key count, words - 2 keys, one pointer to the group of children;
- leaf of both: key count, f - 1 keys, f - 1 tupleIDs, next-leaf pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

TreeKind: TypeAlias = Literal["b+", "csb+"]


@dataclass(frozen=True)
class NodeLayout:
    """Layout of the nodes of a tree whose nodes are ``node_lines`` lines of ``line_words`` words.

    Raises ValueError for an unknown ``kind`` or a node too small to hold two children.
    """

    kind: TreeKind
    node_lines: int
    line_words: int = 16

    def __post_init__(self) -> None:
        if self.kind not in ("b+", "csb+"):
            raise ValueError(f"tree kind {self.kind!r}: expected 'b+' or 'csb+'")
        if self.node_lines < 1 or self.line_words < 4 or self.line_words % 2:
            raise ValueError(
                f"node of {self.node_lines} lines of {self.line_words} words: expected at least one line"
                " of an even number of words, four or more"
            )

    @property
    def words(self) -> int:
        """Words of a node."""
        return self.node_lines * self.line_words

    @property
    def pointer_slots(self) -> int:
        """f: child pointers of a B+ non-leaf node; a leaf of either tree holds f - 1 pairs."""
        return self.words // 2

    @property
    def leaf_pairs(self) -> int:
        """Pairs of key and tupleID in a full leaf."""
        return self.pointer_slots - 1

    @property
    def children(self) -> int:
        """Children of a full non-leaf node."""
        return self.pointer_slots if self.kind == "b+" else self.words - 1

    @property
    def nonleaf_keys(self) -> int:
        """Keys of a full non-leaf node."""
        return self.children - 1

    def lines_to_child(self, i: int) -> int:
        """lines(i) of equation 2.3: lines from the start of a non-leaf node to its ``i``-th (from 1) child pointer."""
        word = self.pointer_slots + i - 1 if self.kind == "b+" else self.words - 1
        return word // self.line_words + 1

    def lines_to_tuple(self, i: int) -> int:
        """lines(i) of equation 2.3 for the ``i``-th (from 1) tupleID of a leaf."""
        return (self.pointer_slots + i - 1) // self.line_words + 1
