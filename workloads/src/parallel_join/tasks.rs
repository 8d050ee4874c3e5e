//! Tasks: partitions that a pass has made, which threads take one after the other.
//!
//! Natively a thread takes the next when it has done its last. In the simulation it is known beforehand who takes which: a thread takes the next when
//! it has the fewest tuples behind it, of which the one with the least number is first.

use super::memory::{Memory, Rows};
use super::places::TASK_WORDS;
use super::relations::{BUILD, PROBE};
use super::sites::Site;
use super::tuple_word::TupleWord;
use crate::tracer::{Dep, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A partition, and where its tuples are, by relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) partition: usize,
    pub(super) tuples: [Range<usize>; 2],
}

/// Which tasks are worth taking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Those with tuples of any relation.
    Any,
    /// Those with tuples of both.
    Both,
}

/// The tasks of a thread.
#[derive(Debug)]
pub(super) struct Tasks<'m, W: TupleWord> {
    memory: &'m Memory<W>,
    pass: usize,
    partitions: usize,
    wanted: Wanted,
    /// Those that it takes, if that is known.
    planned: std::vec::IntoIter<usize>,
}

impl<'m, W: TupleWord> Tasks<'m, W> {
    /// A thread's tasks, of so many partitions that a pass has made; as many threads take tasks as have rows.
    pub(super) fn new(
        memory: &'m Memory<W>,
        (pass, partitions): (usize, usize),
        wanted: Wanted,
    ) -> Self {
        Self {
            memory,
            pass,
            partitions,
            wanted,
            planned: Vec::new().into_iter(),
        }
    }

    /// The same, with tasks that it takes whoever runs when.
    pub(super) fn planned(mut self, thread: usize, threads: usize) -> Self {
        let mut behind: BinaryHeap<_> = (0..threads).map(|thread| Reverse((0, thread))).collect();
        let mut own = Vec::new();
        for partition in (0..self.partitions).filter(|&one| self.is_wanted(one)) {
            let Reverse((tuples, taker)) = behind.pop().expect("there are threads");
            let more: usize = self.bounds(partition).iter().map(Range::len).sum();
            behind.push(Reverse((tuples + more, taker)));
            if taker == thread {
                own.push(partition);
            }
        }
        self.planned = own.into_iter();
        self
    }

    fn is_wanted(&self, partition: usize) -> bool {
        let [build, probe] = self.bounds(partition);
        match self.wanted {
            Wanted::Any => !build.is_empty() || !probe.is_empty(),
            Wanted::Both => !build.is_empty() && !probe.is_empty(),
        }
    }

    fn bounds(&self, partition: usize) -> [Range<usize>; 2] {
        let first = self.memory.rows.task(self.pass, partition);
        let counter = |number: usize| self.memory.tasks.get(first + number) as usize;
        [BUILD, PROBE].map(|relation| counter(2 * relation)..counter(2 * relation + 1))
    }

    /// Takes the next.
    pub(super) fn next<T: Trace>(&mut self, trace: &mut T) -> Option<Task> {
        let partition = if T::NATIVE {
            let queue = self.memory.queues.atomic(Rows::queue(self.pass));
            std::iter::repeat_with(|| queue.fetch_add(1, Ordering::Relaxed) as usize)
                .take_while(|&partition| partition < self.partitions)
                .find(|&partition| self.is_wanted(partition))
        } else {
            self.planned.next()
        }?;
        let queue = self.memory.queues.address(Rows::queue(self.pass));
        let taken = trace.exchange(Site::Task, queue, 4, Dep::NONE);
        let first = self.memory.rows.task(self.pass, partition);
        let tasks = &self.memory.tasks;
        tasks.load_many::<T, TASK_WORDS>(trace, Site::TaskBounds, first, taken.after(1));
        Some(Task {
            partition,
            tuples: self.bounds(partition),
        })
    }
}

impl<W: TupleWord> Memory<W> {
    /// Stores where a relation's tuples of a partition are that a pass has made.
    pub(super) fn leave_task<T: Trace>(
        &self,
        trace: &mut T,
        (pass, partition): (usize, usize),
        relation: usize,
        tuples: Range<usize>,
        dep: Dep,
    ) {
        let first = self.rows.task(pass, partition) + 2 * relation;
        let bounds = [tuples.start as u32, tuples.end as u32];
        let tasks = &self.tasks;
        tasks.store_many(trace, Site::TaskBoundsChange, first, &bounds, dep);
    }
}
