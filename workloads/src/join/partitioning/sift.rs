//! Partitioning the probe relation: tuples of which filters say that they have no matches are dropped.

use super::counts::Counts;
use crate::join::distribute::{Distribute, Notes};
use crate::join::filter::{Many, Merged, Row, Site, positions, take_one};
use crate::join::relation::Relation;
use crate::join::scan::Input;
use crate::join::visit::{Progress, Stages, Step, Visit, Waiting};
use crate::tracer::{Dep, Trace};
use std::sync::Arc;

/// The filters that probe tuples are tested by.
#[derive(Debug)]
pub(super) enum Tests {
    /// One of all build tuples.
    One(Merged),
    /// Of each partition, those of its sub-partitions; each of so many bits.
    OfPartitions(Vec<Arc<Many>>, u32),
}

impl Tests {
    /// Bits of a filter.
    fn bits(&self) -> u32 {
        match self {
            Self::One(merged) => merged.bits(),
            Self::OfPartitions(_, bits) => *bits,
        }
    }
}

/// Copies tuples that may have matches into the output pages of their partitions.
#[derive(Debug)]
pub(super) struct Sift<'a> {
    pub(super) distribute: Distribute<'a>,
    pub(super) tests: &'a Tests,
    pub(super) counts: &'a mut Counts,
    pub(super) dropped: u64,
}

impl Stages for Sift<'_> {
    /// The test, and then those of the copy.
    const LAST: usize = 1 + Distribute::LAST;
    const WAITING: Waiting = Distribute::WAITING;
    type Notes = Notes;

    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Notes> {
        // Nobody knows yet whether the tuple needs a page.
        let visit = self.distribute.begin(trace, input, false);
        if ahead {
            let bits = positions(trace, input.code, self.tests.bits(), input.hashed);
            match self.tests {
                Tests::One(merged) => merged.prefetch(trace, bits),
                Tests::OfPartitions(all, _) => {
                    let filters = &all[visit.notes.partition as usize];
                    if filters.filters() > 0 {
                        filters.prefetch(trace, &bits);
                    }
                }
            }
        }
        visit
    }

    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        stage: usize,
        (number, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        if stage == 1 {
            if !visit.notes.tested {
                self.test(trace, visit);
            }
            if ahead && visit.progress != Progress::Over {
                let (partition, waits) = (visit.notes.partition, visit.token.after(0));
                self.distribute.prefetch_page(trace, partition, waits);
            }
            return Step::Done;
        }
        if stage == Self::LAST {
            let Notes {
                partition,
                positive,
                listed,
                ..
            } = visit.notes;
            self.counts.count(trace, partition, positive, listed);
        }
        self.distribute
            .step(trace, from, stage - 1, (number, visit), ahead)
    }
}

impl Sift<'_> {
    fn test<T: Trace>(&mut self, trace: &mut T, visit: &mut Visit<Notes>) {
        let waits = visit.token.after(0);
        let bits = positions(trace, visit.code, self.tests.bits(), waits);
        let positive = match self.tests {
            Tests::One(merged) => {
                let test = merged.test(trace, bits);
                trace.branch(Site::Dropped, test.value, test.token.after(2));
                test.value
            }
            Tests::OfPartitions(all, _) => {
                let filters = &all[visit.notes.partition as usize];
                // Without build tuples there is nothing to be found.
                filters.filters() > 0 && {
                    let test = filters.test(trace, &bits);
                    visit.notes.positive = test.value;
                    let anded = test.token.after(2);
                    let positive = !test.value.is_empty();
                    trace.branch(Site::Dropped, positive, anded);
                    if positive {
                        visit.notes.listed =
                            list_ids(trace, test.value, filters.row_words(), anded);
                    }
                    positive
                }
            }
        };
        visit.notes.tested = true;
        if !positive {
            visit.progress = Progress::Over;
            self.dropped += 1;
        }
    }
}

/// Makes a list of the ids in a row of so many words, one of which is set. Returns what its last one waits for.
fn list_ids<T: Trace>(trace: &mut T, row: Row, words: usize, waits: Dep) -> Dep {
    let mut listed = waits;
    for mut word in row.words(words) {
        while let Some((_, known)) = take_one(trace, &mut word, waits) {
            listed = known;
        }
    }
    listed
}
