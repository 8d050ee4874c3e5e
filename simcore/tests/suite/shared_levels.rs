//! Levels that cores share, before which cores are asked for a line: what stays in them, and what is counted there.

use crate::coherence::{coherence, coherent, increments, mesi, one_by_one};
use crate::common::*;
use crate::multicore::on_cores;
use simcore::spec::{CoherenceProtocol, Inclusion, PrefetcherSpec};
use traces::Event;

#[test]
fn before_an_exclusive_level_both_protocols_are_one() {
    let run = |protocol| {
        let mut spec = coherent(protocol);
        spec.caches[2].inclusion = Inclusion::Exclusive;
        let reads =
            |line: u64| (0..200).map(move |number| after(1, load(line * number % 64 * LINE)));
        let threads: Vec<Vec<Event>> = (0..3)
            .map(|core| {
                increments(0, 40)
                    .into_iter()
                    .chain(reads(core + 1))
                    .collect()
            })
            .collect();
        on_cores(&spec, &threads)
    };
    let (mesi, moesi) = (run(CoherenceProtocol::Mesi), run(CoherenceProtocol::Moesi));
    assert!(coherence(&mesi, 0).transfers > 0);
    assert_eq!(mesi, moesi);
}

/// What cores have may be newer than memory, so that prefetchers of what they share leave it to them.
#[test]
fn a_shared_prefetcher_leaves_lines_that_cores_have() {
    for inclusion in [Inclusion::NonInclusive, Inclusion::Exclusive] {
        let mut spec = mesi();
        spec.caches[2].inclusion = inclusion;
        spec.caches[2].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
        let line = |number: u64| number * LINE;
        let events = [
            (0, store(line(101))),
            (1, load(line(100))),
            (1, load(line(101))),
        ];
        let statistics = on_cores(&spec, &one_by_one(&events));
        let prefetched = statistics.cores[1].caches[2].prefetchers.expect("one");
        assert_eq!(prefetched.issued, 0, "{inclusion:?}");
        assert_eq!(coherence(&statistics, 1).transfers, 1);
    }
}

/// A core takes a line that another has written and evicted, into the second of two exclusive levels by then: what is there is old.
#[test]
fn a_store_takes_the_line_out_of_all_exclusive_levels_that_cores_share() {
    let mut spec = coherent(CoherenceProtocol::Moesi);
    for (cache, ways) in spec.caches.iter_mut().zip([1, 1, 2]) {
        cache.ways = ways;
        cache.size_bytes = LINE * u64::from(ways);
    }
    for cache in &mut spec.caches[1..] {
        cache.inclusion = Inclusion::Exclusive;
        cache.shared = true;
    }
    let line = |number: u64| load(number * LINE);
    let wanted = 1000 * LINE;
    let mut events = vec![
        (0, store(wanted)),
        (1, load(wanted)),
        (0, line(1)),
        (0, line(2)),
        (1, store(wanted)),
    ];
    events.extend((3..11).map(|number| (0, line(number))));
    events.push((1, line(50)));
    events.extend((60..68).map(|number| (0, line(number))));
    let statistics = on_cores(&spec, &one_by_one(&events));
    assert_eq!(statistics.together.bus.write_backs, 1);
}

/// Core 1 asks for a line before core 0, which came first: it finds the line on its way to the level that both share.
#[test]
fn every_miss_of_a_cores_own_caches_is_a_look_up_behind_them_or_a_transfer() {
    let mut spec = mesi();
    spec.caches.truncate(2);
    spec.caches[1].shared = true;
    let line = |number: u64| load(number * LINE);
    let traces = [
        vec![line(1), after(1, line(100))],
        vec![line(2), after(1, line(3)), line(100)],
    ];
    let statistics = on_cores(&spec, &traces);
    let sum = |of: &dyn Fn(usize) -> u64| (0..2).map(of).sum::<u64>();
    let misses = sum(&|core| statistics.cores[core].caches[0].counts.misses);
    let looked_up = sum(&|core| statistics.cores[core].caches[1].accesses);
    let transfers = sum(&|core| coherence(&statistics, core).transfers);
    assert_eq!((misses, looked_up + transfers), (5, 5));
    assert_eq!(transfers, 0, "nobody has it yet");
}
