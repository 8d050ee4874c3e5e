//! How nodes and chunks lie in memory (thesis section 2.4.3): keynum and keys first, then pointers or tupleIDs.

/// Which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Every non-leaf node has one pointer per child.
    BPlus,
    /// Every non-leaf node has one pointer to the contiguous group of its children (Rao and Ross 2000).
    CsbPlus,
}

/// Where the addresses of the leaves ahead come from in a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpPointers {
    /// Nowhere: only the next-leaf pointers.
    None,
    /// A chunked list beside the tree; leaves have a hint to their place in it (section 2.3.2).
    External {
        /// Cache lines per chunk.
        chunk_lines: u32,
    },
    /// The leaf parents, chained by next-sibling pointers (section 2.3.5).
    Internal,
}

/// What determines the layout of all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Which tree.
    pub kind: Kind,
    /// Bytes of a key, a pointer and a tupleID.
    pub word_bytes: u32,
    /// Bytes of a cache line.
    pub line_bytes: u32,
    /// Cache lines per node.
    pub node_lines: u32,
    /// Jump pointers of the tree.
    pub jump_pointers: JumpPointers,
}

/// Word offsets in the nodes of one level. Word 0 is keynum and the keys start at word 1, everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLayout {
    /// Keys a node may have.
    pub max_keys: usize,
    /// First tupleID (leaf) or child pointer (non-leaf); the group pointer of a CSB+-tree.
    pub values: usize,
    /// Next-leaf or next-sibling pointer, where the level has one.
    pub next: usize,
    /// Hint to the leaf's jump pointer; leaves of trees with an external array only.
    pub hint: usize,
}

/// Word of a node that holds its number of keys.
pub const KEYNUM: usize = 0;
/// Word of a node that holds its first key.
pub const KEYS: usize = 1;
/// Word of a chunk that holds the address of the next chunk.
pub const CHUNK_NEXT: usize = 0;
/// Word of a chunk that holds the address of the chunk before.
pub const CHUNK_PREVIOUS: usize = 1;
/// Word of a chunk that holds the first jump pointer.
pub const CHUNK_SLOTS: usize = 2;

impl Shape {
    /// Bytes of a node.
    #[must_use]
    pub fn node_bytes(&self) -> u32 {
        self.line_bytes * self.node_lines
    }

    /// f, the child pointers of a non-leaf node: w x m, where m = line / (2 x word) (table 2.1).
    #[must_use]
    pub fn fanout(&self) -> usize {
        (self.node_bytes() / (2 * self.word_bytes)) as usize
    }

    /// The layout of the nodes of `level`; 0 are the leaves.
    #[must_use]
    pub fn node(&self, level: usize) -> NodeLayout {
        let f = self.fanout();
        let last = 2 * f - 1;
        let external = matches!(self.jump_pointers, JumpPointers::External { .. });
        let max_keys = match (level, self.kind) {
            (0, _) => f - 1 - usize::from(external),
            (1, Kind::BPlus) if self.jump_pointers == JumpPointers::Internal => f - 2,
            (_, Kind::BPlus) => f - 1,
            (_, Kind::CsbPlus) => 2 * f - 2,
        };
        NodeLayout {
            max_keys,
            values: KEYS + max_keys,
            next: last,
            hint: last - 1,
        }
    }

    /// Child pointers (or children, for a CSB+-tree) of a full non-leaf node of `level`.
    #[must_use]
    pub fn max_children(&self, level: usize) -> usize {
        self.node(level).max_keys + 1
    }

    /// Lines of a chunk; 0 without an external array.
    #[must_use]
    pub fn chunk_lines(&self) -> u32 {
        match self.jump_pointers {
            JumpPointers::External { chunk_lines } => chunk_lines,
            _ => 0,
        }
    }

    /// Jump pointers that a chunk has room for: its words without next and previous.
    #[must_use]
    pub fn chunk_slots(&self) -> usize {
        (self.chunk_lines() * self.line_bytes / self.word_bytes) as usize - CHUNK_SLOTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: Kind, node_lines: u32, jump_pointers: JumpPointers) -> Shape {
        Shape {
            kind,
            word_bytes: 4,
            line_bytes: 64,
            node_lines,
            jump_pointers,
        }
    }

    /// The counts that section 2.4.3 states.
    #[test]
    fn nodes_hold_what_the_thesis_says() {
        let external = JumpPointers::External { chunk_lines: 3 };
        let (b1, b8) = (
            shape(Kind::BPlus, 1, JumpPointers::None),
            shape(Kind::BPlus, 8, JumpPointers::None),
        );
        assert_eq!(
            (b1.node(0).max_keys, b1.node(1).max_keys, b1.max_children(1)),
            (7, 7, 8)
        );
        assert_eq!(
            (
                b8.node_bytes(),
                b8.node(0).max_keys,
                b8.node(3).max_keys,
                b8.max_children(3)
            ),
            (512, 63, 63, 64)
        );
        let e8 = shape(Kind::BPlus, 8, external);
        assert_eq!(
            (e8.node(0).max_keys, e8.node(1).max_keys, e8.chunk_slots()),
            (62, 63, 46)
        );
        let i8 = shape(Kind::BPlus, 8, JumpPointers::Internal);
        assert_eq!(
            (
                i8.node(0).max_keys,
                i8.node(1).max_keys,
                i8.max_children(1),
                i8.node(2).max_keys
            ),
            (63, 62, 63, 63)
        );
        let csb = shape(Kind::CsbPlus, 1, JumpPointers::None);
        assert_eq!(
            (
                csb.node(0).max_keys,
                csb.node(1).max_keys,
                csb.max_children(1)
            ),
            (7, 14, 15)
        );
    }

    /// Nothing of a node overlaps or leaves it.
    #[test]
    fn fields_fit_the_node() {
        for kind in [Kind::BPlus, Kind::CsbPlus] {
            for jump_pointers in [
                JumpPointers::None,
                JumpPointers::External { chunk_lines: 3 },
                JumpPointers::Internal,
            ] {
                if kind == Kind::CsbPlus && jump_pointers != JumpPointers::None {
                    continue;
                }
                for node_lines in 1..=16 {
                    let shape = shape(kind, node_lines, jump_pointers);
                    let words = 2 * shape.fanout();
                    let leaf = shape.node(0);
                    let external = matches!(jump_pointers, JumpPointers::External { .. });
                    let tail = if external { leaf.hint } else { leaf.next };
                    assert!(leaf.values + leaf.max_keys <= tail);
                    let parent = shape.node(1);
                    let pointers = if kind == Kind::CsbPlus {
                        1
                    } else {
                        parent.max_keys + 1
                    };
                    let end = if jump_pointers == JumpPointers::Internal {
                        parent.next
                    } else {
                        words
                    };
                    assert!(parent.values + pointers <= end);
                }
            }
        }
    }
}
