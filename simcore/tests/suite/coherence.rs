//! What one core writes is new to the others: who gives them the line, and when.

use crate::common::random::{any_prefetching_machine_of, any_streaming_trace};
use crate::common::*;
#[cfg(feature = "dramsim3")]
use crate::dram::{DDR4, with_dram};
use crate::multicore::{Programs, on_cores, on_cores_of, on_cores_with};
#[cfg(feature = "dramsim3")]
use crate::storage::of_all_causes;
use proptest::prelude::*;
use simcore::multicore::MulticoreStatistics;
use simcore::spec::{
    CoherenceProtocol, CoherenceSpec, CoreKind, Inclusion, MachineSpec, PrefetcherSpec, WritePolicy,
};
use simcore::statistics::CoherenceStatistics;
use traces::{Event, Kind, Layout, Segment};

/// Cycles that a line takes from core to core.
const TRANSFER: u64 = 80;
/// Longer than anything that a test waits for.
pub const LONG: u64 = 4000;

pub fn coherent(protocol: CoherenceProtocol) -> MachineSpec {
    MachineSpec {
        cores: 4,
        coherence: Some(CoherenceSpec {
            protocol,
            transfer_cycles: TRANSFER as u32,
        }),
        ..machine()
    }
}

pub fn mesi() -> MachineSpec {
    coherent(CoherenceProtocol::Mesi)
}

pub fn coherence(statistics: &MulticoreStatistics, core: usize) -> CoherenceStatistics {
    statistics.cores[core].coherence.expect("coherent caches")
}

/// Cycles that one dependent load of `address` takes, `wait` cycles after everything else, on the last of the cores that run `traces`, and
/// what came out.
fn last_load_beside(
    spec: &MachineSpec,
    traces: &[Vec<Event>],
    address: u64,
) -> (u64, MulticoreStatistics) {
    let mut traces = traces.to_vec();
    let last = traces.len() - 1;
    traces[last].extend(delay(LONG));
    let busy_until = |statistics: &MulticoreStatistics| {
        let slots = &statistics.cores[last].slots;
        (slots.total - slots.drain).div_ceil(u64::from(spec.core.issue_width))
    };
    let without = on_cores(spec, &traces);
    traces[last].push(after(1, load(address)));
    let with = on_cores(spec, &traces);
    (busy_until(&with) - busy_until(&without), with)
}

/// So many increments of the word at `address`, each of which needs the one before.
pub fn increments(address: u64, count: usize) -> Vec<Event> {
    let one = [after(1, load(address)), after(1, store(address))];
    one.into_iter().cycle().take(2 * count).collect()
}

#[test]
fn a_line_that_another_core_has_written_comes_from_it() {
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        // The page is translated before, by a load of another line.
        let traces = [vec![store(0)], vec![load(8 * LINE)]];
        let (cycles, statistics) = last_load_beside(&coherent(protocol), &traces, 0);
        assert_eq!(cycles, TRANSFER, "{protocol:?}");
        let (writer, reader) = (coherence(&statistics, 0), coherence(&statistics, 1));
        assert_eq!((writer.transfers, writer.invalidations), (0, 0));
        assert_eq!((reader.transfers, reader.upgrades), (1, 0));
        assert_eq!(statistics.together.bus.fills, 2);
        let written = statistics.together.caches[1].counts.write_backs;
        assert_eq!(written, u64::from(protocol == CoherenceProtocol::Mesi));
        let waited = &statistics.cores[1].slots.dcache["other_cores"];
        assert!(waited.abs_diff(4 * TRANSFER) <= 4, "{waited}");
    }
}

#[test]
fn a_line_that_nobody_has_written_comes_from_who_alone_holds_it_and_then_from_what_all_share() {
    let alone = [vec![load(0)], vec![load(8 * LINE)]];
    assert_eq!(last_load_beside(&mesi(), &alone, 0).0, TRANSFER);
    let second = [delay(LONG / 2), vec![load(0)]].concat();
    let both = [vec![load(0)], second, vec![load(8 * LINE)]];
    let (cycles, statistics) = last_load_beside(&mesi(), &both, 0);
    assert_eq!(cycles, L3);
    assert_eq!(coherence(&statistics, 2), CoherenceStatistics::default());
}

/// The core that wrote it loads it from its own second level again, long after the other has asked, though the simulator comes to that first.
#[test]
fn what_its_owner_loads_from_its_own_caches_later_is_transferred_all_the_same() {
    let mut spec = mesi();
    spec.caches[0].size_bytes = LINE;
    spec.caches[0].ways = 1;
    // So many misses in as many sets, each of which needs the one before.
    let chain = |first: u64, count| {
        let pages = first..first + count;
        pages.map(|page| after(1, load((PAGE + LINE) * page)))
    };
    let run = |reloads: bool| {
        let mut owner = vec![store(0), after(1, load(16 * LINE))];
        owner.extend(chain(100, 25));
        owner.extend(reloads.then(|| after(1, load(0))));
        // It loads the line beside a chain that ends after the owner's, and begins a longer one with it.
        let mut reader = delay(LONG);
        reader.push(load(8 * LINE));
        reader.extend(chain(200, 30));
        reader.push(load(0));
        reader.extend(chain(300, 60));
        on_cores(&spec, &[owner, reader])
    };
    let (without, with) = (run(false), run(true));
    assert_eq!(without.cores[1].cycles, with.cores[1].cycles);
    assert_eq!(coherence(&with, 1).transfers, 1);
}

/// It takes the line from others when it asks them, and not when it would have.
#[test]
fn a_store_that_waits_for_a_miss_handler_is_transferred_after_that() {
    for kind in [CoreKind::OutOfOrder, CoreKind::InOrder] {
        let mut spec = mesi();
        spec.core.kind = kind;
        if kind == CoreKind::InOrder {
            spec.core.reorder_buffer = None;
        }
        spec.caches[0].mshrs = Some(1);
        let mut until = |transfer: u32| {
            if let Some(coherence) = &mut spec.coherence {
                coherence.transfer_cycles = transfer;
            }
            let writer = [delay(LONG), vec![prefetch(9 * LINE), store(0)]].concat();
            let threads = [writer, vec![load(0)], vec![load(0)]];
            on_cores(&spec, &threads).cores[0].cycles
        };
        // However little a transfer takes, it begins when the prefetched line is there.
        assert_eq!(until(180) - until(80), 100);
    }
}

#[test]
fn what_left_a_cores_own_caches_comes_from_behind_them() {
    let mut spec = mesi();
    // What the first level gives up takes the second's only place, until the next line goes through both.
    for cache in &mut spec.caches[..2] {
        cache.size_bytes = LINE;
        cache.ways = 1;
    }
    let others = [9, 10].map(|line| after(1, load(line * LINE)));
    let writer = [vec![store(0)], others.to_vec()].concat();
    let (cycles, statistics) = last_load_beside(&spec, &[writer, vec![load(8 * LINE)]], 0);
    assert_eq!(cycles, L3);
    assert_eq!(coherence(&statistics, 1).transfers, 0);
}

#[test]
fn where_no_cache_is_shared_any_core_that_holds_a_line_serves_it() {
    let mut spec = mesi();
    spec.caches.truncate(2);
    let second = [delay(LONG / 2), vec![load(0)]].concat();
    let (cycles, _) = last_load_beside(&spec, &[vec![load(0)], second, vec![load(8 * LINE)]], 0);
    assert_eq!(cycles, TRANSFER);
}

#[test]
fn cores_that_increment_one_word_take_its_line_from_each_other_in_turn() {
    let count = 200;
    let on = |spec: &MachineSpec, apart: u64| {
        let threads = [increments(0, count), increments(apart, count)];
        on_cores(spec, &threads)
    };
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        let spec = coherent(protocol);
        let (one_word, one_line, two_lines) = (on(&spec, 0), on(&spec, 4), on(&spec, LINE));
        let coherence = |statistics: &MulticoreStatistics| {
            statistics.together.coherence.expect("coherent caches")
        };
        // Each core has the line for as many increments as it makes before the other asks; it then waits for it again.
        let transfers = coherence(&one_word).transfers;
        assert!(transfers > 20, "{transfers}");
        let least = (transfers - 2) * TRANSFER / 2;
        assert!(one_word.together.cycles >= least);
        assert!(one_word.together.cycles > 3 * two_lines.together.cycles);
        assert_eq!(coherence(&one_word).false_sharing, 0);
        assert!(coherence(&one_word).true_sharing > 20);
        // The same line, and other parts of it.
        assert_eq!(one_line.together.cycles, one_word.together.cycles);
        assert_eq!(coherence(&one_line).true_sharing, 0);
        assert_eq!(
            coherence(&one_line).false_sharing,
            coherence(&one_word).true_sharing
        );
        assert_eq!(coherence(&two_lines), CoherenceStatistics::default());
        // Without coherence nobody notices the other.
        let apart = MachineSpec {
            coherence: None,
            ..spec
        };
        let (beside, alone) = (on(&apart, 0), on(&apart, LINE));
        assert!(beside.together.cycles <= alone.together.cycles);
    }
}

#[test]
fn a_line_that_several_cores_read_is_read_once_and_nobody_has_it_before() {
    let mut alone = mesi();
    alone.caches.truncate(2);
    for (spec, wait) in [(mesi(), 0), (alone, TRANSFER)] {
        let memories = [
            #[cfg(feature = "dramsim3")]
            with_dram(spec.clone(), DDR4),
            spec,
        ];
        for spec in memories {
            let found = on_cores(&spec, &vec![vec![load(0)]; 4]);
            assert_eq!(found.together.bus.fills, 1);
            let cycles: Vec<u64> = found.cores.iter().map(|core| core.cycles).collect();
            let (first, others) = cycles.split_first().expect("four cores");
            assert!(*first > 100, "from memory: {cycles:?}");
            assert!(
                others.iter().all(|other| *other >= first + wait),
                "{cycles:?}"
            );
        }
    }
}

#[cfg(feature = "dramsim3")]
#[test]
fn a_line_that_goes_from_core_to_core_is_read_once_from_dram() {
    let spec = with_dram(mesi(), DDR4);
    let count = 200;
    let found = on_cores(&spec, &[increments(0, count), increments(0, count)]);
    let transfers = found.together.coherence.expect("coherent caches").transfers;
    let dram = found.together.dram.expect("a DRAM inside");
    assert_eq!((dram.reads, found.together.bus.fills), (1, 1));
    assert!(transfers > 20, "{transfers}");
    for core in &found.cores {
        assert_eq!(of_all_causes(core), core.slots.total);
    }
    let others: u64 = found.together.slots.dcache["other_cores"];
    assert!(others >= 4 * (transfers - 2) * TRANSFER / 2, "{others}");
}

#[test]
fn a_store_to_a_line_that_others_read_takes_it_from_all_of_them() {
    let readers = |rest: Vec<Event>| [vec![load(0)], delay(LONG / 2), vec![load(0)], rest].concat();
    let writes = [delay(LONG), vec![after(1, store(0))]].concat();
    let reads_again = [delay(2 * LONG), vec![after(1, load(4)), load(0)]].concat();
    let threads = [
        readers(writes),
        readers(reads_again.clone()),
        readers(reads_again),
    ];
    let statistics = on_cores(&mesi(), &threads);
    let [writer, second, third] = [0, 1, 2].map(|core| coherence(&statistics, core));
    assert_eq!((writer.upgrades, writer.invalidations), (1, 0));
    assert_eq!((second.invalidations, third.invalidations), (1, 1));
    // What the first miss of each uses was not written.
    assert_eq!(second.false_sharing + third.false_sharing, 2);
    assert_eq!(second.true_sharing + third.true_sharing, 0);
}

fn segment(name: &str, base: u64, size_bytes: u64) -> Segment {
    Segment {
        name: name.to_owned(),
        base,
        size_bytes,
    }
}

#[test]
fn false_sharing_is_counted_where_it_happens() {
    let layout = Layout {
        segments: vec![
            segment("counters", 0, LINE),
            segment("others", LINE, 64 * LINE),
        ],
        ..Layout::default()
    };
    let mixed = |word: u64| -> Vec<Event> {
        let counts = increments(word, 50);
        let others = (0..32).map(|line| load((1 + line) * LINE));
        counts.into_iter().chain(others).collect()
    };
    let threads = [mixed(0), mixed(8)];
    let together = on_cores_of(&mesi(), &threads, Programs::Threads, &layout).together;
    let rows = together.breakdown.iter().map(|row| {
        let lines = row.false_sharing.expect("coherent caches");
        (row.segment.as_str(), lines > 0)
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.contains(&("counters", true)) && rows.contains(&("others", false)));
}

#[test]
fn a_store_past_the_caches_takes_the_line_from_all() {
    let line = 5 * LINE;
    let past = Event::new(Kind::StoreNta, line);
    let writes = [delay(LONG), vec![after(1, past)]].concat();
    let again = [
        vec![store(line)],
        delay(2 * LONG),
        vec![after(1, load(line))],
    ]
    .concat();
    let statistics = on_cores(&mesi(), &[writes, again]);
    assert_eq!(coherence(&statistics, 1).invalidations, 1);
    assert_eq!(statistics.together.bus.write_backs, 1);
    assert_eq!(statistics.cores[1].bus.fills, 2);
}

/// Each of some events, on a core, when all before it have been run.
pub fn one_by_one(events: &[(usize, Event)]) -> Vec<Vec<Event>> {
    let cores = 1 + events.iter().map(|&(core, _)| core).max().unwrap_or(0);
    let meet = Event::new(Kind::Barrier, 0);
    let of = |core: usize| {
        let events = events.iter();
        let own = events.flat_map(move |&(at, event)| {
            let own = (at == core).then_some(event);
            own.into_iter().chain([meet])
        });
        own.collect()
    };
    (0..cores).map(of).collect()
}

/// Also out of those that all share, where who fetched it meanwhile has left it.
#[test]
fn a_line_that_goes_on_being_written_past_the_caches_is_fetched_again() {
    let half = |address| Event {
        size: 32,
        words: 2,
        ..Event::new(Kind::StoreNta, address)
    };
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        for inclusion in [
            Inclusion::NonInclusive,
            Inclusion::Inclusive,
            Inclusion::Exclusive,
        ] {
            let mut spec = coherent(protocol);
            spec.caches[2].inclusion = inclusion;
            let events = [
                (0, store(0)),
                (1, half(0)),
                (0, load(0)),
                (1, half(32)),
                (0, load(0)),
            ];
            let statistics = on_cores(&spec, &one_by_one(&events));
            assert_eq!(statistics.together.bus.fills, 3, "{inclusion:?}");
            assert_eq!(statistics.together.bus.write_backs, 1);
            assert_eq!(coherence(&statistics, 0).invalidations, 2);
        }
    }
}

#[test]
fn a_prefetched_line_that_another_core_takes_is_unused() {
    let writes = [delay(LONG), vec![after(1, store(5 * LINE))]].concat();
    let by_program = vec![prefetch(5 * LINE)];
    let statistics = on_cores(&mesi(), &[by_program, writes.clone()]);
    assert_eq!(statistics.cores[0].prefetches.unused, Some(1));
    let mut spec = mesi();
    spec.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    let statistics = on_cores(&spec, &[vec![load(4 * LINE)], writes]);
    let prefetched = statistics.cores[0].caches[0].prefetchers.expect("one");
    assert_eq!((prefetched.issued, prefetched.unused), (1, 1));
}

/// Core 0 writes the end of a line and the beginning of the next, both of which core 1 has read.
#[test]
fn of_a_store_to_two_lines_each_has_its_own_bytes() {
    let wide = Event {
        size: 8,
        ..store(LINE - 4)
    };
    let writes = [delay(LONG), vec![after(1, wide)]].concat();
    for (reads, shared) in [
        (LINE - 4, [1, 0]),
        (LINE - 8, [0, 1]),
        (LINE, [1, 0]),
        (LINE + 4, [0, 1]),
    ] {
        let first = [load(LINE - 8), load(LINE)];
        let again = [&first[..], &delay(2 * LONG), &[after(1, load(reads))]].concat();
        let statistics = on_cores(&mesi(), &[writes.clone(), again]);
        let found = coherence(&statistics, 1);
        assert_eq!([found.true_sharing, found.false_sharing], shared, "{reads}");
    }
}

/// Whoever has its turn first: events that take long are simulated at once.
#[test]
fn what_another_core_does_later_in_time_is_waited_for_by_nobody() {
    let late = vec![plain(60_000, store(0))];
    let again = || [delay(400), vec![after(1, load(8))]].concat();
    let reads = [vec![load(0)], again(), again()].concat();
    let alone = on_cores(&mesi(), std::slice::from_ref(&reads)).cores[0].cycles;
    for protocol in [CoherenceProtocol::Mesi, CoherenceProtocol::Moesi] {
        let spec = coherent(protocol);
        let behind = on_cores(&spec, &[late.clone(), reads.clone()]);
        assert_eq!(behind.cores[1].cycles, alone, "{protocol:?}");
        let before = on_cores(&spec, &[reads.clone(), late.clone()]);
        assert_eq!(before.cores[0].cycles, alone, "{protocol:?}");
        assert_eq!(coherence(&before, 0).false_sharing, 0);
    }
}

/// The level behind has the data sooner than others have given the line up.
#[test]
fn a_store_to_a_line_that_others_read_waits_for_them_though_it_comes_from_behind() {
    let mut spec = mesi();
    // Each store waits for the one before, so that the last decides when the run ends.
    spec.core.store_buffer_entries = 1;
    let reads = |wait| [delay(wait), vec![after(1, load(0)), load(8 * LINE)]].concat();
    let writes = |line: u64| [delay(LONG), vec![after(1, store(line * LINE)), store(20)]].concat();
    let run = |line: u64| {
        let writer = [vec![load(9 * LINE)], writes(line)].concat();
        on_cores(&spec, &[reads(4), reads(LONG / 2), writer])
    };
    let (read_by_two, nobodys) = (run(0), run(100));
    assert_eq!(coherence(&read_by_two, 2).upgrades, 0);
    assert_eq!(coherence(&read_by_two, 2).transfers, 0);
    let waited = |statistics: &MulticoreStatistics| statistics.cores[2].slots.dcache["other_cores"];
    assert_eq!(waited(&nobodys), 0);
    assert!(waited(&read_by_two).abs_diff(4 * TRANSFER) <= 8);
}

#[test]
fn who_asks_for_a_line_while_its_owner_gives_it_to_another_waits_for_that() {
    let first = [vec![load(9 * LINE)], delay(LONG), vec![after(1, load(0))]].concat();
    // A line of its own comes to the third core a little later.
    let threads = [vec![store(0)], first, vec![load(8 * LINE)]];
    let (cycles, _) = last_load_beside(&mesi(), &threads, 0);
    let later = TRANSFER - cycles;
    assert!(0 < later && later <= 2 * T_NEXT, "{cycles}");
}

/// It holds nothing that cores have, so that it cannot keep what one of them gives another.
/// What writes or sends the line, in core 0, after core 1 has fetched it: the next part, or a load that sends it first.
#[test]
fn a_line_in_a_write_combining_buffer_is_taken_from_who_fetched_it_meanwhile() {
    let past = |address| Event::new(Kind::StoreNta, address);
    let line = 5 * LINE;
    for next in [past(line + 8), load(line)] {
        for (fetch, write_backs) in [(load(line), 0), (store(line), 1)] {
            let writes = [vec![past(line)], delay(LONG), vec![after(1, next)]].concat();
            let reads = [
                delay(LONG / 2),
                vec![after(1, fetch)],
                delay(LONG),
                vec![after(1, load(line))],
            ];
            let statistics = on_cores(&mesi(), &[writes, reads.concat()]);
            assert_eq!(coherence(&statistics, 1).invalidations, 1);
            assert_eq!(statistics.cores[1].caches[0].counts.misses, 2);
            assert_eq!(statistics.together.bus.write_backs, write_backs);
        }
    }
}

#[test]
fn a_core_whose_caches_were_emptied_has_lost_nothing_to_others() {
    let flush = || vec![Event::new(Kind::Flush, 0)];
    let loses = [
        vec![load(0)],
        delay(2 * LONG),
        flush(),
        delay(2 * LONG),
        vec![after(1, load(8))],
    ];
    let takes = [
        delay(LONG),
        vec![after(1, store(0))],
        delay(LONG),
        flush(),
        vec![load(0)],
    ];
    let statistics = on_cores(&mesi(), &[loses.concat(), takes.concat()]);
    assert_eq!(coherence(&statistics, 0).invalidations, 1);
    assert_eq!(coherence(&statistics, 0).false_sharing, 0);
}

#[test]
fn one_thread_has_nobody_to_ask() {
    let events = increments(0, 20);
    let statistics = on_cores(&mesi(), std::slice::from_ref(&events));
    assert_eq!(statistics.cores, [run(&machine(), &events)]);
}

#[test]
fn machines_that_cannot_be_coherent_are_refused() {
    let refused = |change: &dyn Fn(&mut MachineSpec)| {
        let mut spec = mesi();
        change(&mut spec);
        spec.validate().expect_err("no such machine").path
    };
    assert_eq!(refused(&|spec| spec.cores = 1), "coherence");
    assert_eq!(
        refused(&|spec| spec.caches[2].line_bytes = 128),
        "caches.2.line_bytes"
    );
    assert_eq!(
        refused(&|spec| spec.caches[1].write_allocate = false),
        "caches.1.write_policy"
    );
    // Another core is asked when the own caches have been, the second of which takes 5 cycles.
    for transfer_cycles in [0, 5] {
        let of = CoherenceSpec {
            protocol: CoherenceProtocol::Mesi,
            transfer_cycles,
        };
        assert_eq!(
            refused(&|spec| spec.coherence = Some(of)),
            "coherence.transfer_cycles"
        );
    }
}

/// Statistics without what only coherent caches have.
fn without_coherence(mut statistics: MulticoreStatistics) -> MulticoreStatistics {
    let cores = statistics.cores.iter_mut();
    for one in cores.chain([&mut statistics.together]) {
        one.coherence = None;
        one.slots.dcache.remove("other_cores");
        for row in &mut one.breakdown {
            row.slots.dcache.remove("other_cores");
            row.served.truncate(one.caches.len() + 1);
            row.false_sharing = None;
        }
    }
    statistics
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Where others reach into a core's caches anyway: else what it finds there waits for nobody's turn, and others come later.
    #[test]
    fn programs_that_share_nothing_do_not_notice_coherence(
        spec in any_prefetching_machine_of(3..4),
        traces in prop::collection::vec(any_streaming_trace(), 2..4),
    ) {
        let (mut spec, mut traces) = (spec, traces);
        for trace in &mut traces {
            trace.retain(|event| event.kind != Kind::Mark);
        }
        spec.cores = 4;
        for cache in &mut spec.caches {
            let sets = cache.sets();
            cache.line_bytes = LINE;
            cache.size_bytes = sets * LINE * u64::from(cache.ways);
            (cache.write_policy, cache.write_allocate) = (WritePolicy::WriteBack, true);
        }
        spec.caches[2].inclusion = Inclusion::Inclusive;
        let apart = |spec: &MachineSpec| on_cores_with(spec, &traces, Programs::Apart);
        let plain = apart(&spec);
        spec.coherence = mesi().coherence;
        let together = apart(&spec);
        for core in &together.cores {
            prop_assert_eq!(core.coherence, Some(CoherenceStatistics::default()));
        }
        prop_assert_eq!(without_coherence(together), plain);
    }
}
