//! Frames of the buffer pool that nodes of indexes are in, and which node leaves for another.

use std::collections::HashMap;

/// Nodes of a level that stay if no number of frames is given: a node and the sibling that it is refilled from.
const NODES: usize = 2;

/// What stays.
#[derive(Clone, Debug)]
pub(super) enum Frames {
    /// Of each level the nodes used last; the last one is first.
    Latest(Vec<[Option<Node>; NODES]>),
    /// Nodes of all levels of all indexes, as many as there are frames.
    Clock(Clock),
}

/// A node in the buffer pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Its number in storage.
    pub page: u64,
    /// Whether it has to be written before another one takes its place.
    pub changed: bool,
}

/// Frames that the hand of a clock goes round: a node leaves that was not used since the hand came by.
#[derive(Clone, Debug)]
pub(super) struct Clock {
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

    /// As [`Frames::fix`].
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
    /// So many frames, all free; 0 for two of each level.
    pub(super) fn new(frames: usize) -> Self {
        match frames {
            0 => Self::Latest(Vec::new()),
            _ => Self::Clock(Clock::of(frames)),
        }
    }

    /// Has frames for levels up to such a number, if each level has its own.
    pub(super) fn extend(&mut self, levels: usize) {
        if let Self::Latest(of_levels) = self {
            of_levels.resize(levels, [None; NODES]);
        }
    }

    /// Uses the node of a page of a level. Gives the node whose place it takes, or nothing in a place that was free; nothing at all if it is
    /// there.
    pub(super) fn fix(&mut self, level: usize, page: u64, changed: bool) -> Option<Option<Node>> {
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
    pub(super) fn clear(&mut self) -> Vec<Node> {
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
