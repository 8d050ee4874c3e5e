//! Every algorithm against a dictionary of the build keys, and what each leaves in memory; of tuples of 8 bytes and of 16.

use super::memory::Memory;
use super::places::{BUCKETS, OVERFLOW, PARTITIONS, Places, Sizes};
use super::relations::{BUILD, Inputs, PROBE, Relations};
use super::run::{JoinRun, Structures};
use super::sites::Site;
use super::table::{Table, overflow_buckets};
use super::tasks::{Task, Tasks, Wanted};
use super::tuple_word::TupleWord;
use super::{Algorithm, KeptRelations, Keys, ParallelJoinWorkload};
use crate::buckets::{key_at, payload};
use crate::family::{Family, Kernel};
use crate::outcome::{Checksum, Outcome};
use crate::threads::{begin, outcome, take_turns};
use crate::tracer::{Dep, Untraced};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use traces::{Event, EventSource, Kind};

mod sizes;

/// Tests of words, for those of 4 bytes and of 8.
macro_rules! of_both_sizes {
    ($($test:ident)+) => {
        $(mod $test {
            #[test]
            fn of_8_bytes() {
                super::$test::<u32>();
            }

            #[test]
            fn of_16_bytes() {
                super::$test::<u64>();
            }
        })+
    };
}

of_both_sizes! {
    threads_do_the_same_whoever_runs_first
    each_build_tuple_goes_to_a_place_of_its_own_under_a_latch
    latches_hold
    buffers_write_whole_lines_but_where_partitions_begin_and_end
    whole_lines_go_past_the_caches_and_parts_through_them
    tasks_are_divided_by_their_tuples
    partitions_without_build_tuples_are_not_joined
    partitions_of_one_size_do_not_begin_in_one_cache_set
    inputs_are_what_was_asked_for
}

fn prepared<W: TupleWord>(workload: &ParallelJoinWorkload) -> JoinRun<W> {
    workload.validate().expect("it can run");
    assert_eq!(u64::from(workload.tuple_bytes), W::TUPLE_BYTES);
    let relations = Relations::draw(&Inputs::of(workload));
    JoinRun::new(workload, Arc::new(relations))
}

/// The keys of a relation.
fn keys<W: TupleWord>(relations: &Relations<W>, relation: usize) -> Vec<W> {
    let tuples = 0..relations.tuples_of(relation);
    tuples
        .map(|tuple| relations.tuples[relation].get(2 * tuple))
        .collect()
}

/// What a dictionary join finds.
fn oracle<W: TupleWord>(relations: &Relations<W>) -> (u64, u64) {
    let mut build: HashMap<W, Vec<W>> = HashMap::new();
    for key in keys(relations, BUILD) {
        build.entry(key).or_default().push(payload(key));
    }
    let (mut matches, mut checksum) = (0, Checksum::default());
    for key in keys(relations, PROBE) {
        for &payload in build.get(&key).into_iter().flatten() {
            matches += 1;
            checksum.add(payload.to_u64());
        }
    }
    (matches, checksum.value())
}

fn found(outcome: &Outcome) -> (u64, u64) {
    (outcome.metrics["returned"], outcome.metrics["checksum"])
}

/// Runs all threads, each up to its next barrier; their events by thread, and what they leave.
fn run<K: Kernel + Clone + 'static>(join: &K, threads: u32) -> (Vec<Vec<Event>>, Outcome) {
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
    let bytes = prop::sample::select(vec![8, 16]);
    (algorithms, 2..9_u32, 1..3_u32, buffers, threads, bytes).prop_map(
        |(algorithm, radix_bits, passes, (write_combining, non_temporal), threads, tuple_bytes)| {
            ParallelJoinWorkload {
                algorithm,
                radix_bits,
                passes,
                write_combining,
                non_temporal,
                threads,
                tuple_bytes,
                ..ParallelJoinWorkload::default()
            }
        },
    )
}

/// What a test says of the words of a workload's tuples.
macro_rules! by_size {
    ($workload:expr, $test:ident($($argument:expr),*)) => {
        match $workload.tuple_bytes {
            8 => $test::<u32>($($argument),*),
            _ => $test::<u64>($($argument),*),
        }
    };
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
        workload.validate().expect("it can run");
        // As users prepare it.
        let join = workload.prepare(&mut KeptRelations::default()).unwrap();
        let (_, outcome) = run(&join, workload.threads);
        let expected = by_size!(workload, drawn_oracle(&workload));
        prop_assert_eq!(found(&outcome), expected);
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
        spread in prop::sample::select(vec![1_u64, 8, 1 << 12, 1 << 26]),
    ) {
        let (build_tuples, probe_tuples) = (build.len() as u64, probe.len() as u64);
        let workload = ParallelJoinWorkload { build_tuples, probe_tuples, ..way };
        let keys = [build, probe].map(|keys| keys.into_iter().map(|key| key * spread).collect());
        by_size!(workload, joins_match_twice(&workload, keys))?;
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
        by_size!(workload, tuples_are_in_their_partitions(&workload))?;
    }
}

fn drawn_oracle<W: TupleWord>(workload: &ParallelJoinWorkload) -> (u64, u64) {
    oracle(&Relations::<W>::draw(&Inputs::of(workload)))
}

fn joins_match_twice<W: TupleWord>(
    workload: &ParallelJoinWorkload,
    keys: [Vec<u64>; 2],
) -> Result<(), TestCaseError> {
    let [build, probe] = keys.map(|keys| keys.into_iter().map(W::from_u64));
    let relations = Relations::of(Inputs::of(workload), build, probe);
    let expected = oracle(&relations);
    let join = JoinRun::new(workload, Arc::new(relations));
    prop_assert_eq!(found(&run(&join, workload.threads).1), expected);
    // Another run finds nothing of the one before.
    prop_assert_eq!(found(&run(&join, workload.threads).1), expected);
    Ok(())
}

fn tuples_are_in_their_partitions<W: TupleWord>(
    workload: &ParallelJoinWorkload,
) -> Result<(), TestCaseError> {
    let join = prepared::<W>(workload);
    run(&join, workload.threads);
    let memory = partitioned(&join);
    let relations = Relations::<W>::draw(&Inputs::of(workload));
    let last = workload.passes as usize - 1;
    let (first_bits, bits) = (workload.pass_list()[0].bits, workload.radix_bits);
    for relation in [BUILD, PROBE] {
        let mut partitioned = Vec::new();
        for task in tasks(&memory, workload, last) {
            for tuple in task.tuples[relation].clone() {
                let key = memory.partitions(last, relation).get(2 * tuple);
                let paid = memory.partitions(last, relation).get(2 * tuple + 1);
                prop_assert_eq!(paid, payload(key));
                partitioned.push(key);
                // The lower bits come first.
                let key = key.to_u64();
                let (low, high) = (key & ((1 << first_bits) - 1), key >> first_bits);
                let of_key = if last == 0 {
                    low
                } else {
                    low << (bits - first_bits) | high & ((1 << (bits - first_bits)) - 1)
                };
                prop_assert_eq!(task.partition as u64, of_key);
            }
        }
        let mut all = keys(&relations, relation);
        all.sort_unstable();
        partitioned.sort_unstable();
        prop_assert_eq!(partitioned, all);
    }
    Ok(())
}

/// What the latest run of a radix join has left.
fn partitioned<W: TupleWord>(join: &JoinRun<W>) -> Arc<Memory<W>> {
    let Structures::Partitions(board) = &join.structures else {
        unreachable!("a radix join partitions");
    };
    board.all().pop().expect("it has run")
}

/// The tasks that a pass has left, each taken once.
fn tasks<W: TupleWord>(
    memory: &Memory<W>,
    workload: &ParallelJoinWorkload,
    pass: usize,
) -> Vec<Task> {
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

fn larger<W: TupleWord>() -> ParallelJoinWorkload {
    ParallelJoinWorkload {
        algorithm: Algorithm::Radix,
        build_tuples: 3000,
        probe_tuples: 5000,
        tuple_bytes: W::TUPLE_BYTES as u32,
        keys: Keys::Scattered,
        match_share: 0.8,
        skew: 0.7,
        radix_bits: 6,
        passes: 2,
        write_combining: true,
        non_temporal: false,
        threads: 3,
        seed: 1,
    }
}

/// Runs each thread up to its barriers in an order of theirs.
fn in_order<W: TupleWord>(join: &JoinRun<W>, order: &[usize]) -> Vec<Vec<Event>> {
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

fn threads_do_the_same_whoever_runs_first<W: TupleWord>() {
    for algorithm in [Algorithm::NoPartitioning, Algorithm::Radix] {
        let workload = ParallelJoinWorkload {
            algorithm,
            ..larger::<W>()
        };
        let join = prepared::<W>(&workload);
        let first = in_order(&join, &[0, 1, 2]);
        assert!(first.iter().all(|events| events.len() > 10_000));
        assert_eq!(first, in_order(&join, &[2, 1, 0]), "{algorithm:?}");
        assert_eq!(first, run(&join, 3).0, "{algorithm:?}");
    }
}

/// The addresses of a segment.
fn addresses<K: Kernel>(join: &K, segment: usize) -> std::ops::Range<u64> {
    let segment = &join.layout().segments[segment];
    segment.base..segment.base + segment.size_bytes
}

fn each_build_tuple_goes_to_a_place_of_its_own_under_a_latch<W: TupleWord>() {
    let workload = ParallelJoinWorkload {
        algorithm: Algorithm::NoPartitioning,
        ..larger::<W>()
    };
    let join = prepared::<W>(&workload);
    let (heads, behind) = (addresses(&join, BUCKETS), addresses(&join, OVERFLOW));
    // A line, or half of one.
    let bucket = 4 * W::TUPLE_BYTES;
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
                    let within = (event.address - heads.start) % bucket;
                    assert!(
                        [0, 1]
                            .map(|tuple| key_at(tuple, W::TUPLE_BYTES))
                            .contains(&within)
                    );
                    assert_eq!(u64::from(event.size), W::TUPLE_BYTES);
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
    // Segments end with a line.
    let lines = (opened * bucket).next_multiple_of(64);
    assert_eq!(lines, behind.end - behind.start);
    let in_heads = places.iter().filter(|place| heads.contains(place)).count();
    assert!(in_heads > 2000 && in_heads < 3000, "{in_heads}");
}

/// Threads of the host, all at once at few keys: the table has every tuple, and no more buckets than one thread would need.
fn latches_hold<W: TupleWord>() {
    const KEYS: u64 = 3;
    const EACH: u64 = 200_000;
    let workload = ParallelJoinWorkload {
        algorithm: Algorithm::NoPartitioning,
        build_tuples: KEYS * EACH,
        threads: 4,
        ..larger::<W>()
    };
    let keys = (0..workload.build_tuples).map(|tuple| W::from_u64(tuple % KEYS));
    let relations = Relations::<W>::of(Inputs::of(&workload), keys, std::iter::empty());
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
        let key = W::from_u64(key);
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
        assert_eq!((there, buckets), (EACH, EACH / 2), "key {key:?}");
    }
}

/// The stores into partitions of the last pass.
fn stores<W: TupleWord>(workload: &ParallelJoinWorkload, site: Site) -> Vec<Event> {
    let join = prepared::<W>(workload);
    let last = PARTITIONS + 2 * (workload.passes as usize - 1);
    let partitions = addresses(&join, last).start..addresses(&join, last + 1).end;
    let events = run(&join, workload.threads).0.concat();
    events
        .into_iter()
        .filter(|event| event.kind.is_store() && event.site == u16::from(site))
        .filter(|event| partitions.contains(&event.address))
        .collect()
}

fn buffers_write_whole_lines_but_where_partitions_begin_and_end<W: TupleWord>() {
    let alone = ParallelJoinWorkload {
        write_combining: false,
        ..larger::<W>()
    };
    let stores_alone = stores::<W>(&alone, Site::Scatter);
    assert_eq!(stores_alone.len(), 8000);
    assert!(
        stores_alone
            .iter()
            .all(|store| u64::from(store.size) == W::TUPLE_BYTES)
    );
    let lines = stores::<W>(&larger::<W>(), Site::BufferWrite);
    let bytes: u64 = lines.iter().map(|line| u64::from(line.size)).sum();
    assert_eq!(bytes, 8000 * W::TUPLE_BYTES);
    assert!(
        lines
            .iter()
            .all(|line| line.address % 64 + u64::from(line.size) <= 64)
    );
    let whole = lines.iter().filter(|line| line.size == 64).count();
    // All but those at both ends of a thread's part of a partition.
    let parts = lines.len() - whole;
    assert!(
        whole as u64 > 106 * W::TUPLE_BYTES && parts < 400,
        "{whole} of {}",
        lines.len()
    );
}

fn whole_lines_go_past_the_caches_and_parts_through_them<W: TupleWord>() {
    let lines = stores::<W>(&larger::<W>(), Site::BufferWrite);
    let past = ParallelJoinWorkload {
        non_temporal: true,
        ..larger::<W>()
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
    assert_eq!(stores::<W>(&past, Site::BufferWrite), expected);
}

fn tasks_are_divided_by_their_tuples<W: TupleWord>() {
    let workload = ParallelJoinWorkload {
        skew: 0.0,
        ..larger::<W>()
    };
    let join = prepared::<W>(&workload);
    run(&join, 3);
    let memory = partitioned(&join);
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

fn partitions_without_build_tuples_are_not_joined<W: TupleWord>() {
    let workload = ParallelJoinWorkload {
        keys: Keys::Dense,
        build_tuples: 5,
        ..larger::<W>()
    };
    let join = prepared::<W>(&workload);
    run(&join, 3);
    let memory = partitioned(&join);
    let tasks = |thread| {
        let mut tasks = Tasks::new(&memory, (1, 64), Wanted::Both).planned(thread, 3);
        std::iter::from_fn(|| tasks.next(&mut Untraced)).count()
    };
    assert_eq!((0..3).map(tasks).sum::<usize>(), 5);
}

fn partitions_of_one_size_do_not_begin_in_one_cache_set<W: TupleWord>() {
    for passes in [1, 2] {
        let workload = ParallelJoinWorkload {
            keys: Keys::Dense,
            build_tuples: 1 << 14,
            threads: 1,
            passes,
            ..larger::<W>()
        };
        let join = prepared::<W>(&workload);
        run(&join, 1);
        let memory = partitioned(&join);
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

fn inputs_are_what_was_asked_for<W: TupleWord>() {
    let workload = ParallelJoinWorkload {
        keys: Keys::Dense,
        skew: 1.0,
        match_share: 0.5,
        build_tuples: 1000,
        probe_tuples: 100_000,
        ..larger::<W>()
    };
    let relations = Relations::<W>::draw(&Inputs::of(&workload));
    let mut build = keys(&relations, BUILD);
    let most_frequent = build[0];
    assert!(!build.is_sorted());
    build.sort_unstable();
    assert!(build.into_iter().map(W::to_u64).eq(1..=1000));
    let probe = keys(&relations, PROBE);
    let matches = probe.iter().filter(|key| key.to_u64() <= 1000).count();
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
        ..larger::<u64>()
    };
    let error = workload.validate().expect_err("a pass without bits");
    assert_eq!(error.path, "passes");
    assert!(error.message.starts_with("2 passes partition by 1 bits"));
    workload.algorithm = Algorithm::NoPartitioning;
    assert_eq!(workload.validate(), Ok(()));
}
