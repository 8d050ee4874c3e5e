//! The run of operations on an index of any kind: warm-up, then one operation after the other, and what came of them.

use super::keys::later_key;
use super::{Operation, Operations, ReturnBuffers, Thread};
use crate::outcome::{Checksum, Outcome};
use crate::tracer::Trace;
use crate::tree::{ReturnBuffer, ScanRange};
use crate::warm_up::{self, CacheState, WarmUp};
use crate::word::Word;

/// Phase of the operations; phase 0 is what comes before the first.
const OPERATION_PHASE: u16 = 1;

/// An index that operations are done to. Keys and tupleIDs come as numbers of 8 bytes, whatever the index keeps.
pub(crate) trait Searched {
    /// What the index keeps as a key.
    type Key;
    /// What scans return.
    type Tuple: Word;

    /// Makes a key.
    fn key(&self, number: u64) -> Self::Key;

    /// The tupleID of a key, if the index has it.
    fn search<T: Trace>(&mut self, trace: &mut T, key: Self::Key) -> Option<Self::Tuple>;

    /// Inserts an entry; an existing key gets the new tupleID, and the old one is returned.
    fn insert<T: Trace>(
        &mut self,
        trace: &mut T,
        key: Self::Key,
        tuple: u64,
    ) -> Option<Self::Tuple>;

    /// Takes out a key, and returns its tupleID.
    fn delete<T: Trace>(&mut self, trace: &mut T, key: Self::Key) -> Option<Self::Tuple>;

    /// Copies the tupleIDs of the keys in a range into a buffer.
    fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<Self::Key>,
        buffer: ReturnBuffer<'_, Self::Tuple>,
    );
}

/// What came of the operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    operations: u64,
    warm_up: Option<WarmUp>,
    returned: u64,
    checksum: Checksum,
}

impl Done {
    /// Says how much was done.
    pub(crate) fn begin(&self, outcome: &mut Outcome) {
        outcome.set("operations", self.operations);
        if self.warm_up.is_some() {
            outcome.set("warm_up_operations", WarmUp::operations(self.warm_up));
        }
    }

    /// Says what was found.
    pub(crate) fn end(&self, outcome: &mut Outcome) {
        outcome.set("returned", self.returned);
        outcome.set("checksum", self.checksum.value());
    }
}

impl Operations {
    /// Empties the caches and warms them up by operations that leave the index as it is. Scans take buffers of their own, behind those
    /// of the measured ones, which are as cold as they would be without a warm-up.
    pub(crate) fn warm<I: Searched, T: Trace>(
        &self,
        warm_up: Option<WarmUp>,
        index: &mut I,
        buffers: &mut ReturnBuffers<I::Tuple>,
        trace: &mut T,
    ) {
        trace.flush();
        let mut next_key = self.warm_up_keys();
        let last = WarmUp::operations(warm_up).wrapping_sub(1);
        warm_up::run(warm_up, trace, |trace, number| {
            let key = next_key();
            if self.does(number) {
                self.warm_by((key, number), index, buffers, trace);
            }
            // Else those that are ready would be measured while they wait for the others.
            if self.thread != Thread::ALONE && number == last {
                trace.barrier();
            }
        });
    }

    /// Does an operation of the warm-up, told by its key and number.
    fn warm_by<I: Searched, T: Trace>(
        &self,
        (key, number): (u64, u64),
        index: &mut I,
        buffers: &mut ReturnBuffers<I::Tuple>,
        trace: &mut T,
    ) {
        if self.warm_up_kind(number).scans() {
            let buffer = buffers.get(self.count + number);
            self.scan(
                index,
                (key, self.count + number),
                buffer,
                &mut |_| {},
                trace,
            );
        } else {
            let key = index.key(key);
            index.search(trace, key);
        }
    }

    /// Does an operation with each of the thread's keys to an index that has been warmed up; stops early if the trace failed. Threads begin together,
    /// scans each of them.
    pub(crate) fn run<I: Searched, T: Trace>(
        &self,
        keys: &[u64],
        (caches, warm_up): (CacheState, Option<WarmUp>),
        index: &mut I,
        buffers: &mut ReturnBuffers<I::Tuple>,
        trace: &mut T,
    ) -> Done {
        let mut done = Done {
            operations: self.count,
            warm_up,
            returned: 0,
            checksum: Checksum::default(),
        };
        let meets = self.thread != Thread::ALONE;
        if meets && !self.divides() {
            trace.barrier();
        }
        for (number, &key) in self.numbers().zip(keys) {
            if trace.failed() {
                break;
            }
            if caches == CacheState::Cold && number > 0 {
                trace.flush();
            }
            if meets && self.divides() {
                trace.barrier();
            }
            trace.mark(OPERATION_PHASE);
            let mut take = |tuples: &[I::Tuple]| {
                done.returned += tuples.len() as u64;
                let each = tuples.iter().map(|tuple| tuple.to_u64());
                each.for_each(|tuple| done.checksum.add(tuple));
            };
            let found = match self.kind(number) {
                Operation::Search => {
                    let key = index.key(key);
                    index.search(trace, key)
                }
                Operation::Insert => {
                    let key = index.key(key);
                    index.insert(trace, key, self.keys + number)
                }
                Operation::Delete => {
                    let key = index.key(key);
                    index.delete(trace, key)
                }
                Operation::Scan | Operation::ScanAndInsert => {
                    let buffer = buffers.get(number);
                    self.scan(index, (key, number), buffer, &mut take, trace);
                    None
                }
            };
            if let Some(tuple) = found {
                take(&[tuple]);
            }
        }
        trace.end();
        done
    }

    /// Scans the thread's part of a range, that of scan `number`, which starts at `key`, into a buffer, which `take` empties.
    fn scan<I: Searched, T: Trace>(
        &self,
        index: &mut I,
        (key, number): (u64, u64),
        (address, room): (u64, &mut [I::Tuple]),
        take: &mut dyn FnMut(&[I::Tuple]),
        trace: &mut T,
    ) {
        let part = self.part(number);
        if part.is_empty() {
            return;
        }
        let range = ScanRange {
            start: index.key(later_key(key, part.start)),
            end: index.key(later_key(key, part.end - 1)),
            tuples: (part.end - part.start) as usize,
        };
        let buffer = ReturnBuffer {
            address,
            room,
            take,
        };
        index.scan(trace, range, buffer);
    }
}
