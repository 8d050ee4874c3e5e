//! A part of a trace: from one position until another.

use crate::event::{Event, Kind};
use serde::{Deserialize, Serialize};

/// A place in a trace, before one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// So many events come before.
    Events(u64),
    /// So many instructions come before, or the fewest more that events can be parted at.
    Instructions(u64),
    /// The mark that opens this phase, by its number, comes next.
    Phase(u64),
}

/// Which part of a trace runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    /// Where it begins: the trace's beginning if absent.
    pub from: Option<Position>,
    /// Where it ends, counted from the trace's beginning too; a phase is one that opens behind the beginning of the part.
    /// The trace's end if absent.
    pub until: Option<Position>,
}

/// Cuts the part out, batch by batch.
#[derive(Clone, Debug)]
pub struct Cutter {
    window: Window,
    /// Events and instructions of the trace so far.
    events: u64,
    instructions: u64,
    /// The phase that runs.
    phase: u64,
    begun: bool,
    ended: bool,
    /// Events of the part so far.
    taken: u64,
    batch: Vec<Event>,
}

impl Cutter {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self {
            begun: window.from.is_none(),
            window,
            events: 0,
            instructions: 0,
            phase: 0,
            ended: false,
            taken: 0,
            batch: Vec::new(),
        }
    }

    /// The events of the part among the next ones of the trace.
    pub fn cut<'c>(&'c mut self, events: &'c [Event]) -> &'c [Event] {
        if self.window == Window::default() {
            return events;
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.clear();
        for event in events {
            if self.ended {
                break;
            }
            self.next(event, &mut batch);
        }
        self.batch = batch;
        &self.batch
    }

    fn next(&mut self, event: &Event, batch: &mut Vec<Event>) {
        let waited = !self.begun;
        self.begun |= self.is_at(self.window.from, event);
        let begins = self.begun && (waited || self.events == 0);
        let behind = !begins || !matches!(self.window.until, Some(Position::Phase(_)));
        if self.begun && behind && self.is_at(self.window.until, event) {
            self.ended = true;
            return;
        }
        if begins && self.phase > 0 && event.kind != Kind::Mark {
            batch.push(Event::new(Kind::Mark, self.phase));
            self.taken += 1;
        }
        self.events += 1;
        self.instructions += u64::from(event.instructions) + event.own_instructions();
        if event.kind == Kind::Mark {
            self.phase = event.address;
        }
        if self.begun {
            // A producer that was left out has long had its result.
            let known = u64::from(event.dep) <= self.taken;
            batch.push(Event {
                dep: if known { event.dep } else { 0 },
                ..*event
            });
            self.taken += 1;
        }
    }

    fn is_at(&self, position: Option<Position>, event: &Event) -> bool {
        match position {
            None => false,
            Some(Position::Events(events)) => self.events >= events,
            Some(Position::Instructions(instructions)) => self.instructions >= instructions,
            Some(Position::Phase(phase)) => event.kind == Kind::Mark && event.address == phase,
        }
    }

    /// Whether nothing more belongs to the part.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Why there was no such part in the trace, which is over; nothing if there was.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if self.window == Window::default() {
            return None;
        }
        let (events, instructions) = (self.events, self.instructions);
        let of_trace = format!("the trace has {events} events and {instructions} instructions");
        if !self.begun {
            return Some(format!("it never begins: {of_trace}"));
        }
        if self.taken == 0 {
            return Some("it ends where it begins: nothing is left to run".to_owned());
        }
        // The trace's very end is a position, too.
        let end_of_trace = match self.window.until {
            Some(Position::Events(until)) => until == events,
            Some(Position::Instructions(until)) => until == instructions,
            _ => false,
        };
        let missed = self.window.until.is_some() && !self.ended && !end_of_trace;
        missed.then(|| format!("it never ends: {of_trace}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two phases of ten loads each, a load of two instructions after the one it needs.
    fn trace() -> Vec<Event> {
        let load = |number| Event {
            instructions: 1,
            dep: 1,
            ..Event::new(Kind::Load, number)
        };
        let phase = |phase: u64| {
            let loads = (0..10).map(move |number| load(10 * phase + number));
            [Event::new(Kind::Mark, phase)].into_iter().chain(loads)
        };
        phase(0).chain(phase(1)).collect()
    }

    fn cut(from: Option<Position>, until: Option<Position>) -> Result<Vec<Event>, String> {
        let window = Window { from, until };
        let mut results: Vec<_> = [1, 7, 1000]
            .map(|batch| {
                let mut cutter = Cutter::new(window);
                let mut part = Vec::new();
                for events in trace().chunks(batch) {
                    part.extend_from_slice(cutter.cut(events));
                }
                cutter.problem().map_or(Ok(part), Err)
            })
            .to_vec();
        let first = results.remove(0);
        assert!(results.iter().all(|other| *other == first));
        first
    }

    #[test]
    fn all_positions_name_the_same_part() {
        let trace = trace();
        // Event 11 opens the second phase, after 20 instructions.
        for from in [
            Position::Events(11),
            Position::Instructions(20),
            Position::Phase(1),
        ] {
            assert_eq!(cut(Some(from), None).unwrap(), trace[11..], "{from:?}");
            assert_eq!(cut(None, Some(from)).unwrap(), trace[..11], "{from:?}");
        }
        assert_eq!(cut(None, None).unwrap(), trace);
        assert_eq!(cut(None, Some(Position::Events(22))).unwrap(), trace);
    }

    #[test]
    fn a_part_knows_its_phase_and_waits_for_nothing_before_it() {
        let part = cut(Some(Position::Events(15)), Some(Position::Events(17))).unwrap();
        let mut expected = vec![Event::new(Kind::Mark, 1)];
        expected.extend_from_slice(&trace()[15..17]);
        assert_eq!(part, expected);
        let part = cut(Some(Position::Events(3)), Some(Position::Events(5))).unwrap();
        assert_eq!((part[0].dep, part[1].dep), (0, 1));
    }

    #[test]
    fn parts_that_are_not_there_are_told() {
        let events = Position::Events;
        for (from, until, expected) in [
            (
                Some(events(23)),
                None,
                "it never begins: the trace has 22 events and 40 instructions",
            ),
            (Some(Position::Phase(2)), None, "it never begins"),
            (None, Some(events(23)), "it never ends"),
            (Some(events(9)), Some(events(9)), "it ends where it begins"),
            (Some(events(9)), Some(events(3)), "it ends where it begins"),
            (None, Some(Position::Phase(0)), "it never ends"),
        ] {
            let problem = cut(from, until).unwrap_err();
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
