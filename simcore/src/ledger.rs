//! Who pays for a slot: phase x segment x cause; or phase x site x cause.

use crate::segments::SegmentFinder;
use crate::spec::SpecError;
use crate::statistics::{BreakdownRow, PhaseStatistics, Slots};
use traces::{Event, Layout};

/// What an empty slot was spent on, besides waiting for data from one of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Cause {
    Dtlb = 0,
    Branch = 1,
    Other = 2,
    Drain = 3,
    Icache = 4,
    Barrier = 5,
    System = 6,
    Storage = 7,
}

const BUSY: usize = 8;
const PREFETCHES: usize = 9;
/// Prefetches among them that were dropped before they looked up a cache.
const DROPPED: usize = 10;
const WALKS: usize = 11;
/// Loads, stores and prefetches that looked up the first cache.
const ACCESSES: usize = 12;
/// Stall slots by the level that serves the data, second cache first, memory last; then loads and stores that it served.
const FIRST_LEVEL: usize = 13;
const MAX_LEVELS: usize = 8;
const FIRST_SERVED: usize = FIRST_LEVEL + MAX_LEVELS;
/// Loads and stores that missed a line because another core had written to other parts of it.
const FALSE_SHARING: usize = FIRST_SERVED + MAX_LEVELS;
/// More than are used: a power of two makes rows quick to find.
const COLUMNS: usize = (FALSE_SHARING + 1).next_power_of_two();

/// Bytes of an account.
const ROW_BYTES: usize = size_of::<[u64; COLUMNS]>();
/// Accounts that a ledger may have: a GiB of them.
const MOST_ROWS: usize = (1 << 30) / ROW_BYTES;

/// Accounts of a trace with so many phases and `places` in each.
///
/// # Errors
/// There would be more than memory should hold.
pub(crate) fn rows(layout: &Layout, places: usize, what: &str) -> Result<usize, SpecError> {
    let phases = layout.phases.len().max(1);
    let rows = phases.saturating_mul(places);
    if rows <= MOST_ROWS {
        return Ok(rows);
    }
    Err(SpecError {
        path: "trace".to_owned(),
        message: format!(
            "{phases} phases times {places} {what} need {rows} accounts, and {MOST_ROWS} is the most; name fewer phases or {what}"
        ),
    })
}

/// Bytes of a ledger, about.
pub(crate) fn bytes_of_accounts(layout: &Layout, accounts: Accounts) -> u64 {
    let places = match accounts {
        Accounts::Segments => layout.segments.len(),
        Accounts::Sites => layout.sites.len(),
    };
    let rows = layout.phases.len().max(1).saturating_mul(places + 2);
    (rows as u64).saturating_mul(ROW_BYTES as u64)
}

/// What has an account of its own in each phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accounts {
    /// Each segment: the data structure that was touched last.
    Segments,
    /// Each site: the place in the code that made the last access.
    Sites,
}

/// Deepest hierarchy that the ledger has columns for, memory not counted. Other cores take one more, where they serve lines.
pub(crate) const MAX_CACHES: usize = MAX_LEVELS - 1;

/// A row to be charged.
#[derive(Debug)]
pub(crate) struct Account<'l>(&'l mut [u64; COLUMNS]);

impl Account<'_> {
    /// Charges slots to a cause.
    #[inline]
    pub(crate) fn charge(&mut self, cause: Cause, slots: u64) {
        self.0[cause as usize] += slots;
    }

    /// Charges slots to the level that serves the data waited for; 1 is the second cache.
    #[inline]
    pub(crate) fn charge_level(&mut self, level: usize, slots: u64) {
        self.0[FIRST_LEVEL + level - 1] += slots;
    }
}

/// What some cores wait for, and others do not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// There is an instruction cache.
    pub(crate) code: bool,
    /// There are other cores.
    pub(crate) others: bool,
    /// Their caches are coherent.
    pub(crate) coherent: bool,
    /// Pages come from storage.
    pub(crate) storage: bool,
    /// The operating system takes time of the core for that.
    pub(crate) system: bool,
}

/// What a core has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) instructions: u64,
    /// See [`crate::hierarchy::Port::accesses`].
    pub(crate) accesses: u64,
}

/// Slots and accesses by phase, segment and cause.
///
/// Everything is charged to the segment that the program touched last, so that instructions and mispredictions fall
/// to the data structure they work on.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    rows: Vec<[u64; COLUMNS]>,
    segments: SegmentFinder,
    /// First row of the current phase.
    phase: usize,
    /// The row that is charged: one of the phase's.
    row: usize,
    /// What was done before the row was entered: its instructions since then are its busy slots.
    entered_at: Progress,
    entries: Vec<u64>,
    /// What may be waited for, besides what every core waits for.
    waits: Waits,
}

impl Ledger {
    /// A ledger in which nothing was spent. Segments are ascending and do not overlap.
    ///
    /// # Errors
    /// There would be more accounts than memory should hold.
    pub(crate) fn new(
        layout: &Layout,
        accounts: Accounts,
        waits: Waits,
    ) -> Result<Self, SpecError> {
        let (segments, what) = match accounts {
            Accounts::Segments => (SegmentFinder::new(&layout.segments), "segments"),
            Accounts::Sites => (SegmentFinder::of_sites(&layout.sites), "sites"),
        };
        let rows = rows(layout, segments.places(), what)?;
        let none = segments.untouched();
        Ok(Self {
            rows: vec![[0; COLUMNS]; rows],
            segments,
            phase: 0,
            row: none,
            entered_at: Progress::default(),
            entries: vec![0; layout.phases.len().max(1)],
            waits,
        })
    }

    /// Storage may be waited for, and perhaps an operating system that asks it for pages.
    pub(crate) fn await_storage(&mut self, system: bool) {
        self.waits.storage = true;
        self.waits.system = system;
    }

    /// Charges what was done so far to the current row, its instructions as busy slots.
    #[inline]
    pub(crate) fn settle(&mut self, progress: Progress) {
        let row = &mut self.rows[self.row];
        row[BUSY] += progress.instructions - self.entered_at.instructions;
        row[ACCESSES] += progress.accesses - self.entered_at.accesses;
        self.entered_at = progress;
    }

    /// Forgets everything charged and counted so far; phase and segment stay the current ones. What ran was settled.
    pub(crate) fn restart(&mut self) {
        self.rows.fill([0; COLUMNS]);
        self.entries.fill(0);
    }

    /// Opens a phase when so much has been done; false if there is no such phase.
    pub(crate) fn open_phase(&mut self, phase: u64, progress: Progress) -> bool {
        let Ok(phase) = usize::try_from(phase) else {
            return false;
        };
        if phase >= self.entries.len() {
            return false;
        }
        self.entries[phase] += 1;
        self.settle(progress);
        let segment = self.row - self.phase;
        self.phase = phase * self.segments.places();
        self.row = self.phase + segment;
        true
    }

    /// Makes the segment that `event` accesses the one that is charged from now on, when so much has been done.
    #[inline(always)]
    pub(crate) fn touch(&mut self, event: &Event, progress: Progress) {
        if let Some(segment) = self.segments.enter(event.address, event.site) {
            self.settle(progress);
            self.row = self.phase + segment;
        }
    }

    #[inline]
    pub(crate) fn charge(&mut self, cause: Cause, slots: u64) {
        self.rows[self.row][cause as usize] += slots;
    }

    /// Has the data structure that `event` names, in the phase of `place`, pay for slots that have been charged to `place`.
    pub(crate) fn pass_on(&mut self, cause: Cause, slots: u64, place: u32, event: &Event) {
        let (place, per_phase) = (place as usize, self.segments.places());
        let segment = self.segments.number_of(event.address, event.site);
        self.rows[place][cause as usize] -= slots;
        self.rows[place - place % per_phase + segment][cause as usize] += slots;
    }

    /// Counts a load or a store by the level that served it. All that were accesses and are not counted here, or as
    /// prefetches, were served by the first cache.
    #[inline]
    pub(crate) fn count_served(&mut self, level: usize) {
        if level > 0 {
            self.rows[self.row][FIRST_SERVED + level - 1] += 1;
        }
    }

    /// Counts lines missed for what another core wrote beside what is used.
    #[inline]
    pub(crate) fn count_false_sharing(&mut self, lines: u64) {
        self.rows[self.row][FALSE_SHARING] += lines;
    }

    #[inline]
    pub(crate) fn count_prefetch(&mut self) {
        self.rows[self.row][PREFETCHES] += 1;
    }

    #[inline]
    pub(crate) fn count_dropped_prefetch(&mut self) {
        self.rows[self.row][DROPPED] += 1;
    }

    #[inline]
    pub(crate) fn count_walk(&mut self) {
        self.rows[self.row][WALKS] += 1;
    }

    /// Counts accesses, of which there were so many up to now, for `place` from now on, and gives the place that they were counted for before.
    pub(crate) fn count_for(&mut self, place: u32, accesses: u64) -> u32 {
        self.rows[self.row][ACCESSES] += accesses - self.entered_at.accesses;
        self.entered_at.accesses = accesses;
        std::mem::replace(&mut self.row, place as usize) as u32
    }

    /// The place that pays now, to be charged later.
    #[inline]
    pub(crate) fn place(&self) -> u32 {
        self.row as u32
    }

    /// What is charged to a place remembered from before.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> Account<'_> {
        Account(&mut self.rows[place as usize])
    }

    /// Rows in which anything happened, by phase, then by segment in address order.
    pub(crate) fn rows(&self, layout: &Layout, levels: &[String]) -> Vec<BreakdownRow> {
        let mut rows = Vec::new();
        let per_phase = self.segments.places();
        for (number, columns) in self.rows.iter().enumerate() {
            if columns.iter().all(|&value| value == 0) {
                continue;
            }
            let others = &columns[FIRST_SERVED..][..levels.len()];
            let prefetched = columns[PREFETCHES] - columns[DROPPED];
            let first = columns[ACCESSES] - prefetched - others.iter().sum::<u64>();
            rows.push(BreakdownRow {
                phase: phase_name(layout, number / per_phase),
                segment: self.segments.name(number % per_phase).to_owned(),
                slots: self.slots(columns, levels),
                accesses: columns[ACCESSES] + columns[DROPPED],
                served: [&[first], others].concat(),
                walks: columns[WALKS],
                false_sharing: self.waits.coherent.then_some(columns[FALSE_SHARING]),
            });
        }
        rows
    }

    /// The sum over all rows.
    pub(crate) fn total(&self, levels: &[String]) -> Slots {
        let mut sum = [0; COLUMNS];
        for columns in &self.rows {
            for (total, value) in sum.iter_mut().zip(columns) {
                *total += value;
            }
        }
        self.slots(&sum, levels)
    }

    /// How often each phase was opened.
    pub(crate) fn phases(&self, layout: &Layout) -> Vec<PhaseStatistics> {
        self.entries
            .iter()
            .enumerate()
            .map(|(phase, &entries)| PhaseStatistics {
                phase: phase_name(layout, phase),
                entries,
            })
            .collect()
    }

    fn slots(&self, columns: &[u64], levels: &[String]) -> Slots {
        let dcache = &columns[FIRST_LEVEL..FIRST_LEVEL + levels.len()];
        let busy = columns[BUSY];
        let causes = [
            Cause::Dtlb,
            Cause::Branch,
            Cause::Other,
            Cause::Drain,
            Cause::Icache,
            Cause::Barrier,
            Cause::System,
            Cause::Storage,
        ];
        let [dtlb, branch, other, drain, icache, barrier, system, storage] =
            causes.map(|cause| columns[cause as usize]);
        Slots {
            total: columns[..=BUSY].iter().sum::<u64>() + dcache.iter().sum::<u64>(),
            busy,
            dcache: levels.iter().cloned().zip(dcache.iter().copied()).collect(),
            dtlb,
            icache: self.waits.code.then_some(icache),
            branch,
            other,
            barrier: self.waits.others.then_some(barrier),
            system: self.waits.system.then_some(system),
            storage: self.waits.storage.then_some(storage),
            drain,
        }
    }
}

/// Name of a phase, as results show it.
pub(crate) fn phase_name(layout: &Layout, phase: usize) -> String {
    layout
        .phases
        .get(phase)
        .map_or_else(|| "(whole run)".to_owned(), Clone::clone)
}
