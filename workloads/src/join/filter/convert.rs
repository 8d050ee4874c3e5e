//! From horizontal to vertical filters, a block at a time (thesis Figure 5.6): a line of each filter, and the rows of its bits.

use super::filters::{Filters, clear, words};
use super::ones::take_one;
use super::sites::Site;
use super::vertical::Vertical;
use crate::join::ahead::lines;
use crate::join::costs::LOOP;
use crate::tracer::{Dep, Trace};
use crate::watch;
use std::sync::Arc;

/// What is converted: the filters of a partition, each with whose it is and its number there.
#[derive(Debug)]
pub(in crate::join) struct Conversion {
    pub(in crate::join) filters: Vec<(Arc<Filters>, u32)>,
    /// Bits of each.
    pub(in crate::join) bits: u32,
    pub(in crate::join) line_bytes: u32,
    /// Whether the next block is prefetched while one is converted.
    pub(in crate::join) ahead: bool,
}

impl Conversion {
    /// Makes vertical filters from an address on.
    pub(in crate::join) fn run<T: Trace>(&self, trace: &mut T, base: u64) -> Vertical {
        let mut vertical = Vertical::new(base, self.filters.len() as u32, self.bits);
        if self.filters.is_empty() {
            return vertical;
        }
        let blocks = self.bits / self.rows();
        if self.ahead {
            self.prefetch(trace, &vertical, 0);
        }
        for block in 0..blocks {
            if self.ahead && block + 1 < blocks {
                self.prefetch(trace, &vertical, block + 1);
            }
            watch::step(self.filters.len() as u64);
            self.convert(trace, &mut vertical, block);
            trace.work(LOOP);
        }
        vertical
    }

    /// Rows of a block: a line's bits.
    fn rows(&self) -> u32 {
        self.line_bytes * u8::BITS
    }

    /// First address and bytes of a block of rows.
    fn block(&self, vertical: &Vertical, block: u32) -> (u64, u64) {
        let bytes = u64::from(self.rows()) * u64::from(vertical.row_bytes);
        (vertical.address(block * self.rows()), bytes)
    }

    /// Address of a filter's line.
    fn line(&self, (filters, number): &(Arc<Filters>, u32), block: u32) -> u64 {
        filters.address(*number) + u64::from(block) * u64::from(self.line_bytes)
    }

    fn prefetch<T: Trace>(&self, trace: &mut T, vertical: &Vertical, block: u32) {
        for filter in &self.filters {
            let line = self.line(filter, block);
            filter.0.prefetch_line(trace, Site::ConvertPrefetch, line);
        }
        let (first, bytes) = self.block(vertical, block);
        for line in lines(first, bytes as u32, self.line_bytes) {
            vertical
                .memory
                .prefetch(trace, Site::ConvertPrefetch, line, Dep::NONE);
        }
    }

    fn convert<T: Trace>(&self, trace: &mut T, vertical: &mut Vertical, block: u32) {
        let place = self.block(vertical, block);
        clear(trace, &mut vertical.memory, Site::ConvertClear, place);
        let first_row = block * self.rows();
        for (id, filter) in (0..).zip(&self.filters) {
            let line = self.line(filter, block);
            for word_number in 0..self.rows() / u32::BITS {
                let at = (line + u64::from(word_number * u32::BITS / u8::BITS), 4);
                let word = filter.0.load(trace, Site::ConvertRead, at, Dep::NONE);
                let (mut waits, mut left) = (word.token.after(0), words(word.value).sum());
                let first_row = first_row + word_number * u32::BITS;
                while let Some((bit, found)) = take_one(trace, &mut left, waits) {
                    vertical.set(trace, first_row + bit, id, found);
                    waits = word.token.after(1);
                }
                trace.work(LOOP);
            }
        }
    }
}
