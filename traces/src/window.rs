//! A part of a trace: from one position until another, the first of it as a warm-up.

use crate::event::{Event, Kind};
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// A place in a trace, before one of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// So many events come before.
    Events(u64),
    /// So many instructions come before, or the fewest more that events can be parted at.
    Instructions(u64),
    /// This phase, by its number, opens: its mark comes next, and another phase ran before. What comes before the first mark
    /// belongs to phase 0, so that a trace that begins without a mark opens that one.
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
    /// What runs first and is not counted: so much from the beginning of the part on, or until the phase opens. It stands for
    /// the measurement marks of the trace. Nothing if absent.
    pub warm_up: Option<Position>,
}

impl Window {
    /// Whether its two positions say so, which is known if they count the same.
    fn ends_before_it_begins(&self) -> bool {
        match (self.from, self.until) {
            (Some(Position::Events(from)), Some(Position::Events(until)))
            | (Some(Position::Instructions(from)), Some(Position::Instructions(until))) => {
                until < from
            }
            _ => false,
        }
    }
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
    /// Events and instructions before the part, once it has begun.
    begun: Option<(u64, u64)>,
    ended: bool,
    /// Events of the part so far.
    taken: u64,
    /// Whether one of them is a mark that the trace does not have there: of the phase that runs where the part begins.
    has_added: bool,
    /// How many of them are the warm-up, once that is over.
    warmed: Option<u64>,
    batch: Vec<Event>,
}

impl Cutter {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self {
            begun: window.from.is_none().then_some((0, 0)),
            window,
            events: 0,
            instructions: 0,
            phase: 0,
            ended: false,
            taken: 0,
            has_added: false,
            warmed: None,
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
        if self.begun.is_none() && self.is_at(self.window.from, (0, 0), event) {
            self.begun = Some((self.events, self.instructions));
        }
        if let Some(begun) = self.begun {
            self.take(event, begun, batch);
        }
        if self.ended {
            return;
        }
        self.events += 1;
        self.instructions += u64::from(event.instructions) + event.own_instructions();
        if event.kind == Kind::Mark {
            self.phase = event.address;
        }
    }

    /// Takes an event of the part, which has `begun` after so many events and instructions, or ends the part before it.
    fn take(&mut self, event: &Event, begun: (u64, u64), batch: &mut Vec<Event>) {
        let begins = self.events == begun.0;
        let behind = !begins || !matches!(self.window.until, Some(Position::Phase(_)));
        if behind && self.is_at(self.window.until, (0, 0), event) {
            self.ended = true;
            return;
        }
        if self.warmed.is_none() && self.is_at(self.window.warm_up, begun, event) {
            self.warmed = Some(self.taken);
            self.push(Event::new(Kind::Measure, 0), batch);
        }
        if begins && self.phase > 0 && event.kind != Kind::Mark {
            self.has_added = true;
            self.push(Event::new(Kind::Mark, self.phase), batch);
        }
        let mark_of_trace = event.kind == Kind::Measure && self.window.warm_up.is_some();
        self.push(
            Event {
                dep: self.dependence(event.dep),
                // The phase opens again, which changes nothing and leaves distances between events alone.
                kind: if mark_of_trace {
                    Kind::Mark
                } else {
                    event.kind
                },
                address: if mark_of_trace {
                    self.phase
                } else {
                    event.address
                },
                ..*event
            },
            batch,
        );
    }

    fn push(&mut self, event: Event, batch: &mut Vec<Event>) {
        batch.push(event);
        self.taken += 1;
    }

    /// How many events back the producer stands in the part, where a mark may have come between.
    fn dependence(&self, dep: u32) -> u32 {
        let behind_mark = self
            .warmed
            .map_or(u64::MAX, |warmed| self.taken - warmed - 1);
        let dep = u64::from(dep) + u64::from(u64::from(dep) > behind_mark);
        // A producer that was left out has long had its result.
        u32::try_from(dep)
            .ok()
            .filter(|_| dep <= self.taken)
            .unwrap_or(0)
    }

    /// Whether `event` comes at `position`, counted from where so many events and instructions came before.
    fn is_at(&self, position: Option<Position>, since: (u64, u64), event: &Event) -> bool {
        match position {
            None => false,
            Some(Position::Events(events)) => self.events - since.0 >= events,
            Some(Position::Instructions(instructions)) => {
                self.instructions - since.1 >= instructions
            }
            Some(Position::Phase(phase)) => self.opens(phase, event),
        }
    }

    /// Whether `phase` opens with `event`. A mark of the phase that runs opens nothing: it carries instructions.
    fn opens(&self, phase: u64, event: &Event) -> bool {
        let (is_mark, is_first) = (event.kind == Kind::Mark, self.events == 0);
        match (is_mark, is_first) {
            (true, true) => phase == event.address,
            (true, false) => phase == event.address && phase != self.phase,
            (false, true) => phase == 0,
            (false, false) => false,
        }
    }

    /// Events behind the warm-up that are none of the trace.
    #[must_use]
    pub fn added(&self) -> u64 {
        u64::from(self.has_added && self.window.warm_up.is_none())
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
        if self.begun.is_none() {
            return Some(format!("it never begins: {of_trace}"));
        }
        if self.taken == 0 {
            let ends = if self.window.ends_before_it_begins() {
                "before"
            } else {
                "where"
            };
            return Some(format!("it ends {ends} it begins: nothing is left to run"));
        }
        match (self.window.warm_up, self.warmed) {
            (Some(_), None) => {
                let end = match self.ended {
                    true => {
                        format!("it ends behind {events} events and {instructions} instructions")
                    }
                    false => of_trace,
                };
                return Some(format!("its warm-up takes all of it: {end}"));
            }
            (Some(_), Some(0)) => return Some("its warm-up is empty; leave it out".to_owned()),
            _ => {}
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
