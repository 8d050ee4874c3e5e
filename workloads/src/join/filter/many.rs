//! The filters of a partition, in either layout.

use super::filters::Filters;
use super::horizontal::Horizontal;
use super::row::Row;
use super::vertical::{Vertical, row_bytes};
use crate::place::Loaded;
use crate::tracer::{Dep, Trace};
use crate::word::Word;
use std::sync::Arc;

/// The filters of a partition, to be tested all at once.
#[derive(Debug)]
pub(in crate::join) enum Many {
    /// Where they were filled.
    Horizontal(Horizontal),
    /// Converted.
    Vertical(Vertical),
}

impl Many {
    /// Filters where they were filled.
    pub(in crate::join) fn horizontal(filters: Vec<(Arc<Filters>, u32)>) -> Self {
        Self::Horizontal(Horizontal(filters))
    }

    /// Filters there are.
    pub(in crate::join) fn filters(&self) -> u32 {
        match self {
            Self::Horizontal(all) => all.0.len() as u32,
            Self::Vertical(vertical) => vertical.filters,
        }
    }

    /// Words that a bit of each filter takes.
    pub(in crate::join) fn row_words(&self) -> usize {
        row_bytes(self.filters()) as usize / u32::BYTES
    }

    /// Prefetches what is read of a key's bits.
    pub(in crate::join) fn prefetch<T: Trace>(&self, trace: &mut T, bits: &[(u32, Dep)]) {
        match self {
            Self::Horizontal(all) => all.prefetch(trace, bits),
            Self::Vertical(vertical) => vertical.prefetch(trace, bits),
        }
    }

    /// The filters that have all bits of a key: those that may hold it.
    pub(in crate::join) fn test<T: Trace>(
        &self,
        trace: &mut T,
        bits: &[(u32, Dep)],
    ) -> Loaded<Row> {
        match self {
            Self::Horizontal(all) => all.test(trace, bits),
            Self::Vertical(vertical) => vertical.test(trace, bits),
        }
    }
}
