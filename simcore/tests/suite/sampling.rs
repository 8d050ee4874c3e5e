//! Sampled timing: the interval covers the full run, and what is counted functionally is what a full run counts.

use crate::common::*;
use simcore::sampling::{SampledStatistics, SamplingPlan};
use simcore::spec::InterferenceSpec;
use simcore::{Engine, MachineSpec, Sampler};
use traces::{Event, EventSink, Kind, Layout};

/// Phases of different cost: dependent loads near and far, branches, and stores, in an order that only a seed knows.
fn mixed(seed: u64, operations: usize) -> Vec<Event> {
    let mut state = seed;
    let mut next = move || {
        // The multiplier and increment of Knuth's MMIX.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut events = Vec::new();
    for _ in 0..operations {
        let far = next() % (64 << 20);
        let near = next() % (8 << 10);
        events.push(after(2, plain(3, load(far))));
        events.push(after(1, plain(5, load(near))));
        events.push(plain(2, branch(next() % 3 == 0)));
        events.push(plain((next() % 20) as u16, store(near + 4096)));
    }
    events
}

fn sampled(spec: &MachineSpec, events: &[Event], plan: SamplingPlan) -> SampledStatistics {
    let mut sampler = Sampler::new(spec, &Layout::default(), plan).expect("a valid plan");
    for batch in events.chunks(1000) {
        sampler.consume(batch).expect("events that the machine has");
    }
    sampler.finish().expect("units enough")
}

const PLAN: SamplingPlan = SamplingPlan {
    unit: 1000,
    warmup: 2000,
    period: 10_000,
};

/// The same with a first part that warms the caches and does not count: what a program takes once, at its beginning, no sample need meet.
fn mixed_warm(seed: u64, operations: usize) -> Vec<Event> {
    let mut events = mixed(seed, operations);
    events.insert(8000, Event::new(Kind::Measure, 0));
    events
}

/// Estimates lie around the full run, about as far as their intervals say.
#[test]
fn the_interval_covers_the_full_run() {
    for spec in [machine(), in_order()] {
        let seeds = 1..=10;
        let programs: Vec<_> = (seeds.clone().map(|seed| mixed_warm(seed, 60_000)))
            .map(|events| (run(&spec, &events).cycles as f64, events))
            .collect();
        for (unit, warmup, period) in [
            (1000, 2000, 10_000),
            (3000, 2000, 10_000),
            (300, 2000, 10_007),
        ] {
            let plan = SamplingPlan {
                unit,
                warmup,
                period,
            };
            let (mut sum, mut squares) = (0., 0.);
            for (seed, (full, events)) in seeds.clone().zip(&programs) {
                let estimate = sampled(&spec, events, plan).estimate;
                let [low, middle, high] = estimate.cycles;
                assert!(
                    low <= *full && *full <= high,
                    "seed {seed}: {full} is not within {low}..{high}"
                );
                assert!(
                    (high - low) / middle < 0.2,
                    "seed {seed}: {low}..{high} says little"
                );
                assert!(estimate.units > 100, "{} units", estimate.units);
                // In standard deviations, of which three are on each side.
                let deviations = (middle - full) / ((high - low) / 6.);
                sum += deviations;
                squares += deviations * deviations;
            }
            let count = programs.len() as f64;
            let (mean, spread) = (sum / count, (squares / count).sqrt());
            assert!(
                mean.abs() < 1. && (0.4..1.6).contains(&spread),
                "{plan:?}: {mean}, {spread}"
            );
        }
    }
}

#[test]
fn a_period_without_gaps_is_the_full_run() {
    let plan = SamplingPlan {
        unit: 1000,
        warmup: 0,
        period: 1000,
    };
    let events = mixed(1, 5000);
    let full = run(&machine(), &events);
    let sample = sampled(&machine(), &events, plan);
    assert_eq!(sample.statistics, full);
    // Hardly anything is left to guess.
    let [low, middle, high] = sample.estimate.cycles;
    assert!((high - low) / middle < 0.01, "{low}..{high}");
}

#[test]
fn what_passes_in_no_time_is_counted() {
    let events = mixed(7, 20_000);
    let full = run(&machine(), &events);
    let sample = sampled(&machine(), &events, PLAN).statistics;
    for (sample, full) in sample.caches.iter().zip(&full.caches) {
        assert_eq!(sample.accesses, full.accesses, "{}", full.name);
        assert_eq!(sample.counts.misses, full.counts.misses, "{}", full.name);
        assert_eq!(sample.counts.write_backs, full.counts.write_backs);
    }
    assert_eq!(sample.branches, full.branches);
    assert_eq!(sample.dtlb.walks, full.dtlb.walks);
    assert_eq!(sample.bus.fills, full.bus.fills);
}

#[test]
fn passing_all_takes_no_time() {
    let events = mixed(3, 1000);
    let mut engine = Engine::new(&machine(), &Layout::default()).expect("a valid machine");
    engine.pass(&events).expect("events that the machine has");
    let statistics = engine.finish();
    assert_eq!((statistics.cycles, statistics.instructions), (0, 0));
    assert_eq!(statistics.events, events.len() as u64);
    assert_eq!(
        statistics.branches.executed,
        events
            .iter()
            .filter(|event| event.kind == Kind::Branch)
            .count() as u64
    );
}

#[test]
fn an_interval_needs_units() {
    let finish = |events: &[Event], plan| {
        let mut sampler = Sampler::new(&machine(), &Layout::default(), plan).unwrap();
        sampler.consume(events).unwrap();
        sampler.finish()
    };
    let events = mixed(1, 10_000);
    let instructions = run(&machine(), &events).instructions;
    for period in [instructions / 2, 10 * instructions] {
        let error = finish(&events, SamplingPlan { period, ..PLAN }).expect_err("too few units");
        assert_eq!(error.path, "sample.period");
        let message = error.message;
        assert!(message.contains("give a period of at most"), "{message}");
    }
    let message = finish(&events[..100], PLAN).expect_err("no unit").message;
    assert!(message.ends_with("; replay it in full"), "{message}");
}

#[test]
fn no_bound_is_below_zero() {
    // Units in which nothing waits, and one in which everything does: they differ by more than their mean.
    let mut events = vec![plain(999, load(0)); 400];
    events.insert(200, plain(999, load(1 << 30)));
    let plan = SamplingPlan {
        unit: 1000,
        warmup: 0,
        period: 4000,
    };
    let [low, middle, high] = sampled(&machine(), &events, plan).estimate.cycles;
    assert!(0.0 <= low && low <= middle && middle <= high);
}

#[test]
fn units_that_overlap_are_refused() {
    let plan = SamplingPlan {
        unit: 1000,
        warmup: 2000,
        period: 2999,
    };
    let error = plan.validate().expect_err("they overlap");
    assert_eq!(error.path, "sample.period");
}

#[test]
fn what_happens_now_and_then_in_time_is_no_part_of_samples() {
    let plan = SamplingPlan {
        unit: 1000,
        warmup: 2000,
        period: 10_000,
    };
    let mut spec = machine();
    assert!(Sampler::new(&spec, &Layout::default(), plan).is_ok());
    spec.interference = Some(InterferenceSpec {
        flush_interval_cycles: 1000,
    });
    let error = Sampler::new(&spec, &Layout::default(), plan)
        .err()
        .expect("refused");
    assert_eq!(error.path, "interference");
}

/// A program that goes from page to page: a long event and a miss that is waited for, and short ones behind it.
fn pages(count: u64) -> Vec<Event> {
    (0..count)
        .flat_map(|page| {
            let mut events = vec![
                plain(500, load(page * 8192)),
                after(1, plain(5, load(4096))),
            ];
            events.extend((0..60).map(|_| plain(10, load(8192))));
            events
        })
        .collect()
}

/// Periods that are multiples of a page's instructions meet each place of a page as often as any other, and none is preferred for its length.
#[test]
fn units_keep_no_step_with_a_program_that_repeats_itself() {
    let (spec, events) = (machine(), pages(20_000));
    let full = run(&spec, &events);
    let page = full.instructions / 20_000;
    let mut sum = 0.;
    let plans = [
        (100, 7 * page),
        (100, 8 * page),
        (1000, 11 * page),
        (300, 9 * page + 1),
    ];
    for (unit, period) in plans {
        let plan = SamplingPlan {
            unit,
            warmup: 3000,
            period,
        };
        let [low, middle, high] = sampled(&spec, &events, plan).estimate.cycles;
        let cycles = full.cycles as f64;
        assert!(
            low <= cycles && cycles <= high,
            "{plan:?}: {cycles}, {low}..{high}"
        );
        sum += middle / cycles - 1.;
    }
    assert!((sum / plans.len() as f64).abs() < 0.03, "{sum}");
}
