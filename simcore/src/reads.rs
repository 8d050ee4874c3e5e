//! Data accesses as lines, for those who do not care what an access is for.

use traces::{Event, EventSink, Kind};

/// Takes bare addresses besides events.
pub trait AddressSink: EventSink {
    /// Reads one byte at each of `addresses`: the same as as many loads of one byte.
    fn read(&mut self, addresses: &[u64]);
}

/// Hands over the lines that a load, store, exchange or software prefetch looks up, and none for other events. Bytes past the end
/// of the address space do not exist.
#[inline(always)]
pub(crate) fn for_each_line(event: &Event, line_shift: u32, mut take: impl FnMut(u64)) {
    let size = match event.kind {
        Kind::Load | Kind::Store | Kind::Exchange => u64::from(event.size.max(1)),
        Kind::Prefetch | Kind::PrefetchNta => 1,
        _ => return,
    };
    let last = event.address.saturating_add(size - 1) >> line_shift;
    (event.address >> line_shift..=last).for_each(&mut take);
}
