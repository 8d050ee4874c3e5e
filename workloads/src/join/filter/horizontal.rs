//! Testing all filters of a partition where they are, one after the other: what vertical filters spare.

use super::filters::{Filters, MASK};
use super::row::Row;
use super::sites::Site;
use crate::place::Loaded;
use crate::tracer::{Dep, Token, Trace};
use std::sync::Arc;

/// The filters of a partition, each with whose it is and its number there.
#[derive(Debug)]
pub(in crate::join) struct Horizontal(pub(in crate::join) Vec<(Arc<Filters>, u32)>);

impl Horizontal {
    /// Prefetches the words of a key's bits, of all filters.
    pub(super) fn prefetch<T: Trace>(&self, trace: &mut T, bits: &[(u32, Dep)]) {
        for (filters, number) in &self.0 {
            filters.prefetch(trace, Site::TestPrefetch, *number, bits.iter().copied());
        }
    }

    /// The filters that have all bits of a key.
    pub(super) fn test<T: Trace>(&self, trace: &mut T, bits: &[(u32, Dep)]) -> Loaded<Row> {
        let (mut row, mut token) = (Row::default(), Token::NONE);
        for (id, (filters, number)) in (0..).zip(&self.0) {
            let mut all = true;
            for &(bit, waits) in bits {
                let tested = filters.test(trace, Site::TestRead, (*number, bit), waits);
                trace.work(MASK);
                all &= tested.value;
                token = tested.token;
            }
            if all {
                row.set(id);
            }
        }
        Loaded { value: row, token }
    }
}
