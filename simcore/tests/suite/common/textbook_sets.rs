//! One set of a cache under each replacement policy, as a textbook has it.

use simcore::spec::Replacement;

/// A line in a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub line: u64,
    pub dirty: bool,
    /// A non-temporal prefetch brought it.
    pub streams: bool,
}

/// Where a new line stands among those that will leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    First,
    Last,
}

/// The binary tree over the ways: each node points to one half.
#[derive(Clone, Debug)]
enum Tree {
    Way(usize),
    Node { upper: bool, halves: Box<[Tree; 2]> },
}

impl Tree {
    fn over(first: usize, ways: usize) -> Self {
        if ways == 1 {
            return Self::Way(first);
        }
        let half = ways / 2;
        Self::Node {
            upper: false,
            halves: Box::new([Self::over(first, half), Self::over(first + half, half)]),
        }
    }

    fn pointed(&self) -> usize {
        match self {
            Self::Way(way) => *way,
            Self::Node { upper, halves } => halves[usize::from(*upper)].pointed(),
        }
    }

    /// Points every node above the way away from it, or towards it; says whether the way is below.
    fn turn(&mut self, way: usize, away: bool) -> bool {
        match self {
            Self::Way(here) => *here == way,
            Self::Node { upper, halves } => {
                let [low, high] = halves.as_mut();
                let (is_low, is_high) = (low.turn(way, away), high.turn(way, away));
                if is_low || is_high {
                    *upper = is_low == away;
                }
                is_low || is_high
            }
        }
    }
}

/// What a policy remembers of a set.
#[derive(Clone, Debug)]
enum Memory {
    /// The ways stand in the order in which they will leave, the next one last.
    Order {
        moves_on_use: bool,
    },
    Tree(Tree),
    /// Ways used since all were.
    Used(Vec<bool>),
    /// Predictions of two bits.
    Distance(Vec<u8>),
}

/// The ways of one set; an empty way holds nothing.
#[derive(Clone, Debug)]
pub struct Set {
    ways: Vec<Option<Held>>,
    memory: Memory,
}

impl Set {
    pub fn new(replacement: Replacement, ways: usize) -> Self {
        let memory = match replacement {
            Replacement::Lru => Memory::Order { moves_on_use: true },
            Replacement::Fifo => Memory::Order {
                moves_on_use: false,
            },
            Replacement::TreePlru => Memory::Tree(Tree::over(0, ways)),
            Replacement::Nru => Memory::Used(vec![false; ways]),
            Replacement::Srrip => Memory::Distance(vec![3; ways]),
            Replacement::Random => panic!("no textbook knows the dice"),
        };
        Self {
            ways: vec![None; ways],
            memory,
        }
    }

    fn way_of(&self, line: u64) -> Option<usize> {
        let is_it = |way: &Option<Held>| way.is_some_and(|held| held.line == line);
        self.ways.iter().position(is_it)
    }

    /// The lines that are there.
    pub fn lines(&self) -> Vec<u64> {
        self.ways.iter().flatten().map(|held| held.line).collect()
    }

    pub fn touch(&mut self, line: u64) -> Option<&mut Held> {
        let mut way = self.way_of(line)?;
        match &mut self.memory {
            Memory::Order {
                moves_on_use: false,
            } => {}
            Memory::Order { moves_on_use: true } => {
                let held = self.ways.remove(way);
                self.ways.insert(0, held);
                way = 0;
            }
            Memory::Tree(tree) => {
                tree.turn(way, true);
            }
            Memory::Used(used) => mark_used(used, way),
            Memory::Distance(distance) => distance[way] = 0,
        }
        self.ways[way].as_mut()
    }

    /// Marks a line that is there as dirty, which is no use.
    pub fn make_dirty(&mut self, line: u64) {
        let way = self.way_of(line).unwrap();
        self.ways[way].as_mut().unwrap().dirty = true;
    }

    pub fn remove(&mut self, line: u64) -> Option<Held> {
        let way = self.way_of(line)?;
        let removed = self.ways[way].take();
        if let Memory::Order { .. } = self.memory {
            let empty = self.ways.remove(way);
            self.ways.push(empty);
        }
        removed
    }

    /// Puts in a line that is not there and gives the one that made room. Under LRU and FIFO empty ways stand behind
    /// all lines; the other policies take the first empty one.
    pub fn put(&mut self, line: Held, place: Place) -> Option<Held> {
        if let Memory::Order { .. } = self.memory {
            let displaced = self.ways.pop().unwrap();
            let lines = self.ways.iter().flatten().count();
            let position = if place == Place::First { lines } else { 0 };
            self.ways.insert(position, Some(line));
            return displaced;
        }
        let empty = self.ways.iter().position(Option::is_none);
        let way = empty.unwrap_or_else(|| self.victim());
        match &mut self.memory {
            Memory::Order { .. } => {}
            Memory::Tree(tree) => {
                tree.turn(way, place == Place::Last);
            }
            Memory::Used(used) if place == Place::Last => mark_used(used, way),
            Memory::Used(used) => used[way] = false,
            Memory::Distance(distance) => distance[way] = if place == Place::Last { 2 } else { 3 },
        }
        self.ways[way].replace(line)
    }

    fn victim(&mut self) -> usize {
        match &mut self.memory {
            Memory::Order { .. } => self.ways.len() - 1,
            Memory::Tree(tree) => tree.pointed(),
            Memory::Used(used) => used.iter().position(|used| !used).unwrap_or(0),
            Memory::Distance(distance) => loop {
                if let Some(way) = distance.iter().position(|&distance| distance == 3) {
                    break way;
                }
                distance.iter_mut().for_each(|distance| *distance += 1);
            },
        }
    }
}

fn mark_used(used: &mut [bool], way: usize) {
    used[way] = true;
    if used.iter().all(|&used| used) {
        used.fill(false);
        used[way] = true;
    }
}
