//! Reads whose end is not known yet, or was not asked for yet.

use crate::memory::{PENDING, is_pending};
use std::collections::VecDeque;

/// One read of a line.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// Requests that the line was split into and that have not ended.
    parts: u32,
    /// Cycle in which the last part that has ended was there.
    complete: u64,
    /// Cycle in which it was asked for.
    asked: u64,
}

/// The reads by number, from the oldest that anybody can still ask for.
#[derive(Debug, Default)]
pub(super) struct PendingReads {
    first: u64,
    reads: VecDeque<Read>,
    /// Reads that are asked for after all, with the cycles in which they ended, once they are forgotten.
    kept: Vec<(u64, u64)>,
    /// Reads under way, each with another that ends with it at the earliest: see [`PendingReads::later`].
    joined: Vec<(u64, u64)>,
}

impl PendingReads {
    /// Numbers a read of so many parts that was asked for in cycle `asked`.
    pub(super) fn start(&mut self, parts: u32, asked: u64) -> u64 {
        self.reads.push_back(Read {
            parts,
            complete: 0,
            asked,
        });
        self.first + self.reads.len() as u64 - 1
    }

    /// A part of the read is there at cycle `complete`. If it was the last, gives the cycles that the read took.
    pub(super) fn end_part(&mut self, number: u64, complete: u64) -> Option<u64> {
        let read = &mut self.reads[(number - self.first) as usize];
        read.parts -= 1;
        read.complete = read.complete.max(complete);
        if read.parts > 0 {
            return None;
        }
        let Read {
            complete, asked, ..
        } = *read;
        while let Some(place) = self.joined.iter().position(|&(one, _)| one == number) {
            let (_, both) = self.joined.swap_remove(place);
            self.end_part(both, complete);
        }
        Some(complete - asked)
    }

    /// The later of two times, which is pending until both are known: as of a read whose parts they are.
    pub(super) fn later(&mut self, times: [u64; 2]) -> u64 {
        let known = times.map(|time| {
            if is_pending(time) {
                self.known(time)
            } else {
                Some(time)
            }
        });
        let complete = known.into_iter().flatten().max().unwrap_or(0);
        let under_way = times.iter().zip(known).filter(|(_, known)| known.is_none());
        let parts: Vec<u64> = under_way.map(|(time, _)| time - PENDING).collect();
        if parts.is_empty() {
            return complete;
        }
        let both = self.start(parts.len() as u32, 0);
        self.reads.back_mut().expect("it was started").complete = complete;
        self.joined
            .extend(parts.into_iter().map(|part| (part, both)));
        Self::time(both)
    }

    /// The read as a pending time.
    pub(super) fn time(read: u64) -> u64 {
        PENDING + read
    }

    /// The number of the read that a pending time stands for, and its parts that have not ended; nothing if it has.
    pub(super) fn under_way(&self, time: u64) -> Option<(u64, u32)> {
        let number = time - PENDING;
        let read = &self.reads[number.checked_sub(self.first)? as usize];
        (read.parts > 0).then_some((number, read.parts))
    }

    /// The read is asked for in an earlier cycle.
    pub(super) fn ask_before(&mut self, read: u64, time: u64) {
        self.reads[(read - self.first) as usize].asked = time;
    }

    /// Keeps the read that a pending time stands for: somebody asks when the run has ended.
    pub(super) fn keep(&mut self, time: u64) {
        self.kept.push((time - PENDING, 0));
    }

    /// When the read that a pending time stands for ended; `Some(0)`, the past, if all have forgotten it.
    pub(super) fn known(&self, time: u64) -> Option<u64> {
        let number = time - PENDING;
        let Some(place) = number.checked_sub(self.first) else {
            let kept = self.kept.iter().find(|(read, _)| *read == number);
            return Some(kept.map_or(0, |&(_, complete)| complete));
        };
        let read = &self.reads[place as usize];
        (read.parts == 0).then_some(read.complete)
    }

    /// Forgets reads that ended before anybody can ask again.
    pub(super) fn forget(&mut self, now: u64) {
        while let Some(read) = self.reads.front()
            && read.parts == 0
            && read.complete <= now
        {
            for (number, complete) in &mut self.kept {
                if *number == self.first {
                    *complete = read.complete;
                }
            }
            self.reads.pop_front();
            self.first += 1;
        }
    }
}
