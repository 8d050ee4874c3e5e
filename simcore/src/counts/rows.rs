//! Whose look-ups and misses they are: phase x segment x whether a prefetch asked.

use super::statistics::CountRow;
use crate::ledger::{self, phase_name};
use crate::segments::SegmentFinder;
use crate::spec::SpecError;
use crate::statistics::PhaseStatistics;
use traces::{Layout, SinkError};

/// Rows of one segment in one phase: loads and stores, then prefetches.
const ROWS_PER_PLACE: usize = 2;

/// Counts by row. Everything belongs to the segment that the program touched last.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    layout: Layout,
    segments: SegmentFinder,
    /// Look-ups, then misses by level, of one row after the other.
    counts: Vec<u64>,
    levels: usize,
    phase: usize,
    segment: usize,
    prefetching: bool,
    current: u32,
    entries: Vec<u64>,
}

impl Rows {
    /// Rows in which nothing was counted.
    ///
    /// # Errors
    /// There would be more than memory should hold.
    pub(super) fn new(layout: &Layout, levels: usize) -> Result<Self, SpecError> {
        let segments = SegmentFinder::new(&layout.segments);
        let phases = layout.phases.len().max(1);
        let rows = ledger::rows(layout, segments.places(), "segments")? * ROWS_PER_PLACE;
        let mut this = Self {
            layout: layout.clone(),
            counts: vec![0; rows * (levels + 1)],
            levels,
            phase: 0,
            segment: segments.untouched(),
            prefetching: false,
            current: 0,
            entries: vec![0; phases],
            segments,
        };
        this.settle();
        Ok(this)
    }

    /// Forgets everything counted so far; phase and segment stay the current ones.
    pub(super) fn restart(&mut self) {
        self.counts.fill(0);
        self.entries.fill(0);
    }

    /// Whether accesses differ in more than their phase.
    pub(super) fn tell_segments_apart(&self) -> bool {
        !self.layout.segments.is_empty()
    }

    /// The row that counts now.
    #[inline(always)]
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    fn settle(&mut self) {
        let place = self.phase * self.segments.places() + self.segment;
        self.current = (place * ROWS_PER_PLACE + usize::from(self.prefetching)) as u32;
    }

    /// Makes the segment of `address` the current one.
    #[inline(always)]
    pub(super) fn enter(&mut self, address: u64) {
        if let Some(segment) = self.segments.enter(address, 0) {
            self.segment = segment;
            self.settle();
        }
    }

    /// Says whether a prefetch asks from now on.
    pub(super) fn set_prefetching(&mut self, prefetching: bool) {
        self.prefetching = prefetching;
        self.settle();
    }

    /// Opens a phase.
    pub(super) fn open_phase(&mut self, phase: u64) -> Result<(), SinkError> {
        let known = usize::try_from(phase).ok();
        let Some(phase) = known.filter(|&phase| phase < self.entries.len()) else {
            return Err(SinkError::Unsupported(format!(
                "a mark opens phase {phase}, but the trace names {} phases",
                self.layout.phases.len()
            )));
        };
        self.entries[phase] += 1;
        self.phase = phase;
        self.settle();
        Ok(())
    }

    #[inline(always)]
    pub(super) fn count_look_ups(&mut self, look_ups: u64) {
        self.counts[self.current as usize * (self.levels + 1)] += look_ups;
    }

    /// Counts a miss of `row` in a level.
    #[inline(always)]
    pub(super) fn count_miss(&mut self, row: u32, level: usize) {
        self.counts[row as usize * (self.levels + 1) + 1 + level] += 1;
    }

    /// Counts misses of the current row in a level.
    pub(super) fn count_misses(&mut self, level: usize, misses: u64) {
        self.counts[self.current as usize * (self.levels + 1) + 1 + level] += misses;
    }

    /// Look-ups by the level that served them, memory last, of one row after the other.
    fn served(&self) -> impl Iterator<Item = Vec<u64>> {
        self.counts.chunks(self.levels + 1).map(|row| {
            let beyond = row[1..].iter().copied().chain([0]);
            row.iter().zip(beyond).map(|(all, on)| all - on).collect()
        })
    }

    /// Look-ups by the level that served them, memory last.
    pub(super) fn totals(&self) -> Vec<u64> {
        self.served().fold(vec![0; self.levels + 1], |sum, row| {
            sum.iter()
                .zip(row)
                .map(|(sum, value)| sum + value)
                .collect()
        })
    }

    /// Prefetched lines that the first level had.
    pub(super) fn useless_prefetches(&self) -> u64 {
        let prefetches = self.served().skip(1).step_by(ROWS_PER_PLACE);
        prefetches.map(|row| row[0]).sum()
    }

    /// Rows in which anything happened, by phase, then by segment in address order.
    pub(super) fn breakdown(&self) -> Vec<CountRow> {
        let served: Vec<Vec<u64>> = self.served().collect();
        let places = self.segments.places();
        let rows = served.chunks(ROWS_PER_PLACE).enumerate();
        rows.filter(|(_, rows)| rows.iter().flatten().any(|&count| count > 0))
            .map(|(place, rows)| CountRow {
                phase: phase_name(&self.layout, place / places),
                segment: self.segments.name(place % places).to_owned(),
                served: rows[0].clone(),
                prefetched: rows[1].clone(),
            })
            .collect()
    }

    /// How often each phase was opened.
    pub(super) fn phases(&self) -> Vec<PhaseStatistics> {
        let phases = self.entries.iter().enumerate();
        phases
            .map(|(phase, &entries)| PhaseStatistics {
                phase: phase_name(&self.layout, phase),
                entries,
            })
            .collect()
    }
}
