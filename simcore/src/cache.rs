//! One set-associative cache: which lines are there, and which makes room.

use crate::line::Line;
use crate::line_room::{LineRoom, Lines};
use crate::line_set;
use crate::replacement::{Kept, Order, Position};
use crate::sets::Sets;
use crate::spec::{CacheSpec, InstructionCacheSpec, Replacement};

/// State of one cache.
///
/// Under LRU and FIFO each set keeps its lines in the order of the policy, the next to leave last. Under the other
/// policies lines stay in their way and the policy keeps a state of its own.
///
/// What a look-up reads lies in one of the host's cache lines: many cores have many caches.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Cache {
    lines: Lines,
    sets: Sets,
    ways: usize,
    line_shift: u32,
    /// Makes no line's number of any, unless a hit in the first way of a set changes nothing: then it is 0.
    never_at_once: u64,
    order: Order,
    /// Sets that hold anything, so that a flush need not visit the others; some may be listed twice.
    occupied: Vec<u32>,
}

impl Cache {
    /// An empty cache, with lines from `room`. The geometry has been validated.
    pub(crate) fn new(spec: &CacheSpec, room: &mut LineRoom) -> Self {
        let lines = room.take(spec.lines());
        Self::with(spec.line_bytes, spec.ways, spec.replacement, lines)
    }

    /// An empty instruction cache. The geometry has been validated.
    pub(crate) fn for_instructions(spec: &InstructionCacheSpec) -> Self {
        let count = (spec.size_bytes / spec.line_bytes) as usize;
        let lines = LineRoom::of(count).take(count);
        Self::with(spec.line_bytes, spec.ways, spec.replacement, lines)
    }

    fn with(line_bytes: u64, ways: u32, replacement: Replacement, lines: Lines) -> Self {
        let sets = lines.len() as u64 / u64::from(ways);
        Self {
            line_shift: line_bytes.trailing_zeros(),
            sets: Sets::new(sets),
            ways: ways as usize,
            never_at_once: if replacement == Replacement::Lru {
                0
            } else {
                1 << 63
            },
            order: Order::new(replacement, sets as usize, ways as usize),
            lines,
            occupied: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// Whether the latest use of each line, and their order, is all that is remembered of uses.
    pub(crate) fn remembers_latest_uses(&self) -> bool {
        !matches!(self.order, Order::Kept(Kept::Nru(_)))
    }

    #[inline]
    fn set_start(&self, line: u64) -> usize {
        self.sets.of(line) * self.ways
    }

    /// Gets the line's set into the host's caches, if it is found at once.
    #[inline]
    pub(crate) fn foresee(&self, line: u64) {
        let start = self.sets.at_once(line) * self.ways;
        self.lines.foresee(start..start + self.ways);
    }

    /// The line, which counts as used, if the cache holds it.
    #[inline(always)]
    pub(crate) fn touch(&mut self, line: u64) -> Option<&mut Line> {
        let start = self.sets.at_once(line) * self.ways;
        if self.lines[start].number == line | self.never_at_once {
            return Some(&mut self.lines[start]);
        }
        self.touch_older(line)
    }

    #[inline(never)]
    fn touch_older(&mut self, line: u64) -> Option<&mut Line> {
        let start = self.set_start(line);
        let set = &mut self.lines[start..start + self.ways];
        let way = line_set::find(set, line)?;
        match &mut self.order {
            Order::Recency => {
                let held = set[way];
                set.copy_within(..way, 1);
                set[0] = held;
                Some(&mut set[0])
            }
            Order::Arrival => Some(&mut set[way]),
            Order::Kept(policy) => {
                policy.used(start / self.ways, way);
                Some(&mut set[way])
            }
        }
    }

    /// The line, if its set has it where a look-up looks first; that is no use of it.
    #[inline(always)]
    pub(crate) fn at_once(&self, line: u64) -> Option<&Line> {
        let first = &self.lines[self.sets.at_once(line) * self.ways];
        (first.number == line).then_some(first)
    }

    /// The line, if the cache holds it; that is no use of it.
    #[inline]
    pub(crate) fn find(&self, line: u64) -> Option<&Line> {
        let start = self.set_start(line);
        let set = &self.lines[start..start + self.ways];
        line_set::find(set, line).map(|way| &set[way])
    }

    /// Whether the cache holds the line; that is no use of it.
    pub(crate) fn holds(&self, line: u64) -> bool {
        self.find(line).is_some()
    }

    /// The same, to be changed.
    pub(crate) fn find_mut(&mut self, line: u64) -> Option<&mut Line> {
        let start = self.set_start(line);
        let set = &mut self.lines[start..start + self.ways];
        set.iter_mut().find(|held| held.number == line)
    }

    /// Makes the line dirty, if the cache holds it; that is no use of it.
    pub(crate) fn make_dirty(&mut self, line: u64) {
        if let Some(held) = self.find_mut(line) {
            held.make_dirty();
        }
    }

    /// What a line that is not there would displace, if that can be told without choosing it.
    pub(crate) fn displaced_by(&self, line: u64) -> Option<Line> {
        match self.order {
            Order::Recency | Order::Arrival => {
                Some(self.lines[self.set_start(line) + self.ways - 1])
            }
            Order::Kept(_) => None,
        }
    }

    /// Puts in a line that is not there and gives the one it displaced.
    pub(crate) fn fill(&mut self, line: Line, position: Position) -> Option<Line> {
        let set_number = self.sets.of(line.number);
        let start = set_number * self.ways;
        let set = &mut self.lines[start..start + self.ways];
        let last = self.ways - 1;
        if set[0].is_none() && set[last].is_none() && self.occupied.len() < self.sets.count() {
            self.occupied.push(set_number as u32);
        }
        let displaced = match &mut self.order {
            Order::Recency | Order::Arrival => {
                if position == Position::Newest {
                    line_set::enqueue(set, line)
                } else {
                    // Free ways stand behind the lines.
                    let way = set.iter().position(|held| held.is_none()).unwrap_or(last);
                    std::mem::replace(&mut set[way], line)
                }
            }
            Order::Kept(policy) => {
                let free = set.iter().position(|held| held.is_none());
                let way = free.unwrap_or_else(|| policy.victim(set_number));
                policy.filled(set_number, way, position);
                std::mem::replace(&mut set[way], line)
            }
        };
        (!displaced.is_none()).then_some(displaced)
    }

    /// Takes the line out, if it is there.
    pub(crate) fn remove(&mut self, line: u64) -> Option<Line> {
        let start = self.set_start(line);
        let set = &mut self.lines[start..start + self.ways];
        let way = set.iter().position(|held| held.number == line)?;
        let removed = std::mem::replace(&mut set[way], Line::NONE);
        if matches!(self.order, Order::Recency | Order::Arrival) {
            set[way..].rotate_left(1);
        }
        Some(removed)
    }

    /// All lines that it holds, set by set.
    pub(crate) fn held(&self) -> impl Iterator<Item = Line> {
        self.lines.iter().copied().filter(|line| !line.is_none())
    }

    /// Empties the cache; dirty lines are forgotten.
    pub(crate) fn clear(&mut self) {
        if self.occupied.len() >= self.sets.count() {
            self.lines.fill(Line::NONE);
        }
        for &set in &self.occupied {
            let start = set as usize * self.ways;
            self.lines[start..start + self.ways].fill(Line::NONE);
        }
        self.occupied.clear();
        if let Order::Kept(policy) = &mut self.order {
            policy.clear();
        }
    }
}
