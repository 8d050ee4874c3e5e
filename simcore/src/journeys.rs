//! When the lines that are on their way to a cache were asked for.

use crate::arrival::Arrival;
use crate::line::{JOURNEYS, Line};
use crate::memory::is_pending;

/// A journey of a line.
#[derive(Clone, Copy, Debug, Default)]
struct Journey {
    line: u64,
    /// The cycle in which it was asked for, or another core had it that gives it.
    asked: u64,
    /// Nobody would have had it on its way before: the cycle in which another core had it, if it comes from one.
    given: u64,
}

/// The latest journeys to a cache. A line names its own by place, as few lines are on their way at once; place 0 is nobody's.
///
/// Lines whose place has been taken meanwhile count as asked for from the beginning: who wants them waits until they come.
#[derive(Clone, Debug)]
pub(crate) struct Journeys {
    latest: Box<[Journey; JOURNEYS]>,
    next: usize,
}

impl Journeys {
    pub(crate) fn new() -> Self {
        Self {
            latest: Box::new([Journey::default(); JOURNEYS]),
            next: 1,
        }
    }

    /// The line was asked for in cycle `asked`; if it comes from another core, that has it from cycle `given` on, which is 0 otherwise.
    /// Nobody will come before cycle `now`, and need not know when that was if it is no later.
    #[inline]
    pub(crate) fn begin(&mut self, line: &mut Line, (asked, given): (u64, u64), now: u64) {
        if asked > now {
            self.note(line, asked, given);
        }
    }

    fn note(&mut self, line: &mut Line, asked: u64, given: u64) {
        self.latest[self.next] = Journey {
            line: line.number,
            asked: asked.max(given),
            given,
        };
        line.set_journey(self.next);
        self.next = self.next % (JOURNEYS - 1) + 1;
    }

    /// Somebody comes at `time` for a line that comes in a cycle which is not known yet. If it has been asked for later only, it is asked for
    /// then, if `ask` can see to that: whoever comes first in the program.
    pub(crate) fn ask_before(&mut self, line: &Line, time: u64, ask: impl FnOnce() -> bool) {
        let journey = &mut self.latest[line.journey()];
        let is_known = line.journey() != 0 && journey.line == line.number;
        if is_known && journey.given == 0 && time < journey.asked && ask() {
            journey.asked = time;
        }
    }

    /// The cycle in which somebody has the line who comes for it at `time`, while it is on its way. Others find it there no later. It stays
    /// unknown if it is.
    #[inline(never)]
    pub(crate) fn meet(&mut self, line: &mut Line, time: u64) -> u64 {
        let journey = &mut self.latest[line.journey()];
        let is_known = line.journey() != 0 && journey.line == line.number;
        let ready = line.ready();
        let time = time.max(journey.given);
        // Of a line that was on its way for an unknown time when it was asked for, it may turn out that it was there by then.
        let came_before = ready < journey.asked;
        if !is_known || journey.asked <= time || came_before || is_pending(ready) {
            return ready;
        }
        let arrival = Arrival {
            start: journey.asked,
            end: ready,
        };
        let there = arrival.wait(time);
        let earlier = arrival.no_later_than(time, there);
        journey.asked = earlier.start;
        line.set_ready(earlier.end);
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PENDING;

    #[test]
    fn who_comes_earlier_brings_the_line_forward() {
        let mut journeys = Journeys::new();
        let mut line = Line::new(7, 400, 3);
        journeys.begin(&mut line, (100, 0), 0);
        assert_eq!(journeys.meet(&mut line, 100), 400);
        assert_eq!(journeys.meet(&mut line, 60), 360);
        assert_eq!(journeys.meet(&mut line, 80), 360);
        assert_eq!((line.ready(), line.source()), (360, 3));
    }

    #[test]
    fn who_comes_earlier_for_a_line_that_comes_at_an_unknown_time_has_it_asked_for() {
        let mut journeys = Journeys::new();
        let mut line = Line::new(7, PENDING + 5, 3);
        journeys.begin(&mut line, (100, 0), 0);
        let mut times = Vec::new();
        for (time, can_be) in [(100, true), (60, false), (60, true), (60, true), (50, true)] {
            journeys.ask_before(&line, time, || {
                times.push(time);
                can_be
            });
        }
        assert_eq!(times, [60, 60, 50]);
    }

    #[test]
    fn a_line_that_comes_at_an_unknown_time_is_left_alone_until_it_is_known() {
        let mut journeys = Journeys::new();
        let mut line = Line::new(7, PENDING + 5, 3);
        journeys.begin(&mut line, (100, 0), 0);
        assert_eq!(journeys.meet(&mut line, 60), PENDING + 5);
        assert_eq!((line.ready(), line.source()), (PENDING + 5, 3));
        line.set_ready(400);
        assert_eq!(journeys.meet(&mut line, 60), 360);
    }

    /// Whoever asked for it where it came from did so before.
    #[test]
    fn a_line_that_came_before_it_was_asked_for_here_is_waited_for() {
        let mut journeys = Journeys::new();
        let mut line = Line::new(7, PENDING + 5, 3);
        journeys.begin(&mut line, (1000, 0), 0);
        line.set_ready(400);
        assert_eq!(journeys.meet(&mut line, 60), 400);
        assert_eq!(line.ready(), 400);
    }

    #[test]
    fn what_nobody_can_come_before_is_not_noted() {
        let mut journeys = Journeys::new();
        let mut line = Line::new(7, 400, 3);
        journeys.begin(&mut line, (100, 0), 100);
        assert_eq!(line.journey(), 0);
        assert_eq!(journeys.meet(&mut line, 60), 400);
    }

    /// Asked for in cycle 100, when the other core was to have it in cycle 300; and in cycle 500, when it had it since then.
    #[test]
    fn nobody_has_a_line_from_another_core_before_that_has_it() {
        for (asked, came, there) in [(100, 60, 380), (500, 60, 380), (500, 350, 430)] {
            let mut journeys = Journeys::new();
            let ready = asked.max(300) + 80;
            let mut line = Line::new(7, ready, 4);
            journeys.begin(&mut line, (asked, 300), 0);
            assert_eq!(journeys.meet(&mut line, asked), ready);
            assert_eq!(journeys.meet(&mut line, came), there);
        }
    }

    #[test]
    fn a_line_whose_place_has_been_taken_is_waited_for() {
        let mut journeys = Journeys::new();
        let mut first = Line::new(0, 400, 3);
        journeys.begin(&mut first, (100, 0), 0);
        for number in 1..JOURNEYS as u64 - 1 {
            journeys.begin(&mut Line::new(number, 400, 3), (100, 0), 0);
        }
        let mut at_hand = first;
        assert_eq!(journeys.meet(&mut at_hand, 60), 360);
        journeys.begin(&mut Line::new(1000, 400, 3), (300, 0), 0);
        assert_eq!(journeys.meet(&mut first, 60), 400);
    }
}
