//! Calls into a DBMS to the cycle, by hand and beside plain instructions.

mod common;

use common::*;
use proptest::prelude::*;
use simcore::profile::{ClockTickSpec, DbmsSpec, RoutineSpec};
use simcore::spec::{InstructionCacheSpec, MachineSpec, PredictorSpec, Replacement};
use simcore::statistics::InstructionCacheStatistics;
use simcore::{Counts, Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

const WIDTH: u64 = 4;
const PENALTY: u64 = 10;

fn routine(instructions: u32) -> RoutineSpec {
    RoutineSpec {
        instructions,
        code_bytes: 0,
        mispredicts_per_1000: 0,
        dependent_per_1000: 0,
        data_bytes: 0,
    }
}

/// The machine with a profile of one call.
fn with(mut spec: MachineSpec, routine: RoutineSpec) -> MachineSpec {
    spec.dbms = Some(DbmsSpec {
        name: "test".to_owned(),
        calls: [("work".to_owned(), routine)].into(),
        clock_tick: None,
    });
    spec
}

fn with_code_cache(mut spec: MachineSpec, next_line_prefetch: bool) -> MachineSpec {
    spec.instruction_cache = Some(InstructionCacheSpec {
        size_bytes: 8 * LINE,
        line_bytes: LINE,
        ways: 8,
        replacement: Replacement::Lru,
        next_line_prefetch,
    });
    spec
}

fn layout() -> Layout {
    Layout {
        calls: vec!["work".to_owned()],
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

fn call() -> Event {
    Event::new(Kind::Call, 0)
}

fn run_calls(spec: &MachineSpec, events: &[Event]) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).expect("a machine with the calls");
    engine.consume(events).expect("events that the machine has");
    engine.finish()
}

#[test]
fn a_routine_of_independent_instructions_takes_the_time_of_plain_ones() {
    for spec in [machine(), in_order()] {
        for instructions in [1, 4, 31, 33, 270] {
            let spec = with(spec.clone(), routine(u32::from(instructions)));
            for end in [branch(true), load(0)] {
                let called = run_calls(&spec, &[call(), end]);
                let alone = run(&spec, &[plain(instructions, end)]);
                assert_eq!(called.cycles, alone.cycles, "{instructions} {end:?}");
                assert_eq!(called.slots, alone.slots);
                assert_eq!(called.instructions, alone.instructions);
            }
        }
    }
}

#[test]
fn dependent_instructions_run_one_to_a_cycle_and_the_rest_of_it_is_other() {
    let dependent = RoutineSpec {
        dependent_per_1000: 1000,
        ..routine(100)
    };
    for spec in [machine(), in_order()] {
        let start = u64::from(spec.core.reorder_buffer.is_some()) * 2;
        let stats = run_calls(&with(spec, dependent), &[call()]);
        // One cycle each; out of order, the first graduates two cycles after its dispatch.
        let cycles = if start > 0 { start + 99 } else { 100 };
        assert_eq!(stats.cycles, cycles);
        assert_eq!(stats.slots.other, cycles * WIDTH - 100);
        let retired = stats.retired.unwrap();
        assert_eq!(retired, [cycles - 100, 100, 0, 0, 0]);
    }
}

#[test]
fn half_dependent_instructions_fill_cycles_as_the_closed_form_says() {
    let half = RoutineSpec {
        dependent_per_1000: 500,
        ..routine(15_000)
    };
    let stats = run_calls(&with(in_order(), half), &[call()]);
    // (1 - 1/2^4) / (1/2) = 15/8 instructions in a cycle: 1/2, 1/4, 1/8 and 1/8 of the cycles run one to four.
    // Parts of cycles, and what the fixed point of a pace loses, are rounded down.
    assert_eq!(stats.cycles, 8000);
    assert_eq!(stats.retired.unwrap(), [4, 3999, 1999, 999, 999]);
}

#[test]
fn mispredictions_come_in_the_share_of_the_profile_and_restart_the_front_end() {
    let unlucky = RoutineSpec {
        mispredicts_per_1000: 25,
        ..routine(20)
    };
    for spec in [machine(), in_order()] {
        let with_branches = with(spec.clone(), unlucky);
        let without = with(spec.clone(), routine(20));
        // Half a misprediction per call: one at the end of the second call and one at the end of the fourth, which
        // nothing follows.
        let wrong = run_calls(&with_branches, &[call(); 4]);
        let right = run_calls(&without, &[call(); 4]);
        let calls = wrong.calls.unwrap();
        assert_eq!((calls.mispredicted, calls.instructions), (2, 80));
        assert_eq!(calls.runs["work"], 4);
        let out_of_order = u64::from(spec.core.reorder_buffer.is_some());
        // Out of order, the pipeline fills up again, which takes two cycles; in order the last restart is waited for.
        let lost = if out_of_order == 1 {
            PENALTY + 2
        } else {
            2 * PENALTY
        };
        assert_eq!(wrong.cycles - right.cycles, lost, "{:?}", spec.core.kind);
        assert_eq!(wrong.slots.total, wrong.cycles * WIDTH);
        assert!(wrong.slots.branch >= PENALTY * WIDTH);
    }
}

#[test]
fn code_is_fetched_line_by_line_and_stays_in_the_instruction_cache() {
    let coded = RoutineSpec {
        code_bytes: 4 * LINE,
        ..routine(80)
    };
    for spec in [machine(), in_order()] {
        let spec = with(with_code_cache(spec, false), coded);
        let code = |calls: usize| {
            let stats = run_calls(&spec, &vec![call(); calls]);
            assert_eq!(stats.slots.total, stats.cycles * WIDTH);
            (stats.cycles, stats.instruction_cache.unwrap(), stats.slots)
        };
        let (cold, counts, slots) = code(1);
        assert_eq!((counts.hits, counts.misses), (0, 4));
        assert_eq!(counts.served["memory"], 4);
        // Each of the four lines has twenty instructions, five cycles of them; all wait for memory before they begin.
        assert!((4 * T1 + 20..4 * T1 + 24).contains(&cold), "{cold}");
        assert!(slots.icache.unwrap() >= 4 * (T1 - 5) * WIDTH);
        let (warm, counts, _) = code(2);
        assert_eq!((counts.hits, counts.misses), (4, 4));
        assert_eq!(warm - cold, 20);
    }
}

#[test]
fn the_next_line_of_code_comes_ahead_of_its_use() {
    // Nine lines in a cache of eight: LRU misses every one of them in each round.
    let coded = RoutineSpec {
        code_bytes: 9 * LINE,
        ..routine(9)
    };
    let counts = |prefetch| {
        let spec = with(with_code_cache(in_order(), prefetch), coded);
        run_calls(&spec, &[call(); 3]).instruction_cache.unwrap()
    };
    let alone = counts(false);
    assert_eq!((alone.hits, alone.misses), (0, 27));
    assert_eq!((alone.served["L2"], alone.served["memory"]), (18, 9));
    assert_eq!(alone.prefetched, None);
    let with_next = counts(true);
    // Cold, no next line is in the second level; then the first line's miss brings the second, whose use brings the
    // third, and so on.
    assert_eq!((with_next.hits, with_next.misses), (16, 11));
    assert_eq!(with_next.prefetched, Some(16));
}

#[test]
fn private_data_are_read_through_the_caches_and_waited_for() {
    let private = RoutineSpec {
        data_bytes: 2 * LINE,
        ..routine(8)
    };
    for spec in [machine(), in_order()] {
        let stats = run_calls(&with(spec, private), &[call(), call()]);
        let counts = stats.caches[0].counts;
        assert_eq!((counts.misses, counts.hits + counts.merges), (2, 2));
        assert_eq!(stats.instructions, 16);
        assert_eq!(stats.slots.total, stats.cycles * WIDTH);
        assert!(stats.slots.dcache["memory"] >= T1);
    }
}

#[test]
fn the_clock_ticks_before_the_first_call_after_each_period() {
    for mut spec in [machine(), in_order()].map(|spec| with(spec, routine(400))) {
        let dbms = spec.dbms.as_mut().unwrap();
        dbms.clock_tick = Some(ClockTickSpec {
            period_cycles: 250,
            routine: routine(40),
        });
        let stats = run_calls(&spec, &[call(); 10]);
        // A hundred cycles each: interrupts at 250, 500, 750 and 1000 with their ten cycles, of which the last comes
        // after the last call began.
        let runs = stats.calls.unwrap().runs;
        assert_eq!((runs["work"], runs["(clock tick)"]), (10, 3));
        assert_eq!(stats.instructions, 10 * 400 + 3 * 40);
    }
}

#[test]
fn calls_that_no_profile_has_are_refused_by_name() {
    let named = Layout {
        calls: vec!["work".to_owned(), "rest".to_owned()],
        ..layout()
    };
    let refused = |spec: &MachineSpec, call: u64| {
        let event = Event::new(Kind::Call, call);
        let mut engine = Engine::new(spec, &named).unwrap();
        let error = engine.consume(&[event]).unwrap_err().to_string();
        let mut counts = Counts::new(spec, &named).unwrap();
        assert_eq!(counts.consume(&[event]).unwrap_err().to_string(), error);
        error
    };
    assert_eq!(
        refused(&machine(), 0),
        "the trace calls `work`, but machine test has no DBMS profile; name one"
    );
    assert_eq!(
        refused(&with(machine(), routine(1)), 1),
        "the trace calls `rest`, but DBMS profile test has only work"
    );
    assert_eq!(
        refused(&with(machine(), routine(1)), 2),
        "call 2 is made, but the trace names 2 calls"
    );
}

#[test]
fn a_profile_that_cannot_be_is_refused() {
    let refused = |change: fn(&mut RoutineSpec)| {
        let mut bad = routine(1);
        change(&mut bad);
        let error = with(machine(), bad).validate().unwrap_err();
        error.to_string()
    };
    let message = refused(|bad| bad.instructions = 0);
    assert_eq!(message, "dbms.calls.work.instructions: must be at least 1");
    let message = refused(|bad| bad.dependent_per_1000 = 1001);
    assert_eq!(
        message,
        "dbms.calls.work.dependent_per_1000: 1001 is more than all of a thousand instructions"
    );
    let message = refused(|bad| bad.code_bytes = u64::MAX);
    assert!(message.starts_with("dbms.calls.work.code_bytes: 18446744073709551615 is more than"));
}

#[test]
fn requests_for_pages_are_kept_in_order_and_take_no_time() {
    use simcore::page_requests::PageRequest::{Prefetch, Read, Write};
    let pages = [
        Event::new(Kind::PagePrefetch, 7),
        Event::new(Kind::PagePrefetch, 8),
        Event::new(Kind::PageRead, 7),
        Event::new(Kind::PageWrite, 7),
        Event::new(Kind::PageWrite, 9),
    ];
    let expected = [(Prefetch, 7, 2), (Read, 7, 1), (Write, 7, 1), (Write, 9, 1)];
    for spec in [machine(), in_order()] {
        let stats = run(&spec, &pages);
        assert_eq!((stats.cycles, stats.instructions, stats.events), (0, 0, 5));
        assert_eq!(stats.page_requests, expected);
        let mut counts = Counts::new(&spec, &Layout::default()).unwrap();
        counts.consume(&pages).unwrap();
        assert_eq!(counts.finish().page_requests, expected);
    }
}

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
}
