//! A run with a warm-up: its statistics are those of the whole run less those of the part before.

use crate::common::batches::Batches;
use crate::common::calls;
use crate::common::random::{any_policy_machine, any_prefetching_machine, any_trace};
use crate::common::*;
use proptest::prelude::*;
use simcore::multicore::ThreadOf;
use simcore::sampling::SamplingPlan;
use simcore::spec::MachineSpec;
use simcore::stack_distance::{Sampling, Shards, StackDistances, ThreeC};
use simcore::statistics::Slots;
use simcore::{ByteUsage, Engine, Multicore, Sampler, Statistics};
use traces::{Event, EventSink, Kind, Layout, Segment};

fn layout() -> Layout {
    Layout {
        segments: vec![Segment {
            name: "low".to_owned(),
            base: 0,
            size_bytes: 3000,
        }],
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

fn run_on(spec: &MachineSpec, layout: &Layout, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, layout).unwrap();
    for part in events.chunks(batch) {
        engine.consume(part).unwrap();
    }
    engine.finish()
}

/// The events with one between them that begins the measurement, or that does nothing and takes as little time.
fn with(kind: Kind, before: &[Event], after: &[Event]) -> Vec<Event> {
    [before, &[Event::new(kind, 0)], after].concat()
}

/// Slots of each cause but the drain, which is the end of a run only.
fn causes(slots: &Slots) -> Vec<u64> {
    let Slots {
        total: _,
        busy,
        dcache,
        dtlb,
        icache,
        branch,
        other,
        barrier: _,
        system: _,
        storage: _,
        drain: _,
    } = slots;
    let causes = [*busy, *dtlb, icache.unwrap_or(0), *branch, *other];
    causes.into_iter().chain(dcache.values().copied()).collect()
}

fn differences(whole: &[u64], part: &[u64]) -> Vec<u64> {
    whole
        .iter()
        .zip(part)
        .map(|(whole, part)| whole - part)
        .collect()
}

/// Everything that is counted, in one row.
fn counts(stats: &Statistics) -> Vec<u64> {
    let mut all = vec![
        stats.instructions,
        stats.branches.executed,
        stats.branches.mispredicted,
        stats.prefetches.issued,
        stats.prefetches.useless,
        stats.prefetches.dropped,
        stats.bus.fills,
        stats.bus.write_backs,
        stats.bus.write_throughs.unwrap_or(0),
        stats.dtlb.accesses,
        stats.dtlb.walks,
        stats.dtlb.walk_reads.unwrap_or(0),
    ];
    all.extend(&stats.dtlb.hits);
    for cache in &stats.caches {
        let (counts, prefetchers) = (cache.counts, cache.prefetchers.unwrap_or_default());
        all.extend([
            cache.accesses,
            counts.hits,
            counts.merges,
            counts.misses,
            counts.write_backs,
            counts.back_invalidations,
            prefetchers.issued,
            prefetchers.dropped,
            prefetchers.useful,
            prefetchers.late,
            prefetchers.unused,
        ]);
    }
    if let Some(code) = &stats.instruction_cache {
        all.extend([
            code.accesses,
            code.hits,
            code.misses,
            code.prefetched.unwrap_or(0),
        ]);
    }
    all.extend(causes(&stats.slots));
    all
}

/// Holds a run of which `after` is measured to the whole run and to `before` alone.
fn check(spec: &MachineSpec, layout: &Layout, before: &[Event], after: &[Event], batch: usize) {
    // A page asked of storage takes no time, and stands where the mark stands.
    let whole = run_on(spec, layout, &with(Kind::PageWrite, before, after), batch);
    let part = run_on(spec, layout, &with(Kind::PageWrite, before, &[]), batch);
    let measured = run_on(spec, layout, &with(Kind::Measure, before, after), batch);

    assert_eq!(
        counts(&measured),
        differences(&counts(&whole), &counts(&part))
    );
    assert_eq!(measured.events, after.len() as u64);
    assert_eq!(measured.page_requests, []);
    let width = u64::from(spec.core.issue_width);
    assert_eq!(measured.slots.total, measured.cycles * width);
    let rows: u64 = measured.breakdown.iter().map(|row| row.slots.total).sum();
    assert_eq!(rows, measured.slots.total);
    // The measurement begins with the slot after the last of the warm-up, and ends in a whole cycle.
    let warm_up = part.slots.total - part.slots.drain;
    assert_eq!(
        measured.cycles,
        (whole.slots.total - warm_up).div_ceil(width)
    );
    for (phase, entries) in whole.phases.iter().enumerate() {
        let expected = entries.entries - part.phases[phase].entries;
        assert_eq!(measured.phases[phase].entries, expected);
    }
    for row in &measured.breakdown {
        let same = |stats: &Statistics| {
            let found = stats.breakdown.iter();
            let mut found =
                found.filter(|other| other.phase == row.phase && other.segment == row.segment);
            found.next().map_or(0, |row| row.accesses)
        };
        assert_eq!(row.accesses, same(&whole) - same(&part));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_measured_part_is_the_whole_less_the_warm_up(
        spec in prop_oneof![any_policy_machine(), any_prefetching_machine()],
        before in any_trace(),
        after in any_trace(),
        batch in 1_usize..500,
    ) {
        check(&spec, &layout(), &before, &after, batch);
        let mut in_order = spec;
        in_order.core.kind = simcore::spec::CoreKind::InOrder;
        in_order.core.reorder_buffer = None;
        check(&in_order, &layout(), &before, &after, batch);
    }
}

#[test]
fn calls_into_a_dbms_before_the_measurement_do_not_count() {
    let spec = calls::with(machine(), calls::routine(999));
    let run = |before: usize, kind| {
        let events = with(kind, &vec![calls::call(); before], &[calls::call(); 7]);
        run_on(&spec, &calls::layout(), &events, 3)
    };
    let (measured, alone) = (run(5, Kind::Measure), run(0, Kind::PageRead));
    let calls = |stats: &Statistics| stats.calls.clone().expect("a DBMS");
    assert_eq!(calls(&measured).runs, calls(&alone).runs);
    assert_eq!(calls(&measured).instructions, 7 * 999);
    let retired = measured.retired.expect("a DBMS");
    assert_eq!(retired.iter().sum::<u64>(), measured.cycles);
    assert!(measured.cycles > 0);
}

/// Loads of so many lines, each waiting for the one before; the first for the event `back` events before it.
fn chase(lines: u64, back: u32) -> Vec<Event> {
    let load_of = |line| after(if line == 0 { back } else { 1 }, load(line * LINE));
    (0..lines).map(load_of).collect()
}

/// What was warmed up is found: no line is fetched twice, and the time is that of hits.
#[test]
fn a_warm_cache_hits() {
    let lines = chase(100, 1);
    let again = chase(100, 2);
    let cold = run_on(&machine(), &layout(), &lines, 10);
    let warm = run_on(
        &machine(),
        &layout(),
        &with(Kind::Measure, &lines, &again),
        10,
    );
    assert_eq!((cold.bus.fills, warm.bus.fills), (100, 0));
    assert_eq!(warm.caches[0].counts.hits, 100);
    assert!(
        warm.cycles < cold.cycles / 50,
        "{} of {}",
        warm.cycles,
        cold.cycles
    );
}

/// The last mark counts.
#[test]
fn a_second_mark_begins_anew() {
    let lines: Vec<Event> = (0..100).map(|line| after(1, load(line * LINE))).collect();
    let twice = with(Kind::Measure, &with(Kind::Measure, &lines, &lines), &lines);
    let stats = run_on(&machine(), &layout(), &twice, 10);
    assert_eq!((stats.events, stats.caches[0].accesses), (100, 100));
}

fn observed<S: EventSink>(mut sink: S, events: &[Event]) -> S {
    for part in events.chunks(7) {
        sink.consume(part).unwrap();
    }
    sink
}

/// Lines that only the warm-up uses, then some that both use, then some that only the measurement does.
fn three_kinds() -> (Vec<Event>, Vec<Event>) {
    let lines = |lines: std::ops::Range<u64>| lines.map(|line| load(line * LINE)).collect();
    (lines(0..60), lines(40..100))
}

#[test]
fn byte_usage_counts_lines_that_the_measurement_fetches() {
    let (before, after) = three_kinds();
    let mut named = layout();
    named.sites = vec!["only".to_owned()];
    let usage = ByteUsage::new(&machine(), &named).unwrap();
    let rows = observed(usage, &with(Kind::Measure, &before, &after))
        .finish()
        .rows;
    assert_eq!(
        (rows.len(), rows[0].lines, rows[0].used_bytes),
        (1, 40, 40 * 4)
    );
}

#[test]
fn curves_and_classes_count_accesses_of_the_measurement() {
    let (before, after) = three_kinds();
    let events = with(Kind::Measure, &before, &after);
    let distances = observed(StackDistances::new(LINE, 1).unwrap(), &events).finish();
    assert_eq!((distances.accesses, distances.cold), (60, 40));
    let misses = distances.misses();
    assert_eq!(misses.last(), Some(&40));
    let estimate = observed(Shards::new(LINE, Sampling::Rate(1.0)).unwrap(), &events).finish();
    assert_eq!((estimate.accesses, estimate.sampled), (60, 60));
    assert_eq!(estimate.misses(1000).unwrap().0.round() as u64, 40);
    let classes = ThreeC::new(&machine().caches[0], &Layout::default()).unwrap();
    let rows = observed(classes, &events).finish();
    let counts = rows[0].counts;
    assert_eq!((counts.accesses, counts.compulsory), (60, 40));
}

#[test]
fn a_sample_estimates_the_measurement() {
    let lines = |count: u64| -> Vec<Event> {
        let line = |line: u64| after(1, plain(3, load(line % 200 * LINE)));
        (0..count).map(line).collect()
    };
    let (before, after) = (lines(500), lines(50_000));
    let plan = SamplingPlan {
        unit: 400,
        warmup: 400,
        period: 4000,
    };
    let sampler = Sampler::new(&machine(), &Layout::default(), plan).unwrap();
    let sampled = observed(sampler, &with(Kind::Measure, &before, &after))
        .finish()
        .unwrap();
    let full = run(&machine(), &with(Kind::Measure, &before, &after));
    assert_eq!(sampled.estimate.instructions, full.instructions);
    // Units and what lies between them end with an event, and so a little late.
    let units = full.instructions / plan.period;
    assert!((units - 2..=units).contains(&sampled.estimate.units));
    let cycles = full.cycles as f64;
    assert!((sampled.estimate.cycles[1] / cycles - 1.0).abs() < 0.02);
    assert_eq!(sampled.statistics.bus.fills, 0);
    assert_eq!(sampled.statistics.caches[0].accesses, 50_000);
}

#[test]
fn a_core_of_several_counts_its_own_measurement() {
    let lines = chase(100, 1);
    let spec = MachineSpec {
        cores: 2,
        ..machine()
    };
    let layouts = [Layout::default(), Layout::default()];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).unwrap();
    let mut warm = Batches(with(Kind::Measure, &lines, &chase(100, 2)), usize::MAX);
    let mut cold = Batches(lines, usize::MAX);
    cores
        .run(&mut [&mut warm, &mut cold], &mut |_| Ok(()))
        .unwrap();
    let stats = cores.finish();
    let hits = |core: usize| stats.cores[core].caches[0].counts.hits;
    assert_eq!((hits(0), hits(1)), (100, 0));
    assert_eq!(stats.cores[0].bus.fills, 0);
}

#[cfg(feature = "dramsim3")]
#[test]
fn a_simulated_dram_counts_the_measurement() {
    let spec = crate::dram::ddr4();
    let far = |from: u64, lines: u64| -> Vec<Event> {
        let line = |line: u64| after(1, load(line * 97 * LINE));
        (from..from + lines).map(line).collect()
    };
    let (before, measured) = (far(0, 3000), far(3000, 4000));
    let stats = run(&spec, &with(Kind::Measure, &before, &measured));
    let counts = stats.dram.expect("a DRAM inside");
    assert_eq!(counts.reads, 4000);
    assert_eq!(stats.bus.fills, 4000);
    // Commands are known at the reports of DRAMSim3, some dozen reads apart here: no more than one period is too many.
    assert!((4000..4300).contains(&counts.read_commands), "{counts:?}");
    let whole = run(&spec, &with(Kind::PageRead, &before, &measured));
    let part = run(&spec, &before);
    let cycles = whole.cycles - part.cycles;
    assert!(
        stats.cycles.abs_diff(cycles) <= 4,
        "{} against {cycles}",
        stats.cycles
    );
}
