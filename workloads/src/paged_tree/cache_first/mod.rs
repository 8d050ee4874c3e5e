//! Cache-first fpB+-trees: a prefetching B+-tree whose nodes are placed in pages (thesis section 3.3.4).
//!
//! Leaf nodes are in leaf pages, siblings together. Non-leaf nodes are in the pages of their parents as far as there is room (aggressive
//! placement), leaf parents for which there is none in overflow pages. A pointer is a pageID and a line. Leaf nodes are chained, leaf
//! parents too, and a leaf page knows the parent of its first leaf node, so that its nodes can move. No page lists leaf pages in their
//! order, as leaf parents lie anywhere: an external jump-pointer array does, in pages of its own.

mod bulkload;
mod check;
mod delete;
mod insert;
mod jump_array;
mod jump_updates;
mod move_nodes;
mod node;
mod pages;
mod plan;
mod scan;
mod search;
mod split;
mod state;

pub(super) use plan::{most_pages, reservations};

use super::geometry::{CacheFirst, PageSizes};
use super::plan::History;
use crate::pool::{Fixed, Pool};
use crate::tracer::Dep;

/// Groups of pages in the pool.
const LEAF_PAGES: usize = 0;
const NONLEAF_PAGES: usize = 1;
const OVERFLOW_PAGES: usize = 2;
const ARRAY_PAGES: usize = 3;
/// How many groups that are.
pub(super) const GROUPS: usize = 4;

/// Levels of nodes that there may be: nodes have four entries or more, and half of them after a split.
pub(super) const MOST_LEVELS: usize = 34;

/// Where a node is: the page, and the line of it where the node begins. Page 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pointer {
    page: u32,
    line: u16,
}

/// A node of a page that is fixed.
#[derive(Clone, Copy, Debug)]
struct At {
    page: Fixed,
    /// Its first byte in the page.
    node: u32,
    /// What its address waits for.
    dep: Dep,
}

/// A tree with keys of type `K`.
#[derive(Clone, Debug)]
pub struct CacheFirstTree<K> {
    pub(super) pool: Pool,
    sizes: PageSizes,
    geometry: CacheFirst,
    root: Pointer,
    /// Levels of nodes.
    pub(super) levels: usize,
    /// Pages by group.
    pub(super) pages: Vec<u64>,
    pub(super) splits: u64,
    /// The overflow page that the next leaf parent goes to; 0 if there is none.
    overflow: u32,
    pub(super) history: History,
    key: std::marker::PhantomData<K>,
}
