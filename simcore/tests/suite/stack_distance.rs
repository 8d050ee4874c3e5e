//! Stack distances, their samples and the three Cs, against lists that are searched from end to end.

use crate::common::*;
use proptest::prelude::*;
use simcore::AddressSink;
use simcore::stack_distance::{Classification, Estimate, Sampling, Shards, StackDistances, ThreeC};
use traces::{Event, EventSink, Kind, Layout, Segment};

/// Misses of an LRU cache that is a list of lines per set.
fn misses_by_lists(lines: &[u64], sets: u64, ways: usize) -> u64 {
    let mut cache = vec![Vec::new(); sets as usize];
    let mut misses = 0;
    for line in lines {
        let set: &mut Vec<u64> = &mut cache[(line % sets) as usize];
        match set.iter().position(|held| held == line) {
            Some(way) => drop(set.remove(way)),
            None => misses += 1,
        }
        set.insert(0, *line);
        set.truncate(ways);
    }
    misses
}

fn curve(line_bytes: u64, sets: u64, addresses: &[u64]) -> Vec<u64> {
    let mut distances = StackDistances::new(line_bytes, sets).unwrap();
    distances.read(addresses);
    distances.finish().misses()
}

/// Addresses of which some are near, so that there are short distances and long ones.
fn addresses(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let address = prop_oneof![0_u64..600, 0_u64..60_000, Just(u64::MAX)];
    prop::collection::vec(address, 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn one_pass_gives_the_misses_of_every_capacity(addresses in addresses(3000), sets in 1_u64..20) {
        let misses = curve(16, sets, &addresses);
        let lines: Vec<u64> = addresses.iter().map(|address| address / 16).collect();
        for ways in [1, 2, 3, 7, 50, misses.len() - 1, misses.len() + 10] {
            let expected = if ways == 0 { lines.len() as u64 } else { misses_by_lists(&lines, sets, ways) };
            prop_assert_eq!(misses[ways.min(misses.len() - 1)], expected, "{} ways", ways);
        }
    }

    /// Lines that were dropped leave room in every cache that had them, and in no other.
    #[test]
    fn one_pass_gives_the_misses_of_every_capacity_where_pages_arrive(
        steps in prop::collection::vec((prop_oneof![0_u64..600, 0_u64..20_000], 0_u8..8), 0..1500),
        frame in 1_u16..200,
    ) {
        let arrives = |what: u8| what == 0;
        let events = steps.iter().map(|&(address, what)| {
            let kind = if arrives(what) { Kind::PageArrival } else { Kind::Load };
            Event { size: if arrives(what) { frame } else { 1 }, ..Event::new(kind, address) }
        });
        let events: Vec<Event> = events.collect();
        let mut distances = StackDistances::new(16, 1).unwrap().with_arrivals();
        distances.consume(&events).unwrap();
        let misses = distances.finish().misses();
        for ways in [1, 2, 3, 7, 50, 300, misses.len() - 1, misses.len() + 10] {
            let (mut cache, mut missed): (Vec<u64>, u64) = (Vec::new(), 0);
            for event in &events {
                let line = event.address / 16;
                if event.kind == Kind::PageArrival {
                    let last = (event.address + u64::from(event.size) - 1) / 16;
                    cache.retain(|held| !(line..=last).contains(held));
                    continue;
                }
                let before = cache.len();
                cache.retain(|&held| held != line);
                missed += u64::from(cache.len() == before);
                cache.insert(0, line);
                cache.truncate(ways);
            }
            prop_assert!(ways == 0 || misses[ways.min(misses.len() - 1)] == missed, "{} ways", ways);
        }
    }

    #[test]
    fn a_sample_of_all_lines_is_exact(addresses in addresses(3000)) {
        let misses = curve(64, 1, &addresses);
        for sampling in [Sampling::Rate(1.0), Sampling::Lines(1_000_000)] {
            let mut shards = Shards::new(64, sampling).unwrap();
            shards.read(&addresses);
            let estimate = shards.finish();
            prop_assert_eq!(estimate.sampled, addresses.len() as u64);
            for (lines, &exact) in (0..).zip(&misses) {
                prop_assert_eq!(estimate.misses(lines), Some((exact as f64, 0.0)));
            }
        }
    }

    #[test]
    fn misses_are_those_of_the_cache_and_of_full_associativity(
        addresses in addresses(2000), ways in 1_u32..6, sets in 1_u64..20,
    ) {
        let mut cache = machine().caches[0].clone();
        cache.line_bytes = 64;
        cache.ways = ways;
        cache.size_bytes = u64::from(ways * 64) * sets;
        let lines: Vec<u64> = addresses.iter().map(|address| address / 64).collect();
        let mut three_c = ThreeC::new(&cache, &Layout::default()).unwrap();
        three_c.read(&addresses);
        let rows = three_c.finish();
        let counts = rows.first().map_or_else(Classification::default, |row| row.counts);
        let full = ways as usize * sets as usize;
        prop_assert_eq!(
            counts.compulsory + counts.capacity + counts.conflict,
            misses_by_lists(&lines, sets, ways as usize)
        );
        prop_assert_eq!(
            counts.compulsory + counts.capacity + counts.spared,
            misses_by_lists(&lines, 1, full)
        );
        prop_assert_eq!(counts.accesses, lines.len() as u64);
    }
}

#[test]
fn the_distance_is_the_number_of_other_lines_since() {
    let lines = [1_u64, 2, 2, 3, 1, 3, 2];
    let mut distances = StackDistances::new(64, 1).unwrap();
    distances.read(&lines.map(|line| line * 64));
    let distances = distances.finish();
    assert_eq!((distances.accesses, distances.cold), (7, 3));
    assert_eq!(distances.histogram, [1, 1, 2]);
    assert_eq!(distances.misses(), [7, 6, 5, 3]);
}

#[test]
fn events_use_every_line_they_touch_and_a_flush_forgets_all() {
    let mut distances = StackDistances::new(64, 1).unwrap();
    let spanning = Event {
        size: 65,
        ..load(63)
    };
    let flush = Event::new(Kind::Flush, 0);
    distances
        .consume(&[
            spanning,
            branch(true),
            prefetch(0),
            store(64),
            flush,
            load(0),
        ])
        .unwrap();
    let distances = distances.finish();
    // The spanning load, bytes 63 to 127, uses two lines.
    assert_eq!((distances.accesses, distances.cold), (5, 3));
    assert_eq!(distances.histogram, [0, 2]);
}

#[test]
fn two_lines_that_share_a_set_conflict_and_a_third_set_can_spare() {
    let mut cache = machine().caches[0].clone();
    cache.ways = 1;
    cache.size_bytes = 2 * LINE;
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: LINE,
    };
    let layout = Layout {
        segments: vec![segment("a", 0), segment("b", 2 * LINE)],
        ..Layout::default()
    };
    // Two sets of one way. Lines 0 and 2 share set 0: the second use of 0 misses, two lines would have held it.
    // Line 1 has set 1 to itself: its second use hits, though 0 and 2 came between.
    let mut three_c = ThreeC::new(&cache, &layout).unwrap();
    let lines = [1, 0, 2, 0, 1].map(|line| line * LINE);
    three_c.read(&lines);
    let rows = three_c.finish();
    let row = |name: &str| rows.iter().find(|row| row.segment == name).unwrap().counts;
    let counts = |accesses, compulsory, conflict, spared| Classification {
        accesses,
        compulsory,
        capacity: 0,
        conflict,
        spared,
    };
    assert_eq!(row("a"), counts(2, 1, 1, 0));
    assert_eq!(row("b"), counts(1, 1, 0, 0));
    assert_eq!(row("(elsewhere)"), counts(2, 1, 0, 1));
}

#[test]
fn samples_come_near_and_say_how_near() {
    // Uniform over 20,000 lines: the exact miss ratio of c lines is about 1 - c / 20,000.
    let mut state = 1_u64;
    let addresses: Vec<u64> = (0..400_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % 20_000 * 64
        })
        .collect();
    let exact = curve(64, 1, &addresses);
    for sampling in [Sampling::Rate(0.1), Sampling::Lines(2000)] {
        let mut shards = Shards::new(64, sampling).unwrap();
        shards.read(&addresses);
        let estimate = shards.finish();
        assert!((0.05..0.2).contains(&estimate.rate), "{}", estimate.rate);
        for lines in [1000, 5000, 10_000, 15_000] {
            let (misses, error) = estimate.misses(lines).unwrap();
            let off = (misses - exact[lines as usize] as f64).abs();
            assert!(off < 0.04 * 400_000.0, "{sampling:?} {lines}: off by {off}");
            assert!(
                off < 4.0 * error,
                "{sampling:?} {lines}: {off} against {error}"
            );
        }
    }
}

/// A sample of eight lines at most, of which a thousand are used in turn, and what comes between two rounds.
fn two_rounds(between: &[Event]) -> Estimate {
    let round: Vec<Event> = (0..1000).map(|line| load(line * 64)).collect();
    let mut shards = Shards::new(64, Sampling::Lines(8)).unwrap();
    shards.consume(&[&round, between, &round].concat()).unwrap();
    shards.finish()
}

#[test]
fn a_line_that_has_left_the_sample_lies_between_no_others() {
    let estimate = two_rounds(&[Event::new(Kind::Measure, 0)]);
    assert_eq!((estimate.accesses, estimate.sampled), (1000, 8));
    // Seven others of the sample lie between.
    let eight = (8.0 / estimate.rate).ceil() as u64;
    assert_eq!(estimate.misses(eight), Some((0.0, 0.0)));
    // Of fewer lines than one of each eighth of the sample it tells nothing.
    assert_eq!(estimate.misses(eight - 1), None);
}

#[test]
fn a_flush_empties_the_sample_and_leaves_its_rate() {
    let rate = two_rounds(&[]).rate;
    let estimate = two_rounds(&[Event::new(Kind::Flush, 0), Event::new(Kind::Measure, 0)]);
    assert_eq!(estimate.rate.to_bits(), rate.to_bits());
    let (misses, _) = estimate.misses(1 << 40).unwrap();
    assert!(
        (misses - 1000.0_f64.min(8.0 / rate)).abs() < 1e-6,
        "{misses}"
    );
}

#[test]
fn impossible_curves_are_refused() {
    assert_eq!(StackDistances::new(48, 1).unwrap_err().path, "line");
    assert_eq!(StackDistances::new(64, 0).unwrap_err().path, "sets");
    for (sampling, option) in [
        (Sampling::Rate(0.0), "shards"),
        (Sampling::Rate(1.5), "shards"),
        (Sampling::Rate(f64::NAN), "shards"),
        (Sampling::Rate(1e-300), "shards"),
        (Sampling::Lines(3), "shards-lines"),
    ] {
        assert_eq!(Shards::new(64, sampling).unwrap_err().path, option);
    }
    for line_bytes in [0, 1, 1 << 31, 1 << 63] {
        assert_eq!(StackDistances::new(line_bytes, 1).unwrap_err().path, "line");
    }
}
