//! Machines and events for the tests.

pub mod batches;
pub mod calls;
pub mod in_turn;
pub mod mixes;
pub mod random;
pub mod stepped;
pub mod stepped_core;
mod stepped_lines;
pub mod stepped_memory;
pub mod textbook;
mod textbook_sets;

use simcore::spec::{
    CacheSpec, CoreKind, CoreSpec, HugePages, Inclusion, Interval, MachineSpec, MemorySpec,
    PredictorSpec, PrefetchOnTlbMiss, Replacement, TlbLevelSpec, TlbSpec, Walker, WritePolicy,
};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, OpClass};

pub const LINE: u64 = 64;
pub const PAGE: u64 = 16384;
pub const T1: u64 = 250;
pub const T_NEXT: u64 = 15;
pub const WALK: u64 = 30;

fn cache(name: &str, size_bytes: u64, ways: u32, latency_cycles: u32) -> CacheSpec {
    CacheSpec {
        name: name.to_owned(),
        size_bytes,
        line_bytes: LINE,
        ways,
        latency_cycles,
        replacement: Replacement::Lru,
        mshrs: (name == "L1").then_some(32),
        inclusion: Inclusion::NonInclusive,
        write_policy: WritePolicy::WriteBack,
        write_allocate: true,
        prefetchers: Vec::new(),
        shared: false,
    }
}

/// The thesis's simulator (Table 2.3), with a perfect predictor so that each test switches on what it tests.
pub fn machine() -> MachineSpec {
    MachineSpec {
        name: "test".to_owned(),
        clock_hz: 1_500_000_000,
        cores: 1,
        instruction_cache: None,
        coherence: None,
        interference: None,
        dbms: None,
        core: CoreSpec {
            kind: CoreKind::OutOfOrder,
            issue_width: 4,
            reorder_buffer: Some(128),
            integer_units: 4,
            memory_ports: 2,
            branch_units: 1,
            multiply_latency_cycles: 4,
            divide_latency_cycles: 50,
            mispredict_penalty_cycles: 10,
            branch_predictor: PredictorSpec::Perfect,
            store_buffer_entries: 24,
            exchange: None,
        },
        caches: vec![
            cache("L1", 16 << 10, 4, 1),
            cache("L2", 256 << 10, 8, 5),
            cache("L3", 2 << 20, 8, 12),
        ],
        dtlb: TlbSpec {
            page_bytes: PAGE,
            huge_page_bytes: None,
            huge_pages: HugePages::None,
            levels: vec![TlbLevelSpec {
                entries: 128,
                ways: None,
                huge_entries: None,
                huge_ways: None,
                latency_cycles: 0,
            }],
            walk_latency_cycles: WALK as u32,
            walker: Walker::Blocking,
            walkers: None,
            prefetch_on_miss: PrefetchOnTlbMiss::Walk,
            page_table: None,
        },
        memory: MemorySpec::Fixed {
            latency_cycles: T1 as u32,
            interval_cycles: Interval::of_cycles(T_NEXT),
            write_backs_use_bus: true,
            write_interval_cycles: None,
        }
        .into(),
    }
}

/// The same machine, issuing in order.
pub fn in_order() -> MachineSpec {
    let mut spec = machine();
    spec.core.kind = CoreKind::InOrder;
    spec.core.reorder_buffer = None;
    spec
}

pub fn load(address: u64) -> Event {
    Event::new(Kind::Load, address)
}

pub fn store(address: u64) -> Event {
    Event::new(Kind::Store, address)
}

pub fn exchange(address: u64) -> Event {
    Event::new(Kind::Exchange, address)
}

pub fn prefetch(address: u64) -> Event {
    Event::new(Kind::Prefetch, address)
}

pub fn branch(taken: bool) -> Event {
    Event::new(Kind::Branch, u64::from(taken))
}

/// The event, needing the result of the event `back` events before.
pub fn after(back: u32, event: Event) -> Event {
    Event { dep: back, ..event }
}

/// The event, with plain instructions before it.
pub fn plain(instructions: u16, event: Event) -> Event {
    Event {
        instructions,
        ..event
    }
}

pub fn run(spec: &MachineSpec, events: &[Event]) -> Statistics {
    let mut engine = Engine::new(spec, &Layout::default()).expect("a valid machine");
    engine.consume(events).expect("events that the machine has");
    engine.finish()
}

/// Latencies of the second and the third level.
pub const L2: u64 = 5;
pub const L3: u64 = 12;

/// Cycles of the whole run.
pub fn cycles(spec: &MachineSpec, events: &[Event]) -> u64 {
    run(spec, events).cycles
}

/// A chain of operations that takes so many cycles, a multiple of four, after the event before.
pub fn delay(cycles: u64) -> Vec<Event> {
    let multiply = Event {
        size: OpClass::Multiply as u16,
        ..Event::new(Kind::Op, 0)
    };
    vec![after(1, multiply); cycles as usize / 4]
}

/// Cycles that one more dependent load of `address` takes, `wait` cycles after all the others.
pub fn last_load(
    spec: &MachineSpec,
    before: &[Event],
    wait: u64,
    address: u64,
) -> (u64, Statistics) {
    let mut events = before.to_vec();
    events.extend(delay(wait));
    let alone = run(spec, &events);
    events.push(after(1, load(address)));
    let with = run(spec, &events);
    let width = u64::from(spec.core.issue_width);
    // The lines on their way when the chain ends must not decide how long the run takes.
    let busy_until = |stats: &Statistics| (stats.slots.total - stats.slots.drain).div_ceil(width);
    (busy_until(&with) - busy_until(&alone), with)
}
