//! A B+-tree of pages whose keys have any length: what all kinds of pages have in common.
//!
//! Non-leaf pages hold whole keys, as they were in the leaf pages: nothing is cut off.

use super::Site;
use super::area::STEP;
use super::format::{Format, Position, Scan};
use super::plan::{Part, Plan};
use super::slotted::NEXT;
use super::text::Text;
use super::wanted::Wanted;
use crate::operations::Returning;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool};
use crate::tracer::{Dep, Trace, Untraced};
use crate::tree::path::RECORD;
use crate::tree::search::{CALL, LEVEL};
use crate::tree::{ReturnBuffer, ScanRange};
use crate::watch;

/// A tree of pages of format `F`. Pages of level L are in group L of the pool, leaf pages being level 0.
#[derive(Clone, Debug)]
pub(super) struct StringTree<F> {
    pub(super) pool: Pool,
    format: F,
    root: u32,
    pub(super) levels: usize,
    /// Pages by level.
    pub(super) pages: Vec<u64>,
    pub(super) splits: u64,
}

impl<F: Format> StringTree<F> {
    /// Builds a tree of so many entries, ascending, whose IDs `id` says, in pages that are filled up to `fill`; there is room for `room`
    /// insertions.
    pub(super) fn bulkload(
        format: F,
        page_bytes: u32,
        (keys, text, id): (usize, impl Fn(usize) -> Text, impl Fn(usize) -> u32),
        fill: f64,
        room: u64,
    ) -> Self {
        let plan = Plan::new(&format, keys, &text, fill, room);
        let mut tree = Self {
            pool: Pool::new(page_bytes, &plan.reservations(page_bytes)),
            format,
            root: 0,
            levels: 0,
            pages: vec![0; plan.most.len()],
            splits: 0,
        };
        let entry = |number| (text(number), id(number));
        let mut firsts = tree.build_level(&plan.parts[0], entry, fill);
        for parts in &plan.parts[1..] {
            let below = firsts;
            firsts = tree.build_level(parts, |number| below[number], fill);
        }
        tree.root = firsts[0].1;
        tree
    }

    /// Builds a level of pages; returns first key and pageID of each.
    fn build_level(
        &mut self,
        parts: &[Part],
        entry: impl Fn(usize) -> (Text, u32),
        fill: f64,
    ) -> Vec<(Text, u32)> {
        let level = self.levels;
        self.levels += 1;
        let mut firsts = Vec::with_capacity(parts.len());
        let mut before: Option<Fixed> = None;
        for &(first, end) in parts {
            let page = self.create(&mut Untraced, level);
            let entries: Vec<(Text, u32)> = (first..end).map(&entry).collect();
            self.format
                .build(&mut Untraced, &mut self.pool, &page, &entries, fill);
            watch::step(entries.len() as u64);
            let key = entries.first().map_or(Text::EMPTY, |first| first.0);
            firsts.push((key, page.page));
            if let Some(before) = before.replace(page) {
                self.pool.poke(&before, NEXT, page.page);
                self.pool.unfix(&mut Untraced, &before, true);
            }
        }
        let last = before.expect("a level has a page");
        self.pool.unfix(&mut Untraced, &last, true);
        firsts
    }

    fn create<T: Trace>(&mut self, trace: &mut T, level: usize) -> Fixed {
        self.pages[level] += 1;
        self.pool.create(trace, level)
    }

    /// The leaf page that has or would have a key, pinned. `visit` is told every page on the way down.
    #[inline]
    fn descend<T: Trace>(
        &mut self,
        trace: &mut T,
        wanted: &Wanted<'_>,
        mut visit: impl FnMut(&mut T, usize, u32),
    ) -> Fixed {
        let (mut id, mut dep) = (self.root, Dep::NONE);
        for level in (1..self.levels).rev() {
            trace.work(LEVEL);
            trace.branch(Site::LevelLoop, true, Dep::NONE);
            visit(trace, level, id);
            let page = self.pool.fix(trace, id, dep);
            let position = self.format.find(trace, &self.pool, &page, wanted, 1);
            let child = self.format.id(trace, &self.pool, &page, position);
            self.pool.unfix(trace, &page, false);
            (id, dep) = (child.value, child.token.after(0));
        }
        trace.work(LEVEL);
        trace.branch(Site::LevelLoop, false, Dep::NONE);
        self.pool.fix(trace, id, dep)
    }

    /// The leaf page of a key, pinned, the place of the key in it, and whether the key is there.
    #[inline]
    fn locate<T: Trace>(
        &mut self,
        trace: &mut T,
        wanted: &Wanted<'_>,
        visit: impl FnMut(&mut T, usize, u32),
    ) -> (Fixed, Position, bool) {
        let leaf = self.descend(trace, wanted, visit);
        let position = self.format.find(trace, &self.pool, &leaf, wanted, 0);
        let found = self
            .format
            .holds(trace, &self.pool, &leaf, position, wanted);
        (leaf, position, found)
    }

    /// The tupleID of a key, if the tree has it.
    pub(super) fn search<T: Trace>(&mut self, trace: &mut T, key: &[u8]) -> Option<u32> {
        trace.work(CALL);
        let (leaf, position, found) = self.locate(trace, &Wanted::new(key), |_, _, _| ());
        let id = found.then(|| self.format.id(trace, &self.pool, &leaf, position).value);
        self.pool.unfix(trace, &leaf, false);
        id
    }

    /// Inserts an entry; an existing key gets the new tupleID, and the old one is returned.
    pub(super) fn insert<T: Trace>(&mut self, trace: &mut T, key: &[u8], id: u32) -> Option<u32> {
        trace.work(CALL);
        let mut path = vec![0_u32; self.levels];
        let wanted = Wanted::new(key);
        let (mut page, mut position, found) = self.locate(trace, &wanted, |trace, level, page| {
            trace.work(RECORD);
            path[level] = page;
        });
        if found {
            let old = self.format.id(trace, &self.pool, &page, position);
            self.format
                .set_id(trace, &mut self.pool, &page, position, id);
            self.pool.unfix(trace, &page, true);
            return Some(old.value);
        }
        let (mut key, mut id) = (Loaded::constant(Text::of(key)), id);
        for level in 0.. {
            let entry = (key.bytes(), id);
            if self
                .format
                .insert(trace, &mut self.pool, &page, position, entry)
            {
                self.pool.unfix(trace, &page, true);
                break;
            }
            (key, id) = self.split(trace, level, &page, key.bytes(), id);
            trace.work(STEP);
            let above = level + 1;
            trace.branch(Site::RootSplit, above == self.levels, Dep::NONE);
            if above == self.levels {
                self.grow(trace, key.bytes(), id);
                break;
            }
            page = self.pool.fix(trace, path[above], Dep::NONE);
            position = self
                .format
                .find(trace, &self.pool, &page, &Wanted::new(&key.value), 1);
        }
        None
    }

    /// Splits a page, inserts the entry into the half where it belongs, and unpins both; returns what the parent gets.
    fn split<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        page: &Fixed,
        key: Loaded<&[u8]>,
        id: u32,
    ) -> (Loaded<Text>, u32) {
        self.splits += 1;
        let right = self.create(trace, level);
        let separator = self.format.split(trace, &mut self.pool, page, &right);
        let next: Loaded<u32> = self
            .pool
            .load(trace, Site::PageHeader, page, NEXT, page.dep);
        let copied = (&right, next.value, next.token.after(0));
        for (page, next, dep) in [copied, (page, right.page, Dep::NONE)] {
            trace.work(STEP);
            self.pool
                .store(trace, Site::PageHeaderStore, page, NEXT, next, dep);
        }
        let goes_right = *key.value >= *separator.value;
        trace.work(STEP);
        trace.branch(Site::Side, goes_right, separator.token.after(1));
        let half = if goes_right { &right } else { page };
        self.put(trace, half, level, key, id);
        self.pool.unfix(trace, page, true);
        self.pool.unfix(trace, &right, true);
        (separator, right.page)
    }

    /// Inserts an entry into a page of a level that has room.
    fn put<T: Trace>(
        &mut self,
        trace: &mut T,
        page: &Fixed,
        level: usize,
        key: Loaded<&[u8]>,
        id: u32,
    ) {
        let (wanted, first) = (Wanted::new(key.value), usize::from(level > 0));
        let position = self.format.find(trace, &self.pool, page, &wanted, first);
        let entry = (key, id);
        let inserted = self
            .format
            .insert(trace, &mut self.pool, page, position, entry);
        assert!(inserted, "page {} has no room after a split", page.page);
    }

    /// Puts a new root over the old one and its new sibling.
    fn grow<T: Trace>(&mut self, trace: &mut T, key: Loaded<&[u8]>, id: u32) {
        let level = self.levels;
        let root = self.create(trace, level);
        let old = [(Text::EMPTY, self.root)];
        self.format.build(trace, &mut self.pool, &root, &old, 1.0);
        self.put(trace, &root, level, key, id);
        self.root = root.page;
        self.levels += 1;
        self.pool.unfix(trace, &root, true);
    }

    /// Takes a key out of its leaf page, which stays however empty it is; returns its tupleID.
    pub(super) fn delete<T: Trace>(&mut self, trace: &mut T, key: &[u8]) -> Option<u32> {
        trace.work(CALL);
        let (leaf, position, found) = self.locate(trace, &Wanted::new(key), |_, _, _| ());
        let id = found.then(|| self.format.id(trace, &self.pool, &leaf, position).value);
        if found {
            self.format.remove(trace, &mut self.pool, &leaf, position);
        }
        self.pool.unfix(trace, &leaf, found);
        id
    }

    /// Copies the tupleIDs of the keys in `range` into `buffer`; pages with nodes prefetch so many leaf nodes ahead.
    pub(super) fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: &ScanRange<Text>,
        buffer: ReturnBuffer<'_, u32>,
        distance: u32,
    ) {
        trace.work(CALL);
        let mut scan = Scan::new(&range.end, distance, Returning::new(buffer, range.tuples));
        let (mut page, mut from, found) =
            self.locate(trace, &Wanted::new(&range.start), |_, _, _| ());
        from.slot -= usize::from(found);
        while !self.format.scan(trace, &self.pool, &page, from, &mut scan) {
            let next: Loaded<u32> = self
                .pool
                .load(trace, Site::PageHeader, &page, NEXT, page.dep);
            trace.branch(Site::LastPage, next.value != 0, next.token.after(1));
            if next.value == 0 {
                break;
            }
            self.pool.unfix(trace, &page, false);
            page = self.pool.fix(trace, next.value, next.token.after(0));
            from = self.format.begin(trace, &self.pool, &page);
        }
        self.pool.unfix(trace, &page, false);
        scan.end();
    }

    /// All entries in order, for checks of every page and of the tree.
    #[cfg(test)]
    pub(super) fn checked_entries(&mut self) -> Vec<(Vec<u8>, u32)> {
        let mut level: Vec<(Vec<u8>, u32)> = vec![(Vec::new(), self.root)];
        for height in (0..self.levels).rev() {
            let mut below = Vec::new();
            assert_eq!(self.pages[height], level.len() as u64);
            for (number, (low, id)) in level.iter().enumerate() {
                let page = self.pool.fix(&mut Untraced, *id, Dep::NONE);
                let entries = self.format.entries(&self.pool, &page);
                let next = self.pool.peek::<u32>(&page, NEXT);
                self.pool.unfix(&mut Untraced, &page, false);
                let right = level.get(number + 1);
                assert_eq!(next, right.map_or(0, |right| right.1));
                let first = usize::from(height > 0);
                let keys = || entries.iter().skip(first).map(|entry| &entry.0);
                assert!(keys().is_sorted_by(|left, right| left < right));
                assert!(keys().all(|key| {
                    (number == 0 || key >= low) && right.is_none_or(|high| *key < high.0)
                }));
                // The first entry of a non-leaf page has all that is below the second's.
                below.extend(entries.into_iter().enumerate().map(|(slot, (key, id))| {
                    if height > 0 && slot == 0 {
                        (low.clone(), id)
                    } else {
                        (key, id)
                    }
                }));
            }
            level = below;
        }
        level
    }
}
