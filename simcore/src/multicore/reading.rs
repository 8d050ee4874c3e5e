//! What a thread reads while others may change it, as it only awaited the latch: if somebody did, the thread reads it again.

use super::latches::Latch;
use traces::Event;

/// So many events of a reading are kept, and run again if need be; of a longer one it is not known any more where it began.
const LONGEST: usize = 1 << 14;

/// A reading that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) latch: Latch,
    /// Changes of whatever there is that had been made when it began.
    pub(super) changes: u64,
    /// The place of its first event in the thread's batch.
    pub(super) start: usize,
}

/// Whether events of a reading may be run again: instructions and latches. What has asked for a page has had an answer.
pub(super) fn can_be_repeated(events: &[Event]) -> bool {
    let mut kinds = events.iter().map(|event| event.kind);
    kinds.all(|kind| kind.is_instruction() || kind.is_of_latch())
}

/// The place of the first event to be kept when all up to `next` have run; readings get places behind it.
pub(super) fn first_kept(readings: &mut Vec<Reading>, next: usize) -> usize {
    readings.retain(|reading| next - reading.start <= LONGEST);
    let first = readings.first().map_or(next, |reading| reading.start);
    for reading in readings {
        reading.start -= first;
    }
    first
}
