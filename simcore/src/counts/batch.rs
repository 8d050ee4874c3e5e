//! Operations on their way through the levels.

use super::operation::{Operation, Reason};
use std::mem::swap;

/// Operations collected before they go through the levels: few enough to stay in the host's first cache.
pub(super) const CAPACITY: usize = 1024;

/// Some operations in program order, and whose they are.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    operations: Vec<Operation>,
    /// The row of the results that each operation belongs to; empty if all belong to the current one.
    rows: Vec<u32>,
    has_rows: bool,
    only_reads: bool,
    /// What the next level has to do, while this one works.
    emitted: Vec<Operation>,
    emitted_rows: Vec<u32>,
}

impl Batch {
    /// An empty batch.
    pub(super) fn new() -> Self {
        Self {
            operations: Vec::with_capacity(CAPACITY),
            rows: Vec::with_capacity(CAPACITY),
            has_rows: true,
            only_reads: true,
            emitted: Vec::new(),
            emitted_rows: Vec::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.operations.len() >= CAPACITY
    }

    /// Whether every operation is a [`Reason::Read`].
    pub(super) fn only_reads(&self) -> bool {
        self.only_reads
    }

    pub(super) fn len(&self) -> usize {
        self.operations.len()
    }

    #[inline(always)]
    pub(super) fn operation(&self, index: usize) -> Operation {
        self.operations[index]
    }

    /// Rows of the operations that the program asked for, which are all but the write-backs; nothing if all belong to
    /// the current row.
    pub(super) fn rows_asked_for(&self) -> Option<impl Iterator<Item = u32>> {
        let pairs = self.rows.iter().zip(&self.operations);
        let asked = pairs
            .filter(|(_, operation)| operation.reason().is_the_programs())
            .map(|(&row, _)| row);
        self.has_rows.then_some(asked)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, operation: Operation, row: u32) {
        self.only_reads &= operation.reason() == Reason::Read;
        self.operations.push(operation);
        self.rows.push(row);
    }

    /// Takes reads of `addresses`, all of the current row, into an empty batch. A line that comes several times running
    /// is taken once: the later reads find it where it is, the most recently used.
    #[inline(always)]
    pub(super) fn read(&mut self, addresses: &[u64], line_shift: u32) {
        self.has_rows = false;
        self.operations.resize(addresses.len(), Operation::NONE);
        let mut kept = 0;
        let mut last = Operation::NONE;
        for address in addresses {
            let operation = Operation::new(address >> line_shift, Reason::Read);
            self.operations[kept] = operation;
            kept += usize::from(operation != last);
            last = operation;
        }
        self.operations.truncate(kept);
    }

    /// Keeps the operations that `is_kept` says, and gives their number.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(Operation) -> bool) -> u64 {
        let mut kept = 0;
        for index in 0..self.operations.len() {
            let operation = self.operations[index];
            self.operations[kept] = operation;
            if self.has_rows {
                self.rows[kept] = self.rows[index];
            }
            kept += usize::from(is_kept(operation));
        }
        self.operations.truncate(kept);
        self.rows.truncate(kept);
        kept as u64
    }

    /// Leaves `operation` to the next level, on behalf of the one at `index`.
    #[inline(always)]
    pub(super) fn emit(&mut self, operation: Operation, index: usize) {
        self.emitted.push(operation);
        if self.has_rows {
            self.emitted_rows.push(self.rows[index]);
        }
    }

    /// What was emitted becomes the batch.
    pub(super) fn pass_on(&mut self) {
        swap(&mut self.operations, &mut self.emitted);
        swap(&mut self.rows, &mut self.emitted_rows);
        self.emitted.clear();
        self.emitted_rows.clear();
        self.only_reads = false;
    }

    pub(super) fn clear(&mut self) {
        self.operations.clear();
        self.rows.clear();
        self.has_rows = true;
        self.only_reads = true;
    }
}
