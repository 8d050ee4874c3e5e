//! Joins of tuples whose lengths differ: what is read to know them, and what is prefetched.

use super::run::JoinRun;
use super::tests::{ALGORITHMS, events, found, inspected, oracle, run};
use super::tuples::{Side, Tuples};
use super::{JoinAlgorithm, JoinWorkload};
use crate::family::{Family, Kernel};
use crate::join::lengths::TupleLengths;
use crate::join::nearly_sorted::TupleOrder;
use crate::join::sites::Site;
use crate::join::tuple::Source;
use std::collections::{HashMap, HashSet};
use traces::{Event, Kind};

/// Tuples of 20 to 140 bytes.
fn uneven(algorithm: JoinAlgorithm) -> JoinWorkload {
    JoinWorkload {
        algorithm,
        tuple_lengths: TupleLengths::Uniform,
        tuple_bytes: 140,
        ..inspected()
    }
}

fn of(events: &[Event], kind: Kind, site: Site) -> impl Iterator<Item = &Event> {
    let site = site as u16;
    events
        .iter()
        .filter(move |event| event.kind == kind && event.site == site)
}

/// Nothing found, nothing there, one key, each tuple of either length: by every algorithm.
#[test]
fn extremes_are_joined_by_every_algorithm() {
    let changes: [fn(JoinWorkload) -> JoinWorkload; 7] = [
        |base| JoinWorkload {
            match_share: 0.0,
            ..base
        },
        |base| JoinWorkload {
            build_tuples: 0,
            ..base
        },
        |base| JoinWorkload {
            probe_tuples: 0,
            ..base
        },
        |base| JoinWorkload {
            build_tuples: 60,
            probe_tuples: 90,
            duplicates: 60,
            ..base
        },
        |base| JoinWorkload {
            tuple_bytes: 20,
            ..base
        },
        |base| JoinWorkload {
            shortest_tuple_bytes: 140,
            ..base
        },
        |base| JoinWorkload {
            skew: 1.0,
            duplicates: 3,
            threads: 2,
            partitions: 3,
            prefetch_distance: 5,
            ..base
        },
    ];
    for algorithm in ALGORITHMS {
        for (number, change) in changes.iter().enumerate() {
            let workload = change(uneven(algorithm));
            let found = found(&run(&workload));
            assert_eq!(found, oracle(&workload), "{algorithm:?}, {number}");
        }
    }
}

/// The checksum knows every word: a tuple that is a word longer, or has another's words, gives another one.
#[test]
fn the_checksum_notices_every_word() {
    let workload = uneven(JoinAlgorithm::Grace);
    let tuples = Tuples::new(&workload, 0, Side::Build);
    let tuple = tuples.at(7);
    let words = |tuple: crate::join::tuple::Tuple| -> Vec<u32> { tuple.words().collect() };
    assert_eq!(words(tuple).len(), tuple.bytes as usize / 4);
    assert_eq!(words(tuple)[..3], [tuple.key, tuple.bytes, 7]);
    let distinct: HashSet<u32> = words(tuple).into_iter().collect();
    assert_eq!(distinct.len(), words(tuple).len());
    let other = words(tuples.at(8));
    let same = words(tuple).into_iter().zip(other);
    assert!(
        same.filter(|(one, other)| one == other).count() <= 1,
        "lengths may be equal"
    );
}

/// A table's cell is a pointer, so a build tuple says itself how long it is; a probe tuple's slot has said it, unless slots do without or the
/// tuple comes from a buffer of pairs. Each is read once for each output tuple.
#[test]
fn lengths_are_read_where_nobody_has_told_them() {
    for (algorithm, of_probe) in [
        (JoinAlgorithm::Grace, false),
        (JoinAlgorithm::Group, false),
        (JoinAlgorithm::Pipelined, false),
        (JoinAlgorithm::CachePartitioning, false),
        (JoinAlgorithm::EnhancedCachePartitioning, true),
        (JoinAlgorithm::Inspector, true),
    ] {
        let workload = uneven(algorithm);
        let (events, outcome) = events(&workload);
        let pairs = found(&outcome).0 as usize;
        assert!(pairs > 5000);
        for (key, copy, told) in [
            (Site::BuildKey, Site::BuildCopy, true),
            (Site::ProbeKey, Site::ProbeCopy, of_probe),
        ] {
            let keys: HashSet<u64> = of(&events, Kind::Load, key)
                .map(|event| event.address)
                .collect();
            // Of two words that are loaded alone, the key's is at the beginning.
            let lengths = of(&events, Kind::Load, copy)
                .filter(|event| event.size == 4 && keys.contains(&(event.address - 4)));
            // A copy's last step may be one word, but it is not the second one.
            let lengths = lengths.count();
            assert_eq!(
                lengths,
                if told { pairs } else { 0 },
                "{algorithm:?}, {key:?}"
            );
        }
    }
}

/// As many bytes are copied as tuples have, and no more.
#[test]
fn output_tuples_are_as_long_as_their_parts() {
    for algorithm in [JoinAlgorithm::Grace, JoinAlgorithm::Inspector] {
        let workload = JoinWorkload {
            build_tuples: 500,
            probe_tuples: 700,
            ..uneven(algorithm)
        };
        let (events, _) = events(&workload);
        let written: u64 = of(&events, Kind::Store, Site::OutputCopy)
            .map(|event| u64::from(event.size))
            .sum();
        let side = |side| {
            let tuples = Tuples::new(&workload, 0, side);
            (0..tuples.count())
                .map(|number| tuples.at(number))
                .collect::<Vec<_>>()
        };
        let build: HashMap<u32, u32> = side(Side::Build)
            .into_iter()
            .map(|tuple| (tuple.key, tuple.bytes))
            .collect();
        let pairs = side(Side::Probe).into_iter();
        let pairs = pairs.filter_map(|probe| Some(probe.bytes + build.get(&probe.key)?));
        assert_eq!(written, pairs.map(u64::from).sum::<u64>());
    }
}

/// What is visited was prefetched, however long it is.
#[test]
fn build_tuples_are_prefetched() {
    for (algorithm, phase) in [
        (JoinAlgorithm::Group, 2),
        (JoinAlgorithm::Pipelined, 2),
        (JoinAlgorithm::EnhancedCachePartitioning, 3),
        (JoinAlgorithm::Inspector, 3),
    ] {
        let workload = JoinWorkload {
            prefetch_distance: 4,
            ..uneven(algorithm)
        };
        let (events, _) = events(&workload);
        let (mut now, mut asked, mut visited, mut missed) = (0, HashSet::new(), 0, 0);
        for event in &events {
            let last = event.address + u64::from(event.size.max(1)) - 1;
            let mut lines = event.address / 64..=last / 64;
            match event.kind {
                Kind::Mark => {
                    now = event.address;
                    asked.clear();
                }
                Kind::Prefetch | Kind::PrefetchNta => drop(asked.insert(event.address / 64)),
                Kind::Load if now == phase => {
                    let sites = [
                        Site::BuildKey,
                        Site::BuildCopy,
                        Site::ProbeKey,
                        Site::ProbeCopy,
                    ];
                    if sites.map(|site| site as u16).contains(&event.site) {
                        visited += 1;
                        missed += u32::from(lines.any(|line| !asked.contains(&line)));
                    }
                }
                _ => {}
            }
        }
        // A page's first line was asked for with its header, by nobody.
        assert!(
            visited > 60_000 && missed < 300,
            "{algorithm:?}: {missed} of {visited}"
        );
    }
}

/// All lines of an input page are prefetched once, tuples and slots, and none behind the last tuple.
#[test]
fn input_pages_are_prefetched_once() {
    for page_ahead in [0, 6] {
        let workload = JoinWorkload {
            page_ahead,
            ..uneven(JoinAlgorithm::Simple)
        };
        let layout = JoinRun::new(&workload).layout();
        let paging = workload.paging(0, Side::Build);
        let build = layout
            .segments
            .iter()
            .find(|one| one.name == "build tuples");
        let build = build.expect("there is one");
        assert_eq!(build.size_bytes, paging.pages() * 8192);
        let (events, _) = events(&workload);
        let lines: Vec<u64> = of(&events, Kind::Prefetch, Site::PagePrefetch)
            .filter(|event| (build.base..build.base + build.size_bytes).contains(&event.address))
            .map(|event| event.address / 64)
            .collect();
        let distinct: HashSet<u64> = lines.iter().copied().collect();
        // A line may hold the end of the tuples and the first slots.
        let twice = (lines.len() - distinct.len()) as u64;
        assert!(twice < paging.pages(), "{page_ahead}: {twice}");
        // But for the header's line, and up to three between the tuples and the slots; the last page is not full.
        let full = paging.pages() - 1;
        let asked = lines.len() as u64;
        assert!(
            (124 * full..127 * (full + 1)).contains(&asked),
            "{asked} of {full} pages"
        );
    }
}

/// Pages hold as many tuples as fit: of 88 bytes on average with their slots.
#[test]
fn pages_hold_as_many_as_fit() {
    let paging = uneven(JoinAlgorithm::Grace).paging(0, Side::Build);
    let least = 3000_u64.div_ceil(8160 / 88);
    assert!(
        (least..least + 2).contains(&paging.pages()),
        "{}",
        paging.pages()
    );
    let counts: HashSet<u32> = (0..paging.pages() - 1)
        .map(|page| paging.on_page(page))
        .collect();
    assert!(counts.len() > 8, "{counts:?}");
}

/// Both sides of sort-merge's partitions have pages of their own, in order and out of order.
#[test]
fn sorted_relations_are_merged() {
    for displaced in [0.0, 0.03] {
        let workload = JoinWorkload {
            order: TupleOrder::NearlySorted,
            displaced,
            duplicates: 2,
            ..uneven(JoinAlgorithm::SortMerge)
        };
        assert_eq!(found(&run(&workload)), oracle(&workload));
    }
}

#[test]
fn inspectors_refuse_what_could_be_too_many_sub_partitions() {
    // 20,000 tuples take 216 pages of 92 on average, and 364 of 55 if all are of the longest.
    let workload = JoinWorkload {
        build_tuples: 20_000,
        cache_bytes: 8192,
        ..uneven(JoinAlgorithm::Inspector)
    };
    let error = workload.validate().expect_err("a byte tells 255");
    assert_eq!(error.path, "cache_bytes");
    let fewer = JoinWorkload {
        build_tuples: 13_000,
        ..workload
    };
    fewer.validate().expect("at most 237");
    assert_eq!(found(&run(&fewer)), oracle(&fewer));
}
