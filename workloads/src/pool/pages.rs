//! All pages of a pool, one after the other: for whoever stores them, or had them stored.

use super::{Fixed, Pool};
use crate::arena::Reservation;
use crate::tracer::{Dep, Untraced};

impl Pool {
    /// Whether there is such a page, and in this group.
    #[must_use]
    pub(crate) fn is_in_group(&self, page: u32, group: usize) -> bool {
        self.group_of(page) == Some(group)
    }

    /// The group that a page was made in; none if there is no such page.
    #[must_use]
    pub(crate) fn group_of(&self, page: u32) -> Option<usize> {
        let home = self.homes.get(page as usize).filter(|_| page > 0)?;
        Some(home.segment)
    }

    /// The bytes of a page that is pinned.
    #[must_use]
    pub(crate) fn bytes(&self, page: &Fixed) -> &[u8] {
        self.memory.bytes(page.extent(0, self.page_bytes()))
    }

    /// The same, to change them.
    pub(crate) fn bytes_mut(&mut self, page: &Fixed) -> &mut [u8] {
        self.memory.bytes_mut(page.extent(0, self.page_bytes()))
    }

    /// The same pages in a pool with frames for as many pages of each group as `groups` say.
    pub(crate) fn with_room(&mut self, groups: &[Reservation]) -> Self {
        let mut pool = Self::new(self.page_bytes(), groups);
        self.copy_into(&mut pool);
        pool
    }

    /// Makes the same pages in a pool that has none.
    pub(super) fn copy_into(&mut self, pool: &mut Self) {
        for page in 1..=self.pages() as u32 {
            let group = self.group_of(page).expect("there are so many pages");
            let from = self.fix(&mut Untraced, page, Dep::NONE);
            let to = pool.create(&mut Untraced, group);
            pool.bytes_mut(&to).copy_from_slice(self.bytes(&from));
            pool.unfix(&mut Untraced, &to, true);
            self.unfix(&mut Untraced, &from, false);
            crate::watch::look_at(page.into());
        }
    }
}
