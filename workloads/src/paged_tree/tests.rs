mod key_order;

use super::array::ArrayPage;
use super::cache_first::CacheFirstTree;
use super::disk_first::DiskFirstPage;
use super::format::Format;
use super::geometry::{CacheFirst, InPageTree, MicroIndexPage, PageSizes};
use super::slotted::SlottedPage;
use super::tree::PagedTree;
use super::*;
use crate::pool::{Pool, Program};
use crate::tracer::{Tracer, Untraced};
use crate::tree::{ReturnBuffer, ScanRange};
use proptest::prelude::*;
use std::collections::BTreeMap;
use traces::{Event, Kind};

#[derive(Clone, Debug)]
enum Step {
    Search(u64),
    Insert(u64, u32),
    Delete(u64),
    Scan(u64, usize),
}

fn steps(keys: u64) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..keys).prop_map(Step::Search),
        5 => (0..keys, any::<u32>()).prop_map(|(key, id)| Step::Insert(key, id)),
        2 => (0..keys).prop_map(Step::Delete),
        1 => (0..keys, 1..200_usize).prop_map(|(key, tuples)| Step::Scan(key, tuples)),
    ];
    prop::collection::vec(step, 0..1500)
}

/// What scans prefetch.
const AHEAD: Ahead = Ahead {
    nodes: Some(2),
    pages: 3,
};

/// What can be done to an index.
trait Index<K: Key> {
    fn search(&mut self, key: K) -> Option<u32>;
    fn insert(&mut self, key: K, id: u32) -> Option<u32>;
    fn delete(&mut self, key: K) -> Option<u32>;
    fn scan(&mut self, range: ScanRange<K>, buffer: ReturnBuffer<'_, u32>);
    fn entries(&mut self) -> Vec<(K, u32)>;
}

impl<K: Key, F: Format<K>> Index<K> for PagedTree<K, F> {
    fn search(&mut self, key: K) -> Option<u32> {
        PagedTree::search(self, &mut Untraced, key)
    }

    fn insert(&mut self, key: K, id: u32) -> Option<u32> {
        PagedTree::insert(self, &mut Untraced, key, id)
    }

    fn delete(&mut self, key: K) -> Option<u32> {
        PagedTree::delete(self, &mut Untraced, key)
    }

    fn scan(&mut self, range: ScanRange<K>, buffer: ReturnBuffer<'_, u32>) {
        PagedTree::scan(self, &mut Untraced, range, buffer, AHEAD);
    }

    fn entries(&mut self) -> Vec<(K, u32)> {
        let mut entries = Vec::new();
        self.check(&mut |key, id| entries.push((key, id))).unwrap();
        entries
    }
}

impl<K: Key> Index<K> for CacheFirstTree<K> {
    fn search(&mut self, key: K) -> Option<u32> {
        CacheFirstTree::search(self, &mut Untraced, key)
    }

    fn insert(&mut self, key: K, id: u32) -> Option<u32> {
        CacheFirstTree::insert(self, &mut Untraced, key, id)
    }

    fn delete(&mut self, key: K) -> Option<u32> {
        CacheFirstTree::delete(self, &mut Untraced, key)
    }

    fn scan(&mut self, range: ScanRange<K>, buffer: ReturnBuffer<'_, u32>) {
        CacheFirstTree::scan(self, &mut Untraced, range, buffer, AHEAD);
    }

    fn entries(&mut self) -> Vec<(K, u32)> {
        let mut entries = Vec::new();
        self.check(&mut |key, id| entries.push((key, id))).unwrap();
        entries
    }
}

/// An index does what a `BTreeMap` does.
fn behaves<K: Key>(index: &mut dyn Index<K>, mut map: BTreeMap<u64, u32>, steps: &[Step]) {
    let word = K::from_u64;
    for step in steps {
        match *step {
            Step::Search(key) => assert_eq!(index.search(word(key)), map.get(&key).copied()),
            Step::Insert(key, id) => assert_eq!(index.insert(word(key), id), map.insert(key, id)),
            Step::Delete(key) => assert_eq!(index.delete(word(key)), map.remove(&key)),
            Step::Scan(start, tuples) => {
                let wanted: Vec<(u64, u32)> = map
                    .range(start..)
                    .map(|(&key, &id)| (key, id))
                    .take(tuples)
                    .collect();
                let end = wanted.last().map_or(start, |last| last.0);
                let range = ScanRange {
                    start: word(start),
                    end: word(end),
                    tuples,
                };
                let mut taken = Vec::new();
                let buffer = ReturnBuffer {
                    address: 1 << 40,
                    room: &mut [0; 16],
                    take: &mut |part| taken.extend_from_slice(part),
                };
                index.scan(range, buffer);
                assert!(wanted.iter().map(|one| one.1).eq(taken));
            }
        }
    }
    let entries: Vec<(u64, u32)> = index
        .entries()
        .iter()
        .map(|one| (one.0.to_u64(), one.1))
        .collect();
    assert!(entries.into_iter().eq(map));
}

/// Runs steps on a tree of every third key.
fn check<K: Key, F: Format<K>>(
    format: F,
    sizes: &PageSizes,
    (keys, fill, frames): (u64, f64, u32),
    steps: &[Step],
) {
    let map: BTreeMap<u64, u32> = (0..keys).map(|rank| (rank * 3, rank as u32)).collect();
    let entries: Vec<(K, u32)> = map
        .iter()
        .map(|(&key, &id)| (K::from_u64(key), id))
        .collect();
    let bytes = sizes.page;
    let mut tree =
        PagedTree::bulkload(format, bytes, entries.into_iter(), fill, steps.len() as u64);
    if frames > 0 {
        tree.pool.freeze();
        tree.pool = tree.pool.limited(frames);
    }
    behaves(&mut tree, map, steps);
}

/// The same on a cache-first tree.
fn check_cache_first<K: Key>(
    geometry: CacheFirst,
    sizes: &PageSizes,
    (keys, fill, frames): (u64, f64, u32),
    steps: &[Step],
) {
    let map: BTreeMap<u64, u32> = (0..keys).map(|rank| (rank * 3, rank as u32)).collect();
    let entries: Vec<(K, u32)> = map
        .iter()
        .map(|(&key, &id)| (K::from_u64(key), id))
        .collect();
    let mut tree = CacheFirstTree::bulkload(
        sizes,
        geometry,
        entries.into_iter(),
        fill,
        steps.len() as u64,
    );
    if frames > 0 {
        tree.pool.freeze();
        tree.pool = tree.pool.limited(frames);
    }
    behaves(&mut tree, map, steps);
}

/// For keys of every size.
macro_rules! for_every_key {
    ($key_bytes:expr, $check:ident($($argument:expr),*)) => {
        match $key_bytes {
            4 => $check::<u32, _>($($argument),*),
            8 => $check::<u64, _>($($argument),*),
            _ => $check::<Long, _>($($argument),*),
        }
    };
}

/// Full pages split at once.
fn fill() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.1..=1.0_f64]
}

/// Small pages, which split often, and those of the thesis.
fn page_bytes() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(512_u32),
        Just(1024),
        Just(4096),
        Just(8192),
        Just(16384),
        Just(32768)
    ]
}

proptest! {
    #[test]
    fn slotted_pages_are_a_map(
        page in page_bytes(), key in prop::sample::select(vec![4_u32, 8, 20]), keys in 0..3000_u64,
        fill in fill(), frames in prop::sample::select(vec![0_u32, 16]), steps in steps(9000),
    ) {
        let sizes = PageSizes { page, key, line: 64 };
        let format = SlottedPage::new(&sizes);
        for_every_key!(key, check(format, &sizes, (keys, fill, frames), &steps));
    }

    #[test]
    fn pages_of_arrays_are_a_map(
        page in page_bytes(), key in prop::sample::select(vec![4_u32, 8, 20]), keys in 0..3000_u64,
        fill in fill(), frames in prop::sample::select(vec![0_u32, 16]), steps in steps(9000),
    ) {
        let sizes = PageSizes { page, key, line: 64 };
        let format = ArrayPage::new(&sizes);
        for_every_key!(key, check(format, &sizes, (keys, fill, frames), &steps));
    }

    #[test]
    fn pages_with_a_micro_index_are_a_map(
        page in page_bytes(), key in prop::sample::select(vec![4_u32, 8, 20]), keys in 0..3000_u64, lines in 1..6_u32,
        fill in fill(), frames in prop::sample::select(vec![0_u32, 16]), steps in steps(9000),
    ) {
        let sizes = PageSizes { page, key, line: 64 };
        let Some(micro) = MicroIndexPage::new(&sizes, lines) else {
            return Ok(());
        };
        prop_assume!(micro.fanout >= 8);
        let format = ArrayPage::with_micro_index(&sizes, micro);
        for_every_key!(key, check(format, &sizes, (keys, fill, frames), &steps));
    }

    #[test]
    fn disk_first_pages_are_a_map(
        page in page_bytes(), key in prop::sample::select(vec![4_u32, 8, 20]), keys in 0..3000_u64, (nonleaf, leaf) in (1..4_u32, 1..8_u32),
        fill in fill(), frames in prop::sample::select(vec![0_u32, 16]), steps in steps(9000),
    ) {
        let sizes = PageSizes { page, key, line: 64 };
        let Some(tree) = InPageTree::new(&sizes, nonleaf, leaf) else {
            return Ok(());
        };
        prop_assume!(tree.fanout() >= 8);
        let format = DiskFirstPage::new(&sizes, tree);
        for_every_key!(key, check(format, &sizes, (keys, fill, frames), &steps));
    }

    #[test]
    fn cache_first_trees_are_a_map(
        page in page_bytes(), key in prop::sample::select(vec![4_u32, 8, 20]), keys in 0..3000_u64, lines in 1..8_u32,
        fill in fill(), frames in prop::sample::select(vec![0_u32, 16]), steps in steps(9000),
    ) {
        let sizes = PageSizes { page, key, line: 64 };
        let Some(geometry) = CacheFirst::new(&sizes, lines) else {
            return Ok(());
        };
        prop_assume!(geometry.nodes <= 352);
        match key {
            4 => check_cache_first::<u32>(geometry, &sizes, (keys, fill, frames), &steps),
            8 => check_cache_first::<u64>(geometry, &sizes, (keys, fill, frames), &steps),
            _ => check_cache_first::<Long>(geometry, &sizes, (keys, fill, frames), &steps),
        }
    }
}

/// A tree of pages or of nodes, to be scanned.
trait Scanned {
    fn insert(&mut self, key: u32, id: u32);
    fn pool(&mut self) -> &mut Pool;
    /// The leaf page that has or would have a key.
    fn leaf_of(&mut self, key: u32) -> u32;
    fn scan(
        &mut self,
        trace: &mut Tracer<'_>,
        range: ScanRange<u32>,
        buffer: ReturnBuffer<'_, u32>,
        pages: u32,
    );
}

macro_rules! scanned {
    ($tree:ty $(, $format:ident)?) => {
        impl$(<$format: Format<u32>>)? Scanned for $tree {
            fn insert(&mut self, key: u32, id: u32) {
                Self::insert(self, &mut Untraced, key, id);
            }

            fn pool(&mut self) -> &mut Pool {
                &mut self.pool
            }

            fn leaf_of(&mut self, key: u32) -> u32 {
                Self::leaf_of(self, key)
            }

            fn scan(
                &mut self,
                trace: &mut Tracer<'_>,
                range: ScanRange<u32>,
                buffer: ReturnBuffer<'_, u32>,
                pages: u32,
            ) {
                Self::scan(self, trace, range, buffer, Ahead { nodes: None, pages });
            }
        }
    };
}
scanned!(PagedTree<u32, F>, F);
scanned!(CacheFirstTree<u32>);

/// Keys that a tree has, and insertions for which it has room.
const RANGE: (u32, u32) = (50, 17_900);
const INSERTIONS: u64 = 3000;

/// Every third key.
fn third_keys() -> impl ExactSizeIterator<Item = (u32, u32)> {
    (0..6000_u32).map(|rank| (3 * rank, rank))
}

fn tree_of_pages<F: Format<u32> + 'static>(format: F, sizes: &PageSizes) -> Box<dyn Scanned> {
    Box::new(PagedTree::bulkload(
        format,
        sizes.page,
        third_keys(),
        1.0,
        INSERTIONS,
    ))
}

/// Pages that a scan of keys `RANGE` reads and asks for ahead, in this order, in a tree that has grown; and its leaf pages in key order.
fn scanned(mut tree: Box<dyn Scanned>, pages: u32) -> (Vec<Event>, Vec<u32>) {
    for key in 0..INSERTIONS as u32 {
        tree.insert(key * 2477 % 18000 / 3 * 3 + 1, key);
    }
    let (start, end) = RANGE;
    let mut leaves: Vec<u32> = (start..=end).map(|key| tree.leaf_of(key)).collect();
    leaves.dedup();
    tree.pool().freeze();
    *tree.pool() = tree.pool().limited(1000);
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    let range = ScanRange {
        start,
        end,
        tuples: 10_000,
    };
    let buffer = ReturnBuffer {
        address: 1 << 40,
        room: &mut [0; 16],
        take: &mut |_| (),
    };
    tree.scan(&mut tracer, range, buffer, pages);
    tracer.finish().unwrap();
    events.retain(|event| matches!(event.kind, Kind::PageRead | Kind::PagePrefetch));
    (events, leaves)
}

#[test]
fn leaf_pages_are_asked_for_ahead_once_and_not_beyond_the_range() {
    let sizes = PageSizes {
        page: 512,
        key: 4,
        line: 64,
    };
    let tree = InPageTree::new(&sizes, 1, 1).unwrap();
    let nodes = CacheFirst::new(&sizes, 1).unwrap();
    for pages in [0, 1, 5, 100] {
        let runs: [Box<dyn Scanned>; 4] = [
            tree_of_pages(SlottedPage::new(&sizes), &sizes),
            tree_of_pages(ArrayPage::new(&sizes), &sizes),
            tree_of_pages(DiskFirstPage::new(&sizes, tree), &sizes),
            Box::new(CacheFirstTree::bulkload(
                &sizes,
                nodes,
                third_keys(),
                1.0,
                INSERTIONS,
            )),
        ];
        for tree in runs {
            let (events, leaves) = scanned(tree, pages);
            assert!(leaves.len() > 20);
            // The first and the last were looked for.
            let between = &leaves[1..leaves.len() - 1];
            let of = |wanted: Kind| {
                let pages = events.iter().filter(move |event| event.kind == wanted);
                pages.map(|event| event.address as u32)
            };
            let asked_for: Vec<u32> = of(Kind::PagePrefetch).collect();
            if pages == 0 {
                assert!(asked_for.is_empty());
                continue;
            }
            let (ahead, parents): (Vec<u32>, Vec<u32>) =
                asked_for.iter().partition(|page| between.contains(page));
            assert_eq!(ahead, between);
            // Their parents, too, but for the first and the last.
            let read = |page: u32| of(Kind::PageRead).any(|read| read == page);
            assert!(!parents.is_empty());
            assert!(parents.iter().all(|&parent| read(parent)));
            let read: Vec<u32> = of(Kind::PageRead)
                .filter(|page| between.contains(page))
                .collect();
            assert_eq!(read, between);
            // So many are on their way whenever one is waited for, until there are no more.
            for (number, page) in between.iter().enumerate() {
                let waits = |event: &Event| {
                    event.kind == Kind::PageRead && event.address == u64::from(*page)
                };
                let reached = events.iter().position(waits).unwrap();
                let asked = events[..reached]
                    .iter()
                    .filter(|event| {
                        event.kind == Kind::PagePrefetch
                            && between.contains(&(event.address as u32))
                    })
                    .count();
                assert_eq!(asked, between.len().min(number + pages as usize));
            }
        }
    }
}

/// Chunks are filled and divided, and list the leaf pages all the time, which the check goes through by their nodes.
#[test]
fn the_array_lists_all_leaf_pages_in_order() {
    let sizes = PageSizes {
        page: 512,
        key: 4,
        line: 64,
    };
    let nodes = CacheFirst::new(&sizes, 1).unwrap();
    let mut tree = CacheFirstTree::bulkload(&sizes, nodes, third_keys(), 1.0, INSERTIONS);
    let (bulkloaded, leaf_pages) = (tree.pages[3], tree.pages[0]);
    assert_eq!(
        bulkloaded,
        leaf_pages.div_ceil(nodes.chunk_slots as u64 * 8 / 10)
    );
    for number in 0..INSERTIONS as u32 {
        tree.insert(&mut Untraced, number * 2477 % 18000 / 3 * 3 + 1, number);
        if number % 50 == 0 {
            tree.check(&mut |_, _| ()).unwrap();
        }
    }
    tree.check(&mut |_, _| ()).unwrap();
    let grown = (tree.pages[3], tree.pages[0]);
    assert!(
        grown.0 > bulkloaded && grown.1 > 3 * leaf_pages / 2,
        "{grown:?}"
    );
}

/// A range within a leaf page has no use for the array: it is not even read.
#[test]
fn a_scan_within_a_leaf_page_asks_for_none() {
    let sizes = PageSizes {
        page: 512,
        key: 4,
        line: 64,
    };
    let nodes = CacheFirst::new(&sizes, 1).unwrap();
    let mut tree = CacheFirstTree::bulkload(&sizes, nodes, third_keys(), 1.0, 0);
    tree.pool.freeze();
    tree.pool = tree.pool.limited(100);
    let read = |(start, end), pages| {
        let range = ScanRange {
            start,
            end,
            tuples: 100,
        };
        let buffer = ReturnBuffer {
            address: 1 << 40,
            room: &mut [0; 16],
            take: &mut |_| (),
        };
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        let mut tree = tree.clone();
        tree.scan(&mut tracer, range, buffer, Ahead { nodes: None, pages });
        tracer.finish().unwrap();
        let reads = events.iter().filter(|event| event.kind == Kind::PageRead);
        let asked = events
            .iter()
            .filter(|event| event.kind == Kind::PagePrefetch);
        (reads.count(), asked.count())
    };
    // 7 nodes of 7 entries: keys 0 to 144.
    assert_eq!(read((3, 140), 5), read((3, 140), 0));
    // The chunk, and nothing ahead: the last page was looked for.
    let (plain, ahead) = (read((3, 150), 0), read((3, 150), 5));
    assert_eq!(ahead, (plain.0 + 1, 0));
    assert_eq!(read((3, 300), 5).1, 1);
}

#[test]
fn entries_of_slotted_pages_are_got_by_calls() {
    let sizes = PageSizes {
        page: 2048,
        key: 4,
        line: 64,
    };
    let searched = |entry_call| {
        let entries = (0..1000_u32).map(|rank| (3 * rank, rank));
        let mut tree = PagedTree::bulkload(SlottedPage::new(&sizes), sizes.page, entries, 1.0, 0);
        tree.pool.set_program(Program {
            entry_call,
            ..Program::default()
        });
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        tree.search(&mut tracer, 600);
        tracer.finish().unwrap();
        let of_slots = |event: &&Event| event.site == u16::from(Site::Slot);
        let slots = events.iter().filter(of_slots).count() as u64;
        let instructions = |event: &Event| u64::from(event.instructions);
        (slots, events.iter().map(instructions).sum::<u64>())
    };
    let (slots, in_line) = searched(0);
    assert!(slots > 9, "{slots} slots");
    assert_eq!(searched(30), (slots, in_line + 30 * slots));
}
