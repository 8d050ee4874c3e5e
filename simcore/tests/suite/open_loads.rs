//! Loads before a DRAM that nobody waits for: it hears of them in the order of their times.

use crate::common::in_turn::InTurn;
use crate::common::*;
use crate::dram::{DDR4, HBM2, ddr4, mixture, with_dram};
use simcore::spec::{MachineSpec, MemorySpec, PredictorSpec};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, OpClass};

/// Rows of one bank follow each other so many bytes apart.
const ROW: u64 = 1 << 24;
/// Cycles of [`ddr4`] from one activation of a bank to the next: tRC is 74 cycles of the DRAM.
const ROW_CYCLE: u64 = 2 * 74;

/// Lines in no order, each once.
fn scattered(lines: u64) -> impl Iterator<Item = u64> {
    (0..lines).map(move |line| line * 7919 % lines * 1009 * LINE)
}

fn add(back: u32) -> Event {
    let add = Event {
        size: OpClass::Add as u16,
        ..Event::new(Kind::Op, 0)
    };
    after(back, add)
}

fn late_reads(statistics: &Statistics) -> u64 {
    statistics.dram.expect("a DRAM inside").late_reads
}

/// As many as the reorder buffer holds, with handlers for all or for a few.
#[test]
fn loads_that_need_nothing_take_as_long_as_prefetches() {
    let in_order: Vec<u64> = (0..100).map(|line| line * LINE).collect();
    let of_one_bank = (0..100).map(|row| row * ROW).collect();
    for addresses in [in_order, scattered(100).collect(), of_one_bank] {
        for (text, handlers) in [(DDR4, 128), (DDR4, 8), (HBM2, 128), (HBM2, 8)] {
            let mut spec = with_dram(machine(), text);
            spec.caches[0].mshrs = Some(handlers);
            let run_as = |kind: Kind| {
                let events = addresses.iter().map(|&address| Event::new(kind, address));
                run(&spec, &events.collect::<Vec<_>>())
            };
            let (loads, prefetches) = (run_as(Kind::Load), run_as(Kind::Prefetch));
            // They graduate in the order of the program, four in a cycle, behind the last line to come.
            let behind = loads.cycles - prefetches.cycles;
            assert!((1..=25).contains(&behind), "{behind} with {handlers}");
            assert_eq!(loads.dram, prefetches.dram, "{handlers} handlers");
            assert_eq!(late_reads(&loads), 0);
        }
    }
}

/// Far more of them than the reorder buffer holds.
#[test]
fn a_bank_opens_one_row_at_a_time() {
    let rows = 500;
    let loads: Vec<Event> = (0..rows).map(|row| load(row * ROW)).collect();
    let statistics = run(&ddr4(), &loads);
    assert!(
        statistics.cycles > (rows - 1) * ROW_CYCLE,
        "{}",
        statistics.cycles
    );
    assert_eq!(late_reads(&statistics), 0);
}

/// A cycle of the DRAM is longer than what is outside it takes.
#[test]
fn close_to_the_dram_no_load_is_late() {
    for text in [DDR4, HBM2] {
        let mut spec = with_dram(machine(), text);
        spec.caches.truncate(1);
        let MemorySpec::Dramsim3(mut dram) = spec.memory.first().clone() else {
            unreachable!("the machine has one");
        };
        dram.path_latency_cycles = 1;
        spec.memory = MemorySpec::Dramsim3(dram).into();
        let loads = scattered(400).enumerate();
        let loads = loads.map(|(number, address)| plain(number as u16 % 50, load(address)));
        assert_eq!(late_reads(&run(&spec, &loads.collect::<Vec<_>>())), 0);
    }
}

/// Loads take as long as twice as many that have a line each, but for the places that these take; stores, whose store buffer is full, take clearly
/// less. Some lie in two pages.
#[test]
fn accesses_to_two_lines_hold_up_nobody() {
    for (access, shares) in [(load as fn(u64) -> Event, 0.93..1.), (store, 0.7..0.9)] {
        let straddling = scattered(300).map(|address| Event {
            size: 8,
            ..plain(7, access(address + LINE - 4))
        });
        let apart = scattered(300)
            .flat_map(|address| [address, address + LINE])
            .map(|address| plain(3, access(address)));
        let straddling = run(&ddr4(), &straddling.collect::<Vec<_>>());
        let apart = run(&ddr4(), &apart.collect::<Vec<_>>());
        let reads = |statistics: &Statistics| statistics.dram.expect("a DRAM inside").reads;
        assert_eq!(late_reads(&straddling), 0);
        assert_eq!(reads(&straddling), reads(&apart));
        let share = straddling.cycles as f64 / apart.cycles as f64;
        assert!(shares.contains(&share), "{share}");
    }
}

/// What is computed from loads, and branches on them that are predicted right, let others go on.
#[test]
fn results_that_are_computed_from_open_loads_stay_open() {
    let lines = 400;
    let summed: Vec<Event> = scattered(lines)
        .flat_map(|address| [load(address), branch(true), add(2), add(1)])
        .map(|event| match event.kind {
            Kind::Branch => after(1, event),
            _ => event,
        })
        .collect();
    let loads: Vec<Event> = scattered(lines)
        .map(|address| plain(3, load(address)))
        .collect();
    let (sums, alone) = (run(&ddr4(), &summed), run(&ddr4(), &loads));
    assert_eq!(late_reads(&sums), 0);
    // The last sum waits for the last line.
    assert!(
        (alone.cycles..alone.cycles + 8).contains(&sums.cycles),
        "{} {}",
        sums.cycles,
        alone.cycles
    );
}

/// What is loaded is copied into one line, which is there by then.
#[test]
fn stores_that_find_their_lines_let_loads_stay_open() {
    let lines = 400;
    let buffer = 1 << 40;
    let there = [store(buffer), Event::new(Kind::Measure, 0)];
    let pause = delay(1000);
    let program = |of_line: &dyn Fn(u64, u64) -> Vec<Event>| {
        let copies = scattered(lines).enumerate();
        let copies = copies.flat_map(|(number, address)| of_line(number as u64, address));
        let events = there.iter().copied().chain(pause.iter().copied());
        run(&ddr4(), &events.chain(copies).collect::<Vec<_>>())
    };
    let copied = program(&|number, address| {
        vec![load(address), after(1, store(buffer + number * 4 % LINE))]
    });
    let loaded = program(&|_, address| vec![plain(1, load(address))]);
    assert_eq!(late_reads(&copied), late_reads(&loaded));
    // A store graduates a cycle behind the load that it needs, so that entries of the reorder buffer are free that much later.
    let behind = copied.cycles - loaded.cycles;
    assert!((0..lines / 4).contains(&behind), "{behind}");
}

/// A store whose line comes late has one of two entries. Those behind an open load, whose line comes soon, have to wait for the other, and
/// what is behind them graduates only then.
#[test]
fn stores_behind_open_loads_wait_for_the_store_buffer() {
    // In a set of the caches that none of these rows is in.
    let there = store((1 << 40) + 8 * LINE);
    let busy_bank = (1..10).map(|row| prefetch(row * ROW));
    let stores = [store(10 * ROW), load(LINE), there, there, there];
    let begin = [there].into_iter().chain(delay(1000));
    let last = plain(1000, branch(true));
    let events = begin.chain(busy_bank).chain(stores).chain([last]);
    let events: Vec<Event> = events.collect();
    let run_with = |entries| {
        let mut spec = ddr4();
        spec.core.store_buffer_entries = entries;
        run(&spec, &events).cycles
    };
    let (full, has_room) = (run_with(2), run_with(24));
    let behind = 1000 / 4;
    assert!(
        (behind - 20..behind + 20).contains(&(full - has_room)),
        "{full} {has_room}"
    );
}

/// A sum stays open behind a load of a busy bank, while what it is computed from has come, has graduated, and is further back than the core
/// remembers results.
#[test]
fn an_operand_is_known_however_long_ago_it_was() {
    let mut spec = ddr4();
    spec.core.reorder_buffer = Some(224);
    spec.caches[0].mshrs = Some(400);
    let rows = 320;
    let of_row = |row: u64| load(row * ROW);
    let busy = (0..20).map(|row| prefetch(row * ROW));
    let first = [load(LINE)].into_iter().chain(vec![add(0); 40]);
    let sum = [of_row(20), add(42), after(43, load(2 * LINE))];
    let others = (21..rows).map(of_row);
    let events: Vec<Event> = busy.chain(first).chain(sum).chain(others).collect();
    let took = run(&spec, &events).cycles;
    assert!((rows..rows + 20).contains(&(took / ROW_CYCLE)), "{took}");
}

/// Of two loads of a line the first in the program has its address much later than the other, who does not wait for that.
#[test]
fn who_comes_first_for_a_line_asks_for_it() {
    let slow = [&[add(0)], delay(80).as_slice()].concat();
    let of = |first: &[Event]| {
        let last = [load(0), after(1, add(0)), after(1, load(2 * LINE))];
        let events = slow.iter().chain(first).copied().chain(last);
        run(&ddr4(), &events.collect::<Vec<_>>())
    };
    let (alone, beside) = (of(&[add(1)]), of(&[after(1, load(8))]));
    assert_eq!(beside.cycles, alone.cycles);
    assert_eq!(late_reads(&beside), 0);
    assert_eq!(beside.dram.map(|dram| dram.reads), Some(2));
}

/// The front end waits for a branch that was predicted wrongly, and that for its operand.
#[test]
fn a_misprediction_waits_for_the_line_that_it_depends_on() {
    let mut spec = ddr4();
    // Counters that nothing has trained predict the same of all branches: those that are taken are predicted wrongly, or the others.
    spec.core.branch_predictor = PredictorSpec::Gshare {
        history_bits: 0,
        counters: 64,
    };
    let run_of = |taken, needs| run(&spec, &[load(0), after(needs, branch(taken)), load(LINE)]);
    let wrong = [true, false].map(|taken| run_of(taken, 1).branches.mispredicted);
    assert_eq!(wrong.iter().sum::<u64>(), 1);
    let taken = wrong[0] == 1;
    let (right, waits, does_not) = (run_of(!taken, 1), run_of(taken, 1), run_of(taken, 0));
    let one_line = run(&spec, &[load(0)]).cycles;
    assert!(waits.cycles > 2 * one_line, "{} {one_line}", waits.cycles);
    assert!(right.cycles < 2 * one_line && does_not.cycles < 2 * one_line);
}

/// A load that the reorder buffer has no entry for asks when the one before it has left.
#[test]
fn the_reorder_buffer_is_full_behind_an_open_load() {
    let spec = ddr4();
    let entries = spec.core.reorder_buffer.expect("out of order") as u16;
    let two = |between| run(&spec, &[load(0), plain(between, load(LINE))]).cycles;
    let (inside, outside) = (two(entries - 2), two(entries - 1));
    assert!(outside > inside + 90, "{inside} {outside}");
}

fn in_batches(spec: &MachineSpec, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, &Layout::default()).expect("a valid machine");
    for events in events.chunks(batch) {
        engine.consume(events).expect("events that the machine has");
    }
    engine.finish()
}

#[test]
fn watched_events_graduate_behind_what_was_open_before() {
    let mut engine = Engine::new(&ddr4(), &Layout::default()).expect("a valid machine");
    let mut times = Vec::new();
    engine.consume(&[load(0)]).expect("a load");
    engine
        .watch(&[branch(true)], &mut times)
        .expect("a branch that nothing holds up");
    let alone = cycles(&ddr4(), &[load(0)]);
    assert!(times[0].graduated_slot >= 4 * (alone - 1), "{times:?}");
}

#[test]
fn batches_make_no_difference() {
    let events = mixture(2000);
    let whole = in_batches(&ddr4(), &events, events.len());
    for batch in [1, 7, 64] {
        assert_eq!(in_batches(&ddr4(), &events, batch), whole, "{batch}");
    }
}

/// It needs to know how far the core is, which has to wait for its loads then, and not before some event or other behind.
#[test]
fn storage_hears_at_once_of_a_measurement_that_begins_where_time_stands_still() {
    let loads: Vec<_> = scattered(40).map(load).collect();
    let run = |batch: usize| {
        let mut engine = Engine::new(&ddr4(), &Layout::default()).expect("a valid machine");
        engine.set_storage(Box::new(InTurn::of(&[1_000])));
        let begin = [Event::new(Kind::Measure, 0)];
        engine.pass(&begin).expect("events that the machine has");
        for events in loads.chunks(batch) {
            engine.consume(events).expect("events that the machine has");
        }
        engine.finish()
    };
    let (one, all) = (run(1), run(loads.len()));
    assert_eq!(late_reads(&all), 0);
    assert_eq!(one, all);
}

/// Nobody has needed to know when the first of them came, in the middle of the pause.
#[test]
fn an_access_to_a_line_that_has_come_is_a_hit() {
    let accesses = [load(0), store(0), prefetch(0)];
    for first in accesses {
        for second in accesses {
            for (pause, came) in [(100, false), (4000, true)] {
                let mut events = vec![first];
                events.extend(delay(pause));
                events.push(second);
                let run = run(&ddr4(), &events);
                // A store asks when the load before it has graduated.
                let came = came || (first.kind, second.kind) == (Kind::Load, Kind::Store);
                let counts = &run.caches[0].counts;
                let found = (counts.hits, counts.merges, counts.misses);
                let expected = (u64::from(came), u64::from(!came), 1);
                assert_eq!(found, expected, "{:?}, {:?}", first.kind, second.kind);
            }
        }
    }
}
