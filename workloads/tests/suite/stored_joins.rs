//! Joins on storage: which pages they ask for, read and write; everything else is as in memory.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use traces::{Event, Kind, OpClass};
use workloads::{Library, Workload};

fn events(value: &Value) -> Vec<Event> {
    let workload: Workload = serde_json::from_value(value.clone()).unwrap();
    let mut events = Vec::new();
    Library::default()
        .prepare(&workload)
        .unwrap()
        .run(&mut events)
        .unwrap();
    events
}

fn with(base: &Value, changes: &Value) -> Value {
    let mut value = base.clone();
    let more = changes.as_object().unwrap().clone();
    value.as_object_mut().unwrap().extend(more);
    value
}

fn of_pages(event: &Event) -> bool {
    matches!(
        event.kind,
        Kind::PageRead | Kind::PageWrite | Kind::PagePrefetch | Kind::PageArrival
    )
}

/// What is left without requests for pages: events with what they depend on, and the instructions up to each. Those behind the last
/// event end in one of their own, which is an instruction itself.
fn without_requests(events: &[Event]) -> (Vec<(Event, Option<usize>, u64)>, u64) {
    let (mut instructions, mut left) = (0, Vec::new());
    let mut places = Vec::new();
    for (number, event) in events.iter().enumerate() {
        instructions += u64::from(event.instructions);
        places.push(left.len());
        if event.kind == Kind::Op && event.size == OpClass::Add as u16 && event.dep == 0 {
            instructions += 1;
            continue;
        }
        if of_pages(event) {
            continue;
        }
        let on = number
            .checked_sub(event.dep as usize)
            .filter(|_| event.dep > 0);
        let alone = Event {
            instructions: 0,
            dep: 0,
            ..*event
        };
        left.push((alone, on.map(|on| places[on]), instructions));
    }
    (left, instructions)
}

fn pages(events: &[Event], kind: Kind) -> Vec<u64> {
    let of_kind = events.iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.address).collect()
}

/// Pages of so many tuples of so many bytes with their slots.
fn count(tuples: u64, tuple_bytes: u64, slot_bytes: u64) -> u64 {
    tuples.div_ceil((4096 - 32) / (tuple_bytes + slot_bytes))
}

fn join() -> Value {
    json!({"kernel": "hash-join", "build_tuples": 700, "probe_tuples": 1500, "page_bytes": 4096, "tuple_bytes": 60, "partitions": 3})
}

fn partition() -> Value {
    json!({"kernel": "hash-partition", "tuples": 3000, "partitions": 7, "page_bytes": 4096, "tuple_bytes": 60})
}

/// Pages of a scan are asked for and come in their order, from the first on; behind each that is read, as many have been asked for as are to
/// be, and no more. A single page is just read.
fn asks_ahead(events: &[Event], ahead: u64, scans: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let scan_of = |page: u64| {
        let scan = scans
            .iter()
            .find(|(first, end)| (*first..*end).contains(&page));
        *scan.unwrap()
    };
    let mut asked: HashMap<u64, u64> = HashMap::new();
    let mut expected = scans.iter().flat_map(|&(first, end)| first..end);
    for event in events.iter().filter(|event| of_pages(event)) {
        let page = event.address;
        match event.kind {
            Kind::PagePrefetch => {
                let (first, _) = scan_of(page);
                let next = asked.entry(first).or_insert(first);
                prop_assert_eq!(page, *next);
                *next += 1;
            }
            Kind::PageRead => {
                prop_assert_eq!(Some(page), expected.next());
                let (first, end) = scan_of(page);
                let until = (page + 1 + ahead).min(end);
                let alone = end == first + 1;
                prop_assert_eq!(asked.get(&first), (!alone).then_some(&until));
            }
            _ => {}
        }
    }
    prop_assert_eq!(expected.next(), None);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_join_reads_pairs_of_partitions_and_writes_its_output(
        algorithm in prop::sample::select(vec!["grace", "simple", "group", "pipelined", "cache-partitioning"]),
        ahead in 1_u64..40,
    ) {
        let in_memory = with(&join(), &json!({"algorithm": algorithm}));
        let stored = events(&with(&in_memory, &json!({"pages_asked_ahead": ahead, "output": "stored"})));
        prop_assert!(without_requests(&stored) == without_requests(&events(&in_memory)));
        let share = |tuples: u64, number: u64| (number + 1) * tuples / 3 - number * tuples / 3;
        let sides = [700, 1500].map(|tuples| [0, 1, 2].map(|number| count(share(tuples, number), 60, 6)));
        let total: u64 = sides.iter().flatten().sum();
        let begins = |side: usize, number: usize| -> u64 {
            sides.iter().take(side).flatten().sum::<u64>() + sides[side].iter().take(number).sum::<u64>()
        };
        let scan = |side: usize, number: usize| {
            let first = begins(side, number);
            (first, first + sides[side][number])
        };
        let scans: Vec<(u64, u64)> = (0..3).flat_map(|number| [scan(0, number), scan(1, number)]).collect();
        asks_ahead(&stored, ahead, &scans)?;
        let output = count(1500, 120, 2);
        prop_assert_eq!(pages(&stored, Kind::PageWrite), (total..total + output).collect::<Vec<u64>>());
    }

    #[test]
    fn partitioning_reads_its_input_and_writes_each_page_of_a_partition_once(
        algorithm in prop::sample::select(vec!["grace", "simple", "group", "pipelined"]),
        filter in prop::sample::select(vec!["none", "single", "multiple"]),
        ahead in 1_u64..40,
    ) {
        let mut in_memory = with(&partition(), &json!({"algorithm": algorithm, "filter": filter}));
        if filter != "none" {
            in_memory = with(&in_memory, &json!({"probe_tuples": 2000, "cache_bytes": 20_000}));
        }
        let stored = events(&with(&in_memory, &json!({"pages_asked_ahead": ahead, "output": "stored"})));
        prop_assert!(without_requests(&stored) == without_requests(&events(&in_memory)));
        let (read, written) = (pages(&stored, Kind::PageRead), pages(&stored, Kind::PageWrite));
        let build = (0, count(3000, 60, 2));
        let probe = (read.get(build.1 as usize).copied(), count(2000, 60, 2));
        let scans: Vec<(u64, u64)> = [Some(build), probe.0.map(|first| (first, first + probe.1))].into_iter().flatten().collect();
        prop_assert_eq!(scans.len(), 1 + usize::from(filter != "none"));
        asks_ahead(&stored, ahead, &scans)?;
        let places: HashSet<u64> = written.iter().copied().collect();
        prop_assert_eq!(places.len(), written.len(), "each page has a place of its own");
        prop_assert!(read.iter().all(|page| !places.contains(page)));
        if filter == "none" {
            let full = count(3000, 60, 6) as usize;
            prop_assert!((full..full + 7).contains(&written.len()), "{}", written.len());
        }
    }
}

/// The ranges of pages that follow each other, in the order in which they are read.
fn runs(read: &[u64]) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for &page in read {
        match runs.last_mut() {
            Some((_, end)) if *end == page => *end += 1,
            _ => runs.push((page, page + 1)),
        }
    }
    runs
}

/// Inspectors read the probe tuples of a partition first, for their slots, and then its build tuples, for all sub-partitions in one scan.
#[test]
fn inspectors_read_each_side_of_a_partition_in_one_scan() {
    // With so many duplicates, `choosing-inspector` partitions again: build tuples first.
    let chooses = json!({"algorithm": "choosing-inspector", "duplicates": 8, "switch_at": 2});
    let inspector = json!({"algorithm": "inspector", "match_share": 0.5, "false_positives": 0.05});
    let partly = with(&inspector, &json!({"tuple_lengths": "uniform"}));
    for (changes, build_first) in [(inspector, false), (partly, false), (chooses, true)] {
        for ahead in [1, 3, 40] {
            let cache = json!({"cache_bytes": 8192});
            let in_memory = with(&with(&join(), &cache), &changes);
            let stored = with(&in_memory, &json!({"pages_asked_ahead": ahead}));
            let stored = events(&stored);
            assert!(without_requests(&stored) == without_requests(&events(&in_memory)));
            let scans = runs(&pages(&stored, Kind::PageRead));
            assert_eq!(scans.len(), 6, "{changes} {scans:?}");
            asks_ahead(&stored, ahead, &scans).unwrap();
            // Build tuples lie before all probe tuples.
            let of_build = usize::from(!build_first);
            let builds: Vec<(u64, u64)> = scans.iter().copied().skip(of_build).step_by(2).collect();
            assert_eq!(builds[0].0, 0);
            assert!(builds.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert!(
                builds.iter().all(|(first, end)| end - first > 1),
                "several sub-partitions"
            );
        }
    }
}

/// Sort-merge reads what is out of order of both sides, sorts it, and then both sides together.
#[test]
fn sort_merge_reads_each_page_once() {
    let order = json!({"algorithm": "sort-merge", "order": "nearly-sorted", "displaced": 0.2, "tuple_bytes": 60});
    let in_memory = with(&join(), &order);
    let stored = events(&with(
        &in_memory,
        &json!({"pages_asked_ahead": 4, "output": "stored"}),
    ));
    assert!(without_requests(&stored) == without_requests(&events(&in_memory)));
    let read = pages(&stored, Kind::PageRead);
    let all: HashSet<u64> = read.iter().copied().collect();
    assert_eq!(all.len(), read.len(), "each page is read once");
    assert_eq!(all, (0..read.len() as u64).collect::<HashSet<u64>>());
    let mut asked = HashSet::new();
    let mut seen = HashSet::new();
    for event in stored.iter().filter(|event| of_pages(event)) {
        match event.kind {
            Kind::PagePrefetch => {
                assert!(asked.insert(event.address), "asked for twice");
                assert!(!seen.contains(&event.address), "asked for too late");
            }
            Kind::PageRead => assert!(seen.insert(event.address)),
            _ => {}
        }
    }
    // Each of the four inputs of three pairs has several pages.
    assert_eq!(asked.len(), read.len());
    assert!(!pages(&stored, Kind::PageWrite).is_empty());
}

/// Pages that tuples of lengths of their own take are not told by their number: each is read once, and none is missing.
#[test]
fn tuples_of_any_length_come_from_storage_and_go_there() {
    let uneven = json!({"tuple_lengths": "uniform", "tuple_bytes": 140});
    let stored = json!({"pages_asked_ahead": 5, "output": "stored"});
    let joins = ["grace", "group", "pipelined", "cache-partitioning"];
    let joins = joins.map(|algorithm| with(&join(), &json!({"algorithm": algorithm})));
    let partitions = ["grace", "pipelined"];
    let partitions =
        partitions.map(|algorithm| with(&partition(), &json!({"algorithm": algorithm})));
    for base in joins.into_iter().chain(partitions) {
        let in_memory = with(&base, &uneven);
        let stored = events(&with(&in_memory, &stored));
        assert!(without_requests(&stored) == without_requests(&events(&in_memory)));
        let (read, written) = (
            pages(&stored, Kind::PageRead),
            pages(&stored, Kind::PageWrite),
        );
        let of_input: HashSet<u64> = read.iter().copied().collect();
        assert_eq!(of_input, (0..read.len() as u64).collect::<HashSet<u64>>());
        let of_output: HashSet<u64> = written.iter().copied().collect();
        assert_eq!(
            of_output.len(),
            written.len(),
            "each page has a place of its own"
        );
        assert!(of_output.is_disjoint(&of_input));
        // Of 80 bytes on average.
        let (tuples, slot) = if base["kernel"] == "hash-join" {
            (2200, 8)
        } else {
            (3000, 4)
        };
        let mean = count(tuples, 80, slot) as usize;
        assert!(
            (mean..mean + 8).contains(&read.len()),
            "{} of {mean}",
            read.len()
        );
    }
}

#[test]
fn relations_in_memory_ask_for_no_page() {
    for value in [join(), partition()] {
        assert!(!events(&value).iter().any(of_pages));
    }
}

/// The threads of a workload read and write pages of their own, and read together what one thread reads.
#[test]
fn threads_have_pages_of_their_own() {
    let stored = json!({"pages_asked_ahead": 5, "output": "stored"});
    let filters = json!({"filter": "multiple", "probe_tuples": 2000, "cache_bytes": 20_000});
    for base in [
        join(),
        with(&join(), &json!({"algorithm": "group"})),
        partition(),
        with(&partition(), &filters),
        with(&partition(), &json!({"tuple_lengths": "uniform"})),
    ] {
        let base = with(&base, &stored);
        let pages_read = |threads: u64| {
            let events = events(&with(&base, &json!({ "threads": threads })));
            let (read, written) = (
                pages(&events, Kind::PageRead),
                pages(&events, Kind::PageWrite),
            );
            let of_input: HashSet<u64> = read.iter().copied().collect();
            assert_eq!(of_input.len(), read.len(), "each page is read once");
            let of_output: HashSet<u64> = written.iter().copied().collect();
            assert_eq!(of_output.len(), written.len(), "and written once");
            assert!(of_output.is_disjoint(&of_input));
            let asked: HashSet<u64> = pages(&events, Kind::PagePrefetch).into_iter().collect();
            assert!(
                asked.is_subset(&of_input),
                "nobody asks for another's pages"
            );
            read.len() as u64
        };
        let alone = pages_read(1);
        for threads in [2, 3] {
            // Each has a last page of each relation, which need not be full.
            let all = pages_read(threads);
            assert!(
                (alone..=alone + 2 * threads).contains(&all),
                "{all} of {alone}"
            );
        }
    }
}
