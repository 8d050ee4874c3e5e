//! Partitioning the build relation, and filling filters with its keys.

use super::filter_table::FilterTable;
use crate::join::distribute::{Distribute, Notes};
use crate::join::filter::{Filters, Site, positions};
use crate::join::relation::Relation;
use crate::join::scan::Input;
use crate::join::visit::{Stages, Step, Visit, Waiting};
use crate::tracer::Trace;

/// Copies tuples into the output pages of their partitions, and sets their bits in a filter.
#[derive(Debug)]
pub(super) struct Inspect<'a> {
    pub(super) distribute: Distribute<'a>,
    pub(super) filters: &'a mut Filters,
    /// Which filter is a partition's; there is one only if nobody says that.
    pub(super) table: Option<&'a mut FilterTable>,
}

impl Stages for Inspect<'_> {
    /// Those of the copy: where a tuple goes to says which filter is to know it.
    const LAST: usize = Distribute::LAST;
    const WAITING: Waiting = Distribute::WAITING;
    type Notes = Notes;

    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Notes> {
        self.distribute.begin(trace, input, ahead)
    }

    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        stage: usize,
        (number, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        let step = self
            .distribute
            .step(trace, from, stage, (number, visit), ahead);
        match stage {
            _ if step != Step::Done => {}
            1 => self.choose(trace, visit, ahead),
            _ => {
                let bits = positions(trace, visit.code, self.filters.bits(), visit.token.after(0));
                self.filters.set(trace, visit.notes.filter, bits);
            }
        }
        step
    }
}

impl Inspect<'_> {
    /// Notes which filter is to know a tuple, which has a place by now.
    fn choose<T: Trace>(&mut self, trace: &mut T, visit: &mut Visit<Notes>, ahead: bool) {
        let (notes, waits) = (&mut visit.notes, visit.token.after(0));
        if let Some(table) = &mut self.table {
            // Whether it begins a page was branched on when its place was reserved.
            if notes.number == 0
                && let Some(new) = table.turn(trace, notes.partition, waits)
            {
                self.filters.clear(trace, new);
            }
            notes.filter = table.current(trace, notes.partition, waits);
        }
        if ahead {
            let bits = positions(trace, visit.code, self.filters.bits(), waits);
            self.filters
                .prefetch(trace, Site::FilterPrefetch, notes.filter, bits);
        }
    }
}
