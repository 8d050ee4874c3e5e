//! Inserting a tuple into the hash table.

use super::costs::{ALLOCATE, LOOP, VISIT};
use super::partition::Partition;
use super::sites::Site;
use super::table::{Cell, FIRST_CELLS, Header, Table};
use super::visit::{Path, Stages, Step, Visit};
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

    fn table(&self) -> &Table {
        self.table
    }

    fn step<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Partition,
        stage: usize,
        (number, visit): (usize, &mut Visit),
        ahead: bool,
    ) -> Step {
        let cell = Cell {
            code: visit.code,
            tuple: from.pointer(visit.tuple),
        };
        if stage == 1 {
            return self.visit_header(trace, cell, (number, visit), ahead);
        }
        self.visit_cells(trace, cell, visit);
        Step::Done
    }
}

impl Build<'_> {
    /// Puts the cell into an empty bucket, or finds out where else it goes.
    fn visit_header<T: Trace>(
        &mut self,
        trace: &mut T,
        cell: Cell,
        (number, visit): (usize, &mut Visit),
        ahead: bool,
    ) -> Step {
        trace.work(VISIT);
        let table = &mut *self.table;
        let header = table.header(trace, visit.bucket, visit.token.after(0));
        let seen = header.token.after(1);
        visit.header = header.value;
        visit.token = header.token;
        trace.branch(Site::HasCells, header.value.count > 0, seen);
        if header.value.count == 0 {
            let one = Header {
                count: 1,
                code_or_room: cell.code,
                pointer: cell.tuple,
                busy: 0,
            };
            table.set_header(trace, visit.bucket, one, Dep::NONE);
            visit.path = Path::Over;
            return Step::Done;
        }
        if self.interleaved {
            let busy = header.value.busy;
            trace.branch(Site::IsBusy, busy != 0, seen);
            if busy != 0 {
                return Step::Busy(busy as usize - 1);
            }
            table.set_busy(trace, visit.bucket, number as u32 + 1, Dep::NONE);
        }
        self.find_cell(trace, visit, ahead);
        Step::Done
    }

    fn find_cell<T: Trace>(&mut self, trace: &mut T, visit: &mut Visit, ahead: bool) {
        let (header, seen) = (visit.header, visit.token.after(1));
        trace.branch(Site::HasArray, header.count > 1, seen);
        let (table, line) = (&mut *self.table, self.line_bytes);
        if header.count == 1 {
            visit.path = Path::One;
            trace.work(ALLOCATE);
            visit.cell = table.allocate(FIRST_CELLS);
            if ahead {
                table.prefetch_cells(trace, visit.cell, 2, line, Dep::NONE);
            }
            return;
        }
        let room = header.code_or_room;
        let full = header.count == room;
        trace.branch(Site::IsFull, full, seen);
        if full {
            visit.path = Path::FullCells;
            trace.work(ALLOCATE);
            visit.cell = table.allocate(2 * room);
            if ahead {
                table.prefetch_cells(trace, header.pointer, room, line, seen);
                table.prefetch_cells(trace, visit.cell, room + 1, line, Dep::NONE);
            }
        } else {
            visit.path = Path::Cells;
            visit.cell = header.pointer + header.count;
            if ahead {
                table.prefetch_cells(trace, visit.cell, 1, line, seen);
            }
        }
    }

    fn visit_cells<T: Trace>(&mut self, trace: &mut T, cell: Cell, visit: &Visit) {
        let Header {
            count,
            code_or_room,
            pointer,
            ..
        } = visit.header;
        let (table, waits) = (&mut *self.table, visit.token.after(0));
        let (array, room) = match visit.path {
            Path::Cells => {
                table.store_cell(trace, visit.cell, cell, waits);
                table.set_count(trace, visit.bucket, count + 1, waits);
                if self.interleaved {
                    table.set_busy(trace, visit.bucket, 0, waits);
                }
                return;
            }
            Path::One => {
                let inline = Cell {
                    code: code_or_room,
                    tuple: pointer,
                };
                table.store_cell(trace, visit.cell, inline, waits);
                (visit.cell, FIRST_CELLS)
            }
            _ => {
                for place in 0..count {
                    trace.work(LOOP);
                    let old = table.load_cell(trace, pointer + place, waits);
                    table.store_cell(trace, visit.cell + place, old.value, old.token.after(0));
                    trace.branch(Site::CellsLeft, place + 1 < count, Dep::NONE);
                }
                (visit.cell, 2 * code_or_room)
            }
        };
        table.store_cell(trace, array + count, cell, waits);
        let header = Header {
            count: count + 1,
            code_or_room: room,
            pointer: array,
            busy: 0,
        };
        table.set_header(trace, visit.bucket, header, waits);
    }
}
