//! What the threads of a radix join write: made anew for each run.

use super::places::{
    BUFFERS, CHAINS, HEADS, HISTOGRAMS, LINE_BYTES, OFFSETS, PARTITIONS, PLACES, Places, QUEUES,
    TASK_WORDS, TASKS,
};
use super::spec::ParallelJoinWorkload;
use super::tuple_word::TupleWord;
use crate::shared::{Shared, SharedWord};

/// Counters of a line, by which task queues lie apart.
const LINE_COUNTERS: usize = LINE_BYTES as usize / size_of::<u32>();

/// The arrays that threads share, and rows of them that are a thread's.
#[derive(Debug)]
pub(super) struct Memory<W: TupleWord> {
    /// By relation and thread.
    pub(super) histograms: Shared<u32>,
    /// By thread: where partitions begin, and where their next tuple goes.
    pub(super) offsets: Shared<u32>,
    pub(super) places: Shared<u32>,
    /// By thread and partition, a line each.
    pub(super) buffers: Shared<W>,
    /// By pass and partition.
    pub(super) tasks: Shared<u32>,
    /// By pass: a counter at the beginning of a line.
    pub(super) queues: Shared<u32>,
    /// By thread.
    pub(super) heads: Shared<u32>,
    pub(super) chains: Shared<u32>,
    /// By pass and relation.
    partitions: Vec<Shared<W>>,
    pub(super) rows: Rows,
}

/// Lengths of what each thread has in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    threads: usize,
    counters: usize,
    buffers: usize,
    heads: usize,
    chains: usize,
    /// Partitions of the first pass, whose tasks come first.
    first_tasks: usize,
}

impl<W: TupleWord> Memory<W> {
    pub(super) fn new(workload: &ParallelJoinWorkload, places: &Places) -> Self {
        let threads = workload.threads as usize;
        let counters = |segment| array::<u32>(places, segment);
        let (heads, chains) = (counters(HEADS), counters(CHAINS));
        let of_thread = |segment| places.words(segment, size_of::<u32>()) / threads;
        let partitions = 2 * workload.passes as usize;
        Self {
            histograms: counters(HISTOGRAMS),
            offsets: counters(OFFSETS),
            places: counters(PLACES),
            buffers: array(places, BUFFERS),
            tasks: counters(TASKS),
            queues: counters(QUEUES),
            heads,
            chains,
            partitions: (0..partitions)
                .map(|one| array(places, PARTITIONS + one))
                .collect(),
            rows: Rows {
                threads,
                counters: workload.row(workload.most_fan_out()),
                buffers: workload.most_fan_out() * W::LINE_WORDS,
                heads: of_thread(HEADS),
                chains: of_thread(CHAINS),
                first_tasks: workload.partitions(0),
            },
        }
    }

    /// The tuples of a relation after a pass.
    pub(super) fn partitions(&self, pass: usize, relation: usize) -> &Shared<W> {
        &self.partitions[2 * pass + relation]
    }
}

/// A segment as an array.
fn array<W: SharedWord>(places: &Places, segment: usize) -> Shared<W> {
    Shared::new(places.base(segment), places.words(segment, W::BYTES))
}

impl Rows {
    /// Where a thread's histogram of a relation begins.
    pub(super) fn histogram(self, relation: usize, thread: usize) -> usize {
        (relation * self.threads + thread) * self.counters
    }

    /// Where a thread's offsets and places begin.
    pub(super) fn counters(self, thread: usize) -> usize {
        thread * self.counters
    }

    /// Where a thread's write-combining buffers begin.
    pub(super) fn buffers(self, thread: usize) -> usize {
        thread * self.buffers
    }

    /// Where a thread's heads and chains begin.
    pub(super) fn chains(self, thread: usize) -> (usize, usize) {
        (thread * self.heads, thread * self.chains)
    }

    /// Where the task of a partition is that a pass has made.
    pub(super) fn task(self, pass: usize, partition: usize) -> usize {
        (pass * self.first_tasks + partition) * TASK_WORDS
    }

    /// Where the number of the next task is.
    pub(super) fn queue(pass: usize) -> usize {
        pass * LINE_COUNTERS
    }
}
