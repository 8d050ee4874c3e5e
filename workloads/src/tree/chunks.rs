//! Updates of the external jump-pointer array (thesis section 2.3.2).

use super::jump_pointers::STEP;
use super::layout::{CHUNK_NEXT, CHUNK_PREVIOUS, CHUNK_SLOTS};
use super::slots::{SPREAD, outward, spread};
use super::{ELEMENT, Pointer, Site, Tree};
use crate::tracer::{Dep, Token, Trace};
use crate::word::Word;

impl<W: Word> Tree<W> {
    /// Puts the jump pointer of the new leaf `right` behind that of `left`, whose chunk and hint are given: pointers between it and the
    /// nearest empty slot move by one; their leaves' hints stay as they are.
    pub(super) fn insert_jump_pointer<T: Trace>(
        &mut self,
        trace: &mut T,
        (chunk, hint): (Pointer, usize),
        left: u64,
        right: u64,
    ) {
        let segment = self.chunk_segment();
        let here = self.find_slot(trace, chunk, hint, left);
        let Some(empty) = self.nearest_empty(trace, chunk, here) else {
            self.split_chunk(trace, chunk.address);
            let moved = self.follow_hint(trace, Pointer::constant(left));
            return self.insert_jump_pointer(trace, moved, left, right);
        };
        let at = CHUNK_SLOTS + here;
        let slot = if empty > here {
            self.move_words(
                trace,
                segment,
                (chunk.address, at + 1),
                (chunk.address, at + 2),
                empty - here - 1,
            );
            here + 1
        } else {
            let first = CHUNK_SLOTS + empty;
            self.move_words(
                trace,
                segment,
                (chunk.address, first + 1),
                (chunk.address, first),
                here - empty,
            );
            here
        };
        self.store(
            trace,
            Site::JumpStore,
            segment,
            chunk.address,
            CHUNK_SLOTS + slot,
            W::from_u64(right),
            Dep::NONE,
        );
        let hint = self.hint_of(chunk.address, slot);
        self.store(
            trace,
            Site::HintStore,
            0,
            right,
            self.layouts[0].hint,
            hint,
            Dep::NONE,
        );
    }

    /// The empty slot nearest to `here`, looked for in both directions.
    fn nearest_empty<T: Trace>(&self, trace: &mut T, chunk: Pointer, here: usize) -> Option<usize> {
        for (_, slot) in outward(here, self.shape.chunk_slots()).skip(1) {
            trace.work(STEP + ELEMENT);
            let (pointer, token) = self.load(
                trace,
                Site::JumpPointer,
                self.chunk_segment(),
                chunk,
                CHUNK_SLOTS + slot,
                1,
            );
            let empty = pointer.to_u64() == 0;
            trace.branch(Site::JumpEmpty, empty, token.after(0));
            if empty {
                return Some(slot);
            }
        }
        None
    }

    /// Splits a full chunk. The leaves whose pointers move to the new chunk get new hints, the others keep theirs.
    fn split_chunk<T: Trace>(&mut self, trace: &mut T, chunk: u64) {
        let segment = self.chunk_segment();
        let slots = self.shape.chunk_slots();
        let keep = slots.div_ceil(2);
        let new = self.allocate(trace, segment, self.shape.chunk_lines());
        self.chunk_splits += 1;
        self.spread_out(trace, (chunk, keep), new, slots - keep);
        self.spread_out(trace, (chunk, 0), chunk, keep);
        let (next, token) = self.load(
            trace,
            Site::ChunkLink,
            segment,
            Pointer::constant(chunk),
            CHUNK_NEXT,
            0,
        );
        self.store(
            trace,
            Site::ChunkLinkStore,
            segment,
            new,
            CHUNK_NEXT,
            next,
            token.after(0),
        );
        self.store(
            trace,
            Site::ChunkLinkStore,
            segment,
            new,
            CHUNK_PREVIOUS,
            W::from_u64(chunk),
            Dep::NONE,
        );
        self.store(
            trace,
            Site::ChunkLinkStore,
            segment,
            chunk,
            CHUNK_NEXT,
            W::from_u64(new),
            Dep::NONE,
        );
        trace.branch(Site::ChunkLast, next.to_u64() == 0, token.after(0));
        if next.to_u64() != 0 {
            self.store(
                trace,
                Site::ChunkLinkStore,
                segment,
                next.to_u64(),
                CHUNK_PREVIOUS,
                W::from_u64(new),
                token.after(0),
            );
        }
    }

    /// Spreads `count` adjacent jump pointers evenly over all slots of a chunk, from the last slot down, so that
    /// it may be the chunk they are in.
    fn spread_out<T: Trace>(&mut self, trace: &mut T, from: (u64, usize), to: u64, count: usize) {
        let segment = self.chunk_segment();
        let mut left = count;
        let slots = self.shape.chunk_slots();
        for slot in (0..slots).rev() {
            trace.work(SPREAD);
            let filled = left > 0 && spread(left - 1, count, slots) == slot;
            trace.branch(Site::JumpMove, filled, Dep::NONE);
            let (pointer, token) = if filled {
                left -= 1;
                self.load(
                    trace,
                    Site::JumpPointer,
                    segment,
                    Pointer::constant(from.0),
                    CHUNK_SLOTS + from.1 + left,
                    0,
                )
            } else {
                (W::from_u64(0), Token::NONE)
            };
            self.store(
                trace,
                Site::JumpStore,
                segment,
                to,
                CHUNK_SLOTS + slot,
                pointer,
                token.after(0),
            );
            if filled && to != from.0 {
                let hint = self.hint_of(to, slot);
                self.store(
                    trace,
                    Site::HintStore,
                    0,
                    pointer.to_u64(),
                    self.layouts[0].hint,
                    hint,
                    token.after(0),
                );
            }
            trace.branch(Site::ChunkLoop, slot > 0, Dep::NONE);
        }
    }

    /// Leaves an empty slot where the jump pointer of `leaf` was; a chunk without jump pointers is removed.
    pub(super) fn remove_jump_pointer<T: Trace>(&mut self, trace: &mut T, leaf: u64) {
        let segment = self.chunk_segment();
        let (chunk, hint) = self.approach_jump_pointer(trace, Pointer::constant(leaf));
        let slot = self.find_slot(trace, chunk, hint, leaf);
        self.store(
            trace,
            Site::JumpStore,
            segment,
            chunk.address,
            CHUNK_SLOTS + slot,
            W::from_u64(0),
            Dep::NONE,
        );
        for slot in 0..self.shape.chunk_slots() {
            trace.work(STEP);
            let (pointer, token) = self.load(
                trace,
                Site::JumpPointer,
                segment,
                chunk,
                CHUNK_SLOTS + slot,
                0,
            );
            let empty = pointer.to_u64() == 0;
            trace.branch(Site::JumpEmpty, empty, token.after(0));
            if !empty {
                return;
            }
        }
        self.unlink_chunk(trace, chunk);
    }

    fn unlink_chunk<T: Trace>(&mut self, trace: &mut T, chunk: Pointer) {
        let segment = self.chunk_segment();
        let (next, next_token) = self.load(trace, Site::ChunkLink, segment, chunk, CHUNK_NEXT, 0);
        let (previous, token) =
            self.load(trace, Site::ChunkLink, segment, chunk, CHUNK_PREVIOUS, 0);
        for (object, link, value, dep) in [
            (next, CHUNK_PREVIOUS, previous, next_token.after(0)),
            (previous, CHUNK_NEXT, next, token.after(0)),
        ] {
            trace.branch(Site::ChunkLast, object.to_u64() == 0, dep);
            if object.to_u64() != 0 {
                self.store(
                    trace,
                    Site::ChunkLinkStore,
                    segment,
                    object.to_u64(),
                    link,
                    value,
                    dep,
                );
            }
        }
        self.release(segment, chunk.address);
    }
}
