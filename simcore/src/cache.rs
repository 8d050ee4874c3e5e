//! One level of set-associative cache: which lines are there, in order of use.

use crate::spec::CacheSpec;

/// No line: larger than any line number, because lines are at least two bytes.
const EMPTY: u64 = u64::MAX;

/// A line held by a cache. While `ready` is in the future the line is still on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    number: u64,
    ready_and_source: u64,
}

/// Bits of `ready_and_source` below the cycle: one for dirty, three for the level that serves the fill.
const SOURCE_SHIFT: u32 = 1;
const READY_SHIFT: u32 = 4;
const DIRTY: u64 = 1;

impl Line {
    const NONE: Self = Self {
        number: EMPTY,
        ready_and_source: 0,
    };

    fn new(number: u64, ready: u64, source: usize, dirty: bool) -> Self {
        Self {
            number,
            ready_and_source: (ready << READY_SHIFT)
                | ((source as u64) << SOURCE_SHIFT)
                | u64::from(dirty),
        }
    }

    /// Cycle from which the line's data can be used.
    pub(crate) fn ready(self) -> u64 {
        self.ready_and_source >> READY_SHIFT
    }

    /// Sets the cycle from which the line's data can be used, when it becomes known.
    pub(crate) fn set_ready(&mut self, ready: u64) {
        let others = self.ready_and_source & ((1 << READY_SHIFT) - 1);
        self.ready_and_source = (ready << READY_SHIFT) | others;
    }

    /// Level that serves, or served, the fill.
    pub(crate) fn source(self) -> usize {
        ((self.ready_and_source >> SOURCE_SHIFT) & 7) as usize
    }
}

/// A line that had to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    pub(crate) number: u64,
    pub(crate) dirty: bool,
}

/// Where in the order of use a new line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    MostRecent,
    /// Next to leave: a line that is used once takes one way of its set, never more.
    LeastRecent,
}

/// State of one cache level under LRU. Each set keeps its lines most recently used first.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    line_shift: u32,
    set_mask: u64,
    ways: usize,
    lines: Box<[Line]>,
    /// Sets that hold anything, so that a flush need not visit the others.
    occupied: Vec<u32>,
}

impl Cache {
    /// An empty cache. The geometry has been validated.
    pub(crate) fn new(spec: &CacheSpec) -> Self {
        let ways = spec.ways as usize;
        let sets = spec.sets();
        Self {
            line_shift: spec.line_bytes.trailing_zeros(),
            set_mask: sets - 1,
            ways,
            lines: vec![Line::NONE; sets as usize * ways].into_boxed_slice(),
            occupied: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn line_shift(&self) -> u32 {
        self.line_shift
    }

    #[inline]
    fn set_start(&self, line: u64) -> usize {
        (line & self.set_mask) as usize * self.ways
    }

    /// The line, which becomes the most recently used of its set, if the cache holds it.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64) -> Option<&mut Line> {
        let start = self.set_start(line);
        if self.lines[start].number == line {
            return Some(&mut self.lines[start]);
        }
        self.touch_older(start, line)
    }

    fn touch_older(&mut self, start: usize, line: u64) -> Option<&mut Line> {
        let set = &mut self.lines[start..start + self.ways];
        let way = set.iter().position(|held| held.number == line)?;
        set[..=way].rotate_right(1);
        Some(&mut set[0])
    }

    /// Puts in a line that is not there and says which one it displaced.
    pub(crate) fn fill(
        &mut self,
        line: u64,
        ready: u64,
        source: usize,
        dirty: bool,
        position: Position,
    ) -> Option<Victim> {
        let start = self.set_start(line);
        let set = &mut self.lines[start..start + self.ways];
        let last = self.ways - 1;
        if set[0].number == EMPTY && set[last].number == EMPTY {
            self.occupied.push((start / self.ways) as u32);
        }
        let oldest = set[last];
        set[last] = Line::new(line, ready, source, dirty);
        if position == Position::MostRecent {
            set.rotate_right(1);
        }
        (oldest.number != EMPTY).then_some(Victim {
            number: oldest.number,
            dirty: oldest.ready_and_source & DIRTY != 0,
        })
    }

    /// Empties the cache; dirty lines are forgotten.
    pub(crate) fn clear(&mut self) {
        for &set in &self.occupied {
            let start = set as usize * self.ways;
            self.lines[start..start + self.ways].fill(Line::NONE);
        }
        self.occupied.clear();
    }
}

/// Marks the line as different from what the levels below hold.
#[inline]
pub(crate) fn make_dirty(line: &mut Line) {
    line.ready_and_source |= DIRTY;
}
