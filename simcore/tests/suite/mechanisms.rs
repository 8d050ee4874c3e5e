//! Every mechanism to the cycle: not ready at t-1, ready at t.

use crate::common::*;
use simcore::Statistics;
use simcore::spec::{
    Interval, MachineSpec, MemoriesSpec, MemorySpec, PredictorSpec, PrefetchOnTlbMiss,
    PrefetcherSpec, Walker,
};
use traces::{Event, Kind, OpClass};

/// Dispatch in cycle 0, issue in cycle 1.
const ISSUE: u64 = 1;
/// An instruction that completes in cycle t graduates in that cycle, so that the run lasts t + 1.
const GRADUATE: u64 = 1;

#[test]
fn one_cold_load_takes_a_walk_and_the_full_latency() {
    assert_eq!(cycles(&machine(), &[load(0)]), ISSUE + WALK + T1 + GRADUATE);
}

#[test]
fn dependent_hits_take_the_latency_of_their_level() {
    for (level, latency) in [(0, 1), (1, 5), (2, 12)] {
        let mut spec = machine();
        // Lines of one set push each other out of the levels before the one that is measured.
        let ways = [4, 8, 8];
        let sets = [64, 512, 4096];
        let mut events = vec![load(0)];
        if level > 0 {
            let nearer = level - 1;
            events.extend((1..=ways[nearer]).map(|way| load(way * sets[nearer] * LINE)));
        }
        spec.dtlb.walk_latency_cycles = 0;
        let filled = events.len();
        let wait = after(1, load(events[filled - 1].address));
        events.push(wait);
        let before = run(&spec, &events);
        events.push(after(1, load(0)));
        let with = run(&spec, &events);
        assert_eq!(with.cycles - before.cycles, latency, "level {level}");
        assert_eq!(
            with.caches[level].counts.hits,
            before.caches[level].counts.hits + 1
        );
    }
}

#[test]
fn independent_misses_are_an_interval_apart() {
    for lines in 1..=5 {
        let independent: Vec<Event> = (0..lines).map(|line| load(line * LINE)).collect();
        let dependent: Vec<Event> = independent.iter().map(|&event| after(1, event)).collect();
        let start = ISSUE + WALK;
        assert_eq!(
            cycles(&machine(), &independent),
            start + T1 + (lines - 1) * T_NEXT + GRADUATE
        );
        assert_eq!(
            cycles(&machine(), &dependent),
            start + lines * T1 + GRADUATE
        );
    }
}

#[test]
fn a_load_merges_with_the_fill_of_its_line() {
    let stats = run(&machine(), &[load(0), load(8)]);
    assert_eq!(stats.cycles, cycles(&machine(), &[load(0)]));
    let l1 = stats.caches[0].counts;
    assert_eq!((l1.hits, l1.merges, l1.misses), (0, 1, 1));
    assert_eq!(stats.bus.fills, 1);
}

#[test]
fn a_line_crossing_load_touches_both_lines() {
    let wide = Event {
        size: 8,
        words: 2,
        ..load(LINE - 4)
    };
    let stats = run(&machine(), &[wide]);
    assert_eq!((stats.instructions, stats.bus.fills), (2, 2));
    let top = Event {
        size: 8,
        ..load(u64::MAX - 3)
    };
    assert_eq!(
        run(&machine(), &[top]).bus.fills,
        1,
        "nothing is above the top of memory"
    );
}

#[test]
fn misses_wait_for_a_register() {
    let mut spec = machine();
    let events: Vec<Event> = (0..3).map(|line| load(line * LINE)).collect();
    let unlimited = cycles(&spec, &events);
    spec.caches[0].mshrs = Some(2);
    assert_eq!(cycles(&spec, &events) - unlimited, T1 - 2 * T_NEXT);
    spec.caches[0].mshrs = Some(3);
    assert_eq!(cycles(&spec, &events), unlimited);
}

#[test]
fn a_prefetch_is_early_enough_to_the_cycle() {
    // Prefetch and first multiplication issue in some cycle t, the load at t + 4 x multiplications + chain.
    let merges = |multiplications: u64, chain: u8| {
        let multiply = Event {
            size: OpClass::Multiply as u16,
            ..Event::new(Kind::Op, 0)
        };
        let mut events = vec![load(PAGE - LINE), after(1, prefetch(0)), after(2, multiply)];
        events.extend((1..multiplications).map(|_| after(1, multiply)));
        events.push(Event {
            chain,
            ..after(1, load(0))
        });
        run(&machine(), &events).caches[0].counts.merges
    };
    assert_eq!(T1 % 4, 2, "the numbers below are made for this");
    assert_eq!(merges(T1 / 4, 0), 1, "a hit would be ready at t + 249");
    assert_eq!(merges(T1 / 4, 1), 0, "ready at t + 250, as the line is");
}

#[test]
fn prefetches_never_hold_up_graduation() {
    let mut spec = machine();
    spec.dtlb.walk_latency_cycles = 1;
    spec.dtlb.walker = Walker::Parallel;
    let alone = run(&spec, &[prefetch(0), plain(40, branch(true))]);
    assert_eq!(alone.slots.dcache["memory"], 0);
    assert!(
        alone.slots.drain > 200 * 4,
        "the line arrives long after the last instruction"
    );
}

#[test]
fn a_prefetch_that_may_not_walk_is_dropped() {
    let mut spec = machine();
    spec.dtlb.prefetch_on_miss = PrefetchOnTlbMiss::Drop;
    let stats = run(&spec, &[prefetch(0)]);
    assert_eq!(
        (stats.prefetches.dropped, stats.bus.fills, stats.dtlb.walks),
        (1, 0, 0)
    );
    let known = run(&spec, &[load(LINE), prefetch(0)]);
    assert_eq!((known.prefetches.dropped, known.bus.fills), (0, 2));
}

/// Late and unused prefetches of a run.
pub fn prefetched(spec: &MachineSpec, events: &[Event]) -> [u64; 2] {
    let prefetches = run(spec, events).prefetches;
    [prefetches.late, prefetches.unused].map(|count| count.expect("time passes"))
}

#[test]
fn a_prefetched_line_is_late_if_its_first_use_waits_for_it() {
    let after_delay = |cycles: u64, uses: &[Event]| {
        let mut events = vec![prefetch(0)];
        events.extend(delay(cycles));
        events.extend(uses);
        prefetched(&machine(), &events)
    };
    let twice = [after(1, load(0)), after(1, load(8))];
    assert_eq!(after_delay(100, &twice), [1, 0], "the second use finds it");
    assert_eq!(after_delay(100, &[after(1, store(0))]), [1, 0]);
    assert_eq!(after_delay(400, &twice), [0, 0], "it was there");
    let again = [after(1, prefetch(0)), after(2, load(0))];
    assert_eq!(after_delay(100, &again), [1, 0], "a prefetch is no use");
    assert_eq!(prefetched(&machine(), &[load(0), load(8)]), [0, 0]);
}

#[test]
fn a_prefetched_line_is_unused_if_it_is_displaced_before_its_first_use() {
    // Four ways of 64 sets: four more lines of its set displace a line.
    let others = (1..=4).map(|way| after(1, load(way * 64 * LINE)));
    let events = |used: bool| {
        let mut events = vec![prefetch(0)];
        events.extend(delay(400));
        events.extend(used.then(|| after(1, load(0))));
        events.extend(others.clone());
        events.push(after(1, load(0)));
        events
    };
    assert_eq!(prefetched(&machine(), &events(false)), [0, 1]);
    assert_eq!(prefetched(&machine(), &events(true)), [0, 0]);
    let missed = |used: bool| run(&machine(), &events(used)).caches[0].counts.misses;
    assert_eq!(missed(false), missed(true), "the last load misses anyway");
}

/// A hardware prefetcher's lines are its own, whoever comes for them.
#[test]
fn late_and_unused_lines_belong_to_who_brought_them() {
    let mut spec = machine();
    spec.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    let events = [prefetch(0), load(0), load(4 * LINE), load(5 * LINE)];
    let stats = run(&spec, &events);
    let hardware = stats.caches[0].prefetchers.expect("it has one");
    assert_eq!(stats.prefetches.late, Some(1), "of line 0");
    assert_eq!((hardware.useful, hardware.late), (1, 1), "of line 5");
}

#[test]
fn a_walk_blocks_later_memory_operations_or_does_not() {
    let mut spec = machine();
    let other_page = |back| after(back, load(PAGE));
    let events = [load(0), other_page(0)];
    // The second walk begins when the first has ended; the bus then is free for both.
    assert_eq!(cycles(&spec, &events), ISSUE + 2 * WALK + T1 + GRADUATE);
    spec.dtlb.walker = Walker::Parallel;
    assert_eq!(
        cycles(&spec, &events),
        ISSUE + WALK + T1 + T_NEXT + GRADUATE
    );
}

#[test]
fn the_least_recently_used_translation_goes() {
    let mut spec = machine();
    spec.dtlb.levels[0].entries = 2;
    let touch = |pages: &[u64]| {
        let events: Vec<Event> = pages.iter().map(|page| load(page * PAGE)).collect();
        run(&spec, &events).dtlb
    };
    assert_eq!(touch(&[0, 1, 0, 2, 0]).walks, 3);
    assert_eq!(touch(&[0, 1, 2, 0]).walks, 4);
    assert_eq!(touch(&[0, 0, 1, 1]).hits, [2]);
}

#[test]
fn a_second_tlb_level_costs_its_latency() {
    let mut spec = machine();
    spec.dtlb.levels[0].entries = 1;
    let mut second = spec.dtlb.levels[0].clone();
    second.entries = 8;
    second.latency_cycles = 7;
    spec.dtlb.levels.push(second);
    // Page 0, page 1, page 0 again: its line is in the first cache, its translation in the second level.
    let events = [load(0), after(1, load(PAGE)), after(1, load(0))];
    let stats = run(&spec, &events);
    assert_eq!((stats.dtlb.hits.clone(), stats.dtlb.walks), (vec![0, 1], 2));
    assert_eq!(stats.cycles - cycles(&spec, &events[..2]), 7 + 1);
}

#[test]
fn plain_instructions_graduate_at_the_width() {
    let n = 4000;
    let stats = run(&machine(), &[plain(n - 1, branch(true))]);
    assert_eq!(stats.instructions, u64::from(n));
    assert!((stats.cycles as i64 - i64::from(n) / 4).abs() <= 3);
    let mut narrow = machine();
    narrow.core.integer_units = 2;
    let halved = cycles(&narrow, &[plain(n - 1, branch(true))]);
    assert!(
        (halved as i64 - i64::from(n) / 2).abs() <= 3,
        "two integer units bound it"
    );
}

#[test]
fn the_reorder_buffer_bounds_overlap() {
    let apart = |instructions| {
        let far = plain(instructions, load(LINE));
        cycles(&machine(), &[load(0), far])
    };
    // 127 plain instructions and the second load: it enters only when the first has left.
    assert!(apart(127) > ISSUE + WALK + 2 * T1);
    assert!(apart(126) < ISSUE + WALK + T1 + T_NEXT + 40);
}

#[test]
fn a_misprediction_restarts_the_front_end() {
    let mut spec = machine();
    spec.core.branch_predictor = PredictorSpec::Bimodal { counters: 16 };
    // Counters start weakly taken: one untaken branch is mispredicted.
    let right = run(&spec, &[branch(true), branch(true)]);
    let wrong = run(&spec, &[branch(false), branch(true)]);
    assert_eq!(
        (right.branches.mispredicted, wrong.branches.mispredicted),
        (0, 2)
    );
    let one_wrong = run(&spec, &[branch(false), branch(false)]);
    // Resolved in cycle 2, dispatched in cycle 12, done in cycle 14.
    assert_eq!(one_wrong.cycles, 2 + 10 + 2 + 1);
    assert_eq!(one_wrong.slots.branch, (12 + 1 - 2) * 4 - 1);
}

#[test]
fn a_misprediction_waits_for_its_operand() {
    let mut spec = machine();
    spec.core.branch_predictor = PredictorSpec::Bimodal { counters: 16 };
    let free = cycles(&spec, &[load(0), branch(false), load(8)]);
    let bound = cycles(&spec, &[load(0), after(1, branch(false)), load(8)]);
    assert_eq!(free, ISSUE + WALK + T1 + GRADUATE);
    assert_eq!(bound, free + 1 + 10 + 2);
}

#[test]
fn divisions_queue_and_multiplications_do_not() {
    let op = |class| Event {
        size: class as u16,
        ..Event::new(Kind::Op, 0)
    };
    for spec in [machine(), in_order()] {
        let many = |class, count| cycles(&spec, &vec![op(class); count]);
        assert_eq!(many(OpClass::Divide, 3) - many(OpClass::Divide, 1), 2 * 50);
        assert_eq!(many(OpClass::Multiply, 4), many(OpClass::Multiply, 1));
    }
}

#[test]
fn stores_hide_until_the_buffer_is_full() {
    let mut spec = machine();
    spec.core.store_buffer_entries = 2;
    let lines = |count: u64| -> Vec<Event> { (0..count).map(|line| store(line * LINE)).collect() };
    assert_eq!(run(&spec, &lines(2)).slots.dcache["memory"], 0);
    let full = run(&spec, &lines(3));
    // The first store graduates when its address is translated; its line takes the full latency.
    assert_eq!(full.slots.dcache["memory"], T1 * 4 - 2);
}

#[test]
fn a_dirty_line_takes_the_bus_when_it_leaves() {
    let mut spec = machine();
    for cache in &mut spec.caches {
        cache.size_bytes = LINE;
        cache.ways = 1;
    }
    // Each further load pushes the dirty line one level out; the last one waits behind it on the bus.
    let events = [
        store(0),
        load(LINE),
        load(2 * LINE),
        load(3 * LINE),
        load(4 * LINE),
    ];
    let stats = run(&spec, &events);
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (5, 1));
    assert_eq!(
        [0, 1, 2].map(|level| stats.caches[level].counts.write_backs),
        [1; 3]
    );
    let clean = run(&spec, &[0, 1, 2, 3, 4].map(|line| load(line * LINE)));
    assert_eq!(clean.bus.write_backs, 0);
    let MemoriesSpec::One(MemorySpec::Fixed {
        write_backs_use_bus,
        ..
    }) = &mut spec.memory
    else {
        unreachable!("the test machine's memory is fixed")
    };
    *write_backs_use_bus = false;
    let free = run(&spec, &events);
    assert_eq!(free.bus.write_backs, 1, "still counted");
    assert_eq!(stats.cycles - free.cycles, T_NEXT);
}

#[test]
fn a_flush_empties_everything() {
    let flush = Event::new(Kind::Flush, 0);
    for spec in [machine(), in_order()] {
        let once = run(&spec, &[load(0)]);
        let twice = run(&spec, &[load(0), flush, load(0)]);
        assert_eq!(twice.caches[0].counts.misses, 2);
        assert_eq!(twice.dtlb.walks, 2);
        // What is before it ends, whether or not anything needs it: a line, a division.
        assert_eq!(twice.cycles, 2 * once.cycles);
        let divide = Event {
            size: OpClass::Divide as u16,
            ..Event::new(Kind::Op, 0)
        };
        assert!(run(&spec, &[divide, flush, load(0)]).cycles >= 50 + once.cycles);
    }
}

#[test]
fn in_order_loads_stall_at_their_use() {
    let spec = in_order();
    let work = plain(40, branch(true));
    let unused = cycles(&spec, &[load(0), work]);
    assert_eq!(unused, WALK + T1, "the run ends when the line is there");
    let stats = run(&spec, &[load(0), work, after(2, branch(true))]);
    assert_eq!(stats.cycles, WALK + T1 + 1);
    // The load and 41 others issue during the walk; the rest is waiting for its end, and then for memory.
    assert_eq!(stats.slots.dtlb, 4 * WALK - 42);
    assert_eq!(stats.slots.dcache["memory"], 4 * T1);
}

/// Loads of distinct lines, in a page whose translation is there, and what the events behind them do meanwhile.
fn behind_misses(spec: &MachineSpec, misses: &[Event], behind: Event) -> Statistics {
    let mut events = vec![load(0), after(1, branch(true))];
    events.extend(misses);
    events.push(behind);
    run(spec, &events)
}

#[test]
fn an_in_order_core_stops_at_a_miss_without_a_handler() {
    let mut spec = in_order();
    let work = plain(40, branch(true));
    let two = [load(LINE), load(2 * LINE)];
    let free = behind_misses(&spec, &two, work);
    let waits = |stats: &Statistics| stats.slots.dcache["memory"];
    let first = 4 * T1;
    assert_eq!(waits(&free), first, "for the line of the beginning only");
    spec.caches[0].mshrs = Some(1);
    for second in [load(2 * LINE), prefetch(2 * LINE), exchange(2 * LINE)] {
        let stopped = behind_misses(&spec, &[load(LINE), second], work);
        // What is behind begins when the first line is there. Of the cycle in which both were issued three slots are used.
        assert_eq!(waits(&stopped) - first, 4 * T1 - 3, "{:?}", second.kind);
    }
    // Hits wait for nobody, nor do stores, which the store buffer has.
    for second in [load(8), store(2 * LINE)] {
        let passed = behind_misses(&spec, &[load(LINE), second], work);
        assert_eq!(waits(&passed), first, "{:?}", second.kind);
    }
    // Nor a hit behind a store that waits for a handler.
    let passed = behind_misses(&spec, &[load(LINE), store(2 * LINE), load(8)], work);
    assert_eq!(waits(&passed), first);
}

#[test]
fn an_in_order_core_does_its_work_between_misses_that_have_no_handler() {
    let mut spec = in_order();
    spec.caches[0].mshrs = Some(1);
    let miss = |line: u64| load(line * LINE);
    let events: Vec<Event> = (0..100)
        .flat_map(|line| [miss(line), plain(40, branch(true))])
        .collect();
    let stats = run(&spec, &events);
    let alone: Vec<Event> = (0..100).map(miss).collect();
    assert_eq!(
        stats.cycles,
        run(&spec, &alone).cycles,
        "the handler bounds both"
    );
    assert!(stats.slots.drain <= 4 * T1, "{}", stats.slots.drain);
}

#[test]
fn an_in_order_mispredict_costs_its_penalty() {
    let mut spec = in_order();
    spec.core.branch_predictor = PredictorSpec::Bimodal { counters: 16 };
    let stats = run(&spec, &[branch(false), branch(false)]);
    assert_eq!(stats.slots.branch, 4 * (1 + 10) - 1);
}

#[test]
fn impossible_machines_are_refused_by_name() {
    type Spoil = fn(&mut simcore::MachineSpec);
    let cases: [(&str, Spoil); 18] = [
        ("caches.0.line_bytes", |m| m.caches[0].line_bytes = 48),
        ("caches.1.size_bytes", |m| m.caches[1].size_bytes = 100_000),
        ("caches.1.latency_cycles", |m| {
            m.caches[1].latency_cycles = 1
        }),
        ("caches.0.mshrs", |m| m.caches[0].mshrs = None),
        ("core.reorder_buffer", |m| m.core.reorder_buffer = None),
        ("core.memory_ports", |m| m.core.memory_ports = 0),
        ("dtlb.page_bytes", |m| m.dtlb.page_bytes = 5000),
        // The last cache has longer lines than the first.
        ("dtlb.page_bytes", |m| {
            m.caches[2].line_bytes = 128;
            m.dtlb.page_bytes = 64;
        }),
        ("core.store_buffer_entries", |m| {
            m.core.store_buffer_entries = u32::MAX
        }),
        ("core.divide_latency_cycles", |m| {
            m.core.divide_latency_cycles = u32::MAX
        }),
        ("core.branch_predictor.counters", |m| {
            m.core.branch_predictor = PredictorSpec::Bimodal { counters: 1 << 17 }
        }),
        ("caches.0.mshrs", |m| m.caches[0].mshrs = Some(u32::MAX)),
        ("core.reorder_buffer", |m| {
            m.core.reorder_buffer = Some(u32::MAX)
        }),
        ("dtlb.levels.0.entries", |m| {
            m.dtlb.levels[0].entries = 1 << 31
        }),
        ("dtlb.walk_latency_cycles", |m| {
            m.dtlb.walk_latency_cycles = u32::MAX
        }),
        ("caches.1.latency_cycles", |m| {
            m.caches[1].latency_cycles = u32::MAX
        }),
        // The second level is found to miss when the first has been.
        ("dtlb.levels.1.latency_cycles", |m| {
            m.dtlb.levels.push(m.dtlb.levels[0].clone());
            m.dtlb.levels[0].latency_cycles = 1;
        }),
        ("memory.latency_cycles", |m| {
            m.memory = MemorySpec::Fixed {
                latency_cycles: 3,
                interval_cycles: Interval::of_cycles(15),
                write_backs_use_bus: true,
                write_interval_cycles: None,
            }
            .into();
        }),
    ];
    for (path, spoil) in cases {
        let mut spec = machine();
        spoil(&mut spec);
        assert_eq!(spec.validate().unwrap_err().path, path);
    }
    assert_eq!(machine().validate(), Ok(()));
    assert_eq!(in_order().validate(), Ok(()));
}

/// An addition that waits for a load is where an in-order core stalls; its own latency is one cycle.
#[test]
fn an_addition_takes_a_cycle_after_what_it_waits_for() {
    let add = Event {
        size: OpClass::Add as u16,
        ..Event::new(Kind::Op, 0)
    };
    for spec in [machine(), in_order()] {
        let chain = |additions: usize| cycles(&spec, &vec![after(1, add); additions]);
        assert_eq!(chain(60) - chain(20), 40);
        // Two misses overlap unless something between them uses the first.
        let [first, second] = [load(0), load(64 * PAGE)];
        let free = cycles(&spec, &[first, add, second]);
        let used = cycles(&spec, &[first, after(1, add), second]);
        let stalls = spec.core.kind == simcore::spec::CoreKind::InOrder;
        assert_eq!(used > free + T1 / 2, stalls, "{free} and {used} cycles");
    }
}

/// Columns of results are made of the names of caches.
#[test]
fn names_that_results_have_twice_are_refused() {
    let refused = |level: usize, name: &str| {
        let mut spec = machine();
        spec.caches[level].name = name.to_owned();
        let error = spec.validate().unwrap_err();
        assert_eq!(error.path, format!("caches.{level}.name"));
        let remedy = format!("; choose another name, such as L{}", level + 1);
        assert!(error.message.ends_with(&remedy), "{error}");
    };
    let first = machine().caches[0].name.clone();
    refused(1, &first);
    refused(1, &format!("{first}_code"));
    refused(0, &format!("{}_data", machine().caches[1].name));
    for name in ["dtlb", "memory", "instruction_cache", "bus", "slots_dcache"] {
        refused(0, name);
        refused(1, name);
    }
    let mut spec = machine();
    spec.caches[1].name = "memory-side".to_owned();
    assert_eq!(spec.validate(), Ok(()));
}
