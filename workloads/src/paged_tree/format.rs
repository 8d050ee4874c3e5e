//! What a kind of page can do: it maps keys to pageIDs (non-leaf pages) or tupleIDs (leaf pages).
//!
//! The entries of a non-leaf page are its children, each with the least key that it may have; the first child has all keys below the
//! second's, whatever its own key says.

use super::Site;
use super::check::Fault;
use super::key::Key;
use super::page::{COUNT, Position, STEP, another, load_header};
use super::take::Taker;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::Trace;
use std::fmt::Debug;

/// Levels that the tree of a page may grow to, in pages with trees.
pub(super) const MOST_LEVELS: usize = 15;

/// A leaf node, by page and byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub page: u32,
    pub node: u32,
}

/// What scans prefetch by jump pointers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead {
    /// Leaf nodes prefetched ahead into the caches; none without jump pointers.
    pub nodes: Option<u32>,
    /// Leaf pages that storage is asked for ahead.
    pub pages: u32,
}

/// Where prefetching stands: in a page, at a child of a leaf parent.
#[derive(Debug)]
pub(crate) struct Jumps {
    pub page: Fixed,
    /// Non-leaf nodes from the root to the leaf parent, the next child of each, and its children.
    pub nodes: [(u32, usize, usize); MOST_LEVELS],
    pub depth: usize,
    /// The page after this one, whose root was prefetched on entering this one; none if the range ends here.
    pub next: Option<Fixed>,
    /// The leaf node that was prefetched last.
    pub latest: Node,
}

/// A scan under way.
pub(crate) struct Scan<'b, K> {
    /// What becomes of entries.
    pub taker: Taker<'b, K>,
    /// The leaf node that the range ends in, if it was looked for, and how many leaf nodes are prefetched ahead.
    pub ahead: Option<(Node, u32)>,
    /// Where prefetching stands; formats without jump pointers leave it.
    pub jumps: Option<Jumps>,
}

/// What lists pageIDs in order, in pages that are chained: pages of a format, or the chunks of an external jump-pointer array. `page` is
/// fixed everywhere, and one of these.
pub(crate) trait Listing {
    /// The position before the first entry; where no tree in the page tells, that is its beginning.
    fn begin<T: Trace>(&self, _trace: &mut T, _pool: &Pool, page: &Fixed) -> Position {
        Position {
            node: 0,
            slot: 0,
            dep: page.dep,
        }
    }

    /// The position behind the next entry of the page; none if it has no more. As a rule the page counts its entries, which follow each other.
    fn following<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Option<Position> {
        another(trace, pool, page, position)
    }

    /// Loads the ID of the entry before a position.
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32>;
}

/// A format of pages. `page` is fixed everywhere, and of this format.
pub(crate) trait Format<K: Key>: Listing + Copy + Debug + Send + Sync {
    /// Whether scans can use jump pointers.
    const JUMPS: bool = false;

    /// Most entries of a page.
    fn fanout(&self) -> usize;

    /// Most insertions that a page split off has no room for: see `plan`.
    fn room_after_split(&self) -> usize {
        self.fanout() / 2
    }

    /// Least insertions after which a page of so many entries is split.
    fn until_split(&self, entries: usize) -> usize {
        self.fanout().saturating_sub(entries) + 1
    }

    /// Fills a page of zeros with entries, ascending, which are in registers: insertions fill new roots.
    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(K, u32)],
        leaf: bool,
    );

    /// How many entries are not above `key`, where the first `first` are known not to be: 1 in non-leaf pages, 0 in leaf pages.
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        first: usize,
    ) -> Position;

    /// Loads the key of the entry before a position.
    fn key<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<K>;

    /// Changes the ID of the entry before a position.
    fn set_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        id: u32,
    );

    /// Inserts an entry at a position; `false` if the page has to be split first. A key that divides two pages was loaded.
    fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        key: Loaded<K>,
        id: u32,
    ) -> bool;

    /// Whether a page is sure to take another entry without a split, whatever that is.
    fn is_safe<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> bool {
        let count: Loaded<u16> = load_header(trace, pool, page, COUNT);
        let full = usize::from(count.value) == self.fanout();
        trace.work(STEP);
        trace.branch(Site::Full, full, count.token.after(1));
        !full
    }

    /// Moves the upper half of the entries to a page of zeros; returns the first key of that.
    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<K>;

    /// Takes out the entry before a position.
    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position);

    /// Scans a leaf page from a position on; whether the scan is over.
    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, K>,
    ) -> bool;

    /// As [`Format::find`], for the first key of a range: prefetching begins on the same way.
    fn find_first<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        key: K,
        _scan: &mut Scan<'_, K>,
    ) -> Position {
        self.find(trace, pool, page, key, 0)
    }

    /// Begins prefetching where the range's first key was found.
    fn start_jumps<T: Trace>(&self, _trace: &mut T, _pool: &mut Pool, _scan: &mut Scan<'_, K>) {}

    /// Unpins what prefetching has pinned.
    fn end_jumps<T: Trace>(&self, _trace: &mut T, _pool: &mut Pool, _scan: &mut Scan<'_, K>) {}

    /// All entries of a page, if what every page keeps to holds of its bytes, which may be any: nothing outside the page is looked at.
    /// Keys need not ascend.
    fn entries(&self, pool: &Pool, page: &Fixed, leaf: bool) -> Result<Vec<(K, u32)>, Fault>;
}
