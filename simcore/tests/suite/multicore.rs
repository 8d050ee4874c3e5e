//! Several cores in time order: what they share is shared, and what is private is not.

use crate::common::batches::Batches;
use crate::common::random::{any_prefetching_machine, any_streaming_trace};
use crate::common::*;
use proptest::prelude::*;
use simcore::multicore::{Multicore, MulticoreStatistics, ThreadOf};
use simcore::spec::{Inclusion, InstructionCacheSpec, MachineSpec, PageTableSpec, Replacement};
use traces::{Event, EventSource, Kind, Layout};

/// What runs on the cores.
#[derive(Clone, Copy)]
pub enum Programs {
    /// Threads of one.
    Threads,
    /// One for each core.
    Apart,
}

pub fn on_cores(spec: &MachineSpec, traces: &[Vec<Event>]) -> MulticoreStatistics {
    on_cores_with(spec, traces, Programs::Threads)
}

pub fn on_cores_with(
    spec: &MachineSpec,
    traces: &[Vec<Event>],
    programs: Programs,
) -> MulticoreStatistics {
    on_cores_of(spec, traces, programs, &Layout::default())
}

/// Traces whose segments have the names of `layout`.
pub fn on_cores_of(
    spec: &MachineSpec,
    traces: &[Vec<Event>],
    programs: Programs,
    layout: &Layout,
) -> MulticoreStatistics {
    let mut spec = spec.clone();
    spec.cores = 4;
    for cache in spec.caches.iter_mut().skip(2) {
        cache.shared = true;
    }
    on_all_cores_of(&spec, traces, programs, layout)
}

/// The same on the cores that the machine has, with caches as they are.
pub fn on_all_cores_of(
    spec: &MachineSpec,
    traces: &[Vec<Event>],
    programs: Programs,
    layout: &Layout,
) -> MulticoreStatistics {
    let layouts = vec![layout.clone(); traces.len()];
    let threads = match programs {
        Programs::Threads => ThreadOf::one_program(&layouts),
        Programs::Apart => ThreadOf::programs(&layouts),
    };
    let mut cores = Multicore::new(spec, &threads).expect("a valid machine");
    let mut events: Vec<Batches> = traces
        .iter()
        .map(|events| Batches(events.clone(), 3))
        .collect();
    let mut sources: Vec<&mut dyn EventSource> = events
        .iter_mut()
        .map(|events| events as &mut dyn EventSource)
        .collect();
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("events that the machine has");
    cores.finish()
}

fn stream(base: u64, lines: u64) -> Vec<Event> {
    (0..lines)
        .map(|line| after(1, plain(2, load(base + line * LINE))))
        .collect()
}

const FAR: u64 = 1 << 30;

#[test]
fn one_core_runs_as_it_does_alone() {
    for spec in [machine(), in_order()] {
        let events = stream(0, 300);
        let statistics = on_cores(&spec, std::slice::from_ref(&events));
        assert_eq!(statistics.cores, [run(&spec, &events)]);
    }
}

#[test]
fn cores_fetch_for_each_other_into_the_shared_level() {
    let late: Vec<Event> = [plain(60_000, load(FAR))]
        .into_iter()
        .chain(stream(0, 50))
        .collect();
    let statistics = on_cores(&machine(), &[stream(0, 50), late]);
    let [first, second] = &statistics.cores[..] else {
        panic!("two cores")
    };
    assert_eq!((first.bus.fills, second.bus.fills), (50, 1));
    assert_eq!(second.caches[2].counts.hits, 50);
    assert_eq!(
        second.caches[1].counts.misses, 51,
        "the second level is private"
    );
}

#[test]
fn the_bus_serves_one_line_per_interval_whoever_asks() {
    let independent =
        |base: u64| -> Vec<Event> { (0..32).map(|line| load(base + line * LINE)).collect() };
    let alone = on_cores(&machine(), &[independent(0)]).together.cycles;
    let together = on_cores(
        &machine(),
        &[independent(0), independent(FAR), independent(2 * FAR)],
    );
    assert_eq!(together.together.cycles - alone, 64 * T_NEXT);
    let busy: u64 = together.cores.iter().map(|core| core.bus.fills).sum();
    assert_eq!(busy, 96);
}

#[test]
fn the_order_of_the_cores_decides_ties_only() {
    let (a, b) = (stream(0, 200), stream(FAR, 170));
    let forth = on_cores(&machine(), &[a.clone(), b.clone()]);
    let back = on_cores(&machine(), &[b, a]);
    assert!(forth.together.cycles.abs_diff(back.together.cycles) <= T_NEXT);
    assert_eq!(
        forth,
        on_cores(&machine(), &[stream(0, 200), stream(FAR, 170)]),
        "same run, same results"
    );
}

/// A line that one core asks for first, after some plain instructions, is there for another that asks for it after more of them, whichever
/// of the two comes first in the list of cores.
#[test]
fn plain_instructions_before_an_access_count_in_the_order_of_cores() {
    let narrow = |mut spec: MachineSpec| {
        spec.core.integer_units = 1;
        spec
    };
    // More of them than the reorder buffer has entries, at one a cycle; and as many as it has room for.
    for spec in [in_order(), machine(), narrow(in_order()), narrow(machine())] {
        for (early, late) in [(400, 4000), (4, 28)] {
            let cores = [early, late].map(|before| vec![plain(before, load(0))]);
            for programs in [cores.to_vec(), cores.iter().rev().cloned().collect()] {
                let asked: Vec<u64> = programs
                    .iter()
                    .map(|events| events[0].instructions.into())
                    .collect();
                let statistics = on_cores(&spec, &programs);
                for (core, before) in statistics.cores.iter().zip(asked) {
                    let fills = u64::from(before == u64::from(early));
                    assert_eq!(core.bus.fills, fills, "{:?} {early} {late}", spec.core);
                }
            }
        }
    }
}

#[test]
fn more_traces_than_cores_are_refused() {
    let error = Multicore::new(&machine(), &ThreadOf::programs(&vec![Layout::default(); 2]))
        .expect_err("one core only");
    assert_eq!(error.path, "cores");
}

/// A machine whose last level has so many lines, any in each place, among them all that the cores' own caches have.
fn with_shared_inclusive_level(lines: u64) -> MachineSpec {
    let mut spec = machine();
    spec.caches[2].inclusion = Inclusion::Inclusive;
    spec.caches[2].size_bytes = lines * LINE;
    spec.caches[2].ways = lines as u32;
    spec
}

/// What leaves a shared inclusive level leaves the caches of all cores, whoever's access displaced it.
#[test]
fn a_shared_inclusive_level_takes_lines_from_every_core() {
    let lines = 16;
    let spec = with_shared_inclusive_level(lines);
    // The first core uses one line, and again when the second has filled the shared level with others.
    let rarely = vec![load(0), plain(u16::MAX, load(0)), load(0)];
    let often: Vec<Event> = stream(FAR, lines);
    let statistics = on_cores(&spec, &[rarely.clone(), often]);
    let [first, second] = &statistics.cores[..] else {
        panic!("two cores")
    };
    assert_eq!(first.caches[0].back_invalidations, Some(1));
    assert_eq!(first.bus.fills, 2, "the line is fetched again");
    let in_turn = second.caches[0].back_invalidations;
    assert_eq!(in_turn, Some(1), "which displaces the oldest of the others");
    let alone = on_cores(&spec, &[rarely]);
    assert_eq!(alone.cores[0].bus.fills, 1);
}

/// A prefetched line that another core makes leave is unused, and counted for the core that prefetched it.
#[test]
fn a_line_that_another_core_takes_out_was_prefetched_for_nothing() {
    let lines = 16;
    let spec = with_shared_inclusive_level(lines);
    let rarely = vec![prefetch(0), plain(u16::MAX, branch(true)), load(0)];
    let statistics = on_cores(&spec, &[rarely, stream(FAR, lines)]);
    let unused = statistics.cores.iter().map(|core| core.prefetches.unused);
    assert_eq!(unused.collect::<Vec<_>>(), [Some(1), Some(0)]);
    assert_eq!(statistics.together.prefetches.unused, Some(1));
}

/// Instructions and page tables of unrelated programs are different lines too.
#[test]
fn unrelated_programs_share_no_lines() {
    let mut spec = machine();
    spec.dtlb.levels[0].entries = 1;
    spec.dtlb.page_table = Some(PageTableSpec {
        levels: 2,
        entry_bytes: 8,
        node_bytes: None,
        first_cache: "L2".to_owned(),
        walk_cache_entries: 0,
    });
    spec.instruction_cache = Some(InstructionCacheSpec {
        size_bytes: 8 << 10,
        line_bytes: LINE,
        ways: 2,
        replacement: Replacement::Lru,
        next_line_prefetch: false,
    });
    let code = |line: u64| Event::new(Kind::Fetch, FAR + line * LINE);
    let early: Vec<Event> = (0..50)
        .flat_map(|line| [code(line), load(line * PAGE)])
        .collect();
    let late: Vec<Event> = [plain(60_000, branch(true))]
        .into_iter()
        .chain(early.clone())
        .collect();
    let fills = |how| {
        let cores = on_cores_with(&spec, &[early.clone(), late.clone()], how).cores;
        [cores[0].bus.fills, cores[1].bus.fills]
    };
    let [alone, repeated] = fills(Programs::Apart);
    let [first, second] = fills(Programs::Threads);
    assert_eq!(
        alone, first,
        "the first program lies where its addresses say"
    );
    assert!(alone > 100, "code, data and page tables: {alone}");
    assert_eq!(alone, repeated);
    assert_eq!(second, 0, "all is there");
}

/// A program that begins later has the time that it has alone, and one that knows nothing of the other cannot empty its caches.
#[test]
fn programs_may_begin_in_cycles_of_their_own() {
    let mut spec = machine();
    spec.cores = 2;
    let flush = Event::new(Kind::Flush, 0);
    let chain = |line: u64| after(1, load(line * LINE));
    let alone: Vec<Event> = (0..8).map(chain).collect();
    let events = [&alone[..], &[flush], &alone].concat();
    let layouts = [Layout::default(), Layout::default()];
    let mut cores = Multicore::new(&spec, &ThreadOf::programs(&layouts)).expect("a machine");
    cores.begin_programs(&[0, 50_000]);
    let mut sources = [(); 2].map(|()| Batches(events.clone(), 3));
    let [first, second] = &mut sources;
    cores
        .run(&mut [first, second], &mut |_| Ok(()))
        .expect("both end");
    let programs = cores.finish_programs();
    assert_eq!(programs.len(), 2);
    let without_flush = run(&spec, &[&alone[..], &alone].concat());
    for program in programs {
        assert_eq!(program.together.bus.fills, 8);
        assert!(program.together.cycles.abs_diff(without_flush.cycles) <= 4);
    }
}

/// A program that has ended has left its lines in its own caches. Who goes on takes them out by way of the inclusive level that all share.
#[test]
fn what_others_do_after_the_end_of_a_program_is_not_counted_for_it() {
    let lines = 16;
    let spec = with_shared_inclusive_level(lines);
    let short: Vec<Event> = (0..4)
        .flat_map(|line| [load(line * LINE), prefetch((100 + line) * LINE)])
        .collect();
    let idle = vec![branch(true)];
    let long: Vec<Event> = [plain(u16::MAX, branch(true))]
        .into_iter()
        .chain(stream(FAR, lines))
        .collect();
    let first = |others: &[Event]| {
        let traces = [short.clone(), others.to_vec()];
        on_cores_with(&spec, &traces, Programs::Apart).cores[0].clone()
    };
    let (alone, beside) = (first(&idle), first(&long));
    assert_eq!(alone.caches, beside.caches);
    assert_eq!(alone.prefetches, beside.prefetches);
}

#[cfg(feature = "dramsim3")]
mod with_dram {
    use super::*;
    use crate::dram::{DDR4, with_dram};
    use simcore::statistics::BusStatistics;

    #[test]
    fn one_core_runs_as_it_does_alone() {
        for spec in [machine(), in_order()] {
            let spec = with_dram(spec, DDR4);
            let events = stream(0, 300);
            let alone = run(&spec, &events);
            let together = on_cores(&spec, std::slice::from_ref(&events));
            assert_eq!(together.together.dram, alone.dram);
            assert_eq!(together.cores[0].cycles, alone.cycles);
            assert_eq!(together.cores[0].breakdown, alone.breakdown);
            assert_eq!(together.cores[0].dram, None, "the memory belongs to nobody");
        }
    }

    #[test]
    fn two_cores_ask_twice_as_often_as_one() {
        let spec = with_dram(machine(), DDR4);
        let mut events = stream(0, 200);
        events.extend((0..20).map(|line| prefetch(FAR + line * LINE)));
        let one = run(&spec, &events);
        let both = on_cores_with(&spec, &vec![events; 2], Programs::Apart);
        let (one_dram, both_dram) = (
            one.dram.expect("a DRAM"),
            both.together.dram.expect("a DRAM"),
        );
        assert_eq!(one_dram.reads, 220);
        assert_eq!(both_dram.reads, 2 * one_dram.reads);
        assert_eq!(both_dram.read_commands, 2 * one_dram.read_commands);
        for core in &both.cores {
            assert_eq!(core.bus, one.bus);
            assert_eq!(core.slots.busy, one.slots.busy);
        }
        // Loads that wait for each other leave the DRAM idle most of the time.
        assert!(both.together.cycles < one.cycles * 3 / 2);
    }

    /// A prefetch that nobody waits for ends after the last instruction: that takes as long beside another core.
    #[test]
    fn what_is_in_flight_drains_in_the_memory_of_all() {
        let spec = with_dram(machine(), DDR4);
        let last = [load(0), after(1, prefetch(FAR))];
        let alone = run(&spec, &last);
        assert!(alone.slots.drain > 0);
        let both = on_cores(&spec, &[last.to_vec(), vec![load(64)]]);
        assert!(both.cores[0].slots.drain >= alone.slots.drain);
        assert_eq!(both.together.dram.expect("a DRAM").reads, 3);
    }

    /// Each core ends its warm-up at another time: its own counts leave that out, those of the memory do not.
    #[test]
    fn warm_ups_count_in_the_memory_of_all() {
        let spec = with_dram(machine(), DDR4);
        let warmed = |lines| -> Vec<Event> {
            let (warm_up, measured) = (stream(0, lines), stream(FAR, 50));
            let measure = Event::new(Kind::Measure, 0);
            warm_up
                .into_iter()
                .chain([measure])
                .chain(measured)
                .collect()
        };
        let both = on_cores_with(&spec, &[warmed(10), warmed(200)], Programs::Apart);
        let fills: Vec<u64> = both.cores.iter().map(|core| core.bus.fills).collect();
        assert_eq!(fills, [50, 50]);
        assert_eq!(both.together.dram.expect("a DRAM").reads, 10 + 200 + 2 * 50);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn random_programs_run_on_one_to_four_cores(
            spec in any_prefetching_machine(),
            programs in any_programs(),
            threads in any::<bool>(),
        ) {
            let spec = with_dram(spec, DDR4);
            let how = if threads { Programs::Threads } else { Programs::Apart };
            let statistics = on_cores_with(&spec, &programs, how);
            let dram = statistics.together.dram.expect("a DRAM inside");
            let total = |of: fn(&BusStatistics) -> u64| -> u64 {
                statistics.cores.iter().map(|core| of(&core.bus)).sum()
            };
            prop_assert_eq!(dram.reads, total(|bus| bus.fills));
            let stores = |bus: &BusStatistics| {
                bus.write_backs + bus.write_throughs.unwrap_or(0) + bus.non_temporal.unwrap_or(0)
            };
            prop_assert_eq!(dram.writes, total(stores));
            for (core, events) in statistics.cores.iter().zip(&programs) {
                prop_assert_eq!(core.events, events.len() as u64);
                prop_assert_eq!(core.slots.busy, core.instructions);
            }
            prop_assert_eq!(&statistics, &on_cores_with(&spec, &programs, how));
        }
    }
}

/// Traces of nobody's making, some with pauses.
fn any_programs() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let pause = (
        any_streaming_trace(),
        prop::option::weighted(0.2, 0_usize..400),
    );
    let program = pause.prop_map(|(mut events, pause)| {
        events.retain(|event| event.kind != Kind::Mark);
        if let Some(place) = pause {
            events.insert(place.min(events.len()), Event::new(Kind::Flush, 0));
        }
        events
    });
    prop::collection::vec(program, 1..=4)
}

/// Numbers of a tree by their paths, lists by their places.
fn numbers(
    tree: &serde_json::Value,
    path: &str,
    found: &mut std::collections::BTreeMap<String, u64>,
) {
    use serde_json::Value::{Array, Number, Object};
    match tree {
        Number(number) => {
            found.insert(path.to_owned(), number.as_u64().expect("a count"));
        }
        Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(place, item)| numbers(item, &format!("{path}/{place}"), found));
        }
        Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(name, field)| numbers(field, &format!("{path}/{name}"), found));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever a core counts is part of what all count together: a field that is left out, or not added up, fails here.
    #[test]
    fn together_is_the_sum_of_the_cores(
        spec in any_prefetching_machine(),
        programs in any_programs(),
    ) {
        let statistics = on_cores(&spec, &programs);
        let flat = |statistics: &simcore::Statistics| {
            let mut tree = serde_json::to_value(statistics).expect("a tree");
            // A core has rows for what it touched: they are told apart by name.
            let rows = tree["breakdown"].take();
            for row in rows.as_array().expect("rows") {
                tree["breakdown"][row["phase"].as_str().expect("a name")]
                    [row["segment"].as_str().expect("a name")] = row.clone();
            }
            let mut found = std::collections::BTreeMap::new();
            numbers(&tree, "", &mut found);
            found
        };
        let together = flat(&statistics.together);
        let cores: Vec<_> = statistics.cores.iter().map(flat).collect();
        let paths: std::collections::BTreeSet<_> = cores.iter().flat_map(|core| core.keys()).collect();
        prop_assert_eq!(paths, together.keys().collect());
        for (path, &number) in &together {
            let of_cores = cores.iter().filter_map(|core| core.get(path).copied());
            let expected = match path.as_str() {
                "/cycles" => of_cores.max(),
                "/bus/line_bytes" => of_cores.min(),
                _ => Some(of_cores.sum()),
            };
            prop_assert_eq!(Some(number), expected, "{}", path);
        }
        let slots = &statistics.together.slots;
        let rows = statistics.together.breakdown.iter().map(|row| row.slots.total);
        prop_assert_eq!(rows.sum::<u64>(), slots.total);
    }
}
