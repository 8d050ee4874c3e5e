//! Tagged next-line prefetching (Smith, Computing Surveys 1982).

use super::{Learns, Requests, Trigger};

/// So many lines behind each new one.
#[derive(Clone, Debug)]
pub(crate) struct NextLine {
    degree: u64,
}

impl NextLine {
    pub(crate) fn new(degree: u32) -> Self {
        Self {
            degree: u64::from(degree),
        }
    }
}

impl Learns for NextLine {
    /// A new line asks for those right behind it.
    fn train(&mut self, trigger: &Trigger, requests: &mut Requests) {
        if trigger.is_new {
            for ahead in 1..=self.degree {
                requests.push(trigger, trigger.line.saturating_add(ahead));
            }
        }
    }

    fn clear(&mut self) {}
}
