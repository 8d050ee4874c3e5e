"""Where keys and pointers stand in a tree node (thesis sections 2.2.1 and 2.4.3).

All fields (key count, keys, pointers, tupleIDs) are one word. Keys come before pointers, so that a binary search can
run while the pointers are still arriving. In words of a node of ``words`` words:

- B+ non-leaf: key count, f - 1 keys, f child pointers, with f = words / 2;
- CSB+ non-leaf: key count, words - 2 keys, one pointer to the group of children;
- leaf of both: key count, f - 1 keys, f - 1 tupleIDs, next-leaf pointer.

External jump pointers take one pair of each leaf for its hint, internal ones a key and a pointer of each leaf parent
for the pointer to its sibling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

TreeKind: TypeAlias = Literal["b+", "csb+"]
JumpPointers: TypeAlias = Literal["none", "external", "internal"]


@dataclass(frozen=True)
class NodeLayout:
    """Layout of the nodes of a tree whose nodes are ``node_lines`` lines of ``line_words`` words.

    Raises ValueError for an unknown ``kind`` or ``jump_pointers``, or a node too small to hold two children.
    """

    kind: TreeKind
    node_lines: int
    line_words: int = 16
    jump_pointers: JumpPointers = "none"

    def __post_init__(self) -> None:
        if self.kind not in ("b+", "csb+"):
            raise ValueError(f"tree kind {self.kind!r}: expected 'b+' or 'csb+'")
        if self.jump_pointers not in ("none", "external", "internal"):
            raise ValueError(f"jump pointers {self.jump_pointers!r}: expected 'none', 'external' or 'internal'")
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
        """f: child pointers of a B+ non-leaf node, half of its words."""
        return self.words // 2

    @property
    def leaf_pairs(self) -> int:
        """Pairs of key and tupleID in a full leaf."""
        return self.pointer_slots - (2 if self.jump_pointers == "external" else 1)

    @property
    def children(self) -> int:
        """Children of a full non-leaf node above the leaf parents."""
        return self.pointer_slots if self.kind == "b+" else self.words - 1

    @property
    def leaf_parent_children(self) -> int:
        """Children of a full leaf parent."""
        return self.children - (1 if self.jump_pointers == "internal" else 0)

    @property
    def nonleaf_keys(self) -> int:
        """Keys of a full non-leaf node above the leaf parents."""
        return self.children - 1

    def children_at(self, level: int) -> int:
        """Children of a full node at ``level``, from 1, the leaf parents."""
        return self.leaf_parent_children if level == 1 else self.children

    def lines_to_child(self, i: int, level: int = 2) -> int:
        """lines(i) of equation 2.3: lines from a non-leaf node's start to its ``i``-th (from 1) child pointer."""
        word = self.children_at(level) + i - 1 if self.kind == "b+" else self.words - 1
        return word // self.line_words + 1

    def lines_to_tuple(self, i: int) -> int:
        """lines(i) of equation 2.3 for the ``i``-th (from 1) tupleID of a leaf."""
        return (self.leaf_pairs + i) // self.line_words + 1
