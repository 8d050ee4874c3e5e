//! Slotted pages: a page is one area, whose slots may have prefixes of keys (thesis section 3.8).

use super::area::{Area, AreaFormat, HEADER_BYTES};
use super::format::{Filling, Format, Position, Scan};
use super::sites::PAGE;
use super::text::Text;
use super::wanted::Wanted;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace};
use crate::tree::plan::truncated_share;

/// Byte of a page's header with the pageID of the next page of its level, behind the fields of an area's.
pub(super) const NEXT: u32 = HEADER_BYTES;
/// Bytes of a page's header, which takes a line.
pub(super) const PAGE_HEADER_BYTES: u32 = NEXT + 4;

/// The format of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlottedPage {
    area: AreaFormat,
    /// Bytes that the longest key takes.
    longest: u32,
}

impl SlottedPage {
    /// Pages of so many bytes behind a header of one line, with keys up to so many bytes, of which so many are in the slots.
    pub(super) fn new(page_bytes: u32, line_bytes: u32, prefix: u32, longest: u32) -> Self {
        let area = AreaFormat {
            first: line_bytes,
            bytes: page_bytes,
            prefix,
            parts: &PAGE,
        };
        Self {
            area,
            longest: area.needs(longest),
        }
    }

    /// Keys that a page has room for, if all are of the longest.
    pub(super) fn fewest_entries(&self) -> u32 {
        self.area.capacity() / self.longest
    }

    fn area(&self, page: &Fixed) -> Area {
        Area {
            page: *page,
            format: self.area,
            base: 0,
            dep: page.dep,
        }
    }
}

/// The bytes of a page that are left to fill.
pub(super) struct SlottedFilling {
    area: AreaFormat,
    left: u32,
    /// A page has two entries at least.
    entries: u32,
}

impl Filling for SlottedFilling {
    fn takes(&mut self, length: u32) -> bool {
        let needed = self.area.needs(length);
        if needed > self.left && self.entries >= 2 {
            return false;
        }
        self.left = self.left.saturating_sub(needed);
        self.entries += 1;
        true
    }
}

impl Format for SlottedPage {
    type Filling = SlottedFilling;

    fn filling(&self, fill: f64) -> SlottedFilling {
        SlottedFilling {
            area: self.area,
            left: truncated_share(self.area.capacity() as usize, fill) as u32,
            entries: 0,
        }
    }

    fn room_after_split(&self) -> usize {
        // The larger half has half of the bytes and an entry more at most.
        let free = self.area.capacity() / 2 - self.longest;
        (free / self.longest) as usize
    }

    fn build<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        entries: &[(Text, u32)],
        _fill: f64,
    ) {
        let area = self.area(page);
        area.reset(trace, pool, (0, Dep::NONE));
        for (slot, (key, id)) in entries.iter().enumerate() {
            let entry = (Loaded::constant(&**key), Loaded::constant(*id));
            let inserted = area.insert(trace, pool, slot, entry);
            assert!(inserted, "page {} is filled beyond its room", page.page);
        }
    }

    #[inline]
    fn find<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        wanted: &Wanted<'_>,
        first: usize,
    ) -> Position {
        Position {
            node: 0,
            slot: self.area(page).search(trace, pool, wanted, first),
            dep: page.dep,
        }
    }

    #[inline]
    fn holds<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
        wanted: &Wanted<'_>,
    ) -> bool {
        self.area(page).holds(trace, pool, position.slot, wanted)
    }

    #[inline]
    fn id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        position: Position,
    ) -> Loaded<u32> {
        self.area(page).id(trace, pool, position.slot - 1)
    }

    fn set_id<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        id: u32,
    ) {
        self.area(page).set_id(trace, pool, position.slot - 1, id);
    }

    fn insert<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        position: Position,
        (key, id): (Loaded<&[u8]>, u32),
    ) -> bool {
        let entry = (key, Loaded::constant(id));
        self.area(page).insert(trace, pool, position.slot, entry)
    }

    fn split<T: Trace>(
        &self,
        trace: &mut T,
        pool: &mut Pool,
        page: &Fixed,
        right: &Fixed,
    ) -> Loaded<Text> {
        let (left, right) = (self.area(page), self.area(right));
        right.reset(trace, pool, (0, Dep::NONE));
        left.split(trace, pool, &right);
        right.key(trace, pool, 0)
    }

    fn remove<T: Trace>(&self, trace: &mut T, pool: &mut Pool, page: &Fixed, position: Position) {
        self.area(page).remove(trace, pool, position.slot - 1);
    }

    fn begin<T: Trace>(&self, _trace: &mut T, _pool: &Pool, page: &Fixed) -> Position {
        Position {
            node: 0,
            slot: 0,
            dep: page.dep,
        }
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        pool: &Pool,
        page: &Fixed,
        from: Position,
        scan: &mut Scan<'_, '_>,
    ) -> bool {
        self.area(page).scan(trace, pool, from.slot, scan)
    }

    #[cfg(test)]
    fn entries(&self, pool: &Pool, page: &Fixed) -> Vec<(Vec<u8>, u32)> {
        self.area(page).checked(pool)
    }
}
