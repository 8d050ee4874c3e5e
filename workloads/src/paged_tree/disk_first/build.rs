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

/// Where the entries are that a page is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The caller has them.
    Registers,
    /// They are in the buffer, one behind the other.
    Buffer,
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
        source: Source,
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
            let (node, dep) = self.take_leaf(trace, pool, page);
            let part = &entries[first(number)..first(number + 1)];
            let (keys, ids) = (self.leaf_keys(node), self.leaf_ids(node));
            for (slot, &(key, id)) in part.iter().enumerate() {
                if source == Source::Registers {
                    let (key_at, id_at) = (keys.at(slot), ids.at(slot));
                    store_key(trace, pool, Site::KeyStore, page, key_at, key, Dep::NONE);
                    pool.store(trace, Site::IdStore, page, id_at, id, Dep::NONE);
                } else {
                    pool.poke(page, keys.at(slot), key);
                    pool.poke(page, ids.at(slot), id);
                }
            }
            if source == Source::Buffer {
                let place = (node, first(number));
                self.buffered::<K, T>(trace, pool, page, place, part.len(), false);
            }
            self.store_leaf_count(trace, pool, page, node, part.len() as u16, Dep::NONE);
            leaves.push((node, dep));
        }
        self.link(trace, pool, page, &leaves);
        self.plant::<K, T>(trace, pool, page, &leaves);
    }

    /// Chains leaf nodes, whose addresses wait for what is said.
    pub(super) fn link<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[(u32, Dep)],
    ) {
        for (number, (node, _)) in leaves.iter().enumerate() {
            let next = leaves.get(number + 1);
            let (next, dep) = next.map_or((0, Dep::NONE), |&(next, dep)| (self.line_of(next), dep));
            pool.store(trace, Site::LeafStore, page, node + LEAF_NEXT, next, dep);
        }
    }

    /// Builds the non-leaf nodes over leaf nodes, of which none is empty if there are several. Non-leaf nodes are free but for the root.
    pub(super) fn plant<K: Key, T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        leaves: &[(u32, Dep)],
    ) {
        let mut below: Vec<(Loaded<K>, (u32, Dep))> = Vec::with_capacity(leaves.len());
        for &(node, dep) in leaves {
            let key: Loaded<K> = load_key(
                trace,
                pool,
                Site::LeafKey,
                page,
                self.leaf_keys(node).at(0),
                dep,
            );
            below.push((key, (node, dep)));
        }
        let fanout = self.tree.nonleaf_fanout as usize;
        for level in 1.. {
            let nodes = below.len().div_ceil(fanout);
            let mut above = Vec::with_capacity(nodes);
            for number in 0..nodes {
                let (node, dep) = if nodes == 1 {
                    (self.root(page.page), Dep::NONE)
                } else {
                    self.take_nonleaf(trace, pool, page)
                };
                let part = share(below.len(), number, nodes)..share(below.len(), number + 1, nodes);
                above.push((below[part.start].0, (node, dep)));
                let children = part.len();
                for (slot, &(key, (child, dep))) in below[part].iter().enumerate() {
                    store_key(
                        trace,
                        pool,
                        Site::NonleafStore,
                        page,
                        self.nonleaf_keys(node).at(slot),
                        key.value,
                        key.token.after(0),
                    );
                    let line = self.line_of(child);
                    pool.store(
                        trace,
                        Site::NonleafStore,
                        page,
                        self.children(node).at(slot),
                        line,
                        dep,
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
                    Dep::NONE,
                );
            }
            if nodes == 1 {
                return;
            }
            below = above;
        }
    }
}
