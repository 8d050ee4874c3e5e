//! The three Cs: why does a cache miss (Hill and Smith, IEEE ToC 1989)?

use super::check_line;
use super::lines::LineNumbers;
use super::stack::{NEVER, Stack};
use crate::reads::{AddressSink, for_each_line};
use crate::recency::{EMPTY, touch};
use crate::segments::SegmentFinder;
use crate::sets::Sets;
use crate::spec::{CacheSpec, SpecError};
use serde::Serialize;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Accesses by what the cache did with them. Misses are `compulsory + capacity + conflict`; a fully associative LRU
/// cache of the same capacity would have missed `compulsory + capacity + spared` times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// Line look-ups.
    pub accesses: u64,
    /// Misses of lines not used before.
    pub compulsory: u64,
    /// Other misses that full associativity would not have avoided.
    pub capacity: u64,
    /// Misses that full associativity would have avoided.
    pub conflict: u64,
    /// Hits that full associativity would have missed: a set kept what LRU over all lines had given up. Some define
    /// conflict misses as the difference of two caches' misses; that is `conflict - spared`, and may be negative.
    pub spared: u64,
}

/// The classification of what one data structure asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassRow {
    /// Segment name; `(elsewhere)` outside every segment.
    pub segment: String,
    /// Its accesses.
    #[serde(flatten)]
    pub counts: Classification,
}

/// Classifies the misses of one LRU cache that sees every data access; what leaves caches because memory is written past them is not followed. Feed it events or addresses, then
/// [`ThreeC::finish`].
#[derive(Clone, Debug)]
pub struct ThreeC {
    line_shift: u32,
    ways: usize,
    sets: Sets,
    /// Set after set, most recently used first.
    entries: Vec<u64>,
    numbers: LineNumbers,
    slots: Vec<u32>,
    stack: Stack,
    segments: SegmentFinder,
    segment: usize,
    rows: Vec<Classification>,
}

impl ThreeC {
    /// An empty cache.
    ///
    /// # Errors
    /// The line is no power of two. The rest of the geometry has been validated.
    pub fn new(cache: &CacheSpec, layout: &Layout) -> Result<Self, SpecError> {
        check_line(cache.line_bytes)?;
        let (sets, ways) = (cache.sets(), cache.ways as usize);
        let segments = SegmentFinder::new(&layout.segments);
        Ok(Self {
            line_shift: cache.line_bytes.trailing_zeros(),
            ways,
            sets: Sets::new(sets),
            entries: vec![EMPTY; sets as usize * ways],
            numbers: LineNumbers::new(),
            slots: Vec::new(),
            stack: Stack::new(),
            segment: segments.untouched(),
            rows: vec![Classification::default(); segments.places()],
            segments,
        })
    }

    /// Gives the segments that were touched, in address order.
    #[must_use]
    pub fn finish(self) -> Vec<ClassRow> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, counts)| counts.accesses > 0)
            .map(|(segment, &counts)| ClassRow {
                segment: self.segments.name(segment).to_owned(),
                counts,
            })
            .collect()
    }

    fn enter(&mut self, address: u64) {
        if let Some(segment) = self.segments.enter(address, 0) {
            self.segment = segment;
        }
    }

    fn use_line(&mut self, line: u64) {
        let number = self.numbers.number(line);
        self.slots.resize(self.numbers.count(), NEVER);
        let distance = self.stack.use_line(number, &mut self.slots);
        let start = self.sets.of(line) * self.ways;
        let hit = touch(&mut self.entries[start..start + self.ways], line);
        let full_hit = distance.is_some_and(|distance| distance < self.entries.len() as u64);
        let counts = &mut self.rows[self.segment];
        counts.accesses += 1;
        match (hit, full_hit) {
            (true, true) => {}
            (true, false) => counts.spared += 1,
            (false, true) => counts.conflict += 1,
            (false, false) if distance.is_none() => counts.compulsory += 1,
            (false, false) => counts.capacity += 1,
        }
    }

    fn flush(&mut self) {
        self.entries.fill(EMPTY);
        self.slots.fill(NEVER);
        self.stack = Stack::new();
    }
}

impl AddressSink for ThreeC {
    fn read(&mut self, addresses: &[u64]) {
        for &address in addresses {
            self.enter(address);
            self.use_line(address >> self.line_shift);
        }
    }
}

impl EventSink for ThreeC {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let shift = self.line_shift;
        for event in events {
            match event.kind {
                Kind::Flush => self.flush(),
                Kind::Measure => self.rows.fill(Classification::default()),
                kind if kind.is_access() => {
                    self.enter(event.address);
                    for_each_line(event, shift, |line| self.use_line(line));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
