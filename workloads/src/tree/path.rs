//! The way from the root to a leaf, kept for operations that change nodes above it.

use super::search::Position;
use super::{Pointer, Tree};
use crate::tracer::Trace;
use crate::word::Word;

/// Keeping node and slot of a level on the stack: two stores, to lines that are always in the cache.
pub(crate) const RECORD: u32 = 2;

/// Positions by level; that of level 0 is unused.
#[derive(Clone, Debug)]
pub(super) struct Path(Vec<Position>);

impl Path {
    /// The position in the non-leaf node of `level`.
    pub(super) fn at(&self, level: usize) -> Position {
        self.0[level]
    }

    /// The way leads elsewhere on `level` now.
    pub(super) fn put(&mut self, level: usize, position: Position) {
        self.0[level] = position;
    }

    /// The way starts at a new root, whose first child is the old one.
    pub(super) fn grow(&mut self, node: u64) {
        self.0.push(Position { node, slot: 0 });
    }
}

impl<W: Word> Tree<W> {
    /// The leaf that has or would have `key`, and the way to it.
    pub(super) fn descend_with_path<T: Trace>(&self, trace: &mut T, key: W) -> (Pointer, Path) {
        let mut path = Path(vec![Position::default(); self.levels]);
        let leaf = self.descend(trace, key, |trace, level, position| {
            trace.work(RECORD);
            path.0[level] = position;
        });
        (leaf, path)
    }
}
