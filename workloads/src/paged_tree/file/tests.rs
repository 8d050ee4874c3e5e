use super::format::{ENTRY_BYTES, HEADER_BYTES, HISTORY_AT, Header, VERSION_AT, seal};
use super::read::Opened;
use super::*;
use crate::paged_tree::geometry::PageSizes;
use crate::paged_tree::structure::{Build, Lines, Structure};
use crate::paged_tree::{Ahead, Index, Key, Long};
use crate::tracer::{Trace, Tracer, Untraced};
use crate::tree::{ReturnBuffer, ScanRange};
use crate::word::Word;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use traces::Event;

#[derive(Clone, Debug)]
enum Step {
    Search(u64),
    Insert(u64, u32),
    Delete(u64),
    Scan(u64, usize),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..9000_u64;
    let step = prop_oneof![
        2 => key().prop_map(Step::Search),
        7 => (key(), any::<u32>()).prop_map(|(key, id)| Step::Insert(key, id)),
        2 => key().prop_map(Step::Delete),
        1 => (key(), 1..200_usize).prop_map(|(key, tuples)| Step::Scan(key, tuples)),
    ];
    prop::collection::vec(step, 0..most)
}

/// Any index that pages have room for, with small pages as a rule, which split often.
fn builds() -> impl Strategy<Value = Build> {
    let structure = prop::sample::select(Structure::ALL.to_vec());
    let page = prop::sample::select(vec![2048_u32, 2048, 2048, 4096, 16384]);
    let key = prop::sample::select(vec![4_u32, 8, 20]);
    let lines = (1..4_u32, 1..6_u32, 1..8_u32, 1..6_u32);
    let build = (structure, page, key, lines).prop_map(|(structure, page, key, lines)| {
        let (nonleaf, leaf, node, subarray) = lines;
        Build {
            structure,
            sizes: PageSizes {
                page,
                key,
                line: 64,
            },
            lines: Lines {
                nonleaf,
                leaf,
                node,
                subarray,
            },
        }
    });
    build.prop_filter("pages have no room", |build| build.shape().is_ok())
}

/// For keys of every size.
macro_rules! for_its_keys {
    ($build:expr, $does:ident($($argument:expr),*)) => {
        match $build.sizes.key {
            4 => $does::<u32>($($argument),*),
            8 => $does::<u64>($($argument),*),
            _ => $does::<Long>($($argument),*),
        }
    };
}

/// An index of every third key, and what it has.
fn bulkload<K: Key>(
    build: &Build,
    (keys, fill, room): (u64, f64, u64),
) -> (Index<K>, BTreeMap<u64, u32>) {
    let map: BTreeMap<u64, u32> = (0..keys).map(|rank| (rank * 3, rank as u32)).collect();
    let entries: Vec<(K, u32)> = map
        .iter()
        .map(|(&key, &id)| (K::from_u64(key), id))
        .collect();
    let shape = build.shape().unwrap();
    let index = Index::bulkload(shape, &build.sizes, entries.into_iter(), fill, room);
    (index, map)
}

/// Does steps, and holds each to what a `BTreeMap` does.
fn run<K: Key, T: Trace>(
    index: &mut Index<K>,
    map: &mut BTreeMap<u64, u32>,
    steps: &[Step],
    trace: &mut T,
) {
    for step in steps {
        match *step {
            Step::Search(key) => {
                assert_eq!(
                    index.search(trace, K::from_u64(key)),
                    map.get(&key).copied()
                );
            }
            Step::Insert(key, id) => {
                assert_eq!(
                    index.insert(trace, K::from_u64(key), id),
                    map.insert(key, id)
                );
            }
            Step::Delete(key) => {
                assert_eq!(index.delete(trace, K::from_u64(key)), map.remove(&key));
            }
            Step::Scan(start, tuples) => {
                let wanted: Vec<(&u64, &u32)> = map.range(start..).take(tuples).collect();
                let end = wanted.last().map_or(start, |last| *last.0);
                let range = ScanRange {
                    start: K::from_u64(start),
                    end: K::from_u64(end),
                    tuples,
                };
                let mut taken = Vec::new();
                let buffer = ReturnBuffer {
                    address: 1 << 40,
                    room: &mut [0; 16],
                    take: &mut |part| taken.extend_from_slice(part),
                };
                let ahead = Ahead {
                    nodes: Some(2),
                    pages: 3,
                };
                index.scan(trace, range, buffer, ahead);
                assert!(wanted.into_iter().map(|one| *one.1).eq(taken));
            }
        }
    }
}

/// The events of steps, which are held to the map.
fn events<K: Key>(
    index: &mut Index<K>,
    map: &mut BTreeMap<u64, u32>,
    steps: &[Step],
) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    run(index, map, steps, &mut tracer);
    tracer.finish().unwrap();
    events
}

/// An index that is closed and opened goes on as one that never was: same events, same segments, and the same file in the end.
fn goes_on<K: Key>(
    build: &Build,
    (keys, fill, frames): (u64, f64, u32),
    before: &[Step],
    after: &[Step],
) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let room = (before.len() + after.len()) as u64;
    let (mut never_closed, mut map) = bulkload::<K>(build, (keys, fill, room));
    run(&mut never_closed, &mut map, before, &mut Untraced);
    let written = never_closed.save(&path("first"), build).unwrap();
    assert_eq!(written, Header::read(&path("first")).unwrap());
    assert_eq!(written, check(&path("first")).unwrap());
    assert_eq!(written.keys, map.len() as u64);
    let Opened { mut index, header } = open::<K>(&path("first"), 0, None).unwrap();
    assert_eq!(written, header);
    assert_eq!(index.pool().segments(), never_closed.pool().segments());
    // Closed again it is the same file.
    index.save(&path("again"), build).unwrap();
    assert_eq!(
        fs::read(path("first")).unwrap(),
        fs::read(path("again")).unwrap()
    );
    if frames > 0 {
        for index in [&mut index, &mut never_closed] {
            index.pool_mut().freeze();
            *index.pool_mut() = index.pool().limited(frames);
        }
    }
    let mut same_map = map.clone();
    let wanted = events(&mut never_closed, &mut same_map, after);
    assert!(
        events(&mut index, &mut map, after) == wanted,
        "other events"
    );
    let counts = |index: &Index<K>| (index.levels(), index.leaf_pages(), index.page_splits());
    assert_eq!(counts(&index), counts(&never_closed));
    index.save(&path("opened"), build).unwrap();
    never_closed.save(&path("never closed"), build).unwrap();
    assert!(fs::read(path("opened")).unwrap() == fs::read(path("never closed")).unwrap());
    let mut entries = Vec::new();
    index
        .check(&mut |key, id| entries.push((key.to_u64(), id)))
        .unwrap();
    assert!(entries.into_iter().eq(map));
}

/// Full pages split at once.
fn fill() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.1..=1.0_f64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_index_goes_on_where_it_was_closed(
        build in builds(), keys in 0..3000_u64, fill in fill(), frames in prop::sample::select(vec![0_u32, 0, 16]),
        before in steps(1500), after in steps(1500),
    ) {
        for_its_keys!(build, goes_on(&build, (keys, fill, frames), &before, &after));
    }
}

proptest! {
    /// However full its pages are, an index that was opened has room for as many insertions as it was opened for.
    #[test]
    fn there_is_room_for_insertions_after_opening(
        build in builds(), keys in 0..3000_u64, fill in fill(), before in steps(600), after in steps(1500), has_history in any::<bool>(),
    ) {
        for_its_keys!(build, has_room(&build, (keys, fill, has_history), &before, &after));
    }

    /// Files with any bytes changed are refused, and if their checksums were made right, refused or an index that works.
    #[test]
    fn damaged_files_are_refused_or_sound(
        build in builds(), keys in 0..2000_u64, before in steps(400), after in steps(400), flips in prop::collection::vec(flip(), 1..4),
    ) {
        for_its_keys!(build, is_refused_or_sound(&build, (keys, &before, &after), &flips));
    }
}

/// A byte that is changed: where, and by which bits.
#[derive(Clone, Debug)]
struct Flip {
    part: Part,
    place: prop::sample::Index,
    bits: u8,
}

/// Where bytes decide most: what a header says, what headers of pages and of their first nodes say.
#[derive(Clone, Copy, Debug)]
enum Part {
    Header,
    PageHeader,
    Anywhere,
}

fn flip() -> impl Strategy<Value = Flip> {
    let part = prop::sample::select(vec![Part::Header, Part::PageHeader, Part::Anywhere]);
    // Small changes of numbers keep them near what can be.
    let bits = prop_oneof![prop::sample::select(vec![1_u8, 2, 3, 4, 7]), 1..=255_u8];
    (part, any::<prop::sample::Index>(), bits).prop_map(|(part, place, bits)| Flip {
        part,
        place,
        bits,
    })
}

impl Flip {
    /// The byte of a file.
    fn at(&self, length: usize, page_bytes: usize) -> usize {
        const SAID: usize = 200;
        match self.part {
            Part::Header => self.place.index(SAID),
            Part::Anywhere => self.place.index(length),
            Part::PageHeader => {
                let pages = (length - HEADER_BYTES) / (page_bytes + ENTRY_BYTES);
                let number = self.place.index(pages * SAID);
                HEADER_BYTES + number / SAID * page_bytes + number % SAID
            }
        }
    }
}

/// Nodes have had their keys before all else since version 2 of disk-first trees and version 3 of cache-first ones, and the others no other
/// version than 1.
#[test]
fn another_version_of_a_structure_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/page-file");
    for (name, version, wanted) in [
        ("cache-first", 2_u32, 3),
        ("disk-first", 1, 2),
        ("array", 2, 1),
    ] {
        let mut bytes = fs::read(seeds.join(name).with_extension("pages")).unwrap();
        version.write(&mut bytes, VERSION_AT);
        seal(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let error = check(&path).unwrap_err();
        assert_eq!(
            error.what,
            format!(
                "is a page file of version {version}, and this memwalk reads version {wanted} of such an index; build it again"
            )
        );
    }
}

/// Files that were written long ago; fuzzing begins with them.
#[test]
fn files_that_were_written_stay_readable() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/page-file");
    let mut seen = Vec::new();
    for file in fs::read_dir(seeds).unwrap() {
        let path = file.unwrap().path();
        let header = check(&path).unwrap();
        seen.push(header.build.structure);
        let mut index = open::<u32>(&path, 0, None).unwrap().index;
        for rank in 0..header.keys {
            let key = crate::operations::key(rank) as u32;
            assert_eq!(
                index.search(&mut Untraced, key),
                Some(rank as u32),
                "{path:?}"
            );
        }
    }
    assert!(
        Structure::ALL
            .iter()
            .all(|structure| seen.contains(structure))
    );
}

fn has_room<K: Key>(
    build: &Build,
    (keys, fill, has_history): (u64, f64, bool),
    before: &[Step],
    after: &[Step],
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (mut index, mut map) = bulkload::<K>(build, (keys, fill, before.len() as u64));
    run(&mut index, &mut map, before, &mut Untraced);
    index.save(&path, build).unwrap();
    if !has_history {
        // As if it had been bulkloaded empty and full: nothing is reserved for the pages that there are.
        let mut bytes = fs::read(&path).unwrap();
        for (number, word) in [0, 1_f64.to_bits(), 0, 0].into_iter().enumerate() {
            word.write(&mut bytes, HISTORY_AT + 8 * number);
        }
        seal(&mut bytes);
        fs::write(&path, bytes).unwrap();
    }
    let mut opened = open::<K>(&path, after.len() as u64, None).unwrap().index;
    run(&mut opened, &mut map, after, &mut Untraced);
}

fn is_refused_or_sound<K: Key>(
    build: &Build,
    (keys, before, after): (u64, &[Step], &[Step]),
    flips: &[Flip],
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (mut index, mut map) = bulkload::<K>(build, (keys, 1.0, before.len() as u64));
    run(&mut index, &mut map, before, &mut Untraced);
    index.save(&path, build).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let page_bytes = build.sizes.page as usize;
    let places = flips
        .iter()
        .map(|flip| (flip.at(bytes.len(), page_bytes), flip.bits));
    let mut changed: Vec<(usize, u8)> = places.collect();
    changed.sort_unstable();
    changed.dedup_by_key(|flip| flip.0);
    for (place, flip) in changed {
        bytes[place] ^= flip;
    }
    fs::write(&path, &bytes).unwrap();
    let error = check(&path).unwrap_err();
    assert!(error.to_string().starts_with(path.to_str().unwrap()));
    assert_eq!(open::<K>(&path, 0, None).unwrap_err(), error);
    seal(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    works_if_opened(&path, after);
}

/// Opens a file that may be anything, and does steps on what it holds.
fn works_if_opened(path: &Path, steps: &[Step]) {
    let Ok(header) = check(path) else {
        return;
    };
    for_its_keys!(header.build, works(path, steps));
}

fn works<K: Key>(path: &Path, steps: &[Step]) {
    // The index may have been refused only for what it reserves.
    let Ok(Opened { mut index, .. }) = open::<K>(path, steps.len() as u64, None) else {
        return;
    };
    let mut map = BTreeMap::new();
    index
        .check(&mut |key, id| {
            map.insert(key.to_u64(), id);
        })
        .unwrap();
    run(&mut index, &mut map, steps, &mut Untraced);
    let mut entries = Vec::new();
    index
        .check(&mut |key, id| entries.push((key.to_u64(), id)))
        .unwrap();
    assert!(entries.into_iter().eq(map));
}
