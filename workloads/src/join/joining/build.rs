//! Inserting a tuple into the hash table.

use super::table::{Cell, FIRST_CELLS, Header, Table};
use super::visit::{Notes, Path, begin};
use crate::join::costs::{ALLOCATE, LOOP, VISIT};
use crate::join::relation::Relation;
use crate::join::scan::Input;
use crate::join::sites::Site;
use crate::join::visit::{Progress, Stages, Step, Visit, Waiting};
use crate::tracer::{Dep, Trace};

/// Insertions of build tuples.
#[derive(Debug)]
pub(super) struct Build<'t> {
    pub(super) table: &'t mut Table,
    pub(super) line_bytes: u32,
    /// Whether several insertions are under way at once: each marks the bucket that it changes.
    pub(super) interleaved: bool,
}

impl Stages for Build<'_> {
    /// The header, and the cells.
    const LAST: usize = 2;
    /// Each of them changes the bucket for all that its visit takes.
    const WAITING: Waiting = Waiting::First;
    type Notes = Notes;

    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Notes> {
        begin(self.table, trace, input, ahead)
    }

    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        stage: usize,
        (number, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        let cell = Cell {
            code: visit.code,
            tuple: from.pointer(visit.tuple.value),
        };
        if stage == 1 {
            return self.visit_header(trace, cell, (number, visit), ahead);
        }
        self.visit_cells(trace, cell, visit, ahead);
        Step::Done
    }
}

impl Build<'_> {
    /// Puts the cell into an empty bucket, or finds out where else it goes.
    fn visit_header<T: Trace>(
        &mut self,
        trace: &mut T,
        cell: Cell,
        (number, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        trace.work(VISIT);
        let table = &mut *self.table;
        let header = table.header(trace, visit.notes.bucket, visit.waits);
        let seen = header.token.after(1);
        visit.notes.header = header.value;
        visit.brought(header.token);
        trace.branch(Site::HasCells, header.value.count > 0, seen);
        if header.value.count == 0 {
            let one = Header {
                count: 1,
                code_or_room: cell.code,
                pointer: cell.tuple,
                busy: 0,
            };
            table.set_header(trace, visit.notes.bucket, one, Dep::NONE);
            visit.progress = Progress::Over;
            return Step::Done;
        }
        if self.interleaved {
            let busy = header.value.busy;
            trace.branch(Site::IsBusy, busy != 0, seen);
            if busy != 0 {
                return Step::Busy(busy as usize - 1);
            }
            table.set_busy(trace, visit.notes.bucket, number as u32 + 1, Dep::NONE);
        }
        self.find_cell(trace, visit, ahead);
        Step::Done
    }

    fn find_cell<T: Trace>(&mut self, trace: &mut T, visit: &mut Visit<Notes>, ahead: bool) {
        let (header, seen) = (visit.notes.header, visit.token.after(1));
        trace.branch(Site::HasArray, header.count > 1, seen);
        let (table, line) = (&mut *self.table, self.line_bytes);
        if header.count == 1 {
            visit.notes.path = Path::One;
            trace.work(ALLOCATE);
            visit.notes.cell = table.allocate(FIRST_CELLS);
            if ahead {
                table.prefetch_cells(trace, visit.notes.cell, 2, line, Dep::NONE);
            }
            return;
        }
        let room = header.code_or_room;
        let full = header.count == room;
        trace.branch(Site::IsFull, full, seen);
        if full {
            visit.notes.path = Path::FullCells;
            trace.work(ALLOCATE);
            visit.notes.cell = table.allocate(2 * room);
            if ahead {
                table.prefetch_cells(trace, header.pointer, room, line, seen);
                table.prefetch_cells(trace, visit.notes.cell, room + 1, line, Dep::NONE);
            }
        } else {
            visit.notes.path = Path::Cells;
            visit.notes.cell = header.pointer + header.count;
            if ahead {
                table.prefetch_cells(trace, visit.notes.cell, 1, line, seen);
            }
        }
    }

    fn visit_cells<T: Trace>(
        &mut self,
        trace: &mut T,
        cell: Cell,
        visit: &Visit<Notes>,
        ahead: bool,
    ) {
        let Header {
            count,
            code_or_room,
            pointer,
            ..
        } = visit.notes.header;
        let (waits, bucket) = (visit.token.after(0), visit.notes.bucket);
        if visit.is_on(trace, Site::OnCells, Path::Cells, ahead) {
            let table = &mut *self.table;
            table.store_cell(trace, visit.notes.cell, cell, waits);
            table.set_count(trace, bucket, count + 1, waits);
            if self.interleaved {
                table.set_busy(trace, bucket, 0, waits);
            }
            return;
        }
        let is_full = visit.is_on(trace, Site::OnFullCells, Path::FullCells, ahead);
        let (table, array) = (&mut *self.table, visit.notes.cell);
        let room = if is_full {
            for place in 0..count {
                trace.work(LOOP);
                let old = table.load_cell(trace, pointer + place, waits);
                let brought = old.token.after(0);
                table.store_cell(trace, array + place, old.value, brought);
                trace.branch(Site::CellsLeft, place + 1 < count, Dep::NONE);
            }
            2 * code_or_room
        } else {
            let inline = Cell {
                code: code_or_room,
                tuple: pointer,
            };
            table.store_cell(trace, array, inline, waits);
            FIRST_CELLS
        };
        table.store_cell(trace, array + count, cell, waits);
        let header = Header {
            count: count + 1,
            code_or_room: room,
            pointer: array,
            busy: 0,
        };
        table.set_header(trace, bucket, header, waits);
    }
}
