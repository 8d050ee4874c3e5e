//! One cache level as a filter: look-ups go in, what the next level has to do comes out, in the same order.
//!
//! A level's state depends on nothing but its own look-ups. So each level may work through a whole batch before the
//! next one begins, and the host fetches the sets of many look-ups at once.

use super::batch::Batch;
use super::operation::{Operation, Reason};
use crate::recency::{EMPTY, touch, touch_ways};
use crate::sets::Sets;
use crate::spec::CacheSpec;
use std::mem;

/// The lowest bit of an entry; the others are its line's number.
const DIRTY: u64 = 1;

/// Whether `entry` is that of `line`, dirty or not. The entry of no line is none of any line's.
fn holds(entry: u64, line: u64) -> bool {
    entry >> 1 == line && entry != EMPTY
}

/// Lines that were taken out of a level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenOut {
    pub(super) lines: u64,
    /// One of them was dirty.
    pub(super) dirty: bool,
}

/// State of one level under LRU, write-back and write-allocate.
#[derive(Clone, Debug)]
pub(super) struct Level {
    is_first: bool,
    /// From lines of the first level's size to lines of this one's.
    shift: u32,
    /// Its lines are longer than those of the level before.
    is_longer: bool,
    ways: usize,
    sets: Sets,
    /// Set after set, most recently used first: `line << 1 | dirty`, or [`EMPTY`].
    entries: Box<[u64]>,
    /// Whether an entry may be dirty.
    written: bool,
    /// Dirty lines that left for the next level.
    pub(super) write_backs: u64,
    /// Dirty lines of levels before that it lacked what they are a part of, and left to the next level.
    pub(super) left: u64,
    /// Lines that pages have overwritten.
    pub(super) overwritten: u64,
}

impl Level {
    /// An empty level behind those of `nearer`. The geometry has been validated.
    pub(super) fn new(spec: &CacheSpec, nearer: &[CacheSpec]) -> Self {
        let shift_from = |nearer: Option<&CacheSpec>| {
            let line_bytes = nearer.map_or(spec.line_bytes, |nearer| nearer.line_bytes);
            spec.line_bytes.trailing_zeros() - line_bytes.trailing_zeros()
        };
        let ways = spec.ways as usize;
        let sets = Sets::new(spec.sets());
        Self {
            is_first: nearer.is_empty(),
            shift: shift_from(nearer.first()),
            is_longer: shift_from(nearer.last()) > 0,
            ways,
            sets,
            entries: vec![EMPTY; sets.count() * ways].into_boxed_slice(),
            written: false,
            write_backs: 0,
            left: 0,
            overwritten: 0,
        }
    }

    /// Does what `batch` asks, and leaves in it what the next level has to do. Gives the program's look-ups that missed.
    pub(super) fn filter(&mut self, batch: &mut Batch) -> u64 {
        if self.written || !batch.only_reads() {
            return self.work(batch);
        }
        match (self.ways, self.sets.mask()) {
            (1, Some(mask)) => self.read::<1>(batch, mask),
            (2, Some(mask)) => self.read::<2>(batch, mask),
            (4, Some(mask)) => self.read::<4>(batch, mask),
            (8, Some(mask)) => self.read::<8>(batch, mask),
            (16, Some(mask)) => self.read::<16>(batch, mask),
            _ => self.read_any(batch),
        }
    }

    /// Reads lines while no entry is dirty: most traces never need more.
    fn read<const WAYS: usize>(&mut self, batch: &mut Batch, set_mask: u64) -> u64 {
        let (shift, set_mask) = (self.shift, set_mask as usize);
        let (sets, _) = self.entries.as_chunks_mut::<WAYS>();
        let sets = &mut sets[..=set_mask];
        batch.retain(|operation| {
            let line = operation.line() >> shift;
            !touch_ways(&mut sets[line as usize & set_mask], line << 1)
        })
    }

    /// [`Level::read`] for an unusual number of ways or sets.
    fn read_any(&mut self, batch: &mut Batch) -> u64 {
        let (shift, sets, ways) = (self.shift, self.sets, self.ways);
        let entries = &mut self.entries;
        batch.retain(|operation| {
            let line = operation.line() >> shift;
            let start = sets.of(line) * ways;
            !touch(&mut entries[start..start + ways], line << 1)
        })
    }

    /// Works through operations of every kind.
    fn work(&mut self, batch: &mut Batch) -> u64 {
        self.written = true;
        let mut misses = 0;
        for index in 0..batch.len() {
            let operation = batch.operation(index);
            let reason = operation.reason();
            let line = operation.line() >> self.shift;
            let start = self.sets.of(line) * self.ways;
            let set = &mut self.entries[start..start + self.ways];
            let dirty = match reason {
                Reason::Store | Reason::WriteBack | Reason::PartialWriteBack => DIRTY,
                Reason::Read | Reason::Stream => 0,
            };
            if let Some(way) = set.iter().position(|&entry| holds(entry, line)) {
                set[..=way].rotate_right(1);
                set[0] |= dirty;
                continue;
            }
            let is_part =
                reason == Reason::PartialWriteBack || reason == Reason::WriteBack && self.is_longer;
            if is_part {
                self.left += 1;
                batch.emit(
                    Operation::new(operation.line(), Reason::PartialWriteBack),
                    index,
                );
                continue;
            }
            if let Some(wanted) = reason.below() {
                misses += 1;
                batch.emit(Operation::new(operation.line(), wanted), index);
            }
            let streams = reason == Reason::Stream;
            if streams && !self.is_first {
                continue;
            }
            let last = self.ways - 1;
            let way = if streams {
                // Free ways stand behind the lines.
                set.iter().position(|&entry| entry == EMPTY).unwrap_or(last)
            } else {
                last
            };
            let victim = mem::replace(&mut set[way], line << 1 | dirty);
            if !streams {
                set.rotate_right(1);
            }
            if victim != EMPTY && victim & DIRTY != 0 {
                self.write_backs += 1;
                let left = victim >> 1 << self.shift;
                batch.emit(Operation::new(left, Reason::WriteBack), index);
            }
        }
        batch.pass_on();
        misses
    }

    /// Takes out lines, given by the first and the last of them of a level behind that has lines as much longer as `shift` says.
    pub(super) fn take_out(&mut self, first: u64, last: u64, shift: u32) -> TakenOut {
        let shift = shift - self.shift;
        let mut taken = TakenOut::default();
        for line in first << shift..=(last << shift | ((1 << shift) - 1)) {
            let start = self.sets.of(line) * self.ways;
            let set = &mut self.entries[start..start + self.ways];
            if let Some(way) = set.iter().position(|&entry| holds(entry, line)) {
                taken.lines += 1;
                taken.dirty |= set[way] & DIRTY != 0;
                set[way] = EMPTY;
                set[way..].rotate_left(1);
            }
        }
        taken
    }

    /// Dirty lines that it gave the next level, its own and those that it left to it.
    pub(super) fn sent_on(&self) -> u64 {
        self.write_backs + self.left
    }

    /// How much longer its lines are than those of the first level, as a power of two.
    pub(super) fn shift(&self) -> u32 {
        self.shift
    }

    /// Empties the level; dirty lines are forgotten.
    pub(super) fn clear(&mut self) {
        self.entries.fill(EMPTY);
        self.written = false;
    }
}
