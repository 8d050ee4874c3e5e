//! From a workload to its events: builds what it needs, keeps what later workloads may need again.

use crate::arena::Word;
use crate::index::keys::{FOR_BUILDING, key};
use crate::index::run as index_run;
use crate::native::Native;
use crate::outcome::Outcome;
use crate::pointers::{array as pointer_array, chase as pointer_chase};
use crate::random::Random;
use crate::spec::{IndexWorkload, Maturity, WarmUp, Workload};
use crate::table::{TableRun, Tables};
use crate::tpch::{Relations, TpchRun};
use crate::tracer::{Tracer, Untraced};
use crate::tree::Tree;
use crate::tree::layout::Shape;
use crate::tree::plan::Fill;
use crate::validate::WorkloadError;
use crate::watch::{self, Stopped};
use crate::work::MATURING;
use std::sync::Arc;
use traces::{EventSink, Layout, SinkError};

/// Trees kept: the one in use and the one before, since experiments often alternate between two.
const TREES_KEPT: usize = 2;

/// What determines a tree, and where its segments are.
#[derive(Clone, Debug, PartialEq)]
struct TreeKey {
    shape: Shape,
    keys: u64,
    fill: Fill,
    bulkloaded: u64,
    room: u64,
    /// Of the order of insertion; none for a bulkloaded tree.
    seed: Option<u64>,
}

impl TreeKey {
    fn of(workload: &IndexWorkload) -> Self {
        Self {
            shape: workload.shape(),
            keys: workload.keys,
            fill: workload.fills(),
            bulkloaded: workload.bulkloaded_keys(),
            room: workload.room(),
            seed: (workload.maturity == Maturity::Mature).then_some(workload.seed),
        }
    }
}

#[derive(Clone, Debug)]
enum AnyTree {
    Four(Arc<Tree<u32>>),
    Eight(Arc<Tree<u64>>),
}

/// Prepares workloads and keeps the most recently used trees and tables.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Least recently used first.
    trees: Vec<(TreeKey, AnyTree)>,
    tables: Tables,
    relations: Relations,
}

#[derive(Clone, Debug)]
enum Kernel {
    Index(IndexWorkload, AnyTree),
    PointerArray(pointer_array::PointerArray),
    PointerChase(pointer_chase::PointerChase),
    Table(TableRun),
    Tpch(TpchRun),
}

/// A workload ready to run, as often as wanted: every run gives the same events.
#[derive(Clone, Debug)]
pub struct Prepared {
    layout: Layout,
    kernel: Kernel,
}

impl Library {
    /// A library without trees.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Validates a workload and builds what it needs.
    ///
    /// # Errors
    /// As [`Workload::validate`]; or the length of the warm-up has to be found first, on a machine.
    pub fn prepare(&mut self, workload: &Workload) -> Result<Prepared, WorkloadError> {
        workload.validate()?;
        if workload.warm_up() == Some(WarmUp::Auto) {
            let message = "`auto` is found on a machine, and here is none; give a number of operations, or name a machine";
            return Err(WorkloadError::new("warm_up", message));
        }
        let prepared = self.build(workload)?;
        debug_assert_eq!(prepared.layout.problem(), None, "{workload:?}");
        Ok(prepared)
    }

    fn build(&mut self, workload: &Workload) -> Result<Prepared, WorkloadError> {
        Ok(match workload {
            Workload::Index(index) => {
                let tree = self.tree(index);
                let layout = match &tree {
                    AnyTree::Four(tree) => index_run::layout(index, tree),
                    AnyTree::Eight(tree) => index_run::layout(index, tree),
                };
                Prepared {
                    layout,
                    kernel: Kernel::Index(index.clone(), tree),
                }
            }
            Workload::PointerArray(array) => {
                let kernel = pointer_array::PointerArray::new(array);
                Prepared {
                    layout: kernel.layout(),
                    kernel: Kernel::PointerArray(kernel),
                }
            }
            Workload::PointerChase(chase) => {
                let kernel = pointer_chase::PointerChase::new(chase);
                Prepared {
                    layout: kernel.layout(),
                    kernel: Kernel::PointerChase(kernel),
                }
            }
            Workload::Table(table) => {
                let kernel = TableRun::new(table, &mut self.tables)?;
                Prepared {
                    layout: kernel.layout(),
                    kernel: Kernel::Table(kernel),
                }
            }
            Workload::Tpch(tpch) => {
                let kernel = TpchRun::new(tpch, &mut self.relations)?;
                Prepared {
                    layout: kernel.layout(),
                    kernel: Kernel::Tpch(kernel),
                }
            }
        })
    }

    /// Whether what the workload runs on is kept from an earlier one.
    #[must_use]
    pub fn holds(&self, workload: &Workload) -> bool {
        match workload {
            Workload::Index(index) => {
                let key = TreeKey::of(index);
                self.trees.iter().any(|(kept, _)| *kept == key)
            }
            Workload::PointerArray(_) | Workload::PointerChase(_) => false,
            Workload::Table(table) => self.tables.holds(table),
            Workload::Tpch(tpch) => self.relations.holds(tpch),
        }
    }

    /// The tree of a workload, kept or built.
    fn tree(&mut self, workload: &IndexWorkload) -> AnyTree {
        let key = TreeKey::of(workload);
        let entry = match self.trees.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.trees.remove(place),
            None => {
                // Make room first: a tree may take a large part of the host's memory.
                if self.trees.len() == TREES_KEPT {
                    self.trees.remove(0);
                }
                let tree = match key.shape.word_bytes {
                    4 => AnyTree::Four(Arc::new(build(&key))),
                    _ => AnyTree::Eight(Arc::new(build(&key))),
                };
                (key, tree)
            }
        };
        let tree = entry.1.clone();
        self.trees.push(entry);
        tree
    }
}

/// Builds a tree, untraced.
fn build<W: Word>(wanted: &TreeKey) -> Tree<W> {
    let pair = |rank: u64| (W::from_u64(key(rank)), W::from_u64(rank));
    let Some(seed) = wanted.seed else {
        let ranks = 0..wanted.keys as usize;
        let mut tree = Tree::bulkload(
            wanted.shape,
            ranks.map(|rank| pair(rank as u64)),
            wanted.fill,
            wanted.room,
        );
        tree.freeze();
        return tree;
    };
    // Ranks are below 2^32: a workload has at most 200 million keys.
    let mut ranks: Vec<u32> = (0..wanted.keys as u32).collect();
    Random::new(seed, FOR_BUILDING).shuffle(&mut ranks);
    let (first, later) = ranks.split_at_mut(wanted.bulkloaded as usize);
    first.sort_unstable();
    let sorted = first.iter().map(|&rank| pair(u64::from(rank)));
    let mut tree = Tree::bulkload(wanted.shape, sorted, wanted.fill, wanted.room);
    for &rank in &*later {
        let (key, tuple) = pair(u64::from(rank));
        tree.insert(&mut Untraced, key, tuple);
        watch::step(MATURING);
    }
    tree.freeze();
    tree
}

/// Runs an index workload on a copy of the tree that has memory of its own.
fn settled<W: Word>(workload: &IndexWorkload, tree: &Tree<W>, native: &mut Native<'_>) -> Outcome {
    let mut tree = tree.clone();
    let origin = tree.settle();
    native.settle(origin);
    index_run::run_native(workload, tree, origin, native)
}

impl Prepared {
    /// The names that the events will refer to.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Runs the kernel into `sink`.
    ///
    /// # Errors
    /// The sink's first error, at which the kernel is stopped; or [`SinkError::Interrupted`] if whoever watches stops it.
    pub fn run(&self, sink: &mut dyn EventSink) -> Result<Outcome, SinkError> {
        let mut tracer = Tracer::new(sink);
        let ran = watch::stoppable(|| self.run_kernel(&mut tracer));
        tracer.finish()?;
        ran.map_err(|Stopped| SinkError::Interrupted)
    }

    /// Runs the kernel without a trace, for its outcome alone.
    #[must_use]
    pub fn run_untraced(&self) -> Outcome {
        self.run_kernel(&mut Untraced)
    }

    /// Runs the kernel on the host's processor.
    ///
    /// The outcome is the same as that of [`Prepared::run`].
    pub(crate) fn run_native(&self, native: &mut Native<'_>) -> Outcome {
        match &self.kernel {
            Kernel::Index(workload, AnyTree::Four(tree)) => settled(workload, tree, native),
            Kernel::Index(workload, AnyTree::Eight(tree)) => settled(workload, tree, native),
            Kernel::PointerArray(kernel) => kernel.run_native(native),
            Kernel::PointerChase(kernel) => kernel.run_native(0, native),
            Kernel::Table(kernel) => kernel.run(native),
            Kernel::Tpch(kernel) => kernel.run(native),
        }
    }

    fn run_kernel<T: crate::tracer::Trace>(&self, trace: &mut T) -> Outcome {
        match &self.kernel {
            Kernel::Index(workload, AnyTree::Four(tree)) => {
                index_run::run(workload, Tree::clone(tree), trace)
            }
            Kernel::Index(workload, AnyTree::Eight(tree)) => {
                index_run::run(workload, Tree::clone(tree), trace)
            }
            Kernel::PointerArray(kernel) => kernel.run(trace),
            Kernel::PointerChase(kernel) => kernel.run(trace),
            Kernel::Table(kernel) => kernel.run(trace),
            Kernel::Tpch(kernel) => kernel.run(trace),
        }
    }
}
