//! Calls into a DBMS to the cycle, by hand and beside plain instructions.

use crate::common::calls::{call, layout, routine, with};
use crate::common::*;
use simcore::profile::{ClockTickSpec, RoutineSpec};
use simcore::spec::{InstructionCacheSpec, MachineSpec, Replacement};
use simcore::{Counts, Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout};

const WIDTH: u64 = 4;
const PENALTY: u64 = 10;

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
    let message = refused(|bad| bad.instructions = u32::MAX);
    assert!(message.starts_with("dbms.calls.work.instructions: 4294967295 are more than"));
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
