//! Laws that hold for any profile on any machine.

use crate::common::calls::{layout, with};
use crate::common::random;
use proptest::prelude::*;
use simcore::profile::{ClockTickSpec, RoutineSpec};
use simcore::spec::{InstructionCacheSpec, MachineSpec, PredictorSpec, Replacement};
use simcore::statistics::InstructionCacheStatistics;
use simcore::{Counts, Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

prop_compose! {
    fn any_routine()(
        instructions in prop_oneof![1_u32..50, 1_u32..2000],
        code_bytes in prop_oneof![Just(0_u64), 0_u64..4000],
        mispredicts_per_1000 in prop_oneof![Just(0_u32), 0_u32..=1000],
        dependent_per_1000 in 0_u32..=1000,
        data_bytes in prop_oneof![Just(0_u64), 0_u64..300],
    ) -> RoutineSpec {
        RoutineSpec { instructions, code_bytes, mispredicts_per_1000, dependent_per_1000, data_bytes }
    }
}

prop_compose! {
    /// A small machine with a profile, an instruction cache now and then, and a clock.
    fn any_calling_machine()(
        spec in random::any_machine(),
        work in any_routine(),
        rest in any_routine(),
        tick in prop::option::of((1_u64..5000, any_routine())),
        code_lines in prop::option::of(0_u32..6),
        prefetches in any::<bool>(),
    ) -> MachineSpec {
        let mut spec = with(spec, work);
        let dbms = spec.dbms.as_mut().unwrap();
        dbms.calls.insert("rest".to_owned(), rest);
        dbms.clock_tick = tick.map(|(period_cycles, routine)| ClockTickSpec { period_cycles, routine });
        spec.instruction_cache = code_lines.map(|lines| InstructionCacheSpec {
            size_bytes: 32 << lines,
            line_bytes: 32,
            ways: 1,
            replacement: Replacement::Lru,
            next_line_prefetch: prefetches,
        });
        spec
    }
}

/// A trace, every third event of which is a call.
fn any_calling_trace() -> impl Strategy<Value = Vec<Event>> {
    let event = (random::any_event(), 0_u64..6).prop_map(|(event, other)| match other {
        0 | 1 => Event {
            kind: Kind::Call,
            address: other,
            ..event
        },
        _ => event,
    });
    prop::collection::vec(event, 0..200)
}

fn both_calls() -> Layout {
    Layout {
        calls: vec!["rest".to_owned(), "work".to_owned()],
        ..layout()
    }
}

fn run_in_batches(spec: &MachineSpec, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, &both_calls()).unwrap();
    for part in events.chunks(batch) {
        engine.consume(part).unwrap();
    }
    engine.finish()
}

/// A routine's instructions up to each misprediction, and the rest; `due` thousandths of the first one are there.
fn pieces(routine: &RoutineSpec, due: &mut u32) -> Vec<u32> {
    let mut pieces = vec![0];
    for _ in 0..routine.instructions {
        if let Some(piece) = pieces.last_mut() {
            *piece += 1;
        }
        *due += routine.mispredicts_per_1000;
        if *due >= 1000 {
            *due -= 1000;
            pieces.push(0);
        }
    }
    pieces.retain(|&piece| piece > 0);
    pieces
}

/// Runs a trace that makes one call after each part, of a routine in one piece or in several of its own.
fn run_in_pieces(
    spec: &MachineSpec,
    routine: RoutineSpec,
    parts: &[Vec<Event>],
    split: impl Fn(&RoutineSpec, &mut u32) -> Vec<u32>,
) -> Statistics {
    let (mut lengths, mut events, mut due) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        events.extend(part);
        for piece in split(&routine, &mut due) {
            let known = lengths.iter().position(|&length| length == piece);
            let call = known.unwrap_or(lengths.len());
            if call == lengths.len() {
                lengths.push(piece);
            }
            events.push(Event::new(Kind::Call, call as u64));
        }
    }
    let name = |length: &u32| format!("{length} instructions");
    let calls = lengths.iter().map(|length| {
        let instructions = *length;
        (
            name(length),
            RoutineSpec {
                instructions,
                ..routine
            },
        )
    });
    let mut spec = with(spec.clone(), routine);
    spec.dbms.as_mut().unwrap().calls = calls.collect();
    let layout = Layout {
        calls: lengths.iter().map(name).collect(),
        ..layout()
    };
    let mut engine = Engine::new(&spec, &layout).unwrap();
    engine.consume(&events).unwrap();
    engine.finish()
}

/// What does not depend on how many calls there were, but for the cycles by what graduated in them.
fn without_calls(stats: Statistics) -> (Statistics, Vec<u64>) {
    let retired = stats.retired.clone().unwrap();
    let stats = Statistics {
        events: 0,
        calls: None,
        retired: None,
        ..stats
    };
    (stats, retired)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn slots_sum_to_the_time_whatever_the_profile(
        spec in any_calling_machine(),
        events in any_calling_trace(),
    ) {
        let stats = run_in_batches(&spec, &events, 200);
        let width = u64::from(spec.core.issue_width);
        prop_assert_eq!(stats.slots.total, stats.cycles * width);
        prop_assert_eq!(stats.slots.busy, stats.instructions);
        let rows: u64 = stats.breakdown.iter().map(|row| row.slots.total).sum();
        prop_assert_eq!(rows, stats.slots.total);
        let retired = stats.retired.unwrap();
        prop_assert_eq!(retired.iter().sum::<u64>(), stats.cycles);
        let graduated: u64 = (0..).zip(&retired).map(|(number, cycles)| number * cycles).sum();
        // Cycles of each kind are rounded down to whole ones.
        prop_assert!(graduated <= stats.instructions);
        prop_assert!(graduated + width * (width + 1) >= stats.instructions);
    }

    #[test]
    fn batches_do_not_matter(
        spec in any_calling_machine(),
        events in any_calling_trace(),
        batch in 1_usize..50,
    ) {
        prop_assert_eq!(run_in_batches(&spec, &events, batch), run_in_batches(&spec, &events, 200));
    }

    #[test]
    fn counts_are_those_of_a_run_in_time(
        mut spec in any_calling_machine(),
        events in any_calling_trace(),
    ) {
        spec.dbms.as_mut().unwrap().clock_tick = None;
        let timed = run_in_batches(&spec, &events, 200);
        let mut counts = Counts::new(&spec, &both_calls()).unwrap();
        counts.consume(&events).unwrap();
        let counted = counts.finish();
        prop_assert_eq!(counted.instructions, timed.instructions);
        // A line of code on its way to the second level is served by memory where there is time, else by that level.
        let found = |cache: InstructionCacheStatistics| (cache.hits, cache.misses, cache.prefetched);
        prop_assert_eq!(counted.instruction_cache.map(found), timed.instruction_cache.map(found));
        for (counted, timed) in counted.caches.iter().zip(&timed.caches) {
            prop_assert_eq!(counted.counts.hits, timed.counts.hits + timed.counts.merges);
            prop_assert_eq!(counted.counts.misses, timed.counts.misses);
        }
        prop_assert_eq!(counted.calls.unwrap().runs, timed.calls.unwrap().runs);
    }

    #[test]
    fn more_work_in_a_routine_never_takes_less_time(
        spec in any_calling_machine(),
        events in any_calling_trace(),
    ) {
        let mut longer = spec.clone();
        longer.core.branch_predictor = PredictorSpec::Perfect;
        let mut shorter = longer.clone();
        for (spec, instructions) in [(&mut longer, 4000), (&mut shorter, 400)] {
            let dbms = spec.dbms.as_mut().unwrap();
            dbms.clock_tick = None;
            dbms.calls.values_mut().for_each(|routine| routine.instructions = instructions);
        }
        let [longer, shorter] = [longer, shorter].map(|spec| run_in_batches(&spec, &events, 200).cycles);
        prop_assert!(shorter <= longer);
    }

    #[test]
    fn a_routine_is_the_sum_of_its_pieces_between_mispredictions(
        mut spec in random::any_machine(),
        penalty in 0_u32..20,
        instructions in 1_u32..3000,
        mispredicts_per_1000 in prop_oneof![1_u32..60, 1_u32..=1000],
        dependent_per_1000 in 0_u32..=1000,
        parts in prop::collection::vec(prop::collection::vec(random::any_event(), 0..20), 1..6),
    ) {
        spec.core.mispredict_penalty_cycles = penalty;
        let routine = RoutineSpec {
            instructions,
            mispredicts_per_1000,
            dependent_per_1000,
            code_bytes: 0,
            data_bytes: 0,
        };
        // Events do not count calls when they name their producer.
        let independent = |event: Event| Event { dep: 0, ..event };
        let parts: Vec<Vec<Event>> = parts
            .into_iter()
            .map(|part| part.into_iter().map(independent).collect())
            .collect();
        let whole = run_in_pieces(&spec, routine, &parts, |routine, _| vec![routine.instructions]);
        let split = run_in_pieces(&spec, routine, &parts, pieces);
        prop_assert_eq!(
            whole.calls.as_ref().unwrap().mispredicted,
            split.calls.as_ref().unwrap().mispredicted
        );
        let ((whole, retired), (split, also_retired)) = (without_calls(whole), without_calls(split));
        prop_assert_eq!(whole, split);
        // Sums of fractions are rounded down; the cycles that are left went without.
        let width = u64::from(spec.core.issue_width);
        for (one, other) in retired.iter().zip(&also_retired) {
            prop_assert!(one.abs_diff(*other) <= 1 + width);
        }
    }
}
