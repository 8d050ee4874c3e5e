//! Addresses of the leaves ahead: the external array of chunks (thesis section 2.3.2) and the leaf parents
//! chained by next-sibling pointers (section 2.3.5).

use super::layout::{CHUNK_NEXT, CHUNK_SLOTS, JumpPointers, KEYNUM};
use super::search::Position;
use super::slots::outward;
use super::{ELEMENT, Pointer, Site, Tree};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Splitting a hint into chunk and slot (two masks).
const SPLIT_HINT: u32 = 2;
/// Stepping to another slot: bump, compare with the chunk's end.
pub(super) const STEP: u32 = 2;

/// Where a scan's prefetching stands in the jump pointers.
#[derive(Clone, Copy, Debug)]
pub(super) struct JumpCursor {
    /// Chunk, or leaf parent.
    object: Pointer,
    slot: usize,
    /// Slots of the chunk, or children of the leaf parent.
    slots: usize,
    /// The chunk or leaf parent after this one, prefetched on entering this one.
    next: Pointer,
}

impl<W: Word> Tree<W> {
    /// Segment of the external array.
    #[inline]
    pub(super) fn chunk_segment(&self) -> usize {
        self.layouts.len()
    }

    /// Right shift that fits a slot number into the address bits below a line.
    fn hint_shift(&self) -> u32 {
        let last = self.shape.chunk_slots() as u32 - 1;
        (0..)
            .find(|shift| last >> shift < self.shape.line_bytes)
            .expect("shifts reach zero")
    }

    /// The hint to a slot: chunks are aligned to lines, so the low bits of the chunk's address are free for
    /// the slot. Where there are more slots than bits the hint loses the lowest of them, as hints may.
    pub(super) fn hint_of(&self, chunk: u64, slot: usize) -> W {
        W::from_u64(chunk | (slot as u64 >> self.hint_shift()))
    }

    /// Chunk and slot of a hint.
    pub(super) fn split_hint(&self, hint: W) -> (u64, usize) {
        let low = u64::from(self.shape.line_bytes - 1);
        (
            hint.to_u64() & !low,
            ((hint.to_u64() & low) << self.hint_shift()) as usize,
        )
    }

    /// The chunk of a leaf's jump pointer, and about where in it.
    pub(super) fn follow_hint<T: Trace>(&self, trace: &mut T, leaf: Pointer) -> (Pointer, usize) {
        let (hint, token) = self.load(trace, Site::Hint, 0, leaf, self.layouts[0].hint, 0);
        trace.work(SPLIT_HINT);
        let (chunk, slot) = self.split_hint(hint);
        (
            Pointer {
                address: chunk,
                dep: token.after(1),
            },
            slot,
        )
    }

    /// The chunk of a leaf's jump pointer, and about where in it, all of which is asked for: what is looked for there later is in the caches.
    pub(super) fn approach_jump_pointer<T: Trace>(
        &self,
        trace: &mut T,
        leaf: Pointer,
    ) -> (Pointer, usize) {
        let (chunk, hint) = self.follow_hint(trace, leaf);
        self.prefetch_lines(
            trace,
            Site::ChunkPrefetch,
            chunk,
            self.shape.chunk_lines(),
            self.shape.line_bytes,
        );
        (chunk, hint)
    }

    /// The exact slot of `leaf` in its chunk, looked for in both directions from `hint`; corrects the hint.
    pub(super) fn find_slot<T: Trace>(
        &mut self,
        trace: &mut T,
        chunk: Pointer,
        hint: usize,
        leaf: u64,
    ) -> usize {
        for (distance, slot) in outward(hint, self.shape.chunk_slots()) {
            trace.work(ELEMENT);
            let (found, token) = self.load(
                trace,
                Site::JumpPointer,
                self.chunk_segment(),
                chunk,
                CHUNK_SLOTS + slot,
                1,
            );
            let here = found.to_u64() == leaf;
            trace.branch(
                if distance == 0 {
                    Site::HintExact
                } else {
                    Site::JumpFound
                },
                here,
                token.after(0),
            );
            if here {
                if distance > 0 {
                    let exact = self.hint_of(chunk.address, slot);
                    self.store(
                        trace,
                        Site::HintStore,
                        0,
                        leaf,
                        self.layouts[0].hint,
                        exact,
                        Dep::NONE,
                    );
                }
                return slot;
            }
            trace.work(STEP);
        }
        panic!("leaf {leaf:#x} is not in the chunk of its hint");
    }

    /// Starts prefetching at `leaf`: the current chunk and the next one are prefetched, the leaf's jump pointer
    /// is located. `parent` is where the search left the leaf parent. `None` if there are no jump pointers.
    pub(super) fn start_jumps<T: Trace>(
        &mut self,
        trace: &mut T,
        leaf: Pointer,
        parent: Option<Position>,
    ) -> Option<JumpCursor> {
        match self.shape.jump_pointers {
            JumpPointers::None => None,
            JumpPointers::External { .. } => {
                let (chunk, hint) = self.approach_jump_pointer(trace, leaf);
                let mut cursor = self.enter(trace, chunk);
                cursor.slot = self.find_slot(trace, chunk, hint, leaf.address);
                Some(cursor)
            }
            JumpPointers::Internal => {
                // The search has just left this node: it is in the cache and its address in a register.
                let parent = parent?;
                let mut cursor = self.enter(trace, Pointer::constant(parent.node));
                cursor.slot = parent.slot;
                Some(cursor)
            }
        }
    }

    /// Enters a chunk (or leaf parent) and prefetches the one after it.
    fn enter<T: Trace>(&self, trace: &mut T, object: Pointer) -> JumpCursor {
        let (segment, link, slots, lines) = if self.shape.jump_pointers == JumpPointers::Internal {
            let (count, _) = self.load(trace, Site::KeyCount, 1, object, KEYNUM, 0);
            (
                1,
                self.layouts[1].next,
                count.to_u64() as usize + 1,
                self.shape.node_lines,
            )
        } else {
            (
                self.chunk_segment(),
                CHUNK_NEXT,
                self.shape.chunk_slots(),
                self.shape.chunk_lines(),
            )
        };
        let (next, token) = self.load(trace, Site::ChunkLink, segment, object, link, 0);
        let next = Pointer::loaded(next, token);
        trace.branch(Site::ChunkLast, next.address == 0, next.dep);
        if next.address != 0 {
            self.prefetch_lines(
                trace,
                Site::ChunkPrefetch,
                next,
                lines,
                self.shape.line_bytes,
            );
        }
        JumpCursor {
            object,
            slot: 0,
            slots,
            next,
        }
    }

    /// The next leaf in the jump pointers; `None` after the last.
    pub(super) fn next_jump<T: Trace>(
        &self,
        trace: &mut T,
        cursor: &mut JumpCursor,
    ) -> Option<Pointer> {
        let external = self.shape.jump_pointers != JumpPointers::Internal;
        loop {
            if cursor.slot < cursor.slots {
                cursor.slot += 1;
            }
            trace.work(STEP);
            let end = cursor.slot >= cursor.slots;
            trace.branch(Site::ChunkEnd, end, Dep::NONE);
            if end {
                trace.branch(Site::ChunkLast, cursor.next.address == 0, cursor.next.dep);
                if cursor.next.address == 0 {
                    return None;
                }
                *cursor = self.enter(trace, cursor.next);
            }
            trace.work(ELEMENT);
            let (segment, word) = if external {
                (self.chunk_segment(), CHUNK_SLOTS + cursor.slot)
            } else {
                (1, self.layouts[1].values + cursor.slot)
            };
            let (leaf, token) =
                self.load(trace, Site::JumpPointer, segment, cursor.object, word, 1);
            let leaf = Pointer::loaded(leaf, token);
            if !external {
                return Some(leaf);
            }
            trace.branch(Site::JumpEmpty, leaf.address == 0, leaf.dep);
            if leaf.address != 0 {
                return Some(leaf);
            }
        }
    }
}
