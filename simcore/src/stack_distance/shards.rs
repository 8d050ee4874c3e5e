//! Stack distances of a sample of the lines: SHARDS (Waldspurger, Park, Garthwaite and Ahmad, FAST 2015).
//!
//! A line is in the sample if its hash is below a threshold, so either all of its uses are or none. Distances within
//! the sample, divided by the sampling rate, estimate those of the whole. With a fixed size the threshold falls as lines
//! appear. What the sample has too few or too many of is put down to the shortest distance (`SHARDS_adj`).

use super::check_line;
use super::lines::{LineNumbers, hash};
use super::stack::{NEVER, Stack};
use crate::reads::{AddressSink, for_each_line};
use crate::spec::SpecError;
use std::collections::BinaryHeap;
use traces::{Event, EventSink, Kind, SinkError};

/// Independent parts of the sample, whose spread tells the error of the whole.
const PARTS: usize = 8;
/// Distances below 2^12 are kept apart; larger ones to 11 bits after the first.
const EXACT_BITS: u32 = 12;
/// Lowest rate: it samples a line in 2^33 or so, and no trace has as many lines.
const LEAST_RATE: f64 = 1e-10;

/// Which lines are looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// This share of the lines, from 1e-10 to 1.
    Rate(f64),
    /// So many lines at most.
    Lines(usize),
}

/// One sample, with a weight for what each of its accesses stands for.
#[derive(Clone, Debug)]
struct Sample {
    /// Lines of this hash and above are not in the sample.
    threshold: u64,
    most_lines: Option<usize>,
    /// Share of the lines that get to the threshold at all.
    share: f64,
    numbers: LineNumbers,
    slots: Vec<u32>,
    stack: Stack,
    /// Lines by hash, the first to leave on top; kept only if their number is limited.
    held: BinaryHeap<(u64, u32)>,
    cold: f64,
    /// Weight of the accesses of each [`bin`] of distances.
    weights: Vec<f64>,
    sampled: u64,
}

impl Sample {
    fn new(sampling: Sampling, parts: usize) -> Self {
        let (rate, most_lines) = match sampling {
            Sampling::Rate(rate) => (rate, None),
            Sampling::Lines(lines) => (1.0, Some((lines / parts).max(1))),
        };
        Self {
            threshold: (rate * 2_f64.powi(64)) as u64,
            most_lines,
            share: 1.0 / parts as f64,
            numbers: LineNumbers::new(),
            slots: Vec::new(),
            stack: Stack::new(),
            held: BinaryHeap::new(),
            cold: 0.0,
            weights: Vec::new(),
            sampled: 0,
        }
    }

    fn rate(&self) -> f64 {
        self.share * (self.threshold as f64 / 2_f64.powi(64))
    }

    #[inline(always)]
    fn use_line(&mut self, line: u64, hash: u64) {
        if hash < self.threshold {
            self.use_sampled(line, hash);
        }
    }

    #[inline(never)]
    fn use_sampled(&mut self, line: u64, hash: u64) {
        self.sampled += 1;
        let weight = 1.0 / self.rate();
        let number = self.numbers.number(line);
        self.slots.resize(self.numbers.count(), NEVER);
        match self.stack.use_line(number, &mut self.slots) {
            Some(distance) => {
                let place = bin((distance as f64 * weight) as u64);
                if place >= self.weights.len() {
                    self.weights.resize(place + 1, 0.0);
                }
                self.weights[place] += weight;
            }
            None => {
                self.cold += weight;
                self.hold(number, hash);
            }
        }
    }

    /// Notes a new line and, if there are too many now, lowers the threshold to the largest hash among them.
    fn hold(&mut self, number: u32, hash: u64) {
        let Some(most) = self.most_lines else {
            return;
        };
        self.held.push((hash, number));
        if self.held.len() <= most {
            return;
        }
        self.threshold = self.held.peek().map_or(self.threshold, |top| top.0);
        while let Some(&(hash, number)) = self.held.peek()
            && hash >= self.threshold
        {
            self.held.pop();
            let slot = std::mem::replace(&mut self.slots[number as usize], NEVER);
            self.stack.remove(slot);
        }
    }

    /// Estimated misses, of `accesses`, in a fully associative cache of so many lines.
    fn misses(&self, accesses: u64, lines: u64) -> f64 {
        if lines == 0 {
            return accesses as f64;
        }
        let first = (0..self.weights.len()).find(|&place| lower_bound(place) >= lines);
        let first = first.unwrap_or(self.weights.len());
        (self.cold + self.weights[first..].iter().sum::<f64>()).min(accesses as f64)
    }

    fn flush(&mut self) {
        self.slots.fill(NEVER);
        self.stack = Stack::new();
        self.held.clear();
    }

    /// Counts from here on.
    fn measure(&mut self) {
        self.cold = 0.0;
        self.weights.clear();
        self.sampled = 0;
    }
}

/// Place of a distance among the weights.
fn bin(distance: u64) -> usize {
    let shift = (u64::BITS - distance.leading_zeros()).saturating_sub(EXACT_BITS);
    ((distance >> shift) + (u64::from(shift) << (EXACT_BITS - 1))) as usize
}

/// Shortest distance of a [`bin`].
fn lower_bound(bin: usize) -> u64 {
    let bin = bin as u64;
    let half = 1 << (EXACT_BITS - 1);
    let shift = (bin / half).saturating_sub(1);
    (bin - shift * half) << shift
}

/// What a sample says of the whole.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Accesses, all counted.
    pub accesses: u64,
    /// Accesses looked at.
    pub sampled: u64,
    /// Share of the lines in the sample at the end.
    pub rate: f64,
    whole: Sample,
    parts: Vec<Sample>,
}

impl Estimate {
    /// Misses in a fully associative cache of so many lines, and their standard error; nothing of caches that the sample is too small for.
    ///
    /// So many lines are `lines` x rate of the sample, and an eighth of that of each eighth. Below one line of an eighth all of them say the
    /// same of caches of all sizes, whatever these miss.
    ///
    /// The error is that of the mean of independent eighths of the sample, less what is known of the whole: lines are drawn without repetition,
    /// so that a sample of all of them has none. An eighth that is biased, because few of its lines are used often, hides its bias.
    #[must_use]
    pub fn misses(&self, lines: u64) -> Option<(f64, f64)> {
        if self.rate < 1.0 && lines as f64 * self.rate < PARTS as f64 {
            return None;
        }
        let parts = self.parts.iter();
        let parts: Vec<f64> = parts
            .map(|part| part.misses(self.accesses, lines))
            .collect();
        let mean = parts.iter().sum::<f64>() / PARTS as f64;
        let squares: f64 = parts.iter().map(|part| (part - mean).powi(2)).sum();
        let variance = squares / (PARTS * (PARTS - 1)) as f64;
        let error = (variance * (1.0 - self.rate).max(0.0)).sqrt();
        Some((self.whole.misses(self.accesses, lines), error))
    }
}

/// Estimates stack distances. Feed it events or addresses, then [`Shards::finish`].
#[derive(Clone, Debug)]
pub struct Shards {
    line_shift: u32,
    accesses: u64,
    whole: Sample,
    parts: Vec<Sample>,
}

impl Shards {
    /// Nothing used so far.
    ///
    /// # Errors
    /// `line_bytes` is no power of two from 2 to 2^30, or the sampling is none.
    pub fn new(line_bytes: u64, sampling: Sampling) -> Result<Self, SpecError> {
        check_line(line_bytes)?;
        let problem = match sampling {
            Sampling::Rate(rate) if !(LEAST_RATE..=1.0).contains(&rate) => Some((
                "shards",
                format!("a rate of {rate:e} is not between {LEAST_RATE:e} and 1"),
            )),
            Sampling::Lines(lines) if lines < PARTS => Some((
                "shards-lines",
                format!("{lines} lines are fewer than {PARTS}"),
            )),
            _ => None,
        };
        if let Some((path, message)) = problem {
            let path = path.to_owned();
            return Err(SpecError { path, message });
        }
        Ok(Self {
            line_shift: line_bytes.trailing_zeros(),
            accesses: 0,
            whole: Sample::new(sampling, 1),
            parts: vec![Sample::new(sampling, PARTS); PARTS],
        })
    }

    /// Gives the estimate.
    #[must_use]
    pub fn finish(self) -> Estimate {
        Estimate {
            accesses: self.accesses,
            sampled: self.whole.sampled,
            rate: self.whole.rate(),
            whole: self.whole,
            parts: self.parts,
        }
    }

    #[inline(always)]
    fn use_line(&mut self, line: u64) {
        self.accesses += 1;
        let hash = hash(line);
        self.whole.use_line(line, hash);
        self.parts[hash as usize % PARTS].use_line(line, hash);
    }
}

impl AddressSink for Shards {
    fn read(&mut self, addresses: &[u64]) {
        for address in addresses {
            self.use_line(address >> self.line_shift);
        }
    }
}

impl EventSink for Shards {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let shift = self.line_shift;
        for event in events {
            for_each_line(event, shift, |line| self.use_line(line));
            match event.kind {
                Kind::Flush => {
                    self.whole.flush();
                    self.parts.iter_mut().for_each(Sample::flush);
                }
                Kind::Measure => {
                    self.accesses = 0;
                    self.whole.measure();
                    self.parts.iter_mut().for_each(Sample::measure);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_begin_where_they_say() {
        for distance in (0..10_000).chain([1 << 20, (1 << 20) + 511, 1 << 40, u64::MAX >> 1]) {
            let place = bin(distance);
            assert!(lower_bound(place) <= distance && distance < lower_bound(place + 1));
        }
    }
}
