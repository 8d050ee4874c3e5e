//! What holds of every tree of pages.

use super::check::{Fault, Filled, ascend, holds};
use super::format::Format;
use super::key::Key;
use super::page::NEXT;
use super::plan::{Room, grown_pages};
use super::tree::{MOST_LEVELS, PagedTree};
use crate::tracer::{Dep, Untraced};
use crate::watch;

impl<K: Key, F: Format<K>> PagedTree<K, F> {
    /// Gives `take` all entries in order. Checks every page, keys against those above, and the chain of pages of each level; returns how
    /// full the pages of each level are, leaf pages first.
    ///
    /// # Errors
    /// The first thing that does not hold. Pages may have any bytes; root, levels and pages by level are those of a tree that has such pages.
    pub(super) fn check(&mut self, take: &mut dyn FnMut(K, u32)) -> Result<Vec<Filled>, Fault> {
        let half = self.format.room_after_split() as u64;
        let mut filled = vec![Filled::default(); self.levels];
        let mut seen = vec![false; self.pool.pages() as usize + 1];
        // Least key, unless any may be there, and pageID.
        let mut level: Vec<(Option<K>, u32)> = vec![(None, self.root)];
        for height in (0..self.levels).rev() {
            let mut below = Vec::new();
            for (number, &(low, id)) in level.iter().enumerate() {
                // A page that was seen, or is none, was refused where something led to it; but for the root.
                holds(id, self.is_new(id, height, &mut seen), || {
                    format!("it is no page of level {height}, or two entries lead to it")
                })?;
                let page = self.pool.fix(&mut Untraced, id, Dep::NONE);
                let entries = self.format.entries(&self.pool, &page, height == 0);
                let next: u32 = self.pool.peek(&page, NEXT);
                self.pool.unfix(&mut Untraced, &page, false);
                let entries = entries?;
                let right = level.get(number + 1);
                let wanted = right.map_or(0, |right| right.1);
                holds(id, next == wanted, || {
                    format!("the next page of its level is {wanted}, and it says {next}")
                })?;
                // A root with one child is none.
                let fewest =
                    usize::from(height > 0) + usize::from(height > 0 && height + 1 == self.levels);
                holds(id, entries.len() >= fewest, || {
                    format!("it is of level {height} and has {} entries", entries.len())
                })?;
                let first = usize::from(height > 0);
                let keys = entries.iter().skip(first).map(|entry| entry.0);
                ascend(id, keys, (low, right.and_then(|right| right.0)))?;
                filled[height].add(self.format.until_split(entries.len()) as u64, half);
                watch::step(entries.len() as u64);
                if height == 0 {
                    entries.into_iter().for_each(|(key, id)| take(key, id));
                    continue;
                }
                // The first child has all that is below the second's key.
                let children = entries.into_iter().enumerate();
                below.extend(
                    children.map(|(slot, (key, id))| (if slot == 0 { low } else { Some(key) }, id)),
                );
            }
            let pages = self.pages[height];
            holds(self.root, level.len() as u64 == pages, || {
                format!(
                    "{} pages of level {height} are reached from this root, and there are {pages}",
                    level.len()
                )
            })?;
            level = below;
        }
        Ok(filled)
    }

    /// Checks the tree as [`PagedTree::check`] does; returns the pages of each level that it may come to have by `room` insertions.
    pub(super) fn most_pages(
        &mut self,
        room: Room,
        take: &mut dyn FnMut(K, u32),
    ) -> Result<Vec<u64>, Fault> {
        let filled = self.check(take)?;
        let pages = grown_pages(&filled, self.format.room_after_split() as u64, room);
        holds(self.root, pages.len() <= MOST_LEVELS, || {
            format!(
                "it is the root of {} levels, of which {room} insertions may make {}; the most is {MOST_LEVELS}",
                self.levels,
                pages.len()
            )
        })?;
        Ok(pages)
    }

    /// Whether there is such a page of a level, and nothing has led to it; afterwards something has.
    fn is_new(&self, id: u32, height: usize, seen: &mut [bool]) -> bool {
        let Some(seen) = seen.get_mut(id as usize) else {
            return false;
        };
        id > 0 && !std::mem::replace(seen, true) && self.pool.is_in_group(id, height)
    }
}
