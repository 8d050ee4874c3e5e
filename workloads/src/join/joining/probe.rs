//! Looking for the build tuples that match a probe tuple.

use super::output::Output;
use super::table::Table;
use super::visit::{Notes, Path, begin};
use crate::join::ahead::Reuse;
use crate::join::costs::{TEST, VISIT};
use crate::join::relation::{Relation, Told};
use crate::join::scan::Input;
use crate::join::sites::Site;
use crate::join::visit::{Progress, Stages, Step, Visit, Waiting};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};

/// Probes with all tuples of a partition.
#[derive(Debug)]
pub(super) struct Probe<'p> {
    pub(super) table: &'p Table,
    pub(super) build: &'p Relation,
    pub(super) output: &'p mut Output,
    pub(super) line_bytes: u32,
}

impl Stages for Probe<'_> {
    /// The header, the cells, and the build tuples of cells.
    const LAST: usize = 3;
    const WAITING: Waiting = Waiting::Nobody;
    type Notes = Notes;

    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Notes> {
        begin(self.table, trace, input, ahead)
    }

    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        stage: usize,
        (_, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        match stage {
            1 => self.visit_header(trace, visit, ahead),
            2 => self.visit_cell_or_tuple(trace, from, visit, ahead),
            _ => self.visit_tuples(trace, from, visit),
        }
        Step::Done
    }
}

impl Probe<'_> {
    /// Looks whether the bucket has cells with the hash code, or may have some.
    pub(super) fn visit_header<T: Trace>(
        &self,
        trace: &mut T,
        visit: &mut Visit<Notes>,
        ahead: bool,
    ) {
        trace.work(VISIT);
        let header = self.table.header(trace, visit.notes.bucket, visit.waits);
        let seen = header.token.after(1);
        visit.notes.header = header.value;
        visit.brought(header.token);
        trace.branch(Site::HasCells, header.value.count > 0, seen);
        if header.value.count == 0 {
            visit.progress = Progress::Over;
            return;
        }
        trace.branch(Site::HasArray, header.value.count > 1, seen);
        if header.value.count == 1 {
            let equal = header.value.code_or_room == visit.code;
            trace.branch(Site::CodesEqual, equal, seen);
            if equal {
                visit.notes.path = Path::One;
                visit.notes.found = self.build.address(header.value.pointer);
                self.prefetch_tuple(trace, visit.notes.found, seen, ahead);
            } else {
                visit.progress = Progress::Over;
            }
            return;
        }
        visit.notes.path = Path::Cells;
        if ahead {
            let (first, cells) = (header.value.pointer, header.value.count);
            self.table
                .prefetch_cells(trace, first, cells, self.line_bytes, seen);
        }
    }

    /// Visits the cells, or the tuple whose cell is in the header: the third pieces of two code paths are one stage (section 4.4.4).
    fn visit_cell_or_tuple<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        visit: &mut Visit<Notes>,
        ahead: bool,
    ) {
        if visit.is_on(trace, Site::OnCells, Path::Cells, ahead) {
            if ahead {
                self.look_through_cells(trace, visit);
            } else {
                self.visit_tuples_of_cells(trace, from, visit, 0);
                visit.progress = Progress::Over;
            }
            return;
        }
        self.compare(
            trace,
            (from, visit),
            visit.notes.found,
            visit.token.after(0),
        );
        visit.progress = Progress::Over;
    }

    /// Finds the first cell with the hash code, and prefetches the tuples of all that have it.
    fn look_through_cells<T: Trace>(&self, trace: &mut T, visit: &mut Visit<Notes>) {
        visit.progress = Progress::Over;
        let mut place = 0;
        while let Some((tuple, found)) = self.next_equal(trace, visit, &mut place) {
            self.prefetch_tuple(trace, tuple, found, true);
            if visit.progress == Progress::Over {
                visit.progress = Progress::UnderWay;
                visit.notes.path = Path::One;
                (visit.notes.found, visit.notes.cell) = (tuple, place);
                visit.waits = found;
            } else {
                visit.notes.path = Path::Several;
            }
        }
    }

    /// The tuple of the next cell, from number `place` on, that has the hash code, and what its address waits for.
    pub(super) fn next_equal<T: Trace>(
        &self,
        trace: &mut T,
        visit: &Visit<Notes>,
        place: &mut u32,
    ) -> Option<(u64, Dep)> {
        while *place < visit.notes.header.count {
            let number = visit.notes.header.pointer + *place;
            let cell = self.table.load_cell(trace, number, visit.token.after(0));
            *place += 1;
            trace.work(TEST);
            let equal = cell.value.code == visit.code;
            trace.branch(Site::CodesEqual, equal, cell.token.after(1));
            let more = *place < visit.notes.header.count;
            trace.branch(Site::CellsLeft, more, Dep::NONE);
            if equal {
                let tuple = self.build.address(cell.value.tuple);
                return Some((tuple, cell.token.after(0)));
            }
        }
        None
    }

    fn prefetch_tuple<T: Trace>(&self, trace: &mut T, tuple: u64, dep: Dep, ahead: bool) {
        if ahead {
            let (site, again) = (Site::TuplePrefetch, Reuse::Likely);
            self.build
                .prefetch_tuple(trace, site, tuple, self.line_bytes, again, dep);
        }
    }

    /// Visits the tuple that was found by its cell, and those that further cells have. Who does not go ahead has visited them with the cells.
    fn visit_tuples<T: Trace>(&mut self, trace: &mut T, from: &Relation, visit: &Visit<Notes>) {
        self.compare(
            trace,
            (from, visit),
            visit.notes.found,
            visit.token.after(0),
        );
        if visit.is_on(trace, Site::OnSeveral, Path::Several, true) {
            self.visit_tuples_of_cells(trace, from, visit, visit.notes.cell);
        }
    }

    /// Visits the tuples of the cells, from number `place` on, that have the hash code.
    fn visit_tuples_of_cells<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        visit: &Visit<Notes>,
        mut place: u32,
    ) {
        while let Some((tuple, found)) = self.next_equal(trace, visit, &mut place) {
            self.compare(trace, (from, visit), tuple, found);
        }
    }

    /// Compares the key of the probe tuple of a visit with that of a build tuple with its hash code, whose address waits for something.
    fn compare<T: Trace>(
        &mut self,
        trace: &mut T,
        (from, visit): (&Relation, &Visit<Notes>),
        found: u64,
        dep: Dep,
    ) {
        self.compare_with(trace, (from, visit.tuple, visit.bytes), found, dep);
    }

    /// The same of a probe tuple whose length somebody may have told.
    pub(super) fn compare_with<T: Trace>(
        &mut self,
        trace: &mut T,
        (from, tuple, bytes): (&Relation, Loaded<u64>, Told),
        found: u64,
        dep: Dep,
    ) {
        let build = self.build.key(trace, Site::BuildKey, found, dep);
        let known = tuple.token.after(0);
        let probe = from.key(trace, Site::ProbeKey, tuple.value, known);
        trace.work(TEST);
        let equal = build.value == probe.value;
        trace.branch(Site::KeysEqual, equal, build.token.after(1));
        if equal {
            self.output
                .add(trace, (self.build, found, dep), (from, tuple, bytes));
        }
    }
}
