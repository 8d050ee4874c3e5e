//! How many pages a tree has and may come to have: known before the first is built.

use super::check::Filled;
use crate::arena::Reservation;
use crate::tree::plan::{most, truncated_share};

/// Insertions that a tree has to have room for.
pub type Room = u64;

/// What a tree came from: by it follows what is reserved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct History {
    /// Keys of the bulkload.
    pub bulkloaded: u64,
    /// Share of the entries that it filled.
    pub fill: f64,
    /// Insertions after it that there is room for.
    pub room: Room,
    /// Insertions of further keys since.
    pub inserted: u64,
}

impl History {
    pub(super) fn new(bulkloaded: u64, fill: f64, room: Room) -> Self {
        Self {
            bulkloaded,
            fill,
            room,
            inserted: 0,
        }
    }

    /// The same tree with room for so many insertions to come, at least.
    pub(super) fn with_room(self, room: Room) -> Self {
        Self {
            room: self.room.max(self.inserted.saturating_add(room)),
            ..self
        }
    }
}

/// Pages of a tree.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Entries that the bulkload puts into a page.
    pub entries: usize,
    /// Pages that the bulkload makes, by level, leaf pages first.
    pub built: Vec<u64>,
    /// Pages that there may come to be, by level.
    pub most: Vec<u64>,
}

impl Plan {
    /// The pages of `keys` entries, filled up to `fill`, which then take `room` insertions. Pages have room for `fanout` entries, and
    /// after a split for `half` more at least.
    #[must_use]
    pub fn new(fanout: usize, half: usize, keys: u64, fill: f64, room: Room) -> Self {
        let entries = truncated_share(fanout, fill);
        let mut built = vec![keys.div_ceil(entries as u64).max(1)];
        while built[built.len() - 1] > 1 {
            built.push(built[built.len() - 1].div_ceil(entries.max(2) as u64));
        }
        let pages = most_pages(half, &built, room);
        Self {
            entries,
            built,
            most: pages,
        }
    }

    /// A group of pages for each level.
    #[must_use]
    pub fn reservations(&self, page_bytes: u32) -> Vec<Reservation> {
        groups(&self.most, page_bytes)
    }
}

/// Pages that there may come to be, by level, of those that there are; after a split each takes `half` insertions at least.
pub(crate) fn most_pages(half: usize, built: &[u64], room: Room) -> Vec<u64> {
    let mut pages = Vec::new();
    let mut arriving = room;
    while pages.len() < built.len() || arriving > 0 {
        let there = built.get(pages.len()).copied().unwrap_or(1);
        // A level above today's root starts as one page of few entries.
        let splittable = if pages.len() < built.len() { there } else { 0 };
        arriving = most(splittable, 2 * half, arriving) - splittable;
        pages.push(there + arriving);
    }
    pages
}

/// A group of so many pages for each level.
pub(crate) fn groups(most: &[u64], page_bytes: u32) -> Vec<Reservation> {
    let name = |level| match level {
        0 => "level 0 (leaf pages)".into(),
        level => format!("level {level}"),
    };
    let levels = most.iter().enumerate();
    levels
        .map(|(level, &pages)| Reservation {
            name: name(level),
            object_bytes: page_bytes.into(),
            objects: pages,
        })
        .collect()
}

/// Pages of each level that a tree may come to have by `room` insertions, of which a page that came out of a split takes `half`.
pub(super) fn grown_pages(filled: &[Filled], half: u64, room: Room) -> Vec<u64> {
    let mut pages = Vec::new();
    let mut arriving = room;
    while pages.len() < filled.len() || arriving > 0 {
        let there = filled.get(pages.len()).copied();
        // A level above today's root starts as one page of few entries.
        let objects = there.map_or(1, |there| there.objects);
        arriving = there.unwrap_or_default().splits(arriving, half);
        pages.push(objects + arriving);
    }
    pages
}
