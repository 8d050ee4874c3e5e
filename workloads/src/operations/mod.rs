//! What is done to an index, whatever it is made of: kinds of operations, their keys, and the buffers that scans return tupleIDs in.

mod keys;
mod return_buffers;
mod returning;
mod run;

#[cfg(test)]
mod against_btreemap;

pub(crate) use keys::{BuildOrder, key, most_number};
pub(crate) use return_buffers::{Buffers, ReturnBuffers};
pub(crate) use returning::{ReturnSites, Returning};
pub(crate) use run::Searched;

use crate::bounds::{Between, LINE_BYTES, THREADS};
use crate::memory::{DRAWN_BYTES, LISTED_BYTES};
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
/// Lines of a node, of a sub-array or of a chunk of leaf pointers, and leaves prefetched ahead.
pub(crate) const LINES: Between<u32> = Between { least: 1, most: 64 };
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
/// Insertions among scans: there are some, and not only they.
pub(crate) const INSERT_SHARE: Between<f64> = Between {
    least: 0.001,
    most: 0.999,
};

/// Which parameter decides how much memory so many operations in an index of so many keys take, and what makes that less.
pub(crate) fn decisive(operations: u64, keys: u64) -> (&'static str, &'static str) {
    if operations > keys {
        ("operations", "take fewer operations")
    } else {
        ("keys", "take fewer keys")
    }
}

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
    /// Scans ranges, and inserts keys every now and then, as workload E of YCSB does.
    ScanAndInsert,
}

impl Operation {
    /// Those that scan.
    pub(crate) const SCANS: [Self; 2] = [Self::Scan, Self::ScanAndInsert];
    /// Those that insert.
    pub(crate) const INSERTS: [Self; 2] = [Self::Insert, Self::ScanAndInsert];
    /// Those that change the tree.
    pub(crate) const CHANGES: [Self; 3] = [Self::Insert, Self::Delete, Self::ScanAndInsert];

    /// Whether it scans.
    pub(crate) fn scans(self) -> bool {
        Self::SCANS.contains(&self)
    }

    /// Whether it inserts.
    pub(crate) fn inserts(self) -> bool {
        Self::INSERTS.contains(&self)
    }

    /// Whether it changes the tree.
    pub(crate) fn changes(self) -> bool {
        Self::CHANGES.contains(&self)
    }

    /// Name of the phase of its operations.
    pub(crate) fn phase(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Scan => "scan",
            Self::ScanAndInsert => "scan and insert",
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

/// How long scans are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanLengths {
    /// All of them `range`.
    Fixed,
    /// From one to `range`, each as likely, as in workload E of YCSB.
    Uniform,
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
    /// TupleIDs per scan, or at most.
    pub range: u64,
    /// Which of the two.
    pub scan_lengths: ScanLengths,
    /// Zipf's exponent of how often keys are searched for, or scans begin at them; 0 for all alike.
    pub skew: f64,
    /// Share of the insertions or deletions that are searches instead.
    pub search_share: f64,
    /// Share of the operations that insert, if they scan and insert.
    pub insert_share: f64,
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
        INSERT_SHARE.check("insert_share", self.insert_share)?;
        if self.skew > 0.0 && self.changing_share() == 1.0 {
            let message = format!(
                "{}, but no key is inserted or deleted twice; it must be 0, or some operations searches (`search_share`)",
                self.skew
            );
            return Err(WorkloadError::new("skew", message));
        }
        if self.operation.scans() {
            let least = if self.divides() { self.thread.of } else { 1 };
            within("range", self.range, least.into(), self.keys)?;
        }
        let most = match self.operation {
            Operation::Search | Operation::Scan => return Ok(()),
            Operation::Insert | Operation::ScanAndInsert => self.keys.saturating_mul(keys::GAPS),
            Operation::Delete => self.keys,
        };
        within("operations", self.count, 1, most)
    }

    /// Whether they leave the index as it is.
    pub(crate) fn read_only(&self) -> bool {
        !self.operation.changes()
    }

    /// Whether threads divide each operation among themselves; else operations are dealt out to them.
    fn divides(&self) -> bool {
        self.operation == Operation::Scan
    }

    /// Checks that there may be so many threads, and that caches can be as they are wanted.
    pub(crate) fn check_threads(&self, caches: CacheState) -> Result<(), WorkloadError> {
        let threads = self.thread.of;
        THREADS.check("threads", threads)?;
        if threads > 1 && caches == CacheState::Cold && !self.divides() {
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
        self.kind_for(number, keys::FOR_MIX)
    }

    /// What an operation is, among those for a purpose: chance says which.
    fn kind_for(&self, number: u64, purpose: u64) -> Operation {
        let chance = || mixed(number ^ mixed(self.seed ^ mixed(purpose))) as f64;
        let one_of = |share: f64| share > 0.0 && chance() < share * 2_f64.powi(64);
        match self.operation {
            Operation::Insert | Operation::Delete if one_of(self.search_share) => Operation::Search,
            Operation::ScanAndInsert if one_of(self.insert_share) => Operation::Insert,
            Operation::ScanAndInsert => Operation::Scan,
            operation => operation,
        }
    }

    /// Share of the operations that change the index, on average.
    pub(crate) fn changing_share(&self) -> f64 {
        match self.operation {
            Operation::Search | Operation::Scan => 0.0,
            Operation::Insert | Operation::Delete => 1.0 - self.search_share,
            Operation::ScanAndInsert => self.insert_share,
        }
    }

    /// Keys that come to the index at most.
    pub(crate) fn most_insertions(&self) -> u64 {
        if self.operation.inserts() {
            self.count
        } else {
            0
        }
    }

    /// Bytes of the list of the operations' keys while they are drawn.
    pub(crate) fn drawn_bytes(&self) -> u64 {
        if self.operation.changes() {
            return self.count * DRAWN_BYTES;
        }
        // Each thread has a part of every scan.
        let lists = if self.divides() { self.thread.of } else { 1 };
        self.count * LISTED_BYTES * u64::from(lists)
    }

    /// Insertions, on average.
    pub(crate) fn insertions(&self) -> f64 {
        if self.operation.inserts() {
            self.count as f64 * self.changing_share()
        } else {
            0.0
        }
    }

    /// What an operation takes on average, if a search, a scan and a change take so much.
    pub(crate) fn mean(&self, search: f64, scan: f64, change: f64) -> f64 {
        let share = self.changing_share();
        let other = if self.operation.scans() { scan } else { search };
        (1.0 - share) * other + share * change
    }

    /// Whether operation `number` is the thread's, or a part of it.
    pub(crate) fn does(&self, number: u64) -> bool {
        let Thread { number: own, of } = self.thread;
        self.divides() || number % u64::from(of) == u64::from(own)
    }

    /// The numbers of the operations that are the thread's, or a part of them.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + use<> {
        let operations = *self;
        (0..self.count).filter(move |&number| operations.does(number))
    }

    /// TupleIDs of scan `number`.
    fn length(&self, number: u64) -> u64 {
        match self.scan_lengths {
            ScanLengths::Fixed => self.range,
            ScanLengths::Uniform => {
                let chance = mixed(number ^ mixed(self.seed ^ mixed(keys::FOR_LENGTHS)));
                1 + ((u128::from(chance) * u128::from(self.range)) >> 64) as u64
            }
        }
    }

    /// TupleIDs of a scan on average.
    pub(crate) fn mean_length(&self) -> f64 {
        match self.scan_lengths {
            ScanLengths::Fixed => self.range as f64,
            ScanLengths::Uniform => (self.range + 1) as f64 / 2.0,
        }
    }

    /// The part of scan `number` that the thread scans, in tupleIDs; none if the scan is shorter than there are threads.
    fn part(&self, number: u64) -> Range<u64> {
        let length = self.length(number);
        let Thread { number: thread, of } = if self.divides() {
            self.thread
        } else {
            Thread::ALONE
        };
        let until = |thread: u32| length * u64::from(thread) / u64::from(of);
        until(thread)..until(thread + 1)
    }

    /// Insertions that the index has room for when the operations begin.
    pub(crate) fn room(&self) -> u64 {
        self.most_insertions().max(LEAST_ROOM)
    }

    /// The return buffers, each of so many bytes, of the operations and of those before them.
    pub(crate) fn buffers(&self, bytes: u64, warm_up: Option<WarmUp>) -> Buffers {
        Buffers {
            bytes,
            number: if self.operation.scans() {
                self.count.saturating_add(WarmUp::operations(warm_up))
            } else {
                0
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
