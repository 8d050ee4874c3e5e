//! A B+-tree of pages: what slotted pages, pages with arrays and pages with trees in them have in common.

use super::Site;
use super::format::{Ahead, Format, Node, Scan};
use super::key::Key;
use super::page::{NEXT, STEP, load_header, store_header};
use super::page_jumps::{PageJumps, RangeEnd};
use super::plan::{History, Plan, Room};
use super::take::Taker;
use crate::place::Loaded;
use crate::pool::{Fixed, Pool, Use};
use crate::tracer::{Dep, Trace, Untraced};
use crate::tree::path::RECORD;
use crate::tree::search::{CALL, LEVEL};
use crate::tree::{ReturnBuffer, ScanRange};
use crate::watch;

/// A tree of pages of format `F`. Pages of level L are in group L of the pool, leaf pages being level 0.
#[derive(Clone, Debug)]
pub struct PagedTree<K, F> {
    pub(super) pool: Pool,
    pub(super) format: F,
    pub(super) root: u32,
    pub(super) levels: usize,
    /// Pages by level.
    pub(super) pages: Vec<u64>,
    pub(super) splits: u64,
    pub(super) history: History,
    pub(super) key: std::marker::PhantomData<K>,
}

impl<K: Key, F: Format<K>> PagedTree<K, F> {
    /// Builds a tree of `entries` (keys ascending and distinct, each with its tupleID) in pages that are filled up to `fill`, from left to
    /// right; there is room for `room`.
    pub(super) fn bulkload(
        format: F,
        page_bytes: u32,
        entries: impl ExactSizeIterator<Item = (K, u32)>,
        fill: f64,
        room: Room,
    ) -> Self {
        let plan = Plan::new(
            format.fanout(),
            format.room_after_split(),
            entries.len() as u64,
            fill,
            room,
        );
        let mut tree = Self {
            pool: Pool::new(page_bytes, &plan.reservations(page_bytes)),
            format,
            root: 0,
            levels: 0,
            pages: vec![0; plan.most.len()],
            splits: 0,
            history: History::new(entries.len() as u64, fill, room),
            key: std::marker::PhantomData,
        };
        let mut firsts = tree.build_level(entries, plan.entries);
        while firsts.len() > 1 {
            firsts = tree.build_level(firsts.into_iter(), plan.entries.max(2));
        }
        tree.root = firsts[0].1;
        tree
    }

    /// Builds a level of pages with so many entries each; returns first key and pageID of each.
    fn build_level(
        &mut self,
        mut entries: impl ExactSizeIterator<Item = (K, u32)>,
        each: usize,
    ) -> Vec<(K, u32)> {
        let level = self.levels;
        self.levels += 1;
        let mut firsts = Vec::with_capacity(entries.len().div_ceil(each).max(1));
        let mut before: Option<Fixed> = None;
        loop {
            let page = self.create(&mut Untraced, level);
            let part: Vec<(K, u32)> = entries.by_ref().take(each).collect();
            self.format
                .build(&mut Untraced, &mut self.pool, &page, &part, level == 0);
            watch::step(part.len() as u64);
            firsts.push((
                part.first().map_or(K::from_u64(0), |first| first.0),
                page.page,
            ));
            if let Some(before) = before.replace(page) {
                self.pool.poke(&before, NEXT, page.page);
                self.pool.unfix(&mut Untraced, &before, true);
            }
            if entries.len() == 0 {
                break;
            }
        }
        self.pool
            .unfix(&mut Untraced, &before.expect("a level has a page"), true);
        firsts
    }

    fn create<T: Trace>(&mut self, trace: &mut T, level: usize) -> Fixed {
        self.pages[level] += 1;
        self.pool.create(trace, level)
    }

    /// The leaf page that has or would have `key`, pinned. `visit` is told every page on the way down.
    #[inline]
    fn descend<T: Trace>(
        &mut self,
        trace: &mut T,
        key: K,
        visit: impl FnMut(&mut T, usize, u32),
    ) -> Fixed {
        self.descend_to(trace, (0, Use::Read), key, visit)
    }

    /// The page of a level that has or would have `key`, pinned for a use.
    #[inline]
    fn descend_to<T: Trace>(
        &mut self,
        trace: &mut T,
        (lowest, held): (usize, Use),
        key: K,
        mut visit: impl FnMut(&mut T, usize, u32),
    ) -> Fixed {
        let (mut id, mut dep) = (self.root, Dep::NONE);
        // Where others change pages, a page is left when the next is held: meanwhile that could be split.
        let (is_coupled, mut above) = (self.pool.is_changing(), None);
        for level in (lowest + 1..self.levels).rev() {
            trace.work(LEVEL);
            trace.branch(Site::LevelLoop, true, Dep::NONE);
            visit(trace, level, id);
            let page = self.pool.fix(trace, id, dep);
            self.leave(trace, above.take());
            let position = self.format.find(trace, &self.pool, &page, key, 1);
            let child = self.format.id(trace, &self.pool, &page, position);
            above = Some(page).filter(|_| is_coupled);
            if !is_coupled {
                self.pool.unfix(trace, &page, false);
            }
            (id, dep) = (child.value, child.token.after(0));
        }
        trace.work(LEVEL);
        trace.branch(Site::LevelLoop, false, Dep::NONE);
        let page = self.pool.fix_for(trace, held, id, dep);
        self.leave(trace, above);
        page
    }

    /// Unpins a page that was read, if there is one.
    #[inline]
    fn leave<T: Trace>(&mut self, trace: &mut T, page: Option<Fixed>) {
        if let Some(page) = page {
            self.pool.unfix(trace, &page, false);
        }
    }

    /// The leaf page that would have `key`, and with it all above that a split of it may change, down from the last that is safe: where threads
    /// change pages, a thread has these for itself (Bayer and Schkolnick, "Concurrency of operations on B-trees", Acta Informatica 9, 1977).
    fn descend_to_split<T: Trace>(&mut self, trace: &mut T, key: K) -> (Fixed, Held) {
        let mut held = [None; MOST_LEVELS];
        let (mut id, mut dep) = (self.root, Dep::NONE);
        for level in (1..self.levels).rev() {
            trace.work(LEVEL);
            trace.branch(Site::LevelLoop, true, Dep::NONE);
            let page = self.pool.fix_for(trace, Use::Change, id, dep);
            if self.format.is_safe(trace, &self.pool, &page) {
                for above in &mut held[level + 1..] {
                    self.leave(trace, above.take());
                }
            }
            let position = self.format.find(trace, &self.pool, &page, key, 1);
            let child = self.format.id(trace, &self.pool, &page, position);
            (id, dep) = (child.value, child.token.after(0));
            trace.work(RECORD);
            held[level] = Some(page);
        }
        trace.work(LEVEL);
        trace.branch(Site::LevelLoop, false, Dep::NONE);
        (self.pool.fix_for(trace, Use::Change, id, dep), held)
    }

    /// Whether the entry before a position of a leaf page has `key`.
    #[inline]
    fn holds<T: Trace>(
        &self,
        trace: &mut T,
        leaf: &Fixed,
        position: super::page::Position,
        key: K,
    ) -> bool {
        trace.branch(Site::Position, position.slot > 0, Dep::NONE);
        if position.slot == 0 {
            return false;
        }
        let found: Loaded<K> = self.format.key(trace, &self.pool, leaf, position);
        trace.work(K::COMPARE);
        trace.branch(Site::KeyFound, found.value == key, found.token.after(1));
        found.value == key
    }

    /// The tupleID of `key`, if the tree has it.
    pub fn search<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        trace.work(CALL);
        let leaf = self.descend(trace, key, |_, _, _| ());
        let position = self.format.find(trace, &self.pool, &leaf, key, 0);
        let found = self.holds(trace, &leaf, position, key);
        let id = found.then(|| self.format.id(trace, &self.pool, &leaf, position).value);
        self.pool.unfix(trace, &leaf, false);
        id
    }

    /// Inserts an entry; an existing key gets the new tupleID, and the old one is returned.
    pub fn insert<T: Trace>(&mut self, trace: &mut T, key: K, id: u32) -> Option<u32> {
        trace.work(CALL);
        let mut path = [0_u32; MOST_LEVELS];
        let mut page = self.descend_to(trace, (0, Use::Change), key, |trace, level, page| {
            trace.work(RECORD);
            path[level] = page;
        });
        let mut position = self.format.find(trace, &self.pool, &page, key, 0);
        if self.holds(trace, &page, position, key) {
            let old = self.format.id(trace, &self.pool, &page, position);
            self.format
                .set_id(trace, &mut self.pool, &page, position, id);
            self.pool.unfix(trace, &page, true);
            return Some(old.value);
        }
        self.history.inserted += 1;
        let (mut key, mut id) = (Loaded::constant(key), id);
        let mut held: Option<Held> = None;
        let mut level = 0;
        loop {
            if self
                .format
                .insert(trace, &mut self.pool, &page, position, key, id)
            {
                self.pool.unfix(trace, &page, true);
                break;
            }
            if held.is_none() && self.pool.is_changing() {
                self.pool.unfix(trace, &page, false);
                let (leaf, above) = self.descend_to_split(trace, key.value);
                (page, held) = (leaf, Some(above));
                position = self.format.find(trace, &self.pool, &page, key.value, 0);
                continue;
            }
            (key, id) = self.split(trace, level, &page, key, id);
            trace.work(STEP);
            level += 1;
            trace.branch(Site::RootSplit, level == self.levels, Dep::NONE);
            if level == self.levels {
                self.grow(trace, key, id);
                if self.pool.is_changing() {
                    self.pool.unfix(trace, &page, true);
                }
                break;
            }
            page = match held.as_mut().and_then(|held| held[level].take()) {
                Some(held) => held,
                None => self.pool.fix(trace, path[level], Dep::NONE),
            };
            position = self.format.find(trace, &self.pool, &page, key.value, 1);
        }
        // Pages that were not sure to have room, and had some.
        for above in held.into_iter().flatten() {
            self.leave(trace, above);
        }
        None
    }

    /// Splits a page, inserts the entry into the half where it belongs, and unpins both; returns what the parent gets. Where threads change
    /// pages, a root stays latched until there is another: who waits for it would find a half of the keys.
    fn split<T: Trace>(
        &mut self,
        trace: &mut T,
        level: usize,
        page: &Fixed,
        key: Loaded<K>,
        id: u32,
    ) -> (Loaded<K>, u32) {
        self.splits += 1;
        let right = self.create(trace, level);
        let separator = self.format.split(trace, &mut self.pool, page, &right);
        let next: Loaded<u32> = load_header(trace, &self.pool, page, NEXT);
        let dep = next.token.after(0);
        store_header(trace, &mut self.pool, &right, NEXT, next.value, dep);
        store_header(trace, &mut self.pool, page, NEXT, right.page, Dep::NONE);
        let goes_right = key.value >= separator.value;
        trace.work(K::COMPARE);
        trace.branch(Site::Side, goes_right, separator.token.after(1));
        let half = if goes_right { &right } else { page };
        let position = self
            .format
            .find(trace, &self.pool, half, key.value, usize::from(level > 0));
        let inserted = self
            .format
            .insert(trace, &mut self.pool, half, position, key, id);
        assert!(inserted, "half of page {} has no room", page.page);
        if level + 1 < self.levels || !self.pool.is_changing() {
            self.pool.unfix(trace, page, true);
        }
        self.pool.unfix(trace, &right, true);
        (separator, right.page)
    }

    /// Puts a new root over the old one and its new sibling.
    fn grow<T: Trace>(&mut self, trace: &mut T, key: Loaded<K>, id: u32) {
        let level = self.levels;
        let root = self.create(trace, level);
        let old = [(K::from_u64(0), self.root)];
        self.format.build(trace, &mut self.pool, &root, &old, false);
        let position = self.format.find(trace, &self.pool, &root, key.value, 1);
        let inserted = self
            .format
            .insert(trace, &mut self.pool, &root, position, key, id);
        assert!(inserted, "an empty root has no room");
        self.root = root.page;
        self.levels += 1;
        self.pool.unfix(trace, &root, true);
    }

    /// Takes `key` out of its leaf page, which stays however empty it is; returns its tupleID.
    pub fn delete<T: Trace>(&mut self, trace: &mut T, key: K) -> Option<u32> {
        trace.work(CALL);
        let leaf = self.descend_to(trace, (0, Use::Change), key, |_, _, _| ());
        let position = self.format.find(trace, &self.pool, &leaf, key, 0);
        let found = self.holds(trace, &leaf, position, key);
        let id = found.then(|| self.format.id(trace, &self.pool, &leaf, position).value);
        if found {
            self.format.remove(trace, &mut self.pool, &leaf, position);
        }
        self.pool.unfix(trace, &leaf, found);
        id
    }

    /// Copies the tupleIDs of the keys in `range` into `buffer`. `ahead` says how many leaf nodes and leaf pages are prefetched, up to
    /// those that the range ends in, which are looked for first; formats without jump pointers to nodes ignore the first.
    pub fn scan<T: Trace>(
        &mut self,
        trace: &mut T,
        range: ScanRange<K>,
        buffer: ReturnBuffer<'_, u32>,
        ahead: Ahead,
    ) {
        trace.work(CALL);
        let nodes = ahead.nodes.filter(|_| F::JUMPS);
        let looks_for_end = nodes.is_some() || ahead.pages > 0;
        let mut last_parent = 0;
        let end = looks_for_end.then(|| {
            let leaf = self.descend(trace, range.end, |_, level, page| {
                if level == 1 {
                    last_parent = page;
                }
            });
            let position = self.format.find(trace, &self.pool, &leaf, range.end, 0);
            self.pool.unfix(trace, &leaf, false);
            Node {
                page: leaf.page,
                node: position.node,
            }
        });
        let mut scan = Scan {
            taker: Taker::new(range, buffer),
            ahead: end.zip(nodes),
            jumps: None,
        };
        let mut page = self.descend(trace, range.start, |_, _, _| ());
        let mut from = self
            .format
            .find_first(trace, &self.pool, &page, range.start, &mut scan);
        if self.holds(trace, &page, from, range.start) {
            from.slot -= 1;
        }
        self.format.start_jumps(trace, &mut self.pool, &mut scan);
        let last = end.filter(|_| ahead.pages > 0 && self.levels > 1);
        let mut pages = last.map(|end| {
            let end = RangeEnd {
                leaf: end.page,
                list: last_parent,
            };
            self.page_jumps(trace, range.start, page.page, end)
        });
        for _ in 0..ahead.pages {
            self.advance_pages(trace, pages.as_mut());
        }
        while !self
            .format
            .scan(trace, &mut self.pool, &page, from, &mut scan)
        {
            let next: Loaded<u32> = load_header(trace, &self.pool, &page, NEXT);
            trace.branch(Site::LastPage, next.value != 0, next.token.after(1));
            if next.value == 0 {
                break;
            }
            self.pool.unfix(trace, &page, false);
            page = self.pool.fix(trace, next.value, next.token.after(0));
            from = self.format.begin(trace, &self.pool, &page);
            self.advance_pages(trace, pages.as_mut());
        }
        self.pool.unfix(trace, &page, false);
        self.format.end_jumps(trace, &mut self.pool, &mut scan);
        if let Some(pages) = pages {
            pages.end(trace, &mut self.pool);
        }
        scan.taker.end();
    }

    /// Begins at the entry that leads to the leaf page with `key`.
    fn page_jumps<T: Trace>(
        &mut self,
        trace: &mut T,
        key: K,
        leaf: u32,
        end: RangeEnd,
    ) -> PageJumps {
        let parent = self.descend_to(trace, (1, Use::Read), key, |_, _, _| ());
        let at = self.format.find(trace, &self.pool, &parent, key, 1);
        PageJumps::new(trace, &mut self.pool, (parent, at), leaf, end)
    }

    /// Asks for one more leaf page, if pages are prefetched.
    fn advance_pages<T: Trace>(&mut self, trace: &mut T, pages: Option<&mut PageJumps>) {
        if let Some(pages) = pages {
            pages.advance(trace, &mut self.pool, &self.format);
        }
    }

    /// The leaf page that has or would have `key`.
    #[cfg(test)]
    pub(super) fn leaf_of(&mut self, key: K) -> u32 {
        let leaf = self.descend(&mut Untraced, key, |_, _, _| ());
        self.pool.unfix(&mut Untraced, &leaf, false);
        leaf.page
    }
}

/// Levels of pages that there may be: a page has room for 8 entries, of which a half are there after a split.
pub(super) const MOST_LEVELS: usize = 24;

/// Pages above a leaf page that a thread has for itself, by level.
type Held = [Option<Fixed>; MOST_LEVELS];
