//! Moving words inside and between nodes: what insertions and deletions consist of.

use super::layout::{KEYNUM, KEYS};
use super::{ELEMENT, Pointer, Site, Tree};
use crate::sorted::{FIRST_TEST, NEXT_WORD, goes_backwards};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Changing keynum in a register.
const COUNT: u32 = 1;

impl<W: Word> Tree<W> {
    /// Number of keys of a node, without a trace: for where the program has it in a register.
    pub(super) fn count(&self, level: usize, node: u64) -> usize {
        self.peek(level, node, KEYNUM).to_u64() as usize
    }

    /// Loads the number of keys of a node.
    pub(super) fn load_count<T: Trace>(
        &self,
        trace: &mut T,
        level: usize,
        node: Pointer,
    ) -> (usize, Dep) {
        let (count, token) = self.load(trace, Site::KeyCount, level, node, KEYNUM, 0);
        (count.to_u64() as usize, token.after(1))
    }

    /// Stores the number of keys of a node.
    pub(super) fn store_count<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: u64,
        count: usize,
    ) {
        trace.work(COUNT);
        self.store(
            trace,
            Site::KeyCountStore,
            level,
            node,
            KEYNUM,
            W::from_u64(count as u64),
            Dep::NONE,
        );
    }

    /// Moves `count` words of a segment, word by word, in the order that is right where they overlap.
    pub(super) fn move_words<T: Trace>(
        &mut self,
        trace: &mut T,
        segment: usize,
        from: (u64, usize),
        to: (u64, usize),
        count: usize,
    ) {
        let (source, target) = (Self::at(from.0, from.1), Self::at(to.0, to.1));
        let backwards = goes_backwards(source, target, (count * W::BYTES) as u64);
        trace.work(FIRST_TEST);
        trace.branch(Site::ShiftLoop, count > 0, Dep::NONE);
        for number in 0..count {
            let word = if backwards {
                count - 1 - number
            } else {
                number
            };
            let (value, token) = self.load(
                trace,
                Site::ShiftLoad,
                segment,
                Pointer::constant(source),
                word,
                0,
            );
            self.store(
                trace,
                Site::ShiftStore,
                segment,
                target,
                word,
                value,
                token.after(0),
            );
            trace.work(NEXT_WORD);
            trace.branch(Site::ShiftLoop, number + 1 < count, Dep::NONE);
        }
    }

    /// Puts a key at `slot` and a tupleID or child at `value_slot` of a node that has room.
    #[allow(clippy::too_many_arguments, reason = "a place and what goes there")]
    pub(super) fn insert_into<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: u64,
        slot: usize,
        key: W,
        value_slot: usize,
        value: W,
    ) {
        let count = self.count(level, node);
        let values = self.layouts[level].values;
        // A non-leaf node has one value more than keys.
        let used = count + usize::from(level > 0);
        trace.work(2 * ELEMENT);
        self.move_words(
            trace,
            level,
            (node, KEYS + slot),
            (node, KEYS + slot + 1),
            count - slot,
        );
        self.move_words(
            trace,
            level,
            (node, values + value_slot),
            (node, values + value_slot + 1),
            used - value_slot,
        );
        self.store(
            trace,
            Site::KeyStore,
            level,
            node,
            KEYS + slot,
            key,
            Dep::NONE,
        );
        self.store(
            trace,
            Site::ValueStore,
            level,
            node,
            values + value_slot,
            value,
            Dep::NONE,
        );
        self.store_count(trace, level, node, count + 1);
    }

    /// Takes the key at `slot` and the value at `value_slot` out of a node.
    pub(super) fn remove_from<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        node: u64,
        slot: usize,
        value_slot: usize,
    ) {
        let count = self.count(level, node);
        let values = self.layouts[level].values;
        let used = count + usize::from(level > 0);
        trace.work(2 * ELEMENT);
        self.move_words(
            trace,
            level,
            (node, KEYS + slot + 1),
            (node, KEYS + slot),
            count - slot - 1,
        );
        self.move_words(
            trace,
            level,
            (node, values + value_slot + 1),
            (node, values + value_slot),
            used - value_slot - 1,
        );
        self.store_count(trace, level, node, count - 1);
    }

    /// Whether nodes of `level` are chained.
    pub(super) fn is_chained(&self, level: usize) -> bool {
        level == 0
            || (level == 1 && self.shape.jump_pointers == super::layout::JumpPointers::Internal)
    }

    /// Makes the next pointer of `to` what that of `from` is.
    pub(super) fn copy_link<T: Trace>(&mut self, trace: &mut T, level: usize, from: u64, to: u64) {
        let next = self.layouts[level].next;
        let (link, token) = self.load(
            trace,
            Site::LinkLoad,
            level,
            Pointer::constant(from),
            next,
            0,
        );
        self.store(
            trace,
            Site::LinkStore,
            level,
            to,
            next,
            link,
            token.after(0),
        );
    }
}
