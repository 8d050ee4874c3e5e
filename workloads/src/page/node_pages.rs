//! Pages of an index in storage, as its nodes are looked into and changed.

use crate::relocated::Relocated;
use crate::tracer::{Dep, Token, Trace};
use std::collections::HashMap;
use std::ops::Range;
use traces::{Event, Segment};

/// Nodes of a level that stay if no number of frames is given: a node and the sibling that it is refilled from.
const NODES: usize = 2;

/// The nodes of an index that are in the buffer pool. A node that was changed is written when another one takes its place.
#[derive(Clone, Debug)]
pub struct NodesInPool {
    levels: Vec<Level>,
    page_bytes: u64,
    frames: Frames,
}

/// The nodes of a level: leaves are first.
#[derive(Clone, Debug)]
struct Level {
    /// Their addresses, as the tree knows them.
    addresses: Range<u64>,
    /// Number in storage of the first.
    first_page: u64,
}

/// What stays.
#[derive(Clone, Debug)]
enum Frames {
    /// Of each level the nodes used last; the last one is first.
    Latest(Vec<[Option<Node>; NODES]>),
    /// Nodes of all levels, as many as there are frames.
    Clock(Clock),
}

#[derive(Clone, Copy, Debug)]
struct Node {
    page: u64,
    changed: bool,
}

/// Frames that the hand of a clock goes round: a node leaves that was not used since the hand came by.
#[derive(Clone, Debug)]
struct Clock {
    most: usize,
    frames: Vec<(Node, bool)>,
    /// By page.
    places: HashMap<u64, usize>,
    hand: usize,
    /// Where the node is that was used last: by far the most uses are of the same.
    latest: usize,
}

impl Clock {
    fn of(most: usize) -> Self {
        Self {
            most,
            frames: Vec::new(),
            places: HashMap::new(),
            hand: 0,
            latest: 0,
        }
    }

    /// Uses the node of a page. Gives the node whose place it takes, or nothing in a place that was free; nothing at all if it is there.
    fn fix(&mut self, page: u64) -> Option<Option<Node>> {
        let latest = self.frames.get(self.latest);
        if latest.is_some_and(|(node, _)| node.page == page) {
            self.frames[self.latest].1 = true;
            return None;
        }
        if let Some(&place) = self.places.get(&page) {
            self.latest = place;
            self.frames[place].1 = true;
            return None;
        }
        let node = Node {
            page,
            changed: false,
        };
        let displaced = if self.frames.len() < self.most {
            self.latest = self.frames.len();
            self.frames.push((node, true));
            None
        } else {
            self.latest = self.unused();
            let (displaced, _) = std::mem::replace(&mut self.frames[self.latest], (node, true));
            self.places.remove(&displaced.page);
            Some(displaced)
        };
        self.places.insert(page, self.latest);
        Some(displaced)
    }

    /// The first place from the hand on whose node was not used since the hand came by.
    fn unused(&mut self) -> usize {
        loop {
            let place = self.hand;
            self.hand = (place + 1) % self.frames.len();
            if !std::mem::take(&mut self.frames[place].1) {
                return place;
            }
        }
    }
}

impl Frames {
    /// Uses the node of a page of a level; see [`Clock::fix`].
    fn fix(&mut self, level: usize, page: u64, changed: bool) -> Option<Option<Node>> {
        match self {
            Self::Latest(levels) => {
                let there = &mut levels[level];
                let is_there = |node: &Option<Node>| node.is_some_and(|node| node.page == page);
                let place = there.iter().position(is_there);
                there[..=place.unwrap_or(NODES - 1)].rotate_right(1);
                let node = Node { page, changed };
                if place.is_none() {
                    return Some(there[0].replace(node));
                }
                there[0].as_mut().expect("it is there").changed |= changed;
                None
            }
            Self::Clock(clock) => {
                let displaced = clock.fix(page);
                clock.frames[clock.latest].0.changed |= changed;
                displaced
            }
        }
    }

    /// Takes all nodes out.
    fn clear(&mut self) -> Vec<Node> {
        match self {
            Self::Latest(levels) => {
                let nodes = levels.iter_mut().flatten();
                nodes.filter_map(Option::take).collect()
            }
            Self::Clock(clock) => {
                let most = clock.most;
                let frames = std::mem::replace(clock, Clock::of(most)).frames;
                frames.into_iter().map(|(node, _)| node).collect()
            }
        }
    }
}

impl NodesInPool {
    /// No node yet of the levels of a tree, whose pages have numbers from `first_page` on in storage: leaves first. So many `frames` are for
    /// all of them; 0 for two of each level.
    pub(super) fn none(
        levels: &[Segment],
        page_bytes: u64,
        first_page: u64,
        frames: usize,
    ) -> Self {
        let mut next = first_page;
        let level = |segment: &Segment| {
            let first_page = next;
            next += segment.size_bytes.div_ceil(page_bytes);
            Level {
                addresses: segment.base..segment.base + segment.size_bytes,
                first_page,
            }
        };
        Self {
            frames: match frames {
                0 => Frames::Latest(vec![[None; NODES]; levels.len()]),
                _ => Frames::Clock(Clock::of(frames)),
            },
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
        let mut levels = self.levels.iter().enumerate();
        let Some((number, level)) = levels.find(|(_, level)| level.addresses.contains(&address))
        else {
            return;
        };
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

    /// Leaves are pages 10 to 13 in storage, the level above is page 14.
    fn nodes(frames: usize) -> NodesInPool {
        let segment = |base, pages: u64| Segment {
            name: "level".into(),
            base,
            size_bytes: 64 * pages,
        };
        let nodes = NodesInPool::none(&[segment(4096, 4), segment(8192, 1)], 64, 10, frames);
        assert_eq!(nodes.end(), 15);
        nodes
    }

    const ROOT: u64 = 8192;

    fn leaf(number: u64) -> u64 {
        4096 + 64 * number + 8
    }

    /// What is asked of storage for uses of nodes, some of which change them.
    fn requests(frames: usize, uses: &[(u64, bool)]) -> Vec<(Kind, u64)> {
        let mut nodes = nodes(frames);
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for &(address, changed) in uses {
            nodes.fix(&mut tracer, address, changed);
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
}
