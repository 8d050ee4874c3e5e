//! Which pages of a file may take a record: those that lost some, and the last.

use std::collections::BTreeSet;

/// Pages that records were deleted from or moved out of, and that have not been found full since.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    pages: BTreeSet<u32>,
}

impl Room {
    /// A page has bytes to spare again.
    pub(super) fn add(&mut self, page: u32) {
        self.pages.insert(page);
    }

    /// The first page for which `has_room` holds, of those with bytes to spare and then the last of the file's `pages`.
    #[inline]
    pub(super) fn find(
        &mut self,
        pages: u32,
        mut has_room: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        while let Some(&page) = self.pages.first() {
            if has_room(page) {
                return Some(page);
            }
            self.pages.remove(&page);
        }
        pages.checked_sub(1).filter(|&last| has_room(last))
    }
}
