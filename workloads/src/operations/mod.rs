//! What is done to an index, whatever it is made of: kinds of operations, their keys, and the buffers that scans return tupleIDs in.

mod keys;
mod return_buffers;
mod returning;
mod run;

pub(crate) use keys::{BuildOrder, key, most_number};
pub(crate) use return_buffers::{Buffers, ReturnBuffers};
pub(crate) use returning::{ReturnSites, Returning};
pub(crate) use run::Searched;

use crate::bounds::{Between, LINE_BYTES, THREADS};
use crate::random::mixed;
use crate::ranks::SKEW;
use crate::validate::{WorkloadError, within};
use crate::warm_up::{CacheState, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Index entries: more would not fit the host's memory.
pub(crate) const KEYS: Between<u64> = Between {
    least: 1,
    most: 200_000_000,
};
/// What the bulkload of a mature index in pages gets.
pub(crate) const BULKLOADED_SHARE: Between<f64> = Between {
    least: 0.001,
    most: 1.0,
};
/// Return buffers: they have at least a line.
pub(crate) const BUFFER_BYTES: Between<u64> = Between {
    least: LINE_BYTES.least as u64,
    most: 1 << 28,
};

/// Searches among operations that change an index; with searches alone there would be none that do.
pub(crate) const SEARCH_SHARE: Between<f64> = Between {
    least: 0.0,
    most: 0.999,
};

/// What is done to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Looks up random keys of the tree.
    Search,
    /// Inserts random keys that the tree does not have.
    Insert,
    /// Deletes random keys of the tree.
    Delete,
    /// Scans ranges that start at random keys of the tree.
    Scan,
}

impl Operation {
    /// Name of the phase of its operations.
    pub(crate) fn phase(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Scan => "scan",
        }
    }
}

/// How the tree got its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Maturity {
    /// All at once, sorted.
    Bulkloaded,
    /// A random part sorted, a tenth as a rule, the others one by one in random order (thesis section 2.4.8).
    Mature,
}

impl Maturity {
    /// Of so many keys, those that the bulkload gets.
    pub(crate) fn bulkloaded(self, keys: u64) -> u64 {
        match self {
            Self::Bulkloaded => keys,
            Self::Mature => keys.div_ceil(10),
        }
    }

    /// The same where a mature index begins with another share of its keys.
    pub(crate) fn bulkloaded_share(self, keys: u64, share: f64) -> u64 {
        match self {
            Self::Bulkloaded => keys,
            Self::Mature => (keys as f64 * share).round() as u64,
        }
    }
}

/// Insertions that every index has room for, so that all operations of an experiment can share one index.
const LEAST_ROOM: u64 = 100_000;

/// Operations on an index of so many keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operations {
    /// What is done.
    pub operation: Operation,
    /// Keys of the index before.
    pub keys: u64,
    /// How many operations.
    pub count: u64,
    /// TupleIDs per scan.
    pub range: u64,
    /// Zipf's exponent of how often keys are searched for, or scans begin at them; 0 for all alike.
    pub skew: f64,
    /// Share of the operations, if they change the index, that are searches instead.
    pub search_share: f64,
    /// Seed of all random choices.
    pub seed: u64,
    /// Whose operations they are: threads divide each range among themselves, and other operations are dealt out to them.
    pub thread: Thread,
}

/// One of several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    /// From 0 on.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Thread {
    /// There is no other.
    pub(crate) const ALONE: Self = Self { number: 0, of: 1 };
}

impl Operations {
    /// Checks that the index has keys for so many operations, or enough of them for a range, and that keys may be popular.
    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        SKEW.check("skew", self.skew)?;
        SEARCH_SHARE.check("search_share", self.search_share)?;
        if self.skew > 0.0 && !self.read_only() && self.search_share == 0.0 {
            let message = format!(
                "{}, but no key is inserted or deleted twice; it must be 0, or some operations searches (`search_share`)",
                self.skew
            );
            return Err(WorkloadError::new("skew", message));
        }
        match self.operation {
            Operation::Search => Ok(()),
            Operation::Insert => within(
                "operations",
                self.count,
                1,
                self.keys.saturating_mul(keys::GAPS),
            ),
            Operation::Delete => within("operations", self.count, 1, self.keys),
            Operation::Scan => within("range", self.range, self.thread.of.into(), self.keys),
        }
    }

    /// Whether they leave the index as it is.
    pub(crate) fn read_only(&self) -> bool {
        matches!(self.operation, Operation::Search | Operation::Scan)
    }

    /// Checks that there may be so many threads, and that caches can be as they are wanted.
    pub(crate) fn check_threads(&self, caches: CacheState) -> Result<(), WorkloadError> {
        let threads = self.thread.of;
        THREADS.check("threads", threads)?;
        let meet = self.operation == Operation::Scan;
        if threads > 1 && caches == CacheState::Cold && !meet {
            let message = "cold; threads work at the same time, so that caches cannot be emptied before each operation; say `caches: empty`";
            return Err(WorkloadError::new("caches", message));
        }
        Ok(())
    }

    /// Checks that threads change nothing.
    pub(crate) fn check_threads_read(&self) -> Result<(), WorkloadError> {
        let threads = self.thread.of;
        if threads == 1 || self.read_only() {
            return Ok(());
        }
        let message = format!("{threads}; only searches and scans are divided among threads");
        Err(WorkloadError::new("threads", message))
    }

    /// What operation `number` is.
    pub(crate) fn kind(&self, number: u64) -> Operation {
        if self.is_search(number, keys::FOR_MIX) {
            Operation::Search
        } else {
            self.operation
        }
    }

    /// Share of the operations that change the index, on average.
    pub(crate) fn changing_share(&self) -> f64 {
        if self.read_only() {
            0.0
        } else {
            1.0 - self.search_share
        }
    }

    /// Whether one is a search instead of a change, by chance, among those for a purpose.
    fn is_search(&self, number: u64, purpose: u64) -> bool {
        let chance = || mixed(number ^ mixed(self.seed ^ mixed(purpose))) as f64;
        self.search_share > 0.0 && chance() < self.search_share * 2_f64.powi(64)
    }

    /// Whether operation `number` is the thread's, or a part of it.
    pub(crate) fn does(&self, number: u64) -> bool {
        let Thread { number: own, of } = self.thread;
        self.operation == Operation::Scan || number % u64::from(of) == u64::from(own)
    }

    /// The numbers of the operations that are the thread's, or a part of them.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let operations = *self;
        (0..self.count).filter(move |&number| operations.does(number))
    }

    /// The part of a range that the thread scans, in tupleIDs.
    pub(crate) fn part(&self) -> Range<u64> {
        let Thread { number, of } = self.thread;
        let until = |thread: u32| self.range * u64::from(thread) / u64::from(of);
        until(number)..until(number + 1)
    }

    /// Insertions that the index has room for when the operations begin.
    pub(crate) fn room(&self) -> u64 {
        match self.operation {
            Operation::Insert => self.count.max(LEAST_ROOM),
            _ => LEAST_ROOM,
        }
    }

    /// The return buffers, each of so many bytes, of the operations and of those before them.
    pub(crate) fn buffers(&self, bytes: u64, warm_up: Option<WarmUp>) -> Buffers {
        Buffers {
            bytes,
            scans: match self.operation {
                Operation::Scan => self.count.saturating_add(WarmUp::operations(warm_up)),
                _ => 0,
            },
        }
    }
}

/// Checks the size of return buffers of scans: whole lines.
pub(crate) fn check_buffer(buffer_bytes: u64, line_bytes: u32) -> Result<(), WorkloadError> {
    let line = u64::from(line_bytes);
    within("buffer_bytes", buffer_bytes, line, BUFFER_BYTES.most)?;
    if buffer_bytes.is_multiple_of(line) {
        return Ok(());
    }
    let message = format!("{buffer_bytes} is no whole number of lines of {line} bytes");
    Err(WorkloadError::new("buffer_bytes", message))
}
