//! The radix join: what a thread does, in its order.

use super::chains;
use super::combining::Combining;
use super::costs::ADD;
use super::found::Found;
use super::histogram;
use super::memory::Memory;
use super::passes::Pass;
use super::relations::{BUILD, PROBE, Relations};
use super::scatter::{Flow, scatter};
use super::sites::Site;
use super::spec::ParallelJoinWorkload;
use super::tasks::{Task, Tasks, Wanted};
use super::tuple_word::TupleWord;
use crate::shared::Shared;
use crate::tracer::{Dep, Trace};
use std::ops::Range;

/// Phases behind the start.
const HISTOGRAM: u16 = 1;
const SCATTER: u16 = 2;

/// Names of all phases.
pub(super) fn phases(passes: u32) -> Vec<String> {
    let names: &[&str] = match passes {
        1 => &["start", "histogram", "scatter", "join"],
        _ => &["start", "histogram", "scatter", "second pass", "join"],
    };
    names.iter().map(ToString::to_string).collect()
}

/// A thread of a radix join.
#[derive(Debug)]
pub(super) struct Radix<'j, W: TupleWord> {
    pub(super) workload: &'j ParallelJoinWorkload,
    pub(super) relations: &'j Relations<W>,
    pub(super) memory: &'j Memory<W>,
    pub(super) thread: usize,
}

impl<W: TupleWord> Radix<'_, W> {
    pub(super) fn run<T: Trace>(&self, trace: &mut T, found: &mut Found) {
        let (workload, passes) = (self.workload, self.workload.pass_list());
        let own = [
            workload.build_of(self.thread as u32),
            workload.probes_of(self.thread as u32),
        ];
        for relation in [BUILD, PROBE] {
            self.first_pass(trace, passes[0], relation, own[relation].clone());
            // What others were stopped in is not whole.
            if trace.failed() {
                return;
            }
        }
        let mut phase = SCATTER;
        if let Some(&second) = passes.get(1) {
            phase += 1;
            trace.mark(phase);
            let mut tasks = self.tasks::<T>(0, Wanted::Any);
            while let Some(task) = tasks.next(trace) {
                self.second_pass(trace, second, &task);
            }
            trace.barrier();
            if trace.failed() {
                return;
            }
        }
        let last = passes.len() - 1;
        trace.mark(phase + 1);
        let mut tasks = self.tasks::<T>(last, Wanted::Both);
        while let Some(task) = tasks.next(trace) {
            let of = (&task, last, workload.radix_bits);
            chains::join(trace, self.memory, of, self.thread, found);
        }
    }

    /// The tasks that this thread takes of those that a pass has left.
    fn tasks<T: Trace>(&self, pass: usize, wanted: Wanted) -> Tasks<'_, W> {
        let tasks = Tasks::new(self.memory, (pass, self.workload.partitions(pass)), wanted);
        if T::NATIVE {
            tasks
        } else {
            tasks.planned(self.thread, self.workload.threads as usize)
        }
    }

    /// Partitions this thread's part of a relation, beside the others.
    fn first_pass<T: Trace>(&self, trace: &mut T, pass: Pass, relation: usize, own: Range<usize>) {
        let (memory, threads) = (self.memory, self.workload.threads as usize);
        let rows = memory.rows;
        trace.mark(HISTOGRAM);
        let input = &self.relations.tuples[relation];
        let row = (&memory.histograms, rows.histogram(relation, self.thread));
        histogram::count(trace, pass, (input, own.clone()), row);
        histogram::add_up(trace, pass, row);
        trace.barrier();
        let offsets = (&memory.offsets, rows.counters(self.thread));
        let all: Vec<_> = (0..threads)
            .map(|thread| rows.histogram(relation, thread))
            .collect();
        let padding = self.workload.padding(0);
        let whose = (self.thread, padding);
        histogram::offsets(trace, pass, (&memory.histograms, &all), whose, offsets);
        if self.thread == 0 {
            self.leave_tasks(trace, pass, relation);
        }
        trace.mark(SCATTER);
        self.scatter(trace, &self.flow((pass, 0), input, own, relation));
        trace.barrier();
    }

    /// What goes where in a pass.
    fn flow<'f>(
        &'f self,
        (pass, number): (Pass, usize),
        from: &'f Shared<W>,
        own: Range<usize>,
        relation: usize,
    ) -> Flow<'f, W> {
        Flow {
            pass,
            from,
            own,
            to: self.memory.partitions(number, relation),
            offsets: (&self.memory.offsets, self.memory.rows.counters(self.thread)),
        }
    }

    fn scatter<T: Trace>(&self, trace: &mut T, flow: &Flow<'_, W>) {
        let (memory, rows) = (self.memory, self.memory.rows);
        if self.workload.write_combining {
            let combining = Combining {
                buffers: &memory.buffers,
                row: rows.buffers(self.thread),
                non_temporal: self.workload.non_temporal,
            };
            combining.scatter(trace, flow);
        } else {
            scatter(trace, flow, (&memory.places, rows.counters(self.thread)));
        }
    }

    /// Stores where the partitions of the first pass begin and end: the first thread's begin where the partitions do, and the sums of all threads say
    /// how many tuples there are.
    fn leave_tasks<T: Trace>(&self, trace: &mut T, pass: Pass, relation: usize) {
        let memory = self.memory;
        let rows = memory.rows;
        let input = self.relations.tuples_of(relation);
        let padding = self.workload.padding(0);
        let begins =
            |partition: usize| memory.offsets.get(rows.counters(self.thread) + partition) as usize;
        for partition in 0..pass.fan_out() {
            let end = match partition + 1 {
                next if next == pass.fan_out() => input + partition * padding,
                next => begins(next) - padding,
            };
            let first = rows.counters(self.thread) + partition;
            let site = Site::Offsets;
            let known = memory
                .offsets
                .load(trace, site, first, Dep::NONE)
                .token
                .after(1);
            trace.work(ADD);
            let tuples = begins(partition)..end;
            memory.leave_task(trace, (0, partition), relation, tuples, known);
        }
    }

    /// Partitions a partition again, and leaves tasks for those that are made.
    fn second_pass<T: Trace>(&self, trace: &mut T, pass: Pass, task: &Task) {
        let memory = self.memory;
        let rows = memory.rows;
        for relation in [BUILD, PROBE] {
            let own = task.tuples[relation].clone();
            let row = rows.histogram(relation, self.thread);
            let from = memory.partitions(0, relation);
            let histogram = (&memory.histograms, row);
            histogram::count(trace, pass, (from, own.clone()), histogram);
            let offsets = rows.counters(self.thread);
            let mut begin = own.start;
            for partition in 0..pass.fan_out() {
                let site = Site::PrefixSum;
                let count = memory
                    .histograms
                    .load(trace, site, row + partition, Dep::NONE);
                let end = begin + count.value as usize;
                trace.work(2 * ADD);
                let known = count.token.after(1);
                let site = Site::OffsetsChange;
                memory
                    .offsets
                    .store(trace, site, offsets + partition, begin as u32, known);
                let number = task.partition * pass.fan_out() + partition;
                memory.leave_task(trace, (1, number), relation, begin..end, known);
                begin = end + self.workload.padding(1);
            }
            self.scatter(trace, &self.flow((pass, 1), from, own, relation));
        }
    }
}
