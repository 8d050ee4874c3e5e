//! Pages of an index in storage, as its nodes are looked into and changed.

use super::node_frames::{Frames, Node};
use crate::relocated::Relocated;
use crate::tracer::{Dep, Token, Trace};
use std::ops::Range;
use traces::{Event, Segment};

/// The nodes of indexes that are in the buffer pool. A node that was changed is written when another one takes its place.
///
/// In storage the pages of an index follow those of the one before, leaves first.
#[derive(Clone, Debug)]
pub struct NodesInPool {
    levels: Vec<Level>,
    /// The levels of each index.
    indexes: Vec<Range<usize>>,
    frames: Frames,
    page_bytes: u64,
    /// Number in storage of the first page behind the indexes.
    end: u64,
}

/// The nodes of a level of an index.
#[derive(Clone, Debug)]
struct Level {
    /// Their addresses, as the tree knows them.
    addresses: Range<u64>,
    /// Number in storage of the first.
    first_page: u64,
}

impl NodesInPool {
    /// No index yet, and no node. Pages of indexes have numbers from `first_page` on in storage. So many `frames` are for the nodes of all
    /// indexes; 0 for two of each level.
    pub(crate) fn new(page_bytes: u64, first_page: u64, frames: usize) -> Self {
        Self {
            levels: Vec::new(),
            indexes: Vec::new(),
            frames: Frames::new(frames),
            page_bytes,
            end: first_page,
        }
    }

    /// Adds an index by the segments of its levels, leaves first: none of its nodes is there.
    pub(super) fn add(&mut self, levels: &[Segment]) {
        let first_level = self.levels.len();
        for segment in levels {
            self.levels.push(Level {
                addresses: segment.base..segment.base + segment.size_bytes,
                first_page: self.end,
            });
            self.end += segment.size_bytes.div_ceil(self.page_bytes);
        }
        self.indexes.push(first_level..self.levels.len());
        self.frames.extend(self.levels.len());
    }

    /// Number in storage of the first page behind the indexes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The nodes of an index, by its number in the order in which they were added.
    pub(crate) fn of(&mut self, index: usize) -> NodesOfIndex<'_> {
        NodesOfIndex { pool: self, index }
    }

    /// Sees to it that the node at an address of an index is there, which is to be read or changed.
    fn fix<T: Trace>(&mut self, trace: &mut T, index: usize, address: u64, changed: bool) {
        let mut levels = self.indexes[index].clone();
        let Some(number) = levels.find(|&level| self.levels[level].addresses.contains(&address))
        else {
            return;
        };
        let level = &self.levels[number];
        let node = (address - level.addresses.start) / self.page_bytes;
        let page = level.first_page + node;
        if let Some(displaced) = self.frames.fix(number, page, changed) {
            write(trace, displaced);
            let start = level.addresses.start + node * self.page_bytes;
            trace.page_read(page, start..start + self.page_bytes);
        }
    }

    /// Writes the nodes that were changed and are still there.
    pub(crate) fn write<T: Trace>(&mut self, trace: &mut T) {
        for node in self.frames.clear() {
            write(trace, Some(node));
        }
    }
}

/// The nodes of one index, in a buffer pool that others share.
#[derive(Debug)]
pub struct NodesOfIndex<'p> {
    pool: &'p mut NodesInPool,
    index: usize,
}

impl NodesOfIndex<'_> {
    /// Sees to it that the node at an address is there, which is to be read or changed.
    fn fix<T: Trace>(&mut self, trace: &mut T, address: u64, changed: bool) {
        self.pool.fix(trace, self.index, address, changed);
    }
}

/// Writes a node that leaves the pool, if it was changed.
fn write<T: Trace>(trace: &mut T, node: Option<Node>) {
    if let Some(node) = node.filter(|node| node.changed) {
        trace.page_write(node.page);
    }
}

/// Passes on what a tree does, and reads the page of a node before its first load or store.
pub(super) struct Paged<'t, 'n, T> {
    trace: Relocated<'t, T>,
    nodes: NodesOfIndex<'n>,
}

impl<'t, 'n, T> Paged<'t, 'n, T> {
    pub(super) fn new(trace: Relocated<'t, T>, nodes: NodesOfIndex<'n>) -> Self {
        Self { trace, nodes }
    }
}

impl<T: Trace> Trace for Paged<'_, '_, T> {
    const NATIVE: bool = T::NATIVE;

    #[inline]
    fn emit(&mut self, event: Event, dep: Dep) -> Token {
        if event.kind.moves_words() {
            let changed = event.kind.is_store();
            self.nodes.fix(&mut self.trace, event.address, changed);
        }
        self.trace.emit(event, dep)
    }

    #[inline]
    fn work(&mut self, instructions: u32) {
        self.trace.work(instructions);
    }

    fn failed(&self) -> bool {
        self.trace.failed()
    }

    fn end(&mut self) {
        self.trace.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::Tracer;
    use traces::Kind;

    /// An index whose leaves are pages 10 to 13 in storage, and the level above page 14; and one like it in pages 15 to 19.
    fn nodes(frames: usize) -> NodesInPool {
        let segment = |base, pages: u64| Segment {
            name: "level".into(),
            base,
            size_bytes: 64 * pages,
        };
        let mut nodes = NodesInPool::new(64, 10, frames);
        for _ in 0..2 {
            nodes.add(&[segment(4096, 4), segment(8192, 1)]);
        }
        assert_eq!(nodes.end(), 20);
        nodes
    }

    const ROOT: u64 = 8192;

    fn leaf(number: u64) -> u64 {
        4096 + 64 * number + 8
    }

    /// What is asked of storage for uses of nodes of the first index, some of which change them.
    fn requests(frames: usize, uses: &[(u64, bool)]) -> Vec<(Kind, u64)> {
        let uses: Vec<_> = uses.iter().map(|&(at, changed)| (0, at, changed)).collect();
        requests_of_two(frames, &uses)
    }

    /// As [`requests`], of the index that each use says.
    fn requests_of_two(frames: usize, uses: &[(usize, u64, bool)]) -> Vec<(Kind, u64)> {
        let mut nodes = nodes(frames);
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for &(index, address, changed) in uses {
            nodes.of(index).fix(&mut tracer, address, changed);
        }
        nodes.write(&mut tracer);
        tracer.finish().unwrap();
        events
            .iter()
            .filter(|event| event.kind != Kind::PageArrival)
            .map(|event| (event.kind, event.address))
            .collect()
    }

    const READ: Kind = Kind::PageRead;
    const WRITTEN: Kind = Kind::PageWrite;

    #[test]
    fn two_nodes_of_a_level_stay() {
        let uses = [
            (ROOT, false),
            (leaf(0), true),
            (leaf(1), false),
            (leaf(0), false),
            (leaf(2), false),
            (leaf(0), true),
            (leaf(3), true),
            (ROOT + 8, true),
            (leaf(1), false),
            (1 << 20, true),
        ];
        let expected = [
            (READ, 14),
            (READ, 10),
            (READ, 11),
            (READ, 12),
            (READ, 13),
            (WRITTEN, 10),
            (READ, 11),
            (WRITTEN, 13),
            (WRITTEN, 14),
        ];
        assert_eq!(requests(0, &uses), expected);
    }

    #[test]
    fn of_frames_for_all_levels_the_one_leaves_that_the_clock_finds_unused() {
        // The hand passes the root, leaves 0 and 1, and takes the root; it stands before leaf 0 then, which is used again, and goes to leaf 1.
        let uses = [
            (ROOT, false),
            (leaf(0), true),
            (leaf(1), false),
            (leaf(2), false),
            (leaf(0), false),
            (leaf(3), true),
            (leaf(0), false),
        ];
        let expected = [
            (READ, 14),
            (READ, 10),
            (READ, 11),
            (READ, 12),
            (READ, 13),
            (WRITTEN, 10),
            (WRITTEN, 13),
        ];
        assert_eq!(requests(3, &uses), expected);
        let all = [0, 1, 2, 3, 0, 1, 2, 3].map(|number| (leaf(number), false));
        assert_eq!(requests(5, &all), [10, 11, 12, 13].map(|page| (READ, page)));
    }
    #[test]
    fn indexes_share_frames_if_their_number_is_given() {
        let uses = [
            (0, leaf(0), true),
            (0, leaf(1), false),
            (1, leaf(0), false),
            (1, leaf(1), false),
            (0, leaf(0), false),
        ];
        let once = [(READ, 10), (READ, 11), (READ, 15), (READ, 16)];
        // Two of a level of each index stay.
        let apart: Vec<_> = once.into_iter().chain([(WRITTEN, 10)]).collect();
        assert_eq!(requests_of_two(0, &uses), apart);
        assert_eq!(requests_of_two(4, &uses), apart);
        // Of three the other index takes the first.
        let shared = [
            (READ, 10),
            (READ, 11),
            (READ, 15),
            (WRITTEN, 10),
            (READ, 16),
            (READ, 10),
        ];
        assert_eq!(requests_of_two(3, &uses), shared);
    }
}
