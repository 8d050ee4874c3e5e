//! Routines whose code was found as a whole, so that their next run need not look it up line by line.
//!
//! Until a line comes or leaves, such a routine finds all its lines again, and all that its look-ups would change is the
//! state of the replacement policy. Where the policy remembers the latest use of each line alone, it does not miss the
//! others: a run is only noted, and each routine's latest run is made up for, in their order, before the cache is looked at.

use crate::cache::Cache;
use std::ops::Range;

/// A routine, if it was found as a whole.
#[derive(Clone, Debug, Default)]
struct Resident {
    lines: Range<u64>,
    /// The number of its latest run that found everything; 0 if none did.
    latest: u64,
}

/// The routines by their numbers. Runs that find everything are numbered from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Residents {
    routines: Vec<Resident>,
    runs: u64,
    /// Runs before the set of lines changed last.
    changed: u64,
    /// Runs whose look-ups the cache has seen, or need not see.
    seen: u64,
}

impl Residents {
    /// Notes a run of the routine and gives the number of its lines, if all of them are there for sure.
    #[inline]
    pub(super) fn run(&mut self, routine: usize) -> Option<u64> {
        let resident = self.routines.get_mut(routine)?;
        if resident.latest <= self.changed {
            return None;
        }
        self.runs += 1;
        resident.latest = self.runs;
        Some(resident.lines.end - resident.lines.start)
    }

    /// A run of the routine has just found all its lines in the cache, which has seen all runs before.
    pub(super) fn found(&mut self, routine: usize, lines: Range<u64>) {
        if self.routines.len() <= routine {
            self.routines.resize_with(routine + 1, Resident::default);
        }
        self.runs += 1;
        self.seen = self.runs;
        self.routines[routine] = Resident {
            lines,
            latest: self.runs,
        };
    }

    /// Shows the cache the runs that it has not seen.
    #[inline]
    pub(super) fn show(&mut self, cache: &mut Cache) {
        if self.seen < self.runs {
            self.show_latest(cache);
        }
    }

    #[inline(never)]
    fn show_latest(&mut self, cache: &mut Cache) {
        let seen = &mut self.seen;
        while let Some(next) = self
            .routines
            .iter()
            .filter(|resident| resident.latest > *seen)
            .min_by_key(|resident| resident.latest)
        {
            *seen = next.latest;
            for line in next.lines.clone() {
                cache.touch(line);
            }
        }
    }

    /// The set of lines changes; the cache has seen all runs, or forgets all uses.
    pub(super) fn change(&mut self) {
        self.changed = self.runs;
        self.seen = self.runs;
    }
}
