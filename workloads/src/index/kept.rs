//! Trees built for one workload and kept for the next.

use super::spec::IndexWorkload;
use super::work::maturing;
use crate::kept::Kept;
use crate::operations::{BuildOrder, Maturity, key};
use crate::tracer::Untraced;
use crate::tree::Tree;
use crate::tree::layout::Shape;
use crate::tree::plan::Fill;
use crate::watch;
use crate::word::Word;
use std::convert::Infallible;
use std::sync::Arc;

/// What determines a tree, and where its segments are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeKey {
    shape: Shape,
    keys: u64,
    fill: Fill,
    bulkloaded: u64,
    room: u64,
    /// Of the order of insertion; none for a bulkloaded tree.
    seed: Option<u64>,
}

impl TreeKey {
    pub(super) fn of(workload: &IndexWorkload) -> Self {
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
pub(crate) enum AnyTree {
    Four(Arc<Tree<u32>>),
    Eight(Arc<Tree<u64>>),
}

/// The trees of the latest workloads: the one in use and the one before, since experiments often alternate between two.
pub(crate) type Trees = Kept<TreeKey, AnyTree, 2>;

/// The tree of a workload, kept or built.
pub(super) fn tree(workload: &IndexWorkload, trees: &mut Trees) -> AnyTree {
    let built = trees.get(TreeKey::of(workload), |key| {
        Ok::<_, Infallible>(match key.shape.word_bytes {
            4 => AnyTree::Four(Arc::new(build(key))),
            _ => AnyTree::Eight(Arc::new(build(key))),
        })
    });
    let Ok(tree) = built;
    tree
}

/// Builds a tree, untraced.
fn build<W: Word>(wanted: &TreeKey) -> Tree<W> {
    let pair = |rank: u32| (W::from_u64(key(rank.into())), W::from_u64(rank.into()));
    let order = BuildOrder::new(wanted.keys, wanted.bulkloaded, wanted.seed);
    let first = (0..order.bulkloaded()).map(|number| pair(order.rank(number)));
    let mut tree = Tree::bulkload(wanted.shape, first, wanted.fill, wanted.room);
    let steps = maturing(&wanted.shape);
    for &rank in order.later() {
        let (key, tuple) = pair(rank);
        tree.insert(&mut Untraced, key, tuple);
        watch::step(steps);
    }
    tree.freeze();
    tree
}
