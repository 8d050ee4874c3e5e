//! Every algorithm against a dictionary of the build keys, and what each leaves in memory.

use super::memory::Memory;
use super::places::{BUCKETS, OVERFLOW, PARTITIONS, Places, Sizes};
use super::relations::{BUILD, Inputs, PROBE, Relations};
use super::run::{JoinRun, Structures};
use super::sites::Site;
use super::table::{Table, overflow_buckets};
use super::tasks::{Task, Tasks, Wanted};
use super::{Algorithm, KeptRelations, Keys, ParallelJoinWorkload};
use crate::buckets::payload;
use crate::family::{Family, Kernel};
use crate::outcome::{Checksum, Outcome};
use crate::threads::{begin, outcome, take_turns};
use crate::tracer::{Dep, Untraced};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use traces::{Event, EventSource, Kind};

fn prepared(workload: &ParallelJoinWorkload) -> JoinRun {
    workload.validate().expect("it can run");
    workload.prepare(&mut KeptRelations::default()).unwrap()
}

/// The keys of a relation.
fn keys(relations: &Relations, relation: usize) -> Vec<u64> {
    let tuples = 0..relations.tuples_of(relation);
    tuples
        .map(|tuple| relations.tuples[relation].get(2 * tuple))
        .collect()
}

/// What a dictionary join finds.
fn oracle(relations: &Relations) -> (u64, u64) {
    let mut build: HashMap<u64, Vec<u64>> = HashMap::new();
    for key in keys(relations, BUILD) {
        build.entry(key).or_default().push(payload(key));
    }
    let (mut matches, mut checksum) = (0, Checksum::default());
    for key in keys(relations, PROBE) {
        for &payload in build.get(&key).into_iter().flatten() {
            matches += 1;
            checksum.add(payload);
        }
    }
    (matches, checksum.value())
}

fn found(outcome: &Outcome) -> (u64, u64) {
    (outcome.metrics["returned"], outcome.metrics["checksum"])
}

/// Runs all threads, each up to its next barrier; their events by thread, and what they leave.
fn run(join: &JoinRun, threads: u32) -> (Vec<Vec<Event>>, Outcome) {
    let mut events = vec![Vec::new(); threads as usize];
    let mut all = begin(&Arc::new(join.clone()), threads);
    take_turns(&mut all, None, |thread, part| {
        events[thread].extend_from_slice(part);
        Ok(())
    })
    .expect("all come to every barrier");
    (events, outcome(all))
}

/// Joins that any inputs go through: without partitioning, and by radix in every way.
fn ways() -> impl Strategy<Value = ParallelJoinWorkload> {
    let algorithms = prop::sample::select(vec![Algorithm::NoPartitioning, Algorithm::Radix]);
    let threads = prop::sample::select(vec![1, 2, 7]);
    let buffers = prop::sample::select(vec![(false, false), (true, false), (true, true)]);
    (algorithms, 2..9_u32, 1..3_u32, buffers, threads).prop_map(
        |(algorithm, radix_bits, passes, (write_combining, non_temporal), threads)| {
            ParallelJoinWorkload {
                algorithm,
                radix_bits,
                passes,
                write_combining,
                non_temporal,
                threads,
                ..ParallelJoinWorkload::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn every_algorithm_finds_what_a_dictionary_finds(
        way in ways(),
        build_tuples in prop_oneof![Just(0_u64), 1..700_u64],
        probe_tuples in prop_oneof![Just(0_u64), 1..900_u64],
        keys in prop::sample::select(vec![Keys::Dense, Keys::Scattered]),
        match_share in prop::sample::select(vec![0.0, 0.3, 1.0]),
        skew in prop::sample::select(vec![0.0, 1.0, 2.0]),
        seed in 0..100_u64,
    ) {
        let workload = ParallelJoinWorkload {
            build_tuples, probe_tuples, keys, match_share, skew, seed, ..way
        };
        let join = prepared(&workload);
        let (_, outcome) = run(&join, workload.threads);
        let relations = Relations::draw(&Inputs::of(&workload));
        prop_assert_eq!(found(&outcome), oracle(&relations));
        prop_assert_eq!(outcome.metrics["operations"], build_tuples + probe_tuples);
        if build_tuples == 0 || match_share == 0.0 {
            prop_assert_eq!(outcome.metrics["returned"], 0);
        } else if match_share == 1.0 {
            prop_assert_eq!(outcome.metrics["returned"], probe_tuples);
        }
    }

    /// Keys that no workload draws: of some there are many, on both sides.
    #[test]
    fn duplicates_match_each_other(
        way in ways(),
        build in prop::collection::vec(0..40_u64, 0..300),
        probe in prop::collection::vec(0..60_u64, 0..300),
        spread in prop::sample::select(vec![1_u64, 8, 1 << 12]),
    ) {
        let (build_tuples, probe_tuples) = (build.len() as u64, probe.len() as u64);
        let workload = ParallelJoinWorkload { build_tuples, probe_tuples, ..way };
        let spread = |keys: Vec<u64>| keys.into_iter().map(move |key| key * spread);
        let relations = Relations::of(Inputs::of(&workload), spread(build), spread(probe));
        let expected = oracle(&relations);
        let join = JoinRun::new(&workload, Arc::new(relations));
        prop_assert_eq!(found(&run(&join, workload.threads).1), expected);
        // Another run finds nothing of the one before.
        prop_assert_eq!(found(&run(&join, workload.threads).1), expected);
    }

    /// Each partition has the tuples of its bits, and nothing is lost or written twice.
    #[test]
    fn partitions_have_the_tuples_of_their_bits(
        way in ways(),
        build_tuples in 1..900_u64,
        probe_tuples in 1..900_u64,
        keys in prop::sample::select(vec![Keys::Dense, Keys::Scattered]),
    ) {
        let workload = ParallelJoinWorkload {
            algorithm: Algorithm::Radix, build_tuples, probe_tuples, keys, skew: 0.5, ..way
        };
        let join = prepared(&workload);
        run(&join, workload.threads);
        let Structures::Partitions(board) = &join.structures else {
            unreachable!("a radix join partitions");
        };
        let memory = board.all().pop().expect("it has run");
        let relations = Relations::draw(&Inputs::of(&workload));
        let last = workload.passes as usize - 1;
        let (first_bits, bits) = (workload.pass_list()[0].bits, workload.radix_bits);
        for relation in [BUILD, PROBE] {
            let mut partitioned = Vec::new();
            for task in tasks(&memory, &workload, last) {
                for tuple in task.tuples[relation].clone() {
                    let key = memory.partitions(last, relation).get(2 * tuple);
                    let paid = memory.partitions(last, relation).get(2 * tuple + 1);
                    prop_assert_eq!(paid, payload(key));
                    // The lower bits come first.
                    let (low, high) = (key & ((1 << first_bits) - 1), key >> first_bits);
                    let of_key = if last == 0 { low } else {
                        low << (bits - first_bits) | high & ((1 << (bits - first_bits)) - 1)
                    };
                    prop_assert_eq!(task.partition as u64, of_key);
                    partitioned.push(key);
                }
            }
            let mut all = super::tests::keys(&relations, relation);
            all.sort_unstable();
            partitioned.sort_unstable();
            prop_assert_eq!(partitioned, all);
        }
    }
}

/// The tasks that a pass has left, each taken once.
fn tasks(memory: &Memory, workload: &ParallelJoinWorkload, pass: usize) -> Vec<Task> {
    let mut all = Vec::new();
    for thread in 0..workload.threads as usize {
        let partitions = (pass, workload.partitions(pass));
        let mut tasks =
            Tasks::new(memory, partitions, Wanted::Any).planned(thread, workload.threads as usize);
        all.extend(std::iter::from_fn(|| tasks.next(&mut Untraced)));
    }
    let taken: HashSet<_> = all.iter().map(|task| task.partition).collect();
    assert_eq!(taken.len(), all.len(), "a task is taken once");
    all
}

const LARGER: ParallelJoinWorkload = ParallelJoinWorkload {
    algorithm: Algorithm::Radix,
    build_tuples: 3000,
    probe_tuples: 5000,
    keys: Keys::Scattered,
    match_share: 0.8,
    skew: 0.7,
    radix_bits: 6,
    passes: 2,
    write_combining: true,
    non_temporal: false,
    threads: 3,
    seed: 1,
};

/// Runs each thread up to its barriers in an order of theirs.
fn in_order(join: &JoinRun, order: &[usize]) -> Vec<Vec<Event>> {
    let mut threads = begin(&Arc::new(join.clone()), order.len() as u32);
    let mut events: Vec<Vec<Event>> = vec![Vec::new(); order.len()];
    let mut more = true;
    while more {
        more = false;
        for &thread in order {
            loop {
                let mut batch = Vec::new();
                threads[thread].next_batch(&mut batch).expect("events");
                events[thread].extend_from_slice(&batch);
                match batch.last() {
                    None => break,
                    Some(last) if last.kind == Kind::Barrier => {
                        more = true;
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
    }
    events
}

#[test]
fn threads_do_the_same_whoever_runs_first() {
    for algorithm in [Algorithm::NoPartitioning, Algorithm::Radix] {
        let workload = ParallelJoinWorkload {
            algorithm,
            ..LARGER
        };
        let join = prepared(&workload);
        let first = in_order(&join, &[0, 1, 2]);
        assert!(first.iter().all(|events| events.len() > 10_000));
        assert_eq!(first, in_order(&join, &[2, 1, 0]), "{algorithm:?}");
        assert_eq!(first, run(&join, 3).0, "{algorithm:?}");
    }
}

/// The addresses of a segment.
fn addresses(join: &JoinRun, segment: usize) -> std::ops::Range<u64> {
    let segment = &join.layout().segments[segment];
    segment.base..segment.base + segment.size_bytes
}

#[test]
fn each_build_tuple_goes_to_a_place_of_its_own_under_a_latch() {
    let workload = ParallelJoinWorkload {
        algorithm: Algorithm::NoPartitioning,
        ..LARGER
    };
    let join = prepared(&workload);
    let (heads, behind) = (addresses(&join, BUCKETS), addresses(&join, OVERFLOW));
    let (mut places, mut links, mut opened) = (HashSet::new(), 0, 0);
    for events in run(&join, 3).0 {
        let mut latched = None;
        for event in events {
            let is = |site: Site| event.site == u16::from(site);
            match event.kind {
                Kind::Exchange if is(Site::Latch) => {
                    assert_eq!(latched.replace(event.address), None);
                }
                Kind::Store if is(Site::LatchReleased) => {
                    assert_eq!(latched.take(), Some(event.address));
                }
                Kind::Store if is(Site::TupleStore) => {
                    assert!(latched.is_some());
                    assert!(heads.contains(&event.address) || behind.contains(&event.address));
                    assert!([16, 32].contains(&((event.address - heads.start) % 64)));
                    assert!(places.insert(event.address), "two tuples in one place");
                }
                Kind::Store if is(Site::BucketLink) => links += 1,
                Kind::Branch if is(Site::OverflowFull) => opened += event.address,
                _ => {}
            }
        }
    }
    assert_eq!(places.len() as u64, workload.build_tuples);
    assert_eq!(links, 2 * opened);
    assert_eq!(opened, (behind.end - behind.start) / 64);
    let in_heads = places.iter().filter(|place| heads.contains(place)).count();
    assert!(in_heads > 2000 && in_heads < 3000, "{in_heads}");
}

/// Threads of the host, all at once at few keys: the table has every tuple, and no more buckets than one thread would need.
#[test]
fn latches_hold() {
    const KEYS: u64 = 3;
    const EACH: u64 = 200_000;
    let workload = ParallelJoinWorkload {
        algorithm: Algorithm::NoPartitioning,
        build_tuples: KEYS * EACH,
        threads: 4,
        ..LARGER
    };
    let keys = (0..workload.build_tuples).map(|tuple| tuple % KEYS);
    let relations = Relations::of(Inputs::of(&workload), keys, std::iter::empty());
    let places = Places::new(
        &workload,
        Sizes::Overflow(overflow_buckets(&relations) + 1000),
    );
    let table = Table::empty(&workload, &places);
    let together = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (table, relations, own) = (&table, &relations, workload.build_of(thread));
            let together = &together;
            scope.spawn(move || {
                together.wait();
                for tuple in own {
                    table.insert(relations.build_tuple(tuple));
                }
            });
        }
    });
    for key in 0..KEYS {
        let (mut bucket, mut there, mut buckets) = (Some(table.head(key)), 0, 0);
        while let Some(visited) = bucket {
            let (count, _) = visited.load_count(&mut Untraced, Dep::NONE);
            for tuple in 0..count {
                assert_eq!(visited.load_key(&mut Untraced, tuple, Dep::NONE), key);
                there += 1;
            }
            bucket = table.load_next(&mut Untraced, visited, Dep::NONE).0;
            buckets += 1;
        }
        assert_eq!((there, buckets), (EACH, EACH / 2), "key {key}");
    }
}

/// The stores into partitions of the last pass.
fn stores(workload: &ParallelJoinWorkload, site: Site) -> Vec<Event> {
    let join = prepared(workload);
    let last = PARTITIONS + 2 * (workload.passes as usize - 1);
    let partitions = addresses(&join, last).start..addresses(&join, last + 1).end;
    let events = run(&join, workload.threads).0.concat();
    events
        .into_iter()
        .filter(|event| event.kind.is_store() && event.site == u16::from(site))
        .filter(|event| partitions.contains(&event.address))
        .collect()
}

#[test]
fn buffers_write_whole_lines_but_where_partitions_begin_and_end() {
    let alone = ParallelJoinWorkload {
        write_combining: false,
        ..LARGER
    };
    let stores_alone = stores(&alone, Site::Scatter);
    assert_eq!(stores_alone.len(), 8000);
    assert!(stores_alone.iter().all(|store| store.size == 16));
    let lines = stores(&LARGER, Site::BufferWrite);
    let bytes: u64 = lines.iter().map(|line| u64::from(line.size)).sum();
    assert_eq!(bytes, 8000 * 16);
    assert!(
        lines
            .iter()
            .all(|line| line.address % 64 + u64::from(line.size) <= 64)
    );
    let whole = lines.iter().filter(|line| line.size == 64).count();
    assert!(whole > 1700, "{whole} of {}", lines.len());
}

#[test]
fn whole_lines_go_past_the_caches_and_parts_through_them() {
    let lines = stores(&LARGER, Site::BufferWrite);
    let past = ParallelJoinWorkload {
        non_temporal: true,
        ..LARGER
    };
    let expected: Vec<Event> = lines
        .into_iter()
        .map(|store| Event {
            kind: if store.size == 64 {
                Kind::StoreNta
            } else {
                Kind::Store
            },
            ..store
        })
        .collect();
    assert_eq!(stores(&past, Site::BufferWrite), expected);
}

#[test]
fn tasks_are_divided_by_their_tuples() {
    let workload = ParallelJoinWorkload {
        skew: 0.0,
        ..LARGER
    };
    let join = prepared(&workload);
    run(&join, 3);
    let Structures::Partitions(board) = &join.structures else {
        unreachable!("a radix join partitions");
    };
    let memory = board.all().pop().expect("it has run");
    let of_thread = |thread| {
        let mut tasks = Tasks::new(&memory, (1, 64), Wanted::Both).planned(thread, 3);
        let taken = std::iter::from_fn(|| tasks.next(&mut Untraced));
        taken
            .flat_map(|task| task.tuples)
            .map(|tuples| tuples.len())
            .sum::<usize>()
    };
    let tuples = [0, 1, 2].map(of_thread);
    assert_eq!(tuples.iter().sum::<usize>(), 8000);
    assert!(
        tuples.iter().all(|&tuples| tuples.abs_diff(8000 / 3) < 200),
        "{tuples:?}"
    );
}

#[test]
fn partitions_without_build_tuples_are_not_joined() {
    let workload = ParallelJoinWorkload {
        keys: Keys::Dense,
        build_tuples: 5,
        ..LARGER
    };
    let join = prepared(&workload);
    run(&join, 3);
    let Structures::Partitions(board) = &join.structures else {
        unreachable!("a radix join partitions");
    };
    let memory = board.all().pop().expect("it has run");
    let tasks = |thread| {
        let mut tasks = Tasks::new(&memory, (1, 64), Wanted::Both).planned(thread, 3);
        std::iter::from_fn(|| tasks.next(&mut Untraced)).count()
    };
    assert_eq!((0..3).map(tasks).sum::<usize>(), 5);
}

#[test]
fn partitions_of_one_size_do_not_begin_in_one_cache_set() {
    for passes in [1, 2] {
        let workload = ParallelJoinWorkload {
            keys: Keys::Dense,
            build_tuples: 1 << 14,
            threads: 1,
            passes,
            ..LARGER
        };
        let join = prepared(&workload);
        run(&join, 1);
        let Structures::Partitions(board) = &join.structures else {
            unreachable!("a radix join partitions");
        };
        let memory = board.all().pop().expect("it has run");
        let last = passes as usize - 1;
        let begins = tasks(&memory, &workload, last).into_iter().map(|task| {
            let first = 2 * task.tuples[BUILD].start;
            memory.partitions(last, BUILD).address(first)
        });
        // A first cache of 64 sets.
        let sets: HashSet<_> = begins.map(|address| address / 64 % 64).collect();
        assert!(sets.len() > 40, "{} sets in {passes} passes", sets.len());
    }
}

#[test]
fn inputs_are_what_was_asked_for() {
    let workload = ParallelJoinWorkload {
        keys: Keys::Dense,
        skew: 1.0,
        match_share: 0.5,
        build_tuples: 1000,
        probe_tuples: 100_000,
        ..LARGER
    };
    let relations = Relations::draw(&Inputs::of(&workload));
    let mut build = keys(&relations, BUILD);
    let most_frequent = build[0];
    assert!(!build.is_sorted());
    build.sort_unstable();
    assert!(build.into_iter().eq(1..=1000));
    let probe = keys(&relations, PROBE);
    let matches = probe.iter().filter(|&&key| key <= 1000).count();
    assert!(matches.abs_diff(50_000) < 800, "{matches}");
    // By Zipf's law, beside the other 999 keys.
    let harmonic: f64 = (1..=1000).map(|rank| 1.0 / f64::from(rank)).sum();
    let often = probe.iter().filter(|&&key| key == most_frequent).count() as f64;
    assert!((often - 50_000.0 / harmonic).abs() < 500.0, "{often}");
}

#[test]
fn more_passes_than_bits_are_refused() {
    let mut workload = ParallelJoinWorkload {
        radix_bits: 1,
        ..LARGER
    };
    let error = workload.validate().expect_err("a pass without bits");
    assert_eq!(error.path, "passes");
    assert!(error.message.starts_with("2 passes partition by 1 bits"));
    workload.algorithm = Algorithm::NoPartitioning;
    assert_eq!(workload.validate(), Ok(()));
}
