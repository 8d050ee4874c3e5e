//! How long a warm-up is: until caches and pools are full and miss alike, or miss no more.

use crate::common::*;
use simcore::spec::{MachineSpec, PrefetcherSpec};
use simcore::warm_up::{WarmUp, WarmUpLength};
use std::collections::VecDeque;
use traces::{Event, EventSink, Kind, Layout, SinkError};

/// Runs operations, each opened by its mark, until the length is known.
fn length(spec: &MachineSpec, mut operation: impl FnMut(u64) -> Vec<Event>) -> WarmUpLength {
    let mut search = WarmUp::new(
        spec,
        &Layout {
            phases: vec!["start".to_owned()],
            ..Layout::default()
        },
    )
    .unwrap();
    for number in 0.. {
        let events = [vec![Event::new(Kind::Mark, 0)], operation(number)].concat();
        match search.consume(&events) {
            Ok(()) => {}
            Err(SinkError::Enough) => break,
            Err(error) => panic!("{error}"),
        }
    }
    search.length().expect("the search ended")
}

/// A random number below `bound` for each `number` (the finaliser of `SplitMix64`).
fn random(number: u64, bound: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31) % bound
}

fn loads_of(lines: u64, loads: u64) -> impl FnMut(u64) -> Vec<Event> {
    move |number| {
        let line = |place: u64| load(random(number * loads + place, lines) * LINE);
        (0..loads).map(line).collect()
    }
}

/// Random lines that fit into the last cache: the warm-up has used nearly all of them.
#[test]
fn what_fits_is_there() {
    let (lines, loads) = (20_000, 8);
    let found = length(&machine(), loads_of(lines, loads));
    assert!(found.steady);
    // After n random accesses a line is missing with probability exp(-n / lines).
    let missing = (-((found.operations * loads) as f64) / lines as f64).exp();
    assert!(missing < 0.005, "{missing} after {}", found.operations);
    assert!(
        found.operations * loads < 64 * lines,
        "{}",
        found.operations
    );
}

/// Random lines that do not fit: misses fall too slowly to be seen while the cache fills, but it has to be full.
#[test]
fn what_does_not_fit_fills_the_cache() {
    let spec = machine();
    let capacity = spec.caches[2].size_bytes / LINE;
    for lines in [2 * capacity, 100 * capacity] {
        let found = length(&spec, loads_of(lines, 8));
        assert!(found.steady);
        assert!(
            found.operations * 8 >= capacity,
            "{lines}: {}",
            found.operations
        );
    }
}

/// Runs of lines of which a prefetcher fetches all but the first: few miss, and the cache is full all the same.
#[test]
fn lines_that_a_prefetcher_fetches_fill_the_cache() {
    let mut spec = machine();
    spec.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 15 }];
    let capacity = spec.caches[2].size_bytes / LINE;
    let found = length(&spec, |number| {
        let first = random(number, 100 * capacity / 16) * 16;
        (first..first + 16).map(|line| load(line * LINE)).collect()
    });
    assert!(found.steady);
    let lines = found.operations * 16;
    assert!(
        (capacity..16 * capacity).contains(&lines),
        "{lines} of {capacity}"
    );
}

/// Operations that each read a random page into a pool of so many frames, which are filled in turn, and load lines that caches hold.
fn pages_through(frames: u64, pages: u64) -> impl FnMut(u64) -> Vec<Event> {
    let mut pool = VecDeque::new();
    let mut free = 0..frames;
    move |number| {
        let page = random(number, pages);
        let mut events = (0..25).map(|line| load(line * LINE)).collect();
        if pool.iter().any(|&(held, _)| held == page) {
            return events;
        }
        let frame = free.next().or_else(|| Some(pool.pop_front()?.1)).unwrap();
        pool.push_back((page, frame));
        events.push(Event::new(Kind::PageRead, page));
        events.push(Event::arrival((1 + frame) << 16, 4096));
        events
    }
}

/// A pool is a cache, too: caches are steady long before it has a page in every frame.
#[test]
fn a_pool_is_filled() {
    let (frames, pages) = (1500, 2000);
    let found = length(&machine(), pages_through(frames, pages));
    assert!(found.steady);
    // After n random reads a page has been read with probability 1 - exp(-n / pages).
    let read = -(-(found.operations as f64) / pages as f64).exp_m1();
    assert!(
        read * pages as f64 > frames as f64,
        "{read} after {}",
        found.operations
    );
    assert!(found.operations < 64 * pages, "{}", found.operations);
}

/// A pool with room for all pages has nearly all of them.
#[test]
fn a_pool_that_holds_all_pages_has_them() {
    let pages = 2000;
    let found = length(&machine(), pages_through(pages, pages));
    assert!(found.steady);
    let missing = (-(found.operations as f64) / pages as f64).exp();
    assert!(missing < 0.0001, "{missing} after {}", found.operations);
    assert!(found.operations < 64 * pages, "{}", found.operations);
}

#[test]
fn one_large_operation_may_be_enough() {
    let lines = 1 << 18;
    let found = length(&machine(), |number| {
        (0..lines)
            .map(|line| load((number * lines + line) * LINE))
            .collect()
    });
    assert_eq!(
        found,
        WarmUpLength {
            operations: 2,
            steady: true
        }
    );
}

/// Each batch misses more, or less, than the one before: after a bounded number of accesses the search is given up.
#[test]
fn what_is_never_steady_is_given_up() {
    let loads = 1 << 14;
    let mut spec = machine();
    spec.caches.truncate(1);
    let found = length(&spec, |number| {
        // Batches have 1, 2, 4 and so on operations. One load of 16 of one batch is of a new line, and one of 32 of the next.
        let step = 16 << ((number + 1).ilog2() % 2);
        let line = |place: u64| number * loads + place / step * step;
        (0..loads).map(|place| load(line(place) * LINE)).collect()
    });
    let operations = (1 << 12) - 1;
    assert_eq!(
        found,
        WarmUpLength {
            operations,
            steady: false
        }
    );
}
