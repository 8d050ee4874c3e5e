//! Every interleaving against what is known of the table: each probe finds its key's payload.

use super::keys::ProbeKeys;
use super::run::ProbeRun;
use super::sites::Site;
use super::table::Table;
use super::{Interleaving, KeptTable, ProbeWorkload, Results};
use crate::buckets::{Keys, payload};
use crate::family::{Family, Kernel};
use crate::outcome::{Checksum, Outcome};
use crate::tracer::{Dep, Token, Trace, Tracer, Untraced};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use traces::{Event, Kind};

const ALL: [Interleaving; 4] = [
    Interleaving::OneByOne,
    Interleaving::Group,
    Interleaving::Amac,
    Interleaving::Coroutine,
];

fn prepared(workload: &ProbeWorkload) -> ProbeRun {
    workload.validate().expect("it can run");
    workload.prepare(&mut KeptTable::default()).unwrap()
}

fn run<T: Trace + Copy>(workload: &ProbeWorkload, trace: T) -> Outcome {
    let run = prepared(workload);
    let threads = 0..workload.threads;
    let outcomes = threads.map(|thread| run.run(thread, &mut { trace }));
    outcomes.fold(Outcome::default(), Outcome::and)
}

/// Loads and stores are the host's own, as natively.
#[derive(Clone, Copy)]
struct OnHost;

impl Trace for OnHost {
    const NATIVE: bool = true;

    fn emit(&mut self, _event: Event, _dep: Dep) -> Token {
        Token::NONE
    }

    fn work(&mut self, _instructions: u32) {}

    fn failed(&self) -> bool {
        false
    }
}

fn events(workload: &ProbeWorkload) -> Vec<Event> {
    let mut events = Vec::new();
    let mut tracer = Tracer::new(&mut events);
    prepared(workload).run(0, &mut tracer);
    tracer.finish().unwrap();
    events
}

/// The keys that are looked for.
fn keys(workload: &ProbeWorkload) -> Vec<u64> {
    let mut keys = ProbeKeys::new(workload, 0..workload.probe_tuples);
    let next = || keys.next::<Untraced>().map(|(_, key)| key);
    std::iter::from_fn(next).collect()
}

proptest! {
    #[test]
    fn every_probe_finds_its_match(
        interleaving in prop::sample::select(ALL.to_vec()),
        build_tuples in 1..600_u64,
        probe_tuples in 1..900_u64,
        keys_are in prop::sample::select(vec![Keys::Dense, Keys::Scattered]),
        bucket_tuples in 1..=2_u64,
        skew in prop::sample::select(vec![0.0, 0.5, 1.0, 2.0]),
        in_flight in 1..40_u32,
        results in prop::sample::select(vec![Results::Counted, Results::Stored]),
        threads in prop::sample::select(vec![1, 2, 7]),
        seed in 0..100_u64,
    ) {
        let workload = ProbeWorkload {
            interleaving, build_tuples, probe_tuples, keys: keys_are, bucket_tuples, skew, results, in_flight, threads, seed,
        };
        let outcome = run(&workload, Untraced);
        let mut checksum = Checksum::default();
        keys(&workload).into_iter().for_each(|key| checksum.add(payload(key)));
        prop_assert_eq!(outcome.metrics["operations"], probe_tuples);
        prop_assert_eq!(outcome.metrics["returned"], probe_tuples);
        prop_assert_eq!(outcome.metrics["checksum"], checksum.value());
        prop_assert_eq!(run(&workload, OnHost), outcome);
    }
}

#[test]
fn keys_are_as_often_looked_for_as_zipf_says() {
    let workload = ProbeWorkload {
        build_tuples: 1000,
        probe_tuples: 200_000,
        skew: 1.0,
        ..ProbeWorkload::default()
    };
    let mut times: HashMap<u64, f64> = HashMap::new();
    for key in keys(&workload) {
        *times.entry(key).or_default() += 1.0;
    }
    let harmonic: f64 = (1..=1000).map(|rank| 1.0 / f64::from(rank)).sum();
    for rank in [1_u64, 2, 10] {
        let expected = 200_000.0 / harmonic / rank as f64;
        let deviation = (times[&Keys::Scattered.of(rank)] - expected).abs() / expected.sqrt();
        assert!(deviation < 5.0, "{rank}: {deviation} standard deviations");
    }
}

#[test]
fn buckets_have_as_many_tuples_as_chance_gives_them() {
    let tuples = 1 << 16;
    let workload = ProbeWorkload {
        build_tuples: tuples,
        ..ProbeWorkload::default()
    };
    let table = Table::new(workload.table());
    let mut at = [0; 10];
    for key in (1..=tuples).map(|number| workload.keys.of(number)) {
        let (mut bucket, mut steps) = (table.bucket(key), 0);
        while (0..2).all(|tuple| table.memory.read(Table::key(bucket, tuple)) != key) {
            bucket = table.memory.read(Table::next(bucket));
            steps += 1;
        }
        at[steps] += 1;
    }
    // A bucket for two tuples has n of them with probability 2^n / (e^2 n!). The first of its chain is full before another comes behind it, and
    // the newest has two if n is even, else one.
    let (mut expected, mut probability) = ([0.0; 2], (-2.0_f64).exp());
    for tuples in 1..30_u32 {
        probability *= 2.0 / f64::from(tuples);
        let first = tuples.min(2);
        let newest = (tuples - first).min(2 - tuples % 2);
        expected[0] += probability * f64::from(first) / 2.0;
        expected[1] += probability * f64::from(newest) / 2.0;
    }
    for (share, expected) in at
        .map(|keys| f64::from(keys) / tuples as f64)
        .iter()
        .zip(expected)
    {
        assert!(
            (share - expected).abs() < 0.01,
            "{at:?}: {share}, {expected}"
        );
    }
}

/// As in the published program: no chain, so that the host's predictor knows what comes, and a probe loads its tuple, a key and a payload.
#[test]
fn dense_keys_fill_buckets_of_one_tuple() {
    let workload = ProbeWorkload {
        build_tuples: 1 << 10,
        probe_tuples: 500,
        keys: Keys::Dense,
        bucket_tuples: 1,
        ..ProbeWorkload::default()
    };
    let events = events(&workload);
    let of = |kind: Kind| events.iter().filter(move |event| event.kind == kind);
    assert_eq!(of(Kind::Load).count(), 3 * 500);
    assert_eq!(of(Kind::Op).count(), 0, "lower bits take no product");
    // The last branch finds no probe left; all others find one, and then its key.
    assert_eq!(
        of(Kind::Branch).filter(|event| event.address == 0).count(),
        1
    );
    let segments = prepared(&workload).layout().segments;
    let table = segments[0].base..segments[0].base + 32 * (1 << 10);
    let keys = of(Kind::Load).filter(|event| table.contains(&event.address));
    assert_eq!(keys.count(), 2 * 500);
}

/// Results lie one behind the other, and the rest of a run is what it is without them.
#[test]
fn stored_results_follow_each_other() {
    for interleaving in ALL {
        let counted = ProbeWorkload {
            interleaving,
            build_tuples: 300,
            probe_tuples: 500,
            ..ProbeWorkload::default()
        };
        let stored = ProbeWorkload {
            results: Results::Stored,
            ..counted.clone()
        };
        let all = events(&stored);
        let of = |event: &&Event| event.site >= Site::ResultPlace as u16;
        let results: Vec<&Event> = all.iter().filter(of).collect();
        let [.., result_places] = &prepared(&stored).layout().segments[..] else {
            panic!("there are segments");
        };
        let first = prepared(&stored).places.results(0, 0).0;
        assert_eq!(results.len(), 4 * 500);
        for (number, four) in (0..).zip(results.chunks(4)) {
            let [place, full, result, change] = four else {
                panic!("four events each");
            };
            assert_eq!(
                (place.kind, place.address),
                (Kind::Load, result_places.base)
            );
            assert_eq!((full.kind, full.address), (Kind::Branch, 0));
            assert_eq!((result.kind, result.size), (Kind::Store, 16));
            assert_eq!(result.address, first + 16 * number);
            assert_eq!((change.kind, change.address), (Kind::Store, place.address));
        }
        let others = all.iter().filter(|event| !of(event));
        let moved = |event: &Event| (event.kind, event.address, event.site);
        assert!(others.map(moved).eq(events(&counted).iter().map(moved)));
    }
}

#[test]
fn interleaved_probes_prefetch_each_bucket_before_they_visit_it_with_others_between() {
    for interleaving in Interleaving::INTERLEAVED {
        let workload = ProbeWorkload {
            interleaving,
            build_tuples: 1000,
            probe_tuples: 500,
            in_flight: 8,
            ..ProbeWorkload::default()
        };
        let buckets = {
            let segments = &prepared(&workload).layout().segments;
            segments[0].base..segments[0].base + segments[0].size_bytes
        };
        let (mut asked, mut between, mut unasked) = (HashMap::new(), Vec::new(), 0);
        let mut visited = HashSet::new();
        for (number, event) in events(&workload).iter().enumerate() {
            let bucket = event.address & !63;
            match event.kind {
                Kind::Prefetch => {
                    assert!(buckets.contains(&event.address), "{event:?}");
                    asked.insert(bucket, number);
                    visited.remove(&bucket);
                }
                Kind::Load if buckets.contains(&event.address) && visited.insert(bucket) => {
                    match asked.get(&bucket) {
                        Some(asked) => between.push(number - asked),
                        None => unasked += 1,
                    }
                }
                _ => {}
            }
        }
        // The other seven begin or visit theirs in between; at the end there are fewer.
        between.sort_unstable();
        assert!(
            between[between.len() / 4] > 30,
            "{interleaving:?}: {between:?}"
        );
        // Groups finish what visits a third bucket alone.
        let most = if interleaving == Interleaving::Group {
            50
        } else {
            0
        };
        assert!(unasked <= most, "{interleaving:?}: {unasked}");
    }
}

/// A bucket's address takes two instructions more than its hash, for a load as for a prefetch.
#[test]
fn the_address_of_a_bucket_takes_as_long_for_a_load_as_for_a_prefetch() {
    for (interleaving, site) in [
        (Interleaving::OneByOne, Site::Key),
        (Interleaving::Amac, Site::BucketPrefetch),
    ] {
        let events = events(&ProbeWorkload {
            interleaving,
            build_tuples: 1000,
            probe_tuples: 500,
            keys: Keys::Scattered,
            ..ProbeWorkload::default()
        });
        let of = |number: usize, site: Site| events[number].site == site as u16;
        let at_heads = (0..events.len()).filter(|&number| {
            let back = events[number].dep as usize;
            of(number, site) && of(number - back, Site::Hash)
        });
        let at_heads: Vec<_> = at_heads.collect();
        assert!(at_heads.len() >= 500, "{}", at_heads.len());
        assert!(at_heads.iter().all(|&number| events[number].chain == 2));
    }
}

/// A state comes from the store that left it, and is there when what leads to the probe's next bucket is.
#[test]
fn a_state_waits_for_what_it_was_made_of() {
    for (interleaving, left, read) in [
        (Interleaving::Group, Site::StateChange, Site::State),
        (Interleaving::Amac, Site::StateChange, Site::State),
        (
            Interleaving::Coroutine,
            Site::RegistersChange,
            Site::Registers,
        ),
    ] {
        let events = events(&ProbeWorkload {
            interleaving,
            ..ProbeWorkload::default()
        });
        let awaited = |number: usize| {
            let back = events[number].dep as usize;
            (back > 0).then(|| number - back)
        };
        let mut made_of = HashMap::new();
        let mut waiting = 0;
        for (number, event) in events.iter().enumerate() {
            if event.site == left as u16 {
                made_of.insert(event.address, awaited(number));
            }
            if event.site == read as u16 {
                let waits = awaited(number);
                assert_eq!(waits, made_of[&event.address], "{interleaving:?}: {number}");
                waiting += usize::from(waits.is_some());
            }
        }
        assert!(waiting > 1000, "{interleaving:?}: {waiting}");
    }
}
