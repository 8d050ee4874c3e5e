//! The events of a thread, from memory.

use traces::{Event, EventSource, SinkError};

/// Events that are left, and how many come at a time.
pub struct Batches(pub Vec<Event>, pub usize);

impl EventSource for Batches {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        let rest = self.0.split_off(self.0.len().min(self.1));
        *events = std::mem::replace(&mut self.0, rest);
        Ok(())
    }
}
