//! Streams of neighbouring lines (Jouppi, ISCA 1990), started by misses to two neighbours (Palacharla and Kessler,
//! ISCA 1994).

use super::{Learns, Requests, Trigger};

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Line used last.
    last: u64,
    /// Furthest line asked for.
    ahead: u64,
    /// Whether lines ascend; unknown until a neighbour of the first line was missed.
    ascending: Option<bool>,
    /// Time of the last use.
    used: u64,
}

impl Stream {
    /// The line so many steps behind `line` in the stream's direction.
    fn step(ascending: bool, line: u64, steps: u64) -> u64 {
        if ascending {
            line.saturating_add(steps)
        } else {
            line.saturating_sub(steps)
        }
    }

    /// Whether `line` begins or goes on with the stream, and whether it then ascends.
    fn takes(&self, line: u64) -> Option<bool> {
        match self.ascending {
            None if line == self.last.wrapping_add(1) => Some(true),
            None if line == self.last.wrapping_sub(1) => Some(false),
            None => None,
            Some(true) => {
                (line > self.last && line <= self.ahead.saturating_add(1)).then_some(true)
            }
            Some(false) => {
                (line < self.last && line >= self.ahead.saturating_sub(1)).then_some(false)
            }
        }
    }
}

/// The streams followed, the one used longest ago making room for another.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    streams: Box<[Option<Stream>]>,
    degree: u64,
    distance: u64,
    clock: u64,
}

impl Streams {
    pub(crate) fn new(streams: u32, degree: u32, distance_lines: u32) -> Self {
        Self {
            streams: vec![None; streams as usize].into_boxed_slice(),
            degree: u64::from(degree),
            distance: u64::from(distance_lines),
            clock: 0,
        }
    }

    fn start(&mut self, line: u64) {
        let oldest = self
            .streams
            .iter_mut()
            .min_by_key(|stream| stream.map_or(0, |stream| stream.used));
        if let Some(place) = oldest {
            *place = Some(Stream {
                last: line,
                ahead: line,
                ascending: None,
                used: self.clock,
            });
        }
    }
}

impl Learns for Streams {
    fn train(&mut self, trigger: &Trigger, requests: &mut Requests) {
        if !trigger.is_new {
            return;
        }
        self.clock += 1;
        let line = trigger.line;
        let found = self
            .streams
            .iter_mut()
            .flatten()
            .find_map(|stream| stream.takes(line).map(|ascending| (stream, ascending)));
        let Some((stream, ascending)) = found else {
            self.start(line);
            return;
        };
        stream.ascending = Some(ascending);
        stream.last = line;
        stream.used = self.clock;
        let is_behind = |a: u64, b: u64| if ascending { a > b } else { a < b };
        if is_behind(line, stream.ahead) {
            stream.ahead = line;
        }
        let limit = Stream::step(ascending, line, self.distance);
        for _ in 0..self.degree {
            let next = Stream::step(ascending, stream.ahead, 1);
            if is_behind(next, limit) || next == stream.ahead || !trigger.page.contains(&next) {
                break;
            }
            requests.push(trigger, next);
            stream.ahead = next;
        }
    }

    fn clear(&mut self) {
        self.streams.fill(None);
    }
}
