//! Copying a tuple into its partition's output page.

use super::buffers::Buffers;
use super::copy::{Target, copy_tuple};
use super::costs::{BUCKET_ADDRESS, INSERT_OUTPUT};
use super::filter::Row;
use super::relation::{Length, Relation};
use super::scan::Input;
use super::sites::Site;
use super::slots::{Slot, Slots};
use super::visit::{Stages, Step, Visit, Waiting};
use crate::tracer::{Dep, Trace};
use std::num::NonZero;
use traces::OpClass;

/// Copies tuples into the output pages of their partitions.
#[derive(Debug)]
pub(super) struct Distribute<'b> {
    pub(super) buffers: &'b mut Buffers,
    /// Whether several tuples are under way at once: a page says who has still to be copied into it.
    pub(super) interleaved: bool,
}

/// What the stages leave to the next ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) partition: u32,
    /// The page, which of its tuples this will be, and where it and its slot lie.
    page: u64,
    pub(super) number: u32,
    slot: Slot,
    /// The filter that is to know the tuple.
    pub(super) filter: u32,
    /// What filters said of it, if they were asked: they are not asked again when the tuple has waited for a page.
    pub(super) tested: bool,
    pub(super) positive: Row,
    /// What the list of the filters that hold it waits for.
    pub(super) listed: Dep,
}

impl Stages for Distribute<'_> {
    /// The header, and the tuple's place.
    const LAST: usize = 2;
    /// Who turns the page makes room for the others.
    const WAITING: Waiting = Waiting::All;
    type Notes = Notes;

    /// Which partition?
    fn begin<T: Trace>(&self, trace: &mut T, input: Input, ahead: bool) -> Visit<Notes> {
        let token = trace.op(Site::PartitionNumber, OpClass::Divide, input.hashed);
        trace.work(BUCKET_ADDRESS);
        let partition = input.code % self.buffers.spec.partitions;
        let waits = token.after(BUCKET_ADDRESS as u8);
        if ahead {
            self.prefetch_page(trace, partition, waits);
        }
        let notes = Notes {
            partition,
            ..Notes::default()
        };
        Visit::begun(input, (token, waits), notes)
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
            return self.reserve(trace, from, (number, visit), ahead);
        }
        self.copy(trace, from, (number, visit));
        Step::Done
    }
}

impl Distribute<'_> {
    /// Copies a tuple into the page of partition 0, where there is no other.
    pub(super) fn append<T: Trace>(&mut self, trace: &mut T, from: &Relation, input: Input) {
        let token = input.tuple.token;
        let mut visit = Visit::begun(input, (token, Dep::NONE), Notes::default());
        let step = self.reserve(trace, from, (0, &mut visit), false);
        debug_assert_eq!(step, Step::Done, "nobody else is under way");
        self.copy(trace, from, (0, &visit));
    }

    /// Prefetches the header of a partition's page.
    pub(super) fn prefetch_page<T: Trace>(&self, trace: &mut T, partition: u32, waits: Dep) {
        let page = self.buffers.page(trace, partition, waits);
        self.buffers
            .prefetch_header(trace, page.value, page.token.after(0));
    }

    /// Reserves a place in the partition's page, or in the next one if it is full.
    fn reserve<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        (number, visit): (usize, &mut Visit<Notes>),
        ahead: bool,
    ) -> Step {
        trace.work(INSERT_OUTPUT / 2);
        let (buffers, partition) = (&mut *self.buffers, visit.notes.partition);
        // Since the first stage, somebody else may have turned the page.
        let page = buffers.page(trace, partition, visit.waits);
        let waits = page.token.after(0);
        let mut filled = buffers.filled(trace, page.value, waits);
        let seen = filled.token.after(1);
        visit.brought(filled.token);
        visit.notes.page = page.value;
        let (format, slots) = (buffers.spec.format, buffers.slots);
        let ids = visit.notes.positive.count();
        let (tuple, known) = (visit.tuple.value, visit.tuple.token.after(0));
        let length = from.length(trace, Site::InputCopy, (tuple, visit.bytes), known);
        visit.bytes = NonZero::new(length.bytes);
        let takes = (length.bytes, ids);
        let full = !slots.next(format, filled.value, takes).1.fits();
        trace.branch(Site::BufferFull, full, seen);
        if full {
            if self.interleaved {
                let holder = buffers.holder(trace, page.value, waits);
                let held = holder.value != 0;
                trace.branch(Site::BufferHeld, held, holder.token.after(1));
                if held {
                    buffers.close_to_others(trace, page.value, filled.value, waits);
                    return Step::Busy(holder.value as usize - 1);
                }
            }
            visit.notes.page = buffers.turn(trace, partition, page.value);
            filled.value = Slots::none(format);
        }
        let (page, place) = (visit.notes.page, filled.value.tuples);
        let (slot, then) = slots.next(format, filled.value, takes);
        (visit.notes.number, visit.notes.slot) = (place, slot);
        buffers.set_filled(trace, page, then, seen);
        if self.interleaved {
            buffers.set_holder(trace, page, number as u32 + 1, waits);
        }
        if ahead {
            buffers.prefetch_place(trace, page, slot, seen);
        }
        Step::Done
    }

    fn copy<T: Trace>(
        &mut self,
        trace: &mut T,
        from: &Relation,
        (number, visit): (usize, &Visit<Notes>),
    ) {
        let (buffers, waits) = (&mut *self.buffers, visit.token.after(0));
        let Notes {
            page,
            slot,
            positive,
            ..
        } = visit.notes;
        let known = visit.tuple.token.after(0);
        let length = Length {
            bytes: slot.tuple_bytes,
            known,
        };
        let tuple = (from, visit.tuple.value, known);
        let sites = (Site::InputCopy, Site::BufferCopy);
        let to = Target {
            memory: &mut buffers.memory,
            address: page + u64::from(slot.tuple),
            non_temporal: buffers.spec.non_temporal,
        };
        copy_tuple(trace, sites, tuple, length, to);
        buffers.set_slot(trace, page, (slot, visit.code), positive.ids(), waits);
        if self.interleaved {
            let holder = buffers.holder(trace, page, waits);
            let last = holder.value as usize == number + 1;
            trace.branch(Site::BufferHeld, !last, holder.token.after(1));
            if last {
                buffers.set_holder(trace, page, 0, waits);
            }
        }
        trace.work(INSERT_OUTPUT / 2);
    }
}
