//! Reference prediction table (Chen and Baer, IEEE Transactions on Computers 1995): strides by instruction site.

use super::{Learns, Requests, Trigger};

/// How well the stride of a site has predicted its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Initial,
    Transient,
    Steady,
    NoPrediction,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    site: u16,
    previous: u64,
    stride: i64,
    state: State,
}

/// Direct-mapped table of sites.
#[derive(Clone, Debug)]
pub(crate) struct StrideTable {
    entries: Box<[Option<Entry>]>,
    degree: i64,
    line_shift: u32,
}

impl StrideTable {
    /// `entries` is a power of two.
    pub(crate) fn new(entries: u32, degree: u32, line_shift: u32) -> Self {
        Self {
            entries: vec![None; entries as usize].into_boxed_slice(),
            degree: i64::from(degree),
            line_shift,
        }
    }

    /// Asks for the next strides; strides within a line go on by a line.
    fn ask(&self, trigger: &Trigger, stride: i64, requests: &mut Requests) {
        let line_bytes = 1_i64 << self.line_shift;
        let step = stride.signum() * stride.saturating_abs().max(line_bytes);
        for ahead in 1..=self.degree {
            let address = trigger
                .address
                .wrapping_add(step.wrapping_mul(ahead) as u64);
            requests.push(trigger, address >> self.line_shift);
        }
    }
}

impl Learns for StrideTable {
    fn train(&mut self, trigger: &Trigger, requests: &mut Requests) {
        // Strides are from first byte to first byte.
        if trigger.is_rest {
            return;
        }
        let place = usize::from(trigger.site) % self.entries.len();
        let Some(entry) = self.entries[place]
            .as_mut()
            .filter(|entry| entry.site == trigger.site)
        else {
            self.entries[place] = Some(Entry {
                site: trigger.site,
                previous: trigger.address,
                stride: 0,
                state: State::Initial,
            });
            return;
        };
        let stride = trigger.address.wrapping_sub(entry.previous) as i64;
        entry.previous = trigger.address;
        let right = stride == entry.stride;
        entry.state = match (entry.state, right) {
            (State::NoPrediction, true) | (State::Initial, false) => State::Transient,
            (_, true) => State::Steady,
            (State::Steady, false) => State::Initial,
            (State::Transient | State::NoPrediction, false) => State::NoPrediction,
        };
        if !right && entry.state != State::Initial {
            entry.stride = stride;
        }
        if entry.state == State::Steady && stride != 0 {
            self.ask(trigger, stride, requests);
        }
    }

    fn clear(&mut self) {
        self.entries.fill(None);
    }
}
