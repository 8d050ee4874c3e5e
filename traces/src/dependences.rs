//! Dependences laid over a trace: for traces that do not say which access needs the result of which.

use crate::event::{Event, Kind};
use serde::{Deserialize, Serialize};

/// What the instructions of a trace wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dependences {
    /// What the trace says.
    #[default]
    Recorded,
    /// Nothing: accesses overlap as far as the core's buffers reach. With it, time is a lower bound but on machines where hardly anything overlaps.
    None,
    /// The load before them and the plain instructions since: no two loads overlap. With it, time is an upper bound.
    Chain,
}

/// Lays dependences over the events of a trace, batch by batch.
#[derive(Clone, Debug)]
pub struct Overlay {
    dependences: Dependences,
    /// Events since the latest load, that included; nothing before the first load.
    since_load: Option<u64>,
    /// Plain instructions since then.
    plain: u64,
    batch: Vec<Event>,
}

impl Overlay {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(dependences: Dependences) -> Self {
        Self {
            dependences,
            since_load: None,
            plain: 0,
            batch: Vec::new(),
        }
    }

    /// The next events, with their dependences.
    pub fn lay<'o>(&'o mut self, events: &'o [Event]) -> &'o [Event] {
        if self.dependences == Dependences::Recorded {
            return events;
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        batch.extend(events.iter().map(|event| {
            let (dep, chain) = match self.dependences {
                Dependences::Chain => self.link(event),
                _ => (0, 0),
            };
            Event {
                dep,
                chain,
                ..*event
            }
        }));
        self.batch = batch;
        &self.batch
    }

    /// How many events back the latest load is, and the cycles between its result and `event`.
    #[inline]
    fn link(&mut self, event: &Event) -> (u32, u8) {
        self.plain += u64::from(event.instructions);
        // What is no instruction waits for nothing; but a latch waits for what the instruction behind it waits for, which takes it.
        let waits = event.own_instructions() > 0 || event.kind.wants_latch();
        let back = self.since_load.filter(|_| waits).unwrap_or(0);
        let link = match u32::try_from(back) {
            Ok(dep) if dep > 0 => (dep, self.plain.min(u64::from(u8::MAX)) as u8),
            _ => (0, 0),
        };
        if event.kind == Kind::Load {
            (self.since_load, self.plain) = (Some(1), 0);
        } else if let Some(back) = &mut self.since_load {
            *back += 1;
        }
        link
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, instructions: u16) -> Event {
        Event {
            instructions,
            dep: 9,
            chain: 9,
            ..Event::new(kind, 0)
        }
    }

    fn laid(dependences: Dependences, events: &[Event], batch: usize) -> Vec<(u32, u8)> {
        let mut overlay = Overlay::new(dependences);
        let mut links = Vec::new();
        for events in events.chunks(batch) {
            let laid = overlay.lay(events);
            links.extend(laid.iter().map(|event| (event.dep, event.chain)));
        }
        links
    }

    #[test]
    fn everything_waits_for_the_load_before_it() {
        let events = [
            event(Kind::Store, 3),
            event(Kind::Load, 7),
            event(Kind::Store, 2),
            event(Kind::Mark, 300),
            event(Kind::Branch, 1),
            event(Kind::Load, 0),
            event(Kind::Load, 5),
        ];
        let chain = [(0, 0), (0, 0), (1, 2), (0, 0), (3, 255), (4, 255), (1, 5)];
        for batch in 1..=events.len() {
            assert_eq!(laid(Dependences::Chain, &events, batch), chain);
        }
        let [latch, unlatch] = [Kind::Latch, Kind::Unlatch].map(|kind| event(kind, 0));
        let section = [
            event(Kind::Load, 0),
            latch,
            event(Kind::Exchange, 2),
            unlatch,
        ];
        let chain = [(0, 0), (1, 0), (2, 2), (0, 0)];
        assert_eq!(laid(Dependences::Chain, &section, 4), chain);
        assert_eq!(laid(Dependences::None, &events, 7), [(0, 0); 7]);
        assert_eq!(laid(Dependences::Recorded, &events, 7), [(9, 9); 7]);
    }
}
