//! Trees in pages from sorted entries, and non-leaf nodes over leaf nodes.

use super::DiskFirstPage;
use super::node::{LEAF_NEXT, header};
use crate::paged_tree::Site;
use crate::paged_tree::key::Key;
use crate::paged_tree::page::{STEP, load_key, store_key};
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};

/// Number of the first of `all` things that part `number` of `parts` equal ones has.
pub(super) fn share(all: usize, number: usize, parts: usize) -> usize {
    all * number / parts
}

impl DiskFirstPage {
    /// Fills a page. Leaf pages have as many leaf nodes as fit, among which entries are divided evenly, so that insertions are likely to
    /// find room; those of non-leaf pages are filled one after the other.
    pub(super) fn build_page<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(K, u32)],
        leaf: bool,
    ) {
        let (most, each) = (self.tree.leaves as usize, self.tree.leaf_fanout as usize);
        let nodes = if leaf {
            most.min(entries.len())
        } else {
            entries.len().div_ceil(each)
        }
        .max(1);
        let first = |number: usize| {
            if leaf {
                share(entries.len(), number, nodes)
            } else {
                entries.len().min(number * each)
            }
        };
        self.reset(trace, pool, page);
        let mut leaves = Vec::with_capacity(nodes);
        for number in 0..nodes {
            let node = self.take_leaf(trace, pool, page);
            let part = &entries[first(number)..first(number + 1)];
            for (slot, &(key, id)) in part.iter().enumerate() {
                pool.poke(page, self.leaf_keys(node).at(slot), key);
                pool.poke(page, self.leaf_ids(node).at(slot), id);
            }
            pool.poke(page, node, part.len() as u16);
            leaves.push(node);
        }
        self.link(trace, pool, page, &leaves);
        self.plant::<K, T>(trace, pool, page, &leaves);
    }

    /// Chains leaf nodes.
    pub(super) fn link<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[u32],
    ) {
        for (number, node) in leaves.iter().enumerate() {
            let next = leaves.get(number + 1).map_or(0, |&next| self.line_of(next));
            pool.store(trace, Site::LeafStore, page, node + LEAF_NEXT, next);
        }
    }

    /// Builds the non-leaf nodes over leaf nodes, of which none is empty if there are several. Non-leaf nodes are free but for the root.
    pub(super) fn plant<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[u32],
    ) {
        let mut below: Vec<(K, u32)> = Vec::with_capacity(leaves.len());
        for &node in leaves {
            let key: Loaded<K> = load_key(
                trace,
                pool,
                Site::LeafKey,
                page,
                self.leaf_keys(node).at(0),
                Dep::NONE,
            );
            below.push((key.value, node));
        }
        let fanout = self.tree.nonleaf_fanout as usize;
        for level in 1.. {
            let nodes = below.len().div_ceil(fanout);
            let mut above = Vec::with_capacity(nodes);
            for number in 0..nodes {
                let node = if nodes == 1 {
                    self.root(page.page)
                } else {
                    self.take_nonleaf(trace, pool, page)
                };
                let part = share(below.len(), number, nodes)..share(below.len(), number + 1, nodes);
                above.push((below[part.start].0, node));
                let children = part.len();
                for (slot, &(key, child)) in below[part].iter().enumerate() {
                    store_key(
                        trace,
                        pool,
                        Site::NonleafStore,
                        page,
                        self.nonleaf_keys(node).at(slot),
                        key,
                    );
                    let line = self.line_of(child);
                    pool.store(
                        trace,
                        Site::NonleafStore,
                        page,
                        self.children(node).at(slot),
                        line,
                    );
                    trace.work(2 * STEP);
                    trace.branch(Site::NodeLoop, slot + 1 < children, Dep::NONE);
                }
                pool.store(
                    trace,
                    Site::NonleafStore,
                    page,
                    node,
                    header(level, children),
                );
            }
            if nodes == 1 {
                return;
            }
            below = above;
        }
    }
}
