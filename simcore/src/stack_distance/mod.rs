//! Exact LRU stack distances: the misses of every capacity from one pass (Mattson et al., IBM Systems J. 1970).
//!
//! An access hits in a fully associative LRU cache of `c` lines if fewer than `c` other lines were used since the line's
//! last use. With one stack per set the same holds for `c` ways of a cache of that many sets.

mod lines;
mod shards;
mod stack;
mod three_c;

pub use shards::{Estimate, Sampling, Shards};
pub use three_c::{ClassRow, Classification, ThreeC};

use crate::reads::{AddressSink, for_each_line};
use crate::sets::Sets;
use crate::spec::SpecError;
use lines::LineNumbers;
use serde::Serialize;
use stack::{NEVER, Stack};
use std::hint::black_box;
use traces::{Event, EventSink, Kind, SinkError};

/// More bytes than any line or page has; capacities are multiples of it.
const MOST_LINE_BYTES: u64 = 1 << 30;
/// More sets than any cache has.
const MOST_SETS: u64 = 1 << 24;
/// Lines whose numbers are looked up ahead of their distances, so that the host fetches many at once.
const AHEAD: usize = 64;

/// How many accesses have which stack distance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distances {
    /// Line look-ups by loads, stores and software prefetches.
    pub accesses: u64,
    /// Accesses to lines not used before, or not since a page overwrote them: they miss whatever the capacity.
    pub cold: u64,
    /// Accesses by distance: lines of the same set used since the line's last use.
    pub histogram: Vec<u64>,
}

impl Distances {
    #[inline(always)]
    fn count(&mut self, distance: u64) {
        let place = distance as usize;
        if place >= self.histogram.len() {
            self.histogram.resize(place + 1, 0);
        }
        self.histogram[place] += 1;
    }

    /// Misses by capacity, from none on: lines of a fully associative cache, or ways of each set. Every larger capacity
    /// has as many misses as the last.
    #[must_use]
    pub fn misses(&self) -> Vec<u64> {
        let mut misses = self.accesses;
        let mut all = vec![misses];
        for hits in &self.histogram {
            misses -= hits;
            all.push(misses);
        }
        all
    }
}

/// Measures stack distances. Feed it events or addresses, then [`StackDistances::finish`].
#[derive(Clone, Debug)]
pub struct StackDistances {
    line_shift: u32,
    sets: Sets,
    numbers: LineNumbers,
    /// By line number: slot of the latest use in the stack of the line's set.
    slots: Vec<u32>,
    stacks: Vec<Stack>,
    distances: Distances,
    /// Whether pages that arrive overwrite the frames that they come into.
    overwrites: bool,
}

impl StackDistances {
    /// Nothing used so far; one set is full associativity.
    ///
    /// # Errors
    /// `line_bytes` is no power of two from 2 to 2^30, or `sets` is not between 1 and 2^24.
    pub fn new(line_bytes: u64, sets: u64) -> Result<Self, SpecError> {
        check_line(line_bytes)?;
        if !(1..=MOST_SETS).contains(&sets) {
            return Err(SpecError {
                path: "sets".to_owned(),
                message: format!("{sets} is not between 1 and {MOST_SETS}"),
            });
        }
        Ok(Self {
            line_shift: line_bytes.trailing_zeros(),
            sets: Sets::new(sets),
            numbers: LineNumbers::new(),
            slots: Vec::new(),
            stacks: vec![Stack::new(); sets as usize],
            distances: Distances::default(),
            overwrites: false,
        })
    }

    /// The same with pages from storage, which overwrite the frames that they come into.
    #[must_use]
    pub fn with_arrivals(mut self) -> Self {
        self.overwrites = true;
        self
    }

    /// Gives the distances.
    #[must_use]
    pub fn finish(self) -> Distances {
        self.distances
    }

    /// Uses lines, [`AHEAD`] or fewer, given by address.
    fn use_lines(&mut self, lines: &[u64]) {
        let mut numbers = [0; AHEAD];
        for (number, &line) in numbers.iter_mut().zip(lines) {
            *number = self.numbers.number(line);
        }
        self.slots.resize(self.numbers.count(), NEVER);
        // A look at each slot now: later the host would wait for one at a time.
        for &number in &numbers[..lines.len()] {
            black_box(self.slots[number as usize]);
        }
        self.distances.accesses += lines.len() as u64;
        for (&number, line) in numbers.iter().zip(lines) {
            let stack = &mut self.stacks[self.sets.of(*line)];
            match stack.use_line(number, &mut self.slots) {
                Some(distance) => self.distances.count(distance),
                None => self.distances.cold += 1,
            }
        }
    }

    /// A page has come into a frame of so many bytes.
    fn arrive(&mut self, address: u64, bytes: u64) {
        if self.overwrites && bytes > 0 {
            self.drop_lines(address, bytes);
        }
    }

    /// Drops the lines of so many bytes, at least one.
    fn drop_lines(&mut self, address: u64, bytes: u64) {
        let last = address.saturating_add(bytes - 1);
        for line in address >> self.line_shift..=last >> self.line_shift {
            let number = self.numbers.number(line);
            self.slots.resize(self.numbers.count(), NEVER);
            self.stacks[self.sets.of(line)].drop_line(number, &mut self.slots);
        }
    }

    fn flush(&mut self) {
        self.slots.fill(NEVER);
        self.stacks.fill(Stack::new());
    }
}

impl AddressSink for StackDistances {
    fn read(&mut self, addresses: &[u64]) {
        for addresses in addresses.chunks(AHEAD) {
            let mut lines = [0; AHEAD];
            for (line, address) in lines.iter_mut().zip(addresses) {
                *line = address >> self.line_shift;
            }
            self.use_lines(&lines[..addresses.len()]);
        }
    }
}

impl EventSink for StackDistances {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let shift = self.line_shift;
        for event in events {
            for_each_line(event, shift, |line| self.use_lines(&[line]));
            match event.kind {
                Kind::Flush => self.flush(),
                Kind::Measure => self.distances = Distances::default(),
                Kind::PageArrival if event.comes_for_another() => {}
                Kind::PageArrival => self.arrive(event.address, event.size.into()),
                Kind::StoreNta => self.drop_lines(event.address, u64::from(event.size).max(1)),
                _ => {}
            }
        }
        Ok(())
    }
}

fn check_line(line_bytes: u64) -> Result<(), SpecError> {
    if line_bytes.is_power_of_two() && (2..=MOST_LINE_BYTES).contains(&line_bytes) {
        return Ok(());
    }
    Err(SpecError {
        path: "line".to_owned(),
        message: format!("{line_bytes} bytes are no power of two from 2 to {MOST_LINE_BYTES}"),
    })
}
