//! Filters against sets, and each layout against the other.

use super::filters::Filters;
use super::hashes::bits_of;
use super::many::Many;
use super::merge::Merge;
use super::sites::Site;
use super::size::bits_for;
use super::{Conversion, Row, positions};
use crate::board::Board;
use crate::random::Random;
use crate::tracer::{Dep, Tracer, Untraced};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use traces::{Event, Kind};

const BASE: u64 = 1 << 20;
const LINE: u32 = 64;

/// Filters of one thread, each with its keys.
fn filled(keys: &[Vec<u32>], bits: u32) -> Filters {
    let mut filters = Filters::new(BASE, bits, keys.len() as u32);
    for (number, keys) in (0..).zip(keys) {
        filters.clear(&mut Untraced, number);
        for &key in keys {
            let at = positions(&mut Untraced, key, bits, Dep::NONE);
            filters.set(&mut Untraced, number, at);
        }
    }
    filters
}

fn in_all(filters: &Arc<Filters>, count: u32) -> Vec<(Arc<Filters>, u32)> {
    let each = 0..count;
    each.map(|number| (Arc::clone(filters), number)).collect()
}

fn converted(filters: &Arc<Filters>, count: u32, ahead: bool) -> Many {
    let conversion = Conversion {
        filters: in_all(filters, count),
        bits: filters.bits(),
        line_bytes: LINE,
        ahead,
    };
    Many::Vertical(conversion.run(&mut Untraced, 1 << 30))
}

fn test(many: &Many, key: u32, bits: u32) -> Row {
    let at = bits_of(key, bits).map(|bit| (bit, Dep::NONE));
    many.test(&mut Untraced, &at).value
}

/// Keys of a few filters.
fn keys() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(any::<u32>(), 0..40), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Every bit is where it was, the other way round.
    #[test]
    fn vertical_filters_are_horizontal_ones_transposed(keys in keys(), lines in 1..4_u32, ahead: bool) {
        let bits = lines * LINE * 8;
        let count = keys.len() as u32;
        let filters = Arc::new(filled(&keys, bits));
        let Many::Vertical(vertical) = converted(&filters, count, ahead) else {
            unreachable!("they were converted")
        };
        for bit in 0..bits {
            let has = |&filter: &u32| {
                let at = (filter, bit);
                filters.test(&mut Untraced, Site::TestRead, at, Dep::NONE).value
            };
            let ids: Vec<u8> = (0..count).filter(has).map(|filter| filter as u8).collect();
            prop_assert_eq!(vertical.row(bit).ids().collect::<Vec<_>>(), ids);
        }
    }

    /// No key is ever missed, and both layouts say the same.
    #[test]
    fn who_is_in_a_filter_is_found_there(keys in keys(), others: [u32; 20]) {
        let bits = 2 * LINE * 8;
        let count = keys.len() as u32;
        let filters = Arc::new(filled(&keys, bits));
        let (vertical, horizontal) = (converted(&filters, count, true), Many::horizontal(in_all(&filters, count)));
        for key in keys.iter().flatten().chain(&others) {
            let found = test(&vertical, *key, bits);
            prop_assert_eq!(found, test(&horizontal, *key, bits));
            let ids: BTreeSet<u8> = found.ids().collect();
            for (id, keys) in (0_u8..).zip(&keys) {
                prop_assert!(ids.contains(&id) || !keys.contains(key));
            }
        }
    }

    /// The merged filter has the bits of all threads' filters, whoever makes which stripe.
    #[test]
    fn merging_leaves_out_no_bit(keys in keys(), threads in prop::sample::select(vec![1_u32, 2, 7]), lines in 1..20_u32) {
        let bits = lines * LINE * 8;
        let all: Vec<_> = keys.iter().map(|keys| Arc::new(filled(std::slice::from_ref(keys), bits))).collect();
        let together: Vec<u32> = keys.concat();
        let expected = filled(&[together], bits);
        let merge = Merge { base: 1 << 30, bits, threads, line_bytes: LINE, ahead: true };
        let board = Board::of(threads);
        for thread in 0..threads {
            board.leave(thread, Arc::new(merge.run(&mut Untraced, thread, &all)));
        }
        let merged = merge.merged(&board);
        for bit in 0..bits {
            let found = merged.test(&mut Untraced, [(bit, Dep::NONE)]).value;
            let set = expected.test(&mut Untraced, Site::TestRead, (0, bit), Dep::NONE).value;
            prop_assert_eq!(found, set, "bit {}", bit);
        }
    }
}

/// Keys that are not there pass as often as equation 5.2 says, also where all hash codes have one remainder.
#[test]
fn false_positives_are_as_many_as_asked() {
    const KEYS: u64 = 20_000;
    const TESTS: u32 = 200_000;
    for (rate, remainder) in [
        (0.05, None),
        (0.05, Some(32)),
        (0.01, Some(14)),
        (0.001, None),
    ] {
        let bits = bits_for(KEYS, rate, LINE) as u32;
        let mut random = Random::new(3, 0);
        let mut code = || {
            let code = random.below(1 << 32) as u32;
            remainder.map_or(code, |of| code - code % of)
        };
        let keys: Vec<u32> = (0..KEYS).map(|_| code()).collect();
        let filters = filled(&[keys], bits);
        let positive = |key: u32| {
            let mut bits = bits_of(key, bits).into_iter();
            bits.all(|bit| {
                filters
                    .test(&mut Untraced, Site::TestRead, (0, bit), Dep::NONE)
                    .value
            })
        };
        let found = (0..TESTS).filter(|_| positive(code())).count() as f64 / f64::from(TESTS);
        // Four standard deviations, and 2% for the filter's own chance.
        let error = 4.0 * (rate / f64::from(TESTS)).sqrt() + 0.02 * rate;
        assert!((found - rate).abs() < error, "{found}, wanted {rate}");
    }
}

/// A vertical test touches three lines, a horizontal one three of each filter (section 5.4.3).
#[test]
fn tests_touch_as_many_lines_as_published() {
    const FILTERS: u32 = 50;
    let bits = 1000 * LINE * 8;
    let keys: Vec<Vec<u32>> = (0..FILTERS).map(|filter| vec![filter]).collect();
    let filters = Arc::new(filled(&keys, bits));
    for (many, expected) in [
        (converted(&filters, FILTERS, true), 3),
        (
            Many::horizontal(in_all(&filters, FILTERS)),
            3 * FILTERS as usize,
        ),
    ] {
        let mut events: Vec<Event> = Vec::new();
        let mut tracer = Tracer::new(&mut events);
        let at = bits_of(123_456_789, bits).map(|bit| (bit, Dep::NONE));
        many.test(&mut tracer, &at);
        tracer.finish().expect("a vector takes all");
        let loads = events.iter().filter(|event| event.kind == Kind::Load);
        let ends = |event: &Event| {
            [
                event.address,
                event.address + u64::from(event.size.max(1)) - 1,
            ]
        };
        let lines: BTreeSet<u64> = loads.flat_map(ends).map(|at| at / 64).collect();
        assert_eq!(lines.len(), expected);
    }
}

/// A block's lines are asked for a block ahead, those that are read and those that are written.
#[test]
fn blocks_are_prefetched_while_another_is_converted() {
    const FILTERS: u32 = 40;
    let bits = 6 * LINE * 8;
    let filters = Arc::new(filled(&vec![vec![1, 2, 3]; FILTERS as usize], bits));
    let conversion = Conversion {
        filters: in_all(&filters, FILTERS),
        bits,
        line_bytes: LINE,
        ahead: true,
    };
    let mut events: Vec<Event> = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    conversion.run(&mut tracer, 1 << 30);
    tracer.finish().expect("a vector takes all");
    let (mut asked, mut first_use) = (BTreeMap::new(), BTreeMap::new());
    for (now, event) in events.iter().enumerate() {
        let times = match event.kind {
            Kind::Prefetch => &mut asked,
            Kind::Load | Kind::Store => &mut first_use,
            _ => continue,
        };
        times.entry(event.address / 64).or_insert(now);
    }
    assert_eq!(asked.len(), first_use.len());
    // Words of a block's filters.
    let block = (FILTERS * LINE / 4) as usize;
    let soon = first_use
        .iter()
        .filter(|&(line, used)| used - asked[line] < block);
    // Only the first block has nobody before it.
    assert!(soon.count() <= asked.len() / 6);
}
