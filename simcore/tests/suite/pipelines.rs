//! What both pipelines are held to, and the in-order one by itself: units, ports, chains and who is counted as a producer.

use crate::common::*;
use crate::multicore::on_cores;
use simcore::spec::{Interval, MachineSpec, MemorySpec};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, OpClass, Segment};

/// Both kinds of core, where translations take no time.
fn both() -> [MachineSpec; 2] {
    [machine(), in_order()].map(|mut spec| {
        spec.dtlb.walk_latency_cycles = 0;
        spec
    })
}

/// Cycles until the last instruction has graduated, whatever is still on its way.
fn busy(spec: &MachineSpec, events: &[Event]) -> u64 {
    let slots = run(spec, events).slots;
    (slots.total - slots.drain).div_ceil(u64::from(spec.core.issue_width))
}

/// Cycles that `events` take behind a line that has come long ago, for which the first of them waits.
fn behind_a_line(spec: &MachineSpec, events: &[Event]) -> u64 {
    let mut all = [&[load(0)], &delay(400)[..]].concat();
    let before = busy(spec, &all);
    all.push(after(1, events[0]));
    all.extend(&events[1..]);
    busy(spec, &all) - before
}

#[test]
fn plain_instructions_are_as_many_per_cycle_as_there_are_integer_units() {
    for mut spec in both() {
        for units in [1, 2, 4] {
            spec.core.integer_units = units;
            let of = |instructions| busy(&spec, &[plain(instructions, branch(true))]);
            assert_eq!(of(800) - of(400), 400 / u64::from(units));
        }
    }
}

/// Each instruction takes the entry of the one 128 before it, a cycle after that has graduated. Loads miss, and come after 250 cycles.
///
/// Behind 31 plain instructions the first is instruction 31: it issues in cycle 8 and graduates in cycle 258. The fifth, instruction 159, takes
/// its entry in cycle 259, and has its line in cycle 510. Behind 30 the sixth is instruction 185, and takes the entry of instruction 57.
/// That graduates 27 slots behind the first load, instruction 30, in slot 4 * 258 + 27: the sixth load has its line in cycle 516.
#[test]
fn instructions_take_entries_of_the_reorder_buffer_one_by_one() {
    let [mut spec, _] = both();
    spec.memory = MemorySpec::Fixed {
        latency_cycles: T1 as u32,
        interval_cycles: Interval::of_cycles(1),
        write_backs_use_bus: true,
        write_interval_cycles: None,
    }
    .into();
    for (before, loads, there) in [(31, 5, 510), (30, 6, 516)] {
        let events = (0..loads).map(|line| plain(before, load(line * LINE)));
        let found = cycles(&spec, &events.collect::<Vec<_>>());
        assert_eq!(found, there + 1, "{before} before each");
    }
}

#[test]
fn loads_that_hit_are_as_many_per_cycle_as_there_are_ports() {
    for mut spec in both() {
        for ports in [1, 2, 4] {
            spec.core.memory_ports = ports;
            let loads = |count| (1..=count).map(|back| after(back, load(0)));
            let of = |count| behind_a_line(&spec, &loads(count).collect::<Vec<_>>());
            assert_eq!(of(48) - of(16), 32 / u64::from(ports));
        }
    }
}

#[test]
fn every_word_of_a_load_takes_a_port() {
    for mut spec in both() {
        spec.core.memory_ports = 1;
        let wide = Event {
            size: 16,
            words: 4,
            ..load(0)
        };
        let loads = |count| (1..=count).map(|back| after(back, wide));
        let of = |count| behind_a_line(&spec, &loads(count).collect::<Vec<_>>());
        assert_eq!(of(16) - of(8), 8 * 4);
    }
}

#[test]
fn plain_cycles_of_a_chain_come_between_a_result_and_who_needs_it() {
    for spec in both() {
        let chained = |chain| {
            let uses = Event {
                chain,
                ..after(1, load(0))
            };
            behind_a_line(&spec, &[load(0), uses, after(1, branch(true))])
        };
        assert_eq!(chained(200) - chained(20), 180);
    }
}

#[test]
fn every_word_of_a_store_takes_an_entry_of_the_store_buffer() {
    for mut spec in both() {
        spec.core.store_buffer_entries = 2;
        let waits = |words| {
            let wide = Event {
                size: 4 * words,
                words,
                ..store(0)
            };
            run(&spec, &[wide, branch(true)]).slots.dcache["memory"]
        };
        assert_eq!(waits(2), 0);
        assert!(waits(3) >= 4 * (T1 - 1), "{}", waits(3));
    }
}

/// Nothing but the store itself waits in a store buffer for its miss handler.
#[test]
fn what_hits_does_not_wait_for_the_handler_of_a_store() {
    let hits: [fn(u64) -> Event; 3] = [load, exchange, prefetch];
    for mut spec in both() {
        spec.caches[0].mshrs = Some(1);
        for hit in hits {
            let stores = [store(8 * LINE), store(9 * LINE)];
            let cycles = behind_a_line(&spec, &[&stores, &[hit(0), branch(true)][..]].concat());
            assert!(cycles < 20, "{cycles}");
        }
    }
}

/// The second load needs the first, two events back.
#[test]
fn events_of_all_kinds_count_between_a_result_and_who_needs_it() {
    let op = Event {
        size: OpClass::Multiply as u16,
        ..Event::new(Kind::Op, 0)
    };
    let between = [
        branch(true),
        op,
        store(0),
        exchange(0),
        prefetch(0),
        load(0),
        Event::new(Kind::PrefetchNta, 0),
        Event::new(Kind::Latch, 0),
        Event::new(Kind::PageRead, 0),
        Event::new(Kind::Barrier, 0),
    ];
    for spec in both() {
        for event in between {
            let chain = [load(8 * LINE), event, after(2, load(16 * LINE))];
            let cycles = behind_a_line(&spec, &[&chain[..], &[after(1, branch(true))]].concat());
            assert!(cycles >= 2 * T1, "{:?}: {cycles}", event.kind);
            // The same if it passes in no time.
            let mut engine = Engine::new(&spec, &Layout::default()).expect("a valid machine");
            engine.consume(&chain[..1]).expect("a load");
            engine.pass(&chain[1..2]).expect("what the machine has");
            engine.consume(&chain[2..]).expect("a load");
            assert!(engine.finish().cycles >= 2 * T1, "{:?}", event.kind);
        }
    }
}

/// Two data structures of a few pages.
fn layout() -> Layout {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: 8 * PAGE,
    };
    Layout {
        segments: vec![segment("table", 0), segment("tree", 8 * PAGE)],
        ..Layout::default()
    }
}

/// What is charged to the table, and to the tree.
fn by_segment(statistics: &Statistics, charged: impl Fn(&Statistics, usize) -> u64) -> [u64; 2] {
    ["table", "tree"].map(|segment| {
        let rows = statistics.breakdown.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.segment == segment);
        rows.map(|(row, _)| charged(statistics, row)).sum()
    })
}

#[test]
fn walks_are_counted_where_their_pages_lie() {
    let pages = [0, 1, 8, 9, 10].map(|page| load(page * PAGE));
    for spec in [machine(), in_order()] {
        let mut engine = Engine::new(&spec, &layout()).expect("a valid machine");
        engine.consume(&pages).expect("loads");
        let statistics = engine.finish();
        let walks = by_segment(&statistics, |all, row| all.breakdown[row].walks);
        assert_eq!(walks, [2, 3]);
    }
}

#[test]
fn an_access_to_two_lines_waits_for_the_later() {
    let wide = Event {
        size: 8,
        ..load(9 * LINE - 4)
    };
    for spec in both() {
        for there in [8, 9] {
            let before = [&[load(there * LINE)], &delay(400)[..]].concat();
            let events = [after(1, wide), after(1, branch(true))];
            let cycles = busy(&spec, &[&before[..], &events].concat()) - busy(&spec, &before);
            assert!((T1..T1 + 6).contains(&cycles), "{there}: {cycles}");
        }
    }
}

#[test]
fn a_data_structure_has_each_access_by_who_served_it() {
    let mut events = [&[load(0)], &delay(400)[..]].concat();
    // The first three when the line has come.
    events.extend([
        after(1, load(0)),
        after(2, store(8)),
        after(3, prefetch(16)),
        load(LINE),
    ]);
    for spec in [machine(), in_order()] {
        let mut engine = Engine::new(&spec, &layout()).expect("a valid machine");
        engine.consume(&events).expect("accesses");
        let statistics = engine.finish();
        let rows = statistics.breakdown.iter();
        let table: Vec<_> = rows.filter(|row| row.segment == "table").collect();
        assert_eq!(table.iter().map(|row| row.accesses).sum::<u64>(), 5);
        let served = |level: usize| table.iter().map(|row| row.served[level]).sum::<u64>();
        assert_eq!([0, 1, 2, 3].map(served), [2, 0, 0, 2]);
    }
}

/// Accesses in no time are touches, too: what runs behind them works on the data structure that was accessed last.
#[test]
fn what_passes_in_no_time_says_who_pays_next() {
    let past = Event::new(Kind::StoreNta, 8 * PAGE);
    for access in [load(8 * PAGE), prefetch(8 * PAGE), past] {
        let mut engine = Engine::new(&machine(), &layout()).expect("a valid machine");
        engine.pass(&[load(0), access]).expect("accesses");
        engine.consume(&[branch(true); 10]).expect("branches");
        let statistics = engine.finish();
        let busy = by_segment(&statistics, |all, row| all.breakdown[row].slots.busy);
        assert_eq!(busy, [0, 10], "{:?}", access.kind);
    }
}

/// Of two cores that want a line which neither has, the one that asks first fetches it, whatever the other's access waits for until then.
#[test]
fn who_asks_first_fetches_the_line_of_both() {
    let line = 100 * LINE;
    let chained = Event {
        chain: 200,
        ..after(1, load(line))
    };
    // Two stores fill the buffer until their lines have come.
    let behind_stores = vec![store(8 * LINE), store(9 * LINE), store(line)];
    for mut spec in both() {
        spec.core.store_buffer_entries = 2;
        let late = [
            [vec![load(0)], delay(400), vec![chained]].concat(),
            [vec![load(0)], delay(400), behind_stores.clone()].concat(),
        ];
        for late in late {
            // A hundred cycles after the other has come so far.
            let early = [vec![load(4 * PAGE)], delay(500), vec![after(1, load(line))]].concat();
            for threads in [[late.clone(), early.clone()], [early.clone(), late.clone()]] {
                let is_early = threads[0] == early;
                let cores = on_cores(&spec, &threads).cores;
                let early = &cores[usize::from(!is_early)];
                assert_eq!(early.bus.fills, 2, "{:?}", spec.core.kind);
            }
        }
    }
}

#[test]
fn what_was_accessed_last_pays_whatever_accessed_it() {
    let last = 8 * PAGE;
    let past = Event::new(Kind::StoreNta, last);
    for access in [
        load(last),
        store(last),
        exchange(last),
        prefetch(last),
        past,
    ] {
        for spec in [machine(), in_order()] {
            let mut engine = Engine::new(&spec, &layout()).expect("a valid machine");
            let events = [&[load(0), access], &[branch(true); 10][..]].concat();
            engine.consume(&events).expect("what the machine has");
            let statistics = engine.finish();
            let busy = by_segment(&statistics, |all, row| all.breakdown[row].slots.busy);
            assert_eq!(busy, [1, 11], "{:?}", access.kind);
        }
    }
}

#[test]
fn a_phase_that_the_trace_does_not_name_is_refused() {
    let layout = Layout {
        phases: vec!["build".to_owned(), "probe".to_owned()],
        ..layout()
    };
    let mut engine = Engine::new(&machine(), &layout).expect("a valid machine");
    let mark = |phase| [Event::new(Kind::Mark, phase)];
    engine.consume(&mark(1)).expect("it is named");
    for phase in [2, u64::MAX] {
        let refused = engine.consume(&mark(phase)).expect_err("not named");
        let expected = format!("opens phase {phase}, but the trace names 2 phases");
        assert!(refused.to_string().contains(&expected), "{refused}");
    }
}

#[test]
fn what_runs_in_a_phase_is_charged_to_it() {
    let layout = Layout {
        phases: vec!["build".to_owned(), "probe".to_owned()],
        ..layout()
    };
    let phase = |number, branches| {
        let begins = [Event::new(Kind::Mark, number), load(8 * PAGE * number)];
        [&begins[..], &vec![branch(true); branches]].concat()
    };
    let events = [phase(0, 10), phase(1, 20), phase(0, 5)].concat();
    for spec in [machine(), in_order()] {
        let mut engine = Engine::new(&spec, &layout).expect("a valid machine");
        engine.consume(&events).expect("marks, loads and branches");
        let rows = engine.finish().breakdown;
        let busy = |phase: &str| -> u64 {
            let rows = rows.iter().filter(|row| row.phase == phase);
            rows.map(|row| row.slots.busy).sum()
        };
        assert_eq!(["build", "probe"].map(busy), [11 + 6, 21]);
    }
}

/// Who was waited for before is nobody's concern behind a flush: stores in the buffer, and a walk.
#[test]
fn behind_a_flush_nothing_waits_for_what_was_under_way() {
    let flush = Event::new(Kind::Flush, 0);
    for mut spec in both() {
        spec.core.store_buffer_entries = 1;
        let stores = [store(0), flush, store(8 * LINE), branch(true)];
        assert_eq!(run(&spec, &stores).slots.dcache["memory"], 0);
        spec.dtlb.walk_latency_cycles = 1000;
        let walks = cycles(&spec, &[prefetch(0), flush, load(PAGE)]);
        assert!(walks < 1000 + 2 * T1, "{walks}");
    }
}
