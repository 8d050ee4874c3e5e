//! Pages of an index in storage, as its nodes are looked into and changed.

use crate::relocated::Relocated;
use crate::tracer::{Dep, Token, Trace};
use std::ops::Range;
use traces::{Event, Segment};

/// Nodes of a level that are in the buffer pool: a node and the sibling that it is refilled from.
const NODES: usize = 2;

/// The nodes of an index that are in the buffer pool: of each level those that were used last. A node that was changed is written when
/// another one takes its place.
#[derive(Clone, Debug)]
pub struct NodesInPool {
    levels: Vec<Level>,
    page_bytes: u64,
}

/// What the pool has of a level.
#[derive(Clone, Debug)]
struct Level {
    /// Addresses of its nodes, as the tree knows them.
    addresses: Range<u64>,
    /// Number in storage of the first.
    first_page: u64,
    /// The one used last is first.
    there: [Option<Node>; NODES],
}

#[derive(Clone, Copy, Debug)]
struct Node {
    page: u64,
    changed: bool,
}

impl NodesInPool {
    /// No node yet of the levels of a tree, whose pages have numbers from `first_page` on in storage: leaves first.
    pub(super) fn none(levels: &[Segment], page_bytes: u64, first_page: u64) -> Self {
        let mut next = first_page;
        let level = |segment: &Segment| {
            let first_page = next;
            next += segment.size_bytes.div_ceil(page_bytes);
            Level {
                addresses: segment.base..segment.base + segment.size_bytes,
                first_page,
                there: [None; NODES],
            }
        };
        Self {
            levels: levels.iter().map(level).collect(),
            page_bytes,
        }
    }

    /// Number in storage of the first page behind the index.
    pub(crate) fn end(&self) -> u64 {
        let last = self.levels.last();
        last.map_or(0, |level| {
            let bytes = level.addresses.end - level.addresses.start;
            level.first_page + bytes.div_ceil(self.page_bytes)
        })
    }

    /// Sees to it that the node at an address is there, which is to be read or changed.
    fn fix<T: Trace>(&mut self, trace: &mut T, address: u64, changed: bool) {
        let mut levels = self.levels.iter_mut();
        let Some(level) = levels.find(|level| level.addresses.contains(&address)) else {
            return;
        };
        let number = (address - level.addresses.start) / self.page_bytes;
        let page = level.first_page + number;
        let is_there = |node: &Option<Node>| node.is_some_and(|node| node.page == page);
        let place = level.there.iter().position(is_there);
        level.there[..=place.unwrap_or(NODES - 1)].rotate_right(1);
        if place.is_none() {
            let node = Node {
                page,
                changed: false,
            };
            write(trace, level.there[0].replace(node));
            let start = level.addresses.start + number * self.page_bytes;
            trace.page_read(page, start..start + self.page_bytes);
        }
        if let Some(node) = &mut level.there[0] {
            node.changed |= changed;
        }
    }

    /// Writes the nodes that were changed and are still there.
    pub(crate) fn write<T: Trace>(&mut self, trace: &mut T) {
        for level in &mut self.levels {
            for node in &mut level.there {
                write(trace, node.take());
            }
        }
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
    nodes: &'n mut NodesInPool,
}

impl<'t, 'n, T> Paged<'t, 'n, T> {
    pub(super) fn new(trace: Relocated<'t, T>, nodes: &'n mut NodesInPool) -> Self {
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

    /// Leaves are pages 10 to 13 in storage, the level above is page 14. Two nodes of a level stay; a changed one is written when it goes.
    #[test]
    fn two_nodes_of_a_level_stay() {
        let segment = |base, pages: u64| Segment {
            name: "level".into(),
            base,
            size_bytes: 64 * pages,
        };
        let levels = [segment(4096, 4), segment(8192, 1)];
        let mut nodes = NodesInPool::none(&levels, 64, 10);
        assert_eq!(nodes.end(), 15);
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        let leaf = |number: u64| 4096 + 64 * number + 8;
        for (address, changed) in [
            (8192, false),
            (leaf(0), true),
            (leaf(1), false),
            (leaf(0), false),
            (leaf(2), false),
            (leaf(0), true),
            (leaf(3), true),
            (8200, true),
            (leaf(1), false),
            (1 << 20, true),
        ] {
            nodes.fix(&mut tracer, address, changed);
        }
        nodes.write(&mut tracer);
        tracer.finish().unwrap();
        let pages: Vec<_> = events
            .iter()
            .filter(|event| event.kind != Kind::PageArrival)
            .map(|event| (event.kind, event.address))
            .collect();
        let (read, written) = (Kind::PageRead, Kind::PageWrite);
        let expected = [
            (read, 14),
            (read, 10),
            (read, 11),
            (read, 12),
            (read, 13),
            (written, 10),
            (read, 11),
            (written, 13),
            (written, 14),
        ];
        assert_eq!(pages, expected);
    }
}
