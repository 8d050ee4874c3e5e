//! What a kind of page can do: it maps keys to pageIDs (non-leaf pages) or tupleIDs (leaf pages).
//!
//! The entries of a non-leaf page are its children, each with the least key that it may have; the first child has all keys below the
//! second's, whatever its own key says.

use super::sites::RETURN;
use super::text::Text;
use super::wanted::Wanted;
use crate::operations::Returning;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use std::fmt::Debug;

/// A place among the entries of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Number of the in-page leaf node; 0 in pages without.
    pub node: u32,
    /// Entries of the page, or of the node, that are not above the key looked for.
    pub slot: usize,
    /// What the address of the entries waits for.
    pub dep: Dep,
}

/// A scan under way.
pub(super) struct Scan<'k, 'b> {
    /// The last key of the range.
    pub end: Wanted<'k>,
    /// In-page leaf nodes prefetched ahead, where there are any.
    pub distance: u32,
    returning: Returning<'b>,
}

impl<'k, 'b> Scan<'k, 'b> {
    pub(super) fn new(end: &'k [u8], distance: u32, returning: Returning<'b>) -> Self {
        Self {
            end: Wanted::new(end),
            distance,
            returning,
        }
    }

    /// Takes a tupleID, behind which the page or node has `more`; whether the scan has all that it wants.
    #[inline]
    pub(super) fn take<T: Trace>(&mut self, trace: &mut T, id: Loaded<u32>, more: bool) -> bool {
        self.returning.take(trace, RETURN, id, more)
    }

    /// Hands over what is left.
    pub(super) fn end(self) {
        self.returning.end();
    }
}

/// A page that the bulkload fills, by the lengths of keys.
pub(super) trait Filling {
    /// Whether a key of so many bytes goes into the page, too.
    fn takes(&mut self, length: u32) -> bool;
}

/// A format of pages. `page` is fixed everywhere, and of this format.
pub(super) trait Format: Copy + Debug + Send + Sync {
    /// Says which keys go into a page.
    type Filling: Filling;

    /// An empty page, of which the share `fill` is filled.
    fn filling(&self, fill: f64) -> Self::Filling;

    /// Fewest insertions that split a page that came out of a split.
    fn room_after_split(&self) -> usize;

    /// Fills a page of zeros with entries, ascending, that its [`Filling`] has taken.
    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(Text, u32)],
        fill: f64,
    );

    /// How many entries are not above a key, where the first `first` of the page are known not to be: 1 in non-leaf pages, 0 in leaf pages.
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        wanted: &Wanted<'_>,
        first: usize,
    ) -> Position;

    /// Whether the entry before a position has the key.
    fn holds<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
        wanted: &Wanted<'_>,
    ) -> bool;

    /// Loads the ID of the entry before a position.
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32>;

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
        entry: (Loaded<&[u8]>, u32),
    ) -> bool;

    /// Moves the upper half of the entries to a page of zeros; returns the first key of that.
    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<Text>;

    /// Takes out the entry before a position.
    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position);

    /// The position before the first entry.
    fn begin<T: Trace>(&self, trace: &mut T, pool: &Pool, page: &Fixed) -> Position;

    /// Scans a leaf page from a position on; whether the scan is over.
    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, '_>,
    ) -> bool;

    /// All entries, for checks, and checks of the page itself.
    #[cfg(test)]
    fn entries(&self, pool: &Pool, page: &Fixed) -> Vec<(Vec<u8>, u32)>;
}
