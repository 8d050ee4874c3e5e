//! Which keys the bulkload puts into which page, and how many pages there may come to be: known before the first is built.

use super::format::{Filling, Format};
use super::text::Text;
use crate::arena::Reservation;
use crate::paged_tree::plan::{groups, most_pages};
use crate::watch;

/// A page to be built, by its entries: of a level's, the first and the one behind the last.
pub(super) type Part = (usize, usize);

/// The pages of a tree.
pub(super) struct Plan {
    /// Pages that the bulkload makes, by level, leaf pages first.
    pub parts: Vec<Vec<Part>>,
    /// Pages that there may come to be, by level.
    pub most: Vec<u64>,
}

impl Plan {
    /// The pages of so many keys, filled up to `fill`, which then take `room` insertions.
    pub(super) fn new<F: Format>(
        format: &F,
        keys: usize,
        text: impl Fn(usize) -> Text,
        fill: f64,
        room: u64,
    ) -> Self {
        let mut parts = vec![divided(format, keys, |number| text(number).len(), fill)];
        let mut firsts: Vec<usize> = (0..keys).collect();
        while parts[parts.len() - 1].len() > 1 {
            let below = &parts[parts.len() - 1];
            firsts = below.iter().map(|part| firsts[part.0]).collect();
            let length = |number: usize| text(firsts[number]).len();
            parts.push(divided(format, firsts.len(), length, fill));
        }
        let built: Vec<u64> = parts.iter().map(|level| level.len() as u64).collect();
        let most = most_pages(format.room_after_split(), &built, room);
        Self { parts, most }
    }

    /// A group of pages for each level.
    pub(super) fn reservations(&self, page_bytes: u32) -> Vec<Reservation> {
        groups(&self.most, page_bytes)
    }
}

/// Divides so many entries, whose keys have such lengths, among pages.
fn divided<F: Format>(
    format: &F,
    entries: usize,
    length: impl Fn(usize) -> usize,
    fill: f64,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut first, mut filling) = (0, format.filling(fill));
    for number in 0..entries {
        let length = length(number) as u32;
        if !filling.takes(length) {
            parts.push((first, number));
            (first, filling) = (number, format.filling(fill));
            assert!(filling.takes(length), "a page has no room for a key");
        }
        watch::step(1);
    }
    parts.push((first, entries));
    parts
}
