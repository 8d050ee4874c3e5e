//! Memory simulated by DRAMSim3: time to the cycle, rows, bandwidth, order.

use crate::common::*;
use simcore::spec::{DramFile, Dramsim3Spec, MachineSpec, MemorySpec, PrefetcherSpec};
use traces::{Event, Kind};

pub const DDR4: &str = include_str!("../../../configs/dram/ddr4-3200.ini");
pub const HBM2: &str = include_str!("../../../configs/dram/hbm2-2000.ini");
/// Dispatch in cycle 0, issue in cycle 1.
const ISSUE: u64 = 1;
/// An instruction that completes in cycle t graduates in that cycle, so that the run lasts t + 1.
const GRADUATE: u64 = 1;
const PATH: u64 = 30;
/// DRAM cycles that a request spends in the controller before its first command.
const CONTROLLER: u64 = 1;

/// The machine with such a DRAM, without page walks, at 3.2 GHz: two core cycles to a cycle of DDR4-3200.
pub fn with_dram(mut spec: MachineSpec, text: &str) -> MachineSpec {
    spec.clock_hz = 3_200_000_000;
    spec.dtlb.walk_latency_cycles = 0;
    spec.memory = MemorySpec::Dramsim3(Dramsim3Spec {
        config: DramFile {
            path: "dram.ini".to_owned(),
            text: text.to_owned(),
        },
        path_latency_cycles: PATH as u32,
        write_backs: true,
    })
    .into();
    spec
}

pub fn ddr4() -> MachineSpec {
    with_dram(machine(), DDR4)
}

/// Loads that each wait for the one before.
fn chase(addresses: impl IntoIterator<Item = u64>) -> Vec<Event> {
    addresses
        .into_iter()
        .map(|address| after(1, load(address)))
        .collect()
}

#[test]
fn an_idle_memory_takes_its_unloaded_latency_to_the_cycle() {
    // tRCD + CL + BL/2, each DRAM cycle two core cycles; the load asks in cycle 1, half a DRAM cycle in.
    let dram = CONTROLLER + 22 + 22 + 4;
    for spec in [ddr4(), with_dram(in_order(), DDR4)] {
        let statistics = run(&spec, &[load(0), after(1, load(8))]);
        let asked = if spec.core.reorder_buffer.is_some() {
            ISSUE
        } else {
            0
        };
        let arrives = asked.div_ceil(2);
        let ready = (arrives + dram) * 2 + PATH;
        let counts = statistics.dram.expect("a DRAM inside");
        assert_eq!(counts.read_latency_cycles, ready - asked);
        assert_eq!((counts.reads, counts.late_reads), (1, 0));
        // The second load begins when the first ends; in order it has graduated by then.
        let hit = u64::from(spec.core.reorder_buffer.is_some());
        assert_eq!(
            statistics.cycles,
            ready + hit + GRADUATE,
            "{:?}",
            spec.core.kind
        );
    }
}

#[test]
fn an_open_row_is_faster_and_another_row_of_the_bank_slower() {
    let cost = |address| {
        let first = run(&ddr4(), &chase([0]));
        let both = run(&ddr4(), &chase([0, address]));
        both.cycles - first.cycles
    };
    let bank_groups = 4 * LINE;
    let open = cost(bank_groups);
    let other_bank = cost(LINE);
    let other_row = cost(1 << 30);
    assert!(
        open < other_bank && other_bank < other_row,
        "{open} {other_bank} {other_row}"
    );
    assert_eq!(other_bank - open, 2 * 22, "activation");
    let statistics = run(&ddr4(), &chase([0, bank_groups, 1 << 30]));
    let counts = statistics.dram.expect("a DRAM inside");
    assert_eq!(
        (counts.read_commands, counts.read_row_hits, counts.activates),
        (3, 1, 2)
    );
}

/// Dependent loads on sixteen lines of one row, and on sixteen rows of one bank.
#[test]
fn a_sequence_is_faster_than_rows_in_turn() {
    for text in [DDR4, HBM2] {
        let spec = with_dram(machine(), text);
        let sequential = cycles(&spec, &chase((0..256).map(|line| line * LINE)));
        let rows = cycles(&spec, &chase((0..256).map(|row| row << 24)));
        assert!(
            2 * sequential < 2 * rows - 256 * 20,
            "{sequential} against {rows}"
        );
    }
}

#[test]
fn a_burst_of_prefetches_is_bound_by_the_bus_and_comes_close_to_it() {
    // Half a core's registers, so that none waits for a miss handler.
    let lines = 16;
    let prefetches: Vec<Event> = (0..lines).map(|line| prefetch(line * LINE)).collect();
    let run_of = |spec: &MachineSpec| run(spec, &prefetches);
    let one = run(&ddr4(), &prefetches[..1]);
    for spec in [ddr4(), with_dram(in_order(), DDR4)] {
        let statistics = run_of(&spec);
        let interval = 4 * 2;
        let least = one.cycles + (lines - 1) * interval;
        assert!(
            statistics.cycles + 4 >= least,
            "{} is faster than the bus: {least}",
            statistics.cycles
        );
        // Four bank groups are activated one after the other (tRRD_S), then every burst follows the one before.
        assert!(statistics.cycles < least + 100, "{}", statistics.cycles);
        let counts = statistics.dram.expect("a DRAM inside");
        assert_eq!((counts.reads, counts.late_reads), (lines, 0));
    }
}

#[test]
fn independent_loads_never_exceed_the_bus() {
    let lines = 512;
    let loads: Vec<Event> = (0..lines).map(|line| load(line * LINE)).collect();
    let statistics = run(&ddr4(), &loads);
    assert!(statistics.cycles >= lines * 4 * 2, "{}", statistics.cycles);
    let counts = statistics.dram.expect("a DRAM inside");
    assert_eq!(counts.late_reads, 0);
    let chased = cycles(&ddr4(), &chase((0..lines).map(|line| line * LINE)));
    assert!(
        4 * statistics.cycles < chased,
        "{} {chased}",
        statistics.cycles
    );
}

/// Whatever is read and written, and however many misses may be outstanding, no more moves than the data bus has time for.
#[test]
fn reads_and_writes_never_exceed_the_bus() {
    let mut spec = ddr4();
    spec.caches[0].mshrs = Some(256);
    let lines = 20_000;
    let every = |kind: Kind| {
        let event = |line: u64| Event {
            size: LINE as u16,
            ..Event::new(kind, line * LINE)
        };
        (0..lines).map(event).collect::<Vec<Event>>()
    };
    for kind in [Kind::Store, Kind::StoreNta] {
        let statistics = run(&spec, &every(kind));
        let bus = &statistics.bus;
        let moved = bus.fills + bus.write_backs + bus.non_temporal.unwrap_or(0);
        assert!(moved >= lines);
        assert!(
            statistics.cycles >= moved * 4 * 2,
            "{kind:?}: {moved} lines in {} cycles",
            statistics.cycles
        );
    }
}

/// Prefetches that nobody asked about since have their miss handlers no longer than until their lines have come.
#[test]
fn miss_handlers_are_free_when_their_lines_have_come() {
    for later in [0, 60_000] {
        let mut spec = with_dram(in_order(), DDR4);
        spec.caches[0].mshrs = Some(4);
        spec.caches[0].prefetchers = vec![PrefetcherSpec::Stride {
            table_entries: 16,
            degree: 1,
        }];
        let mut events = vec![load(0), after(1, load(8))];
        events.extend((1..=4).map(|line| prefetch(line * 64 * LINE)));
        // Three hits, whose fourth step would be into the next line. Nothing is waited for.
        let step = |number: u64| Event {
            site: 1,
            ..load(24 * number)
        };
        events.push(plain(later, step(0)));
        events.extend([step(1), step(2)]);
        let statistics = run(&spec, &events);
        let prefetchers = statistics.caches[0].prefetchers.expect("it has one");
        assert_eq!(
            prefetchers.dropped > 0,
            later == 0,
            "{prefetchers:?} after {later}"
        );
    }
}

#[test]
fn dirty_lines_are_written_back() {
    let lines = 40_000;
    let stores: Vec<Event> = (0..lines).map(|line| store(line * LINE)).collect();
    let statistics = run(&ddr4(), &stores);
    let counts = statistics.dram.expect("a DRAM inside");
    assert_eq!(counts.writes, statistics.bus.write_backs);
    assert!(counts.writes > 5000);
    assert!(
        counts.writes - counts.write_commands <= 64,
        "some wait in the controller"
    );
    assert!(counts.write_row_hits > counts.writes / 4);
    let MemorySpec::Dramsim3(dram) = ddr4().memory.first().clone() else {
        unreachable!("this machine's memory is a DRAM")
    };
    let mut without = ddr4();
    without.memory = MemorySpec::Dramsim3(Dramsim3Spec {
        write_backs: false,
        ..dram
    })
    .into();
    let quiet = run(&without, &stores);
    assert_eq!(quiet.dram.expect("a DRAM inside").writes, 0);
    assert!(quiet.cycles < statistics.cycles);
}

#[test]
fn what_is_left_in_write_combining_buffers_is_written_at_the_end() {
    let parts = [0, 3, 5].map(|line| Event::new(Kind::StoreNta, line * LINE));
    let statistics = run(&ddr4(), &parts);
    assert_eq!(statistics.bus.non_temporal, Some(3));
    assert_eq!(statistics.dram.expect("a DRAM inside").writes, 3);
}

#[test]
fn lines_of_several_requests_and_of_a_part() {
    let mut wide = ddr4();
    for cache in &mut wide.caches {
        cache.line_bytes = 128;
    }
    let narrow = run(&ddr4(), &chase([0]));
    let statistics = run(&wide, &chase([0]));
    let counts = statistics.dram.expect("a DRAM inside");
    assert_eq!((counts.reads, counts.read_commands), (1, 2));
    // The other half lies in another bank group, activated tRRD_S later, in another cycle of the controller.
    assert!((8..=12).contains(&(statistics.cycles - narrow.cycles)));
    for cache in &mut wide.caches {
        cache.line_bytes = 32;
    }
    let part = run(&wide, &[prefetch(0), prefetch(32), load(0), load(32)]);
    let counts = part.dram.expect("a DRAM inside");
    assert_eq!(
        (counts.reads, counts.read_commands),
        (2, 1),
        "one burst serves both"
    );
}

/// Many kinds of events over a few rows and banks, from a fixed seed.
pub fn mixture(events: u64) -> Vec<Event> {
    let mut state = 1_u64;
    (0..events)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let address = (state >> 20) & 0x1F_FF_FF_C0;
            let event = match state >> 61 {
                0 | 1 => prefetch(address),
                2 => store(address),
                3 => branch(address & 64 == 0),
                4 => after(1, load(address)),
                _ => load(address),
            };
            plain((state >> 50) as u16 & 15, event)
        })
        .collect()
}

#[test]
fn the_same_run_gives_the_same_statistics() {
    let events = mixture(3000);
    for spec in [ddr4(), with_dram(in_order(), HBM2)] {
        // `finish` checks that slots add up.
        assert_eq!(run(&spec, &events), run(&spec, &events));
    }
}

#[test]
fn a_flush_forgets_what_is_under_way() {
    let spec = ddr4();
    let before = cycles(&spec, &[load(0)]);
    let events = [
        prefetch(2 * LINE),
        load(0),
        Event::new(traces::Kind::Flush, 0),
        load(64),
    ];
    let statistics = run(&spec, &events);
    let counts = statistics.dram.expect("a DRAM inside");
    assert_eq!(
        (counts.reads, counts.late_reads),
        (3, 0),
        "the pause makes nobody late"
    );
    assert!(statistics.cycles <= 3 * before);
}

#[test]
fn a_mistake_in_the_ini_file_is_the_machine_files() {
    let spec = with_dram(machine(), &DDR4.replace("tREFI", "REFI"));
    let error = spec
        .validate()
        .expect_err("a key that DRAMSim3 does not read");
    assert_eq!(error.path, "memory.config");
    let line = 1 + DDR4
        .lines()
        .position(|line| line.starts_with("tREFI"))
        .expect("it is there");
    assert_eq!(
        error.message,
        format!("dram.ini:{line}: unknown key `REFI` in [timing]; did you mean `tREFI`?")
    );
}

/// A store asks when all before it has graduated, and a load behind it has the only miss handler until its line has come.
#[test]
fn a_store_whose_handler_another_takes_waits_for_its_whole_line() {
    let mut spec = ddr4();
    spec.caches[0].mshrs = Some(1);
    let mut events = delay(80);
    events.extend([store(0), load(LINE)]);
    let (one, both) = (cycles(&spec, &[load(0)]), cycles(&spec, &events));
    // Rows of different banks, one behind the other.
    assert!(
        (2 * one - 6..2 * one + 6).contains(&both),
        "{both}, {one} for one"
    );
}
