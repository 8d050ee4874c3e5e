//! Trees built for one workload and kept for the next.

use super::spec::IndexWorkload;
use super::work::maturing;
use crate::operations::{FOR_BUILDING, Maturity, key};
use crate::random::Random;
use crate::tracer::Untraced;
use crate::tree::Tree;
use crate::tree::layout::Shape;
use crate::tree::plan::Fill;
use crate::watch;
use crate::word::Word;
use std::sync::Arc;

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

/// A tree of either size of word.
#[derive(Clone, Debug)]
pub(super) enum AnyTree {
    Four(Arc<Tree<u32>>),
    Eight(Arc<Tree<u64>>),
}

/// The most recently used trees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trees {
    /// Least recently used first.
    kept: Vec<(TreeKey, AnyTree)>,
}

impl Trees {
    /// Whether the tree of a workload is kept.
    pub(super) fn holds(&self, workload: &IndexWorkload) -> bool {
        let key = TreeKey::of(workload);
        self.kept.iter().any(|(kept, _)| *kept == key)
    }

    /// The tree of a workload, kept or built.
    pub(super) fn get(&mut self, workload: &IndexWorkload) -> AnyTree {
        let key = TreeKey::of(workload);
        let entry = match self.kept.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.kept.remove(place),
            None => {
                // Make room first: a tree may take a large part of the host's memory.
                if self.kept.len() == TREES_KEPT {
                    self.kept.remove(0);
                }
                let tree = match key.shape.word_bytes {
                    4 => AnyTree::Four(Arc::new(build(&key))),
                    _ => AnyTree::Eight(Arc::new(build(&key))),
                };
                (key, tree)
            }
        };
        let tree = entry.1.clone();
        self.kept.push(entry);
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
    let steps = maturing(&wanted.shape);
    for &rank in &*later {
        let (key, tuple) = pair(u64::from(rank));
        tree.insert(&mut Untraced, key, tuple);
        watch::step(steps);
    }
    tree.freeze();
    tree
}
