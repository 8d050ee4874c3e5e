//! Runs the join of a thread.

use super::found::Found;
use super::memory::Memory;
use super::no_partitioning;
use super::places::{Places, Sizes};
use super::radix::{self, Radix};
use super::relations::Relations;
use super::sites::Site;
use super::spec::ParallelJoinWorkload;
use super::table::{Planned, Table, overflow_buckets};
use super::tuple_word::TupleWord;
use crate::board::Board;
use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use crate::watch;
use std::sync::Arc;
use traces::Layout;

/// Phases of a join without partitioning.
const PHASES: [&str; 3] = ["start", "build", "probe"];
const BUILD_PHASE: u16 = 1;
const PROBE_PHASE: u16 = 2;

/// What threads share besides the inputs.
#[derive(Clone, Debug)]
pub(super) enum Structures<W: TupleWord> {
    /// A table as planned, and natively one that each run builds.
    Table(Arc<Planned<W>>, Arc<Board<Table<W>>>),
    /// What each run writes.
    Partitions(Arc<Board<Memory<W>>>),
}

/// A workload with its inputs.
#[derive(Clone, Debug)]
pub(crate) struct JoinRun<W: TupleWord> {
    workload: ParallelJoinWorkload,
    relations: Arc<Relations<W>>,
    places: Places,
    pub(super) structures: Structures<W>,
}

impl<W: TupleWord> JoinRun<W> {
    pub(super) fn new(workload: &ParallelJoinWorkload, relations: Arc<Relations<W>>) -> Self {
        let (places, structures) = if workload.partitions_inputs() {
            let sizes = Sizes::LargestPartition(largest_partition(workload, &relations));
            let board = Arc::new(Board::of(1));
            (Places::new(workload, sizes), Structures::Partitions(board))
        } else {
            let sizes = Sizes::Overflow(overflow_buckets(&relations));
            let places = Places::new(workload, sizes);
            let planned = Arc::new(Planned::new(workload, &relations, &places));
            let board = Arc::new(Board::of(1));
            (places, Structures::Table(planned, board))
        };
        Self {
            workload: workload.clone(),
            relations,
            places,
            structures,
        }
    }

    /// Joins without partitioning.
    fn join_in_table<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        (planned, board): (&Planned<W>, &Board<Table<W>>),
        found: &mut Found,
    ) {
        let (workload, relations) = (&self.workload, &self.relations);
        if T::NATIVE && thread == 0 {
            board.leave(0, Arc::new(Table::empty(workload, &self.places)));
        }
        trace.flush();
        trace.barrier();
        // A thread that was stopped may not find what the first makes.
        if trace.failed() {
            return;
        }
        let built = board.all().pop().filter(|_| T::NATIVE);
        let table = built.as_deref().unwrap_or(&planned.table);
        trace.mark(BUILD_PHASE);
        let own = workload.build_of(thread);
        no_partitioning::build(trace, relations, (table, planned), own);
        trace.barrier();
        if trace.failed() {
            return;
        }
        trace.mark(PROBE_PHASE);
        let own = workload.probes_of(thread);
        no_partitioning::probe(trace, relations, table, own, found);
    }

    /// Joins partition by partition.
    fn join_partitions<T: Trace>(
        &self,
        thread: u32,
        trace: &mut T,
        board: &Board<Memory<W>>,
        found: &mut Found,
    ) {
        if thread == 0 {
            board.leave(0, Arc::new(Memory::new(&self.workload, &self.places)));
        }
        trace.flush();
        trace.barrier();
        if trace.failed() {
            return;
        }
        if let Some(memory) = board.all().pop() {
            let radix = Radix {
                workload: &self.workload,
                relations: &self.relations,
                memory: &memory,
                thread: thread as usize,
            };
            radix.run(trace, found);
        }
    }
}

/// Build tuples of the largest partition of all passes.
fn largest_partition<W: TupleWord>(
    workload: &ParallelJoinWorkload,
    relations: &Relations<W>,
) -> u64 {
    let mask = (1_u64 << workload.radix_bits) - 1;
    let mut counts = vec![0_u64; mask as usize + 1];
    for tuple in 0..relations.build_tuples() {
        watch::look_at(tuple as u64);
        counts[(relations.build_key(tuple) & mask) as usize] += 1;
    }
    counts.into_iter().max().unwrap_or(0)
}

impl<W: TupleWord> Kernel for JoinRun<W> {
    fn layout(&self) -> Layout {
        let phases = match self.structures {
            Structures::Table(..) => PHASES.iter().map(ToString::to_string).collect(),
            Structures::Partitions(_) => radix::phases(self.workload.passes),
        };
        Layout {
            segments: self.places.segments.clone(),
            sites: Site::NAMES.iter().map(ToString::to_string).collect(),
            phases,
            calls: Vec::new(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        let mut found = Found::default();
        trace.mark(0);
        match &self.structures {
            Structures::Table(planned, board) => {
                self.join_in_table(thread, trace, (planned, board), &mut found);
            }
            Structures::Partitions(board) => {
                self.join_partitions(thread, trace, board, &mut found);
            }
        }
        trace.end();
        let own = self.workload.build_of(thread).len() + self.workload.probes_of(thread).len();
        let mut outcome = Outcome::default();
        outcome.set("operations", own as u64);
        outcome.set("returned", found.matches);
        outcome.set("checksum", found.checksum.value());
        outcome
    }
}
