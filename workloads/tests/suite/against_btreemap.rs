//! Every tree gives the answers of `BTreeMap` and keeps its invariants, whatever is done to it.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;
use workloads::tracer::{Tracer, Untraced};
use workloads::tree::layout::{JumpPointers, Kind, Shape};
use workloads::tree::plan::Fill;
use workloads::tree::{Prefetching, ReturnBuffer, ScanRange, Tree};
use workloads::word::Word;

#[derive(Clone, Copy, Debug)]
enum Step {
    Search(u16),
    Insert(u16),
    Delete(u16),
    Scan(u16, u16, u8),
    /// Deletes a whole range, key by key: the way to empty nodes.
    Clear(u16, u8),
}

/// Keys are multiples of 5 so that bulkloaded and random keys meet often, but not always.
fn step() -> impl Strategy<Value = Step> {
    let key = 0..3000_u16;
    prop_oneof![
        2 => key.clone().prop_map(Step::Search),
        4 => key.clone().prop_map(Step::Insert),
        2 => key.clone().prop_map(Step::Delete),
        1 => (key.clone(), 0..600_u16, 1..100_u8).prop_map(|(start, width, most)| Step::Scan(start, width, most)),
        1 => (key, 1..120_u8).prop_map(|(start, width)| Step::Clear(start, width)),
    ]
}

fn jump_pointers() -> impl Strategy<Value = JumpPointers> {
    prop_oneof![
        Just(JumpPointers::None),
        (1..=6_u32).prop_map(|chunk_lines| JumpPointers::External { chunk_lines }),
        Just(JumpPointers::Internal),
    ]
}

fn fill() -> impl Strategy<Value = Fill> {
    (0.3..=1.0_f64, 0.3..=1.0_f64).prop_map(|(nodes, chunks)| Fill { nodes, chunks })
}

fn shape(kind: Kind, word_bytes: u32, node_lines: u32, jump_pointers: JumpPointers) -> Shape {
    Shape {
        kind,
        word_bytes,
        line_bytes: 64,
        node_lines,
        jump_pointers,
    }
}

fn word<W: Word>(key: u16) -> W {
    W::from_u64(u64::from(key))
}

fn scan<W: Word>(tree: &mut Tree<W>, start: u16, end: u16, most: usize) -> Vec<W> {
    let mut tuples = Vec::new();
    let range = ScanRange {
        start: word(start),
        end: word(end),
        tuples: most,
    };
    tree.scan(
        &mut Untraced,
        range,
        ReturnBuffer {
            address: 1 << 30,
            // Small, so that most scans fill it many times.
            room: &mut [word(0); 16],
            take: &mut |taken| tuples.extend_from_slice(taken),
        },
    );
    tuples
}

/// Runs the steps on a tree and on a map. Trees with a distance of 0 do not prefetch.
fn compare<W: Word + Debug>(
    shape: Shape,
    fill: Fill,
    loaded: u16,
    distance_nodes: u32,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut map: BTreeMap<u16, u64> = (0..loaded)
        .map(|rank| (rank * 5, u64::from(rank)))
        .collect();
    let pairs: Vec<(W, W)> = map
        .iter()
        .map(|(&key, &tuple)| (word(key), W::from_u64(tuple)))
        .collect();
    let mut tree = Tree::bulkload(shape, pairs.into_iter(), fill, steps.len() as u64);
    tree.set_prefetching(Prefetching {
        nodes: distance_nodes > 0,
        distance_nodes,
        instructions: 0,
    });
    prop_assert_eq!(tree.check(), Ok(()));
    for (number, &step) in (10_000_u64..).zip(steps) {
        match step {
            Step::Search(key) => {
                let found = tree.search(&mut Untraced, word(key)).map(W::to_u64);
                prop_assert_eq!(found, map.get(&key).copied());
            }
            Step::Insert(key) => {
                let old = tree
                    .insert(&mut Untraced, word(key), W::from_u64(number))
                    .map(W::to_u64);
                prop_assert_eq!(old, map.insert(key, number));
            }
            Step::Delete(key) => {
                let old = tree.delete(&mut Untraced, word(key)).map(W::to_u64);
                prop_assert_eq!(old, map.remove(&key));
            }
            Step::Clear(start, width) => {
                for key in start..start + u16::from(width) {
                    let old = tree.delete(&mut Untraced, word(key)).map(W::to_u64);
                    prop_assert_eq!(old, map.remove(&key));
                }
            }
            Step::Scan(start, width, most) => {
                let most = usize::from(most);
                let tuples: Vec<u64> = scan(&mut tree, start, start + width, most)
                    .into_iter()
                    .map(W::to_u64)
                    .collect();
                let expected: Vec<u64> = map
                    .range(start..=start + width)
                    .map(|(_, &tuple)| tuple)
                    .take(most)
                    .collect();
                prop_assert_eq!(tuples, expected);
            }
        }
        prop_assert_eq!(tree.check(), Ok(()), "after {:?}", step);
    }
    let all: Vec<u64> = scan(&mut tree, 0, u16::MAX, map.len() + 1)
        .into_iter()
        .map(W::to_u64)
        .collect();
    prop_assert_eq!(all, map.into_values().collect::<Vec<_>>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn b_plus_trees_are_maps(
        node_lines in 1..=9_u32, jump_pointers in jump_pointers(), fill in fill(), loaded in 0..600_u16,
        distance in 1..=5_u32, steps in proptest::collection::vec(step(), 1..200),
    ) {
        compare::<u32>(shape(Kind::BPlus, 4, node_lines, jump_pointers), fill, loaded, distance, &steps)?;
    }

    /// Nodes of four children, the smallest there are: deep trees, splits and merges all the time.
    #[test]
    fn deep_trees_are_maps(
        jump_pointers in jump_pointers(), fill in fill(), loaded in 0..600_u16,
        distance in 1..=5_u32, steps in proptest::collection::vec(step(), 1..300),
    ) {
        compare::<u64>(shape(Kind::BPlus, 8, 1, jump_pointers), fill, loaded, distance, &steps)?;
    }

    #[test]
    fn csb_plus_trees_are_maps(
        node_lines in 1..=9_u32, fill in fill(), loaded in 0..600_u16, distance in 0..=1_u32,
        steps in proptest::collection::vec(step(), 1..200),
    ) {
        compare::<u32>(shape(Kind::CsbPlus, 4, node_lines, JumpPointers::None), fill, loaded, distance, &steps)?;
        compare::<u64>(shape(Kind::CsbPlus, 8, node_lines, JumpPointers::None), fill, loaded, distance, &steps)?;
    }

    /// Groups of seven nodes at most, the smallest there are.
    #[test]
    fn deep_csb_plus_trees_are_maps(
        fill in fill(), loaded in 0..1500_u16, steps in proptest::collection::vec(step(), 1..400),
    ) {
        compare::<u64>(shape(Kind::CsbPlus, 8, 1, JumpPointers::None), fill, loaded, 1, &steps)?;
    }

    #[test]
    fn csb_plus_trees_search_and_scan(
        node_lines in 1..=9_u32, fill in fill(), loaded in 0..3000_u16, keys in proptest::collection::vec(0..15_100_u16, 1..50),
    ) {
        let steps: Vec<Step> = keys.into_iter().flat_map(|key| [Step::Search(key), Step::Scan(key, 500, 70)]).collect();
        compare::<u32>(shape(Kind::CsbPlus, 4, node_lines, JumpPointers::None), fill, loaded, 1, &steps)?;
    }
}

/// A tree that grows from nothing and shrinks to nothing.
#[test]
fn trees_come_and_go() {
    for (kind, jump_pointers) in [
        (Kind::BPlus, JumpPointers::None),
        (Kind::BPlus, JumpPointers::External { chunk_lines: 1 }),
        (Kind::BPlus, JumpPointers::Internal),
        (Kind::CsbPlus, JumpPointers::None),
    ] {
        let shape = shape(kind, 4, 1, jump_pointers);
        let mut tree = Tree::<u32>::bulkload(shape, std::iter::empty(), Fill::FULL, 20_000);
        // 7919 is prime to 20,000: every key comes once, in a scattered order.
        for number in 0..20_000_u32 {
            assert_eq!(
                tree.insert(&mut Untraced, number * 7919 % 20_000, number),
                None
            );
        }
        tree.check().unwrap();
        let levels = if kind == Kind::BPlus { 5 } else { 4 };
        assert!(tree.levels() >= levels);
        assert!(tree.node_splits() > 2_800);
        for number in 0..20_000_u32 {
            assert_eq!(
                tree.delete(&mut Untraced, number * 7919 % 20_000),
                Some(number)
            );
        }
        tree.check().unwrap();
        assert_eq!(
            (tree.levels(), tree.leaf_nodes(), tree.inner_nodes()),
            (1, 1, 0)
        );
    }
}

/// All groups of a CSB+-tree grow and are divided at the same time, or one after the other, which is when free blocks help least:
/// the memory reserved for just so many insertions suffices.
#[test]
fn groups_that_grow_together_fit() {
    const LOADED: u32 = 2_000;
    const BETWEEN: u32 = 12;
    for node_lines in [1, 2, 8] {
        for nodes in [0.5, 0.8, 1.0] {
            let shape = shape(Kind::CsbPlus, 4, node_lines, JumpPointers::None);
            let fill = Fill { nodes, chunks: 1.0 };
            let pairs = (0..LOADED)
                .map(|rank| (rank * 16, rank))
                .collect::<Vec<_>>();
            let room = u64::from(LOADED * BETWEEN);
            let tree = Tree::bulkload(shape, pairs.into_iter(), fill, room);
            let spread = |number: u32| number % LOADED * 16 + 1 + number / LOADED;
            let ascending = |number: u32| number / BETWEEN * 16 + 1 + number % BETWEEN;
            let orders: [&dyn Fn(u32) -> u32; 4] = [
                &spread,
                &ascending,
                &|number| ascending(LOADED * BETWEEN - 1 - number),
                &|number| LOADED * 16 + number,
            ];
            for order in orders {
                let mut tree = tree.clone();
                for number in 0..LOADED * BETWEEN {
                    assert_eq!(tree.insert(&mut Untraced, order(number), number), None);
                    // Every third goes again, and comes back later or not.
                    if number % 3 == 0 {
                        assert_eq!(tree.delete(&mut Untraced, order(number)), Some(number));
                    }
                }
                tree.check().unwrap();
            }
        }
    }
}

/// The traced run does what the untraced one does.
#[test]
fn tracing_changes_nothing() {
    tracing_changes_nothing_of(Kind::BPlus, JumpPointers::External { chunk_lines: 1 });
    tracing_changes_nothing_of(Kind::CsbPlus, JumpPointers::None);
}

fn tracing_changes_nothing_of(kind: Kind, jump_pointers: JumpPointers) {
    let shape = shape(kind, 4, 2, jump_pointers);
    let pairs = (0..5_000_u32)
        .map(|rank| (rank * 8, rank))
        .collect::<Vec<_>>();
    let mut plain = Tree::bulkload(shape, pairs.into_iter(), Fill::FULL, 5_000);
    plain.set_prefetching(Prefetching {
        nodes: true,
        distance_nodes: 3,
        instructions: 0,
    });
    let mut traced = plain.clone();
    let mut events: Vec<traces::Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    for number in 0..5_000_u32 {
        let key = number * 7919 % 40_000;
        assert_eq!(
            plain.insert(&mut Untraced, key, number),
            traced.insert(&mut tracer, key, number)
        );
    }
    for key in (0..40_000).step_by(3) {
        assert_eq!(
            plain.delete(&mut Untraced, key),
            traced.delete(&mut tracer, key)
        );
    }
    tracer.finish().unwrap();
    traced.check().unwrap();
    assert!(!events.is_empty());
    assert_eq!(
        scan(&mut plain, 0, u16::MAX, 10_000),
        scan(&mut traced, 0, u16::MAX, 10_000)
    );
    assert_eq!(
        (plain.node_splits(), plain.chunk_splits()),
        (traced.node_splits(), traced.chunk_splits())
    );
}
