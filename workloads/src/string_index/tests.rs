use super::Site;
use super::format::Format;
use super::in_page::{InPageTree, Sizes};
use super::slotted::SlottedPage;
use super::text::Text;
use super::tree::StringTree;
use crate::pool::{Program, UpwardMoves};
use crate::tracer::{Tracer, Untraced};
use crate::tree::{ReturnBuffer, ScanRange};
use proptest::prelude::*;
use std::collections::BTreeMap;
use traces::Event;

/// Bytes of the longest key of these tests.
const LONGEST: u32 = 24;
/// Bytes of keys in slots.
const PREFIXES: [u32; 5] = [0, 2, 4, 8, 16];

#[derive(Clone, Debug)]
enum Step {
    Search(Vec<u8>),
    Insert(Vec<u8>, u32),
    Delete(Vec<u8>),
    Scan(Vec<u8>, usize),
}

/// Keys of few symbols, 0 and the empty key among them, so that many are prefixes of others and come again; and any others.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let few = prop::sample::select(vec![0_u8, 1, b'a', 255]);
    prop_oneof![
        prop::collection::vec(few.clone(), 0..7),
        (prop::collection::vec(few, 0..3), 0..3000_u16).prop_map(|(mut key, number)| {
            key.extend_from_slice(&number.to_be_bytes());
            key.resize(key.len() + usize::from(number) % 19, 7);
            key
        }),
        prop::collection::vec(any::<u8>(), 0..=LONGEST as usize),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => key().prop_map(Step::Search),
        6 => (key(), any::<u32>()).prop_map(|(key, id)| Step::Insert(key, id)),
        3 => key().prop_map(Step::Delete),
        1 => (key(), 1..200_usize).prop_map(|(key, tuples)| Step::Scan(key, tuples)),
    ];
    prop::collection::vec(step, 0..1500)
}

/// Entries of the bulkload.
fn built() -> impl Strategy<Value = BTreeMap<Vec<u8>, u32>> {
    prop::collection::btree_map(key(), any::<u32>(), 0..1500)
}

/// Runs steps on a tree and on a `BTreeMap`: they do the same.
fn check<F: Format>(
    format: F,
    page_bytes: u32,
    (mut map, fill, frames): (BTreeMap<Vec<u8>, u32>, f64, u32),
    steps: &[Step],
) {
    let entries: Vec<(Vec<u8>, u32)> = map.clone().into_iter().collect();
    let text = |number: usize| Text::of(&entries[number].0);
    let id = |number: usize| entries[number].1;
    let wanted = (entries.len(), text, id);
    let mut tree = StringTree::bulkload(format, page_bytes, wanted, fill, steps.len() as u64);
    tree.pool.set_program(Program {
        upward_moves: UpwardMoves::ThroughBuffer,
        ..Program::default()
    });
    if frames > 0 {
        tree.pool.freeze();
        tree.pool = tree.pool.limited(frames);
    }
    let trace = &mut Untraced;
    assert!(tree.checked_entries().into_iter().eq(map.clone()));
    for step in steps {
        match step {
            Step::Search(key) => assert_eq!(tree.search(trace, key), map.get(key).copied()),
            Step::Insert(key, id) => {
                assert_eq!(tree.insert(trace, key, *id), map.insert(key.clone(), *id));
            }
            Step::Delete(key) => assert_eq!(tree.delete(trace, key), map.remove(key)),
            Step::Scan(start, tuples) => {
                let wanted: Vec<(&Vec<u8>, &u32)> =
                    map.range(start.clone()..).take(*tuples).collect();
                let range = ScanRange {
                    start: Text::of(start),
                    end: Text::of(wanted.last().map_or(start, |last| last.0)),
                    tuples: *tuples,
                };
                let mut taken = Vec::new();
                let buffer = ReturnBuffer {
                    address: 1 << 40,
                    room: &mut [0; 16],
                    take: &mut |part| taken.extend_from_slice(part),
                };
                tree.scan(trace, &range, buffer, 2);
                assert!(wanted.iter().map(|one| one.1).eq(&taken));
            }
        }
    }
    assert!(tree.checked_entries().into_iter().eq(map));
}

/// Full pages split at once.
fn fill() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.1..=1.0_f64]
}

/// Small pages, which split often, and those of the thesis.
fn page_bytes() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![512_u32, 1024, 2048, 4096, 8192, 16384, 32768])
}

fn frames() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0_u32, 16])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn slotted_pages_are_a_map(
        page in page_bytes(), prefix in prop::sample::select(&PREFIXES), built in built(), fill in fill(), frames in frames(), steps in steps(),
    ) {
        let format = SlottedPage::new(page, 64, prefix, LONGEST);
        check(format, page, (built, fill, frames), &steps);
    }

    #[test]
    fn trees_in_pages_are_a_map(
        page in page_bytes(), lines in 1..9_u32, built in built(), fill in fill(), frames in frames(), steps in steps(),
    ) {
        let Some(format) = in_page_tree(page, lines) else {
            return Ok(());
        };
        check(format, page, (built, fill, frames), &steps);
    }
}

/// Pages with trees whose nodes have so many lines, if there can be.
fn in_page_tree(page_bytes: u32, node_lines: u32) -> Option<InPageTree> {
    InPageTree::new(&Sizes {
        page_bytes,
        line_bytes: 64,
        node_lines,
        longest_key: LONGEST,
    })
}

/// The proptest above has trees to try in small pages and large ones, of small nodes and large ones.
#[test]
fn there_are_trees_in_pages_of_most_sizes() {
    for (page_bytes, node_lines) in [(2048, 4), (4096, 4), (4096, 8), (16384, 5), (32768, 8)] {
        assert!(
            in_page_tree(page_bytes, node_lines).is_some(),
            "{page_bytes} {node_lines}"
        );
    }
}

/// Insertions of many keys compact pages, reorganize and split them, and split the root page: the property tests come to that, too.
#[test]
fn insertions_compact_reorganize_and_split_pages() {
    fn sites<F: Format>(format: F) -> Vec<u16> {
        let keys = |number: usize| Text::of(&(number as u32 * 7919 % 40_000).to_be_bytes());
        let mut built: Vec<Text> = (0..4000).map(keys).collect();
        built.sort_by_key(|text| text.to_vec());
        let entries = (built.len(), |number: usize| built[number], |_| 0);
        let mut tree = StringTree::bulkload(format, 4096, entries, 0.7, 9000);
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        for number in 4000..13_000 {
            tree.insert(&mut tracer, &keys(number), 1);
        }
        tracer.finish().unwrap();
        assert_eq!(tree.checked_entries().len(), 13_000);
        assert!(tree.splits > 20);
        events.iter().map(|event| event.site).collect()
    }
    let slotted = sites(SlottedPage::new(4096, 64, 4, LONGEST));
    let nodes = sites(in_page_tree(4096, 8).unwrap());
    let comes = |sites: &[u16], site: Site| sites.contains(&site.into());
    for sites in [&slotted, &nodes] {
        assert!(comes(sites, Site::EntryLoop));
        assert!(comes(sites, Site::RootSplit));
    }
    assert!(comes(&slotted, Site::PagePrefix));
    assert!(!comes(&slotted, Site::NodeHeader));
    assert!(comes(&nodes, Site::BufferStore));
    assert!(comes(&nodes, Site::BufferLoad));
}

/// Keys that have 30 bytes in common, each a prefix of the next, in both orders of insertion.
#[test]
fn keys_that_are_prefixes_of_one_another_keep_their_order() {
    let mut keys: Vec<Vec<u8>> = (0..=LONGEST as usize)
        .map(|length| vec![0; length])
        .collect();
    keys.extend((0..LONGEST as usize).map(|length| {
        let mut key = vec![0; length];
        key.push(1);
        key
    }));
    let each = keys.into_iter().zip(0..);
    let up: Vec<Step> = each.map(|(key, id)| Step::Insert(key, id)).collect();
    let down: Vec<Step> = up.iter().rev().cloned().collect();
    for order in [up, down] {
        for prefix in PREFIXES {
            let format = SlottedPage::new(512, 64, prefix, LONGEST);
            check(format, 512, (BTreeMap::new(), 1.0, 0), &order);
        }
        let format = in_page_tree(4096, 4).unwrap();
        check(format, 4096, (BTreeMap::new(), 1.0, 0), &order);
    }
}
