//! Where events come from, for whoever takes them at a pace of its own.

use crate::event::Event;
use crate::sink::SinkError;

/// One thread's events, a batch at a time.
///
/// Where one batch ends and the next begins carries no meaning, but that a thread which waits for others gives nothing that
/// comes behind a barrier together with what comes before.
pub trait EventSource {
    /// Replaces what `events` holds by the next batch; it stays empty at the end.
    ///
    /// # Errors
    /// The source cannot be read.
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError>;
}
