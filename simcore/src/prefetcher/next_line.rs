//! Tagged next-line prefetching (Smith, Computing Surveys 1982).

use super::{Requests, Trigger};

/// A new line asks for those right behind it.
pub(super) fn train(degree: u64, trigger: &Trigger, requests: &mut Requests) {
    if trigger.is_new {
        for ahead in 1..=degree {
            requests.push(trigger, trigger.line.saturating_add(ahead));
        }
    }
}
