//! Several memories: a line comes from where its data structure lies, and each memory has a bus of its own.

use crate::common::batches::Batches;
use crate::common::random::{any_prefetching_machine, any_streaming_trace};
use crate::common::*;
use proptest::prelude::*;
use simcore::multicore::{Multicore, ThreadOf};
use simcore::spec::{Interval, MachineSpec, MemoriesSpec, MemorySpec, NamedMemory, PrefetcherSpec};
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, EventSource, Kind, Layout, Segment};

const FAR_LATENCY: u64 = 400;
const FAR_INTERVAL: u64 = 40;
/// Where the far data structure begins, and how long it and the near one before it are.
const FAR: u64 = 1 << 24;

fn layout() -> Layout {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: FAR,
    };
    Layout {
        segments: vec![segment("near", 0), segment("far", FAR)],
        phases: vec!["one".to_owned(), "other".to_owned()],
        ..Layout::default()
    }
}

fn memory(name: &str, holds: &[&str], latency: u64, interval: u64) -> NamedMemory {
    NamedMemory {
        name: name.to_owned(),
        holds: holds.iter().map(|&name| name.to_owned()).collect(),
        times: MemorySpec::Fixed {
            latency_cycles: latency as u32,
            interval_cycles: Interval::of_cycles(interval),
            write_backs_use_bus: true,
            write_interval_cycles: None,
        },
    }
}

/// Lays the segment called `far` into a slower memory; page walks are free.
fn with_far(mut spec: MachineSpec) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.memory = MemoriesSpec::Several(vec![
        memory("dram", &[], T1, T_NEXT),
        memory("cxl", &["far"], FAR_LATENCY, FAR_INTERVAL),
    ]);
    spec
}

fn run_on(spec: &MachineSpec, events: &[Event]) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).expect("a valid machine");
    engine.consume(events).expect("events that the machine has");
    engine.finish()
}

fn cycles_of(events: &[Event]) -> u64 {
    run_on(&with_far(machine()), events).cycles
}

/// With one miss handler, a line is on its way to its memory for as long as one from there, and the next one waits.
#[test]
fn lines_written_past_the_caches_go_to_their_memory() {
    let mut spec = with_far(machine());
    spec.caches[0].mshrs = Some(1);
    let lines = |from: u64| -> Vec<Event> {
        let line = |number: u64| Event {
            size: 64,
            ..Event::new(Kind::StoreNta, from + 64 * number)
        };
        (0..100).map(line).collect()
    };
    for (from, latency, counts) in [(0, T1, [100, 0]), (FAR, FAR_LATENCY, [0, 100])] {
        let stats = run_on(&spec, &lines(from));
        let least = 100 * latency;
        assert!(
            (least..least + least / 10).contains(&stats.cycles),
            "{}",
            stats.cycles
        );
        let written = stats.memories.iter().map(|one| one.non_temporal);
        assert!(written.eq(counts.map(Some)));
    }
}

#[test]
fn what_is_left_in_buffers_at_the_end_goes_to_its_memory() {
    let parts = [0, FAR, FAR + LINE].map(|address| Event::new(Kind::StoreNta, address));
    let stats = run_on(&with_far(machine()), &parts);
    let written = stats.memories.iter().map(|one| one.non_temporal);
    assert!(written.eq([Some(1), Some(2)]));
}

/// Fills and write-backs of each memory.
fn traffic(stats: &Statistics) -> Vec<(u64, u64)> {
    let memories = stats.memories.iter();
    memories
        .map(|memory| (memory.fills, memory.write_backs))
        .collect()
}

/// Issue in cycle 1, graduation in the cycle of completion, and one cycle to end.
const AROUND: u64 = 2;

#[test]
fn a_miss_takes_the_latency_of_the_memory_where_its_segment_lies() {
    for kind in [machine(), in_order()] {
        let spec = with_far(kind);
        let run_of = |address| run_on(&spec, &[load(address)]).cycles;
        let gap = FAR_LATENCY - T1;
        assert_eq!(run_of(FAR) - run_of(0), gap);
        assert_eq!(run_of(2 * FAR - LINE) - run_of(FAR - LINE), gap);
        assert_eq!(run_of(2 * FAR), run_of(0), "what no memory holds lies near");
    }
    assert_eq!(cycles_of(&[load(FAR)]), AROUND + FAR_LATENCY);
}

#[test]
fn each_memory_has_a_bus_of_its_own() {
    let far = |lines: u64| (0..lines).map(|line| load(FAR + line * LINE));
    let near = |lines: u64| (0..lines).map(|line| load(line * LINE));
    let independent: Vec<Event> = far(5).collect();
    assert_eq!(
        cycles_of(&independent),
        AROUND + FAR_LATENCY + 4 * FAR_INTERVAL
    );
    // Lines of the near memory between them take none of the far one's intervals.
    let both: Vec<Event> = far(5)
        .zip(near(5))
        .flat_map(|(far, near)| [near, far])
        .collect();
    let stats = run_on(&with_far(machine()), &both);
    // Two loads start per cycle: a near and a far one.
    assert_eq!(stats.cycles, AROUND + FAR_LATENCY + 4 * FAR_INTERVAL);
    assert_eq!(traffic(&stats), [(5, 0), (5, 0)]);
    assert_eq!(stats.bus.fills, 10);
}

/// Stores that miss yield to whoever asks before them, and are told when they would be served. Of what others ask of another memory they are
/// told nothing.
#[test]
fn a_store_does_not_wait_for_a_store_to_the_other_memory() {
    let graduated = |far: u64| {
        let mut events: Vec<Event> = (0..far).map(|number| store(FAR + number * LINE)).collect();
        events.extend([store(0), load(LINE / 2)]);
        // The run ends later, with the last line of the far memory.
        let slots = run_on(&with_far(machine()), &events).slots;
        slots.total - slots.drain
    };
    // The load of the rest of the line asks when it has a port, of which there are two from cycle 1 on, and the store no earlier.
    let width = u64::from(machine().core.issue_width);
    for far in 0..=6_u64 {
        let asks = 1 + far.div_ceil(2);
        assert_eq!(graduated(far), (asks + T1) * width + 1, "{far} before");
    }
}

#[test]
fn a_prefetched_line_is_waited_for_until_its_memory_has_it() {
    let spec = with_far(machine());
    let cycles = |address: u64, wait: u64| {
        let mut events = vec![prefetch(address)];
        events.extend(delay(wait));
        events.push(after(1, load(address)));
        run_on(&spec, &events).cycles
    };
    // In cycle 1 the prefetch and the chain start; the load waits for what is left.
    assert_eq!(cycles(0, 200), AROUND + T1);
    assert_eq!(cycles(FAR, 200), AROUND + FAR_LATENCY);
    // 260 cycles are enough for the near memory and not for the far one.
    assert_eq!(cycles(0, 260), AROUND + 260 + 1);
    assert_eq!(cycles(FAR, 260), AROUND + FAR_LATENCY);
    assert_eq!(cycles(FAR, 404), AROUND + 404 + 1);
}

#[test]
fn hardware_prefetchers_fetch_from_the_memory_of_the_line() {
    let mut spec = with_far(machine());
    spec.caches[0].prefetchers = vec![PrefetcherSpec::NextLine { degree: 2 }];
    let stats = run_on(&spec, &[load(FAR), load(0)]);
    assert_eq!(traffic(&stats), [(3, 0), (3, 0)]);
    // The prefetched lines of the far memory come behind its own first line only; the use of one fetches more, until the end.
    let load_last = [load(0), load(FAR), after(1, load(FAR + 2 * LINE))];
    let stats = run_on(&spec, &load_last);
    let width = u64::from(spec.core.issue_width);
    assert_eq!(
        (stats.slots.total - stats.slots.drain).div_ceil(width),
        AROUND + FAR_LATENCY + 2 * FAR_INTERVAL
    );
}

#[test]
fn dirty_lines_are_written_to_where_they_lie() {
    let mut spec = with_far(machine());
    // One cache of one line.
    spec.caches.truncate(1);
    (spec.caches[0].size_bytes, spec.caches[0].ways) = (LINE, 1);
    let events = [store(FAR), store(0), store(FAR + LINE), load(LINE)];
    let stats = run_on(&spec, &events);
    assert_eq!(traffic(&stats), [(2, 1), (2, 2)]);
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (4, 3));
    // Stores that no cache keeps.
    spec.caches[0].write_allocate = false;
    let stats = run_on(&spec, &[store(FAR), store(0), store(8)]);
    let through = stats.memories.iter().map(|one| one.write_throughs);
    assert_eq!(through.collect::<Vec<_>>(), [Some(2), Some(1)]);
}

/// A line that leaves takes an interval of the bus of its own memory, before the next line from there.
#[test]
fn a_dirty_line_is_in_the_way_where_it_lies() {
    let took = |dram_writes: bool, cxl_writes: bool| {
        let mut spec = with_far(machine());
        spec.caches.truncate(1);
        (spec.caches[0].size_bytes, spec.caches[0].ways) = (LINE, 1);
        let MemoriesSpec::Several(memories) = &mut spec.memory else {
            unreachable!("there are two")
        };
        for (memory, writes) in memories.iter_mut().zip([dram_writes, cxl_writes]) {
            let MemorySpec::Fixed {
                write_backs_use_bus,
                ..
            } = &mut memory.times
            else {
                unreachable!("both are fixed")
            };
            *write_backs_use_bus = writes;
        }
        let mut events = vec![store(FAR)];
        events.extend(delay(2000));
        // The first load makes the dirty line leave in the cycle in which the second asks for its own.
        events.extend([after(1, load(0)), after(2, load(FAR + LINE))]);
        run_on(&spec, &events).cycles
    };
    let neither = took(false, false);
    assert_eq!(took(true, false), neither);
    assert_eq!(took(false, true), neither + FAR_INTERVAL);
}

#[derive(Clone, Copy)]
enum Programs {
    Threads,
    Apart,
}

fn on_two_cores(traces: [Vec<Event>; 2], programs: Programs) -> [Statistics; 2] {
    let mut spec = with_far(machine());
    spec.cores = 2;
    let layouts = [layout(), layout()];
    let threads = match programs {
        Programs::Threads => ThreadOf::one_program(&layouts),
        Programs::Apart => ThreadOf::programs(&layouts),
    };
    let mut cores = Multicore::new(&spec, &threads).expect("a valid machine");
    let mut events = traces.map(|events| Batches(events, usize::MAX));
    let mut sources: Vec<&mut dyn EventSource> = Vec::new();
    for one in &mut events {
        sources.push(one);
    }
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("events that the machine has");
    let finished = cores.finish();
    let sums = |number: usize| {
        finished
            .cores
            .iter()
            .map(move |core| core.memories[number].fills)
    };
    for (number, memory) in finished.together.memories.iter().enumerate() {
        assert_eq!(memory.fills, sums(number).sum::<u64>());
    }
    finished.cores.try_into().expect("two cores")
}

#[test]
fn two_cores_meet_on_the_bus_of_one_memory_only() {
    let lines = |base: u64, from: u64| -> Vec<Event> {
        (from..from + 4)
            .map(|line| load(base + line * LINE))
            .collect()
    };
    for programs in [Programs::Threads, Programs::Apart] {
        let [near, far] = on_two_cores([lines(0, 0), lines(FAR, 0)], programs);
        assert_eq!(near.cycles, AROUND + T1 + 3 * T_NEXT);
        assert_eq!(far.cycles, AROUND + FAR_LATENCY + 3 * FAR_INTERVAL);
        assert_eq!(
            (traffic(&near), traffic(&far)),
            (vec![(4, 0), (0, 0)], vec![(0, 0), (4, 0)])
        );
        let both = on_two_cores([lines(FAR, 0), lines(FAR, 8)], programs);
        assert_eq!(
            both.each_ref().map(traffic),
            [vec![(0, 0), (4, 0)], vec![(0, 0), (4, 0)]]
        );
        let last = both.iter().map(|core| core.cycles).max();
        assert_eq!(last, Some(AROUND + FAR_LATENCY + 7 * FAR_INTERVAL));
    }
}

#[test]
fn a_line_lies_where_its_first_byte_lies() {
    let mut spec = with_far(machine());
    let mut layout = layout();
    // The segment begins in the middle of a line of the last cache, whose lines are those that memory gives.
    layout.segments[1].base = FAR + LINE;
    spec.caches[2].line_bytes = 2 * LINE;
    let fills = |address: u64| {
        let mut engine = Engine::new(&spec, &layout).expect("a valid machine");
        engine.consume(&[load(address)]).expect("a load");
        let memories = engine.finish().memories;
        memories
            .iter()
            .map(|memory| memory.fills)
            .collect::<Vec<_>>()
    };
    assert_eq!(fills(FAR + LINE), [1, 0]);
    assert_eq!(fills(FAR + 2 * LINE), [0, 1]);
    // It ends in the middle of one, too, which begins in it.
    assert_eq!(fills(2 * FAR + LINE), [0, 1]);
    assert_eq!(fills(2 * FAR + 2 * LINE), [1, 0]);
}

#[test]
fn a_warm_up_is_not_counted() {
    let measure = Event::new(Kind::Measure, 0);
    let events = [
        load(FAR),
        load(0),
        measure,
        load(FAR + LINE),
        load(FAR + 2 * LINE),
    ];
    let stats = run_on(&with_far(machine()), &events);
    assert_eq!(traffic(&stats), [(0, 0), (2, 0)]);
}

/// Names may be patterns, as those of huge pages.
#[test]
fn a_pattern_places_all_that_it_matches() {
    let run_with = |holds: &[&str]| {
        let mut spec = machine();
        let cxl = memory("cxl", holds, FAR_LATENCY, FAR_INTERVAL);
        spec.memory = MemoriesSpec::Several(vec![memory("dram", &[], T1, T_NEXT), cxl]);
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.consume(&[load(0), load(FAR)]).unwrap();
        engine.finish()
    };
    assert_eq!(run_with(&["f*"]), run_with(&["far"]));
    assert_eq!(run_with(&["*a*"]).memories[1].fills, 2, "near and far");
}

fn refused(memories: Vec<NamedMemory>) -> (String, String) {
    refused_beside(memories, &layout())
}

fn refused_beside(memories: Vec<NamedMemory>, layout: &Layout) -> (String, String) {
    let mut spec = machine();
    spec.memory = MemoriesSpec::Several(memories);
    let error = Engine::new(&spec, layout).expect_err("a machine that cannot be");
    (error.path, error.message)
}

#[test]
fn structures_of_a_program_that_names_none_are_refused() {
    let dram = memory("dram", &[], T1, T_NEXT);
    let cxl = memory("cxl", &["heap"], FAR_LATENCY, FAR_INTERVAL);
    let (path, message) = refused_beside(vec![dram, cxl], &Layout::default());
    assert_eq!(path, "memory.1.holds");
    assert_eq!(
        message,
        "there is no data structure `heap`; what runs here names none"
    );
}

#[test]
fn memories_without_effect_and_unknown_structures_are_refused() {
    let dram = || memory("dram", &[], T1, T_NEXT);
    let cxl = |holds: &[&str]| memory("cxl", holds, FAR_LATENCY, FAR_INTERVAL);
    let cases = [
        (vec![dram()], "memory", "without a list"),
        (
            vec![dram(), cxl(&[])],
            "memory.1.holds",
            "what runs here has far, near",
        ),
        (
            vec![dram(), cxl(&["leaves"])],
            "memory.1.holds",
            "no data structure `leaves`",
        ),
        (
            vec![dram(), cxl(&["leaves*"])],
            "memory.1.holds",
            "no data structure `leaves*`",
        ),
        (
            vec![dram(), cxl(&["f*"]), memory("third", &["*ar"], 400, 40)],
            "memory.2.holds",
            "`far` lies in memory `cxl`, too",
        ),
        (
            vec![cxl(&["far"]), dram()],
            "memory.0.holds",
            "leave this out",
        ),
        (
            vec![dram(), cxl(&["far", "far"])],
            "memory.1.holds.1",
            "named twice",
        ),
        (
            vec![dram(), memory("dram", &["far"], 400, 40)],
            "memory.1.name",
            "two memories",
        ),
        (
            vec![dram(), memory("c_xl", &["far"], 400, 40)],
            "memory.1.name",
            "letters",
        ),
        (
            vec![dram(), memory("cxl", &["far"], 12, 40)],
            "memory.1.latency_cycles",
            "not slower",
        ),
        (
            vec![dram(), memory("cxl", &["far"], 400, 0)],
            "memory.1.interval_cycles",
            "less than 1/1024",
        ),
        (
            vec![memory("dram", &[], 12, 1), cxl(&["far"])],
            "memory.0.latency_cycles",
            "not slower",
        ),
    ];
    for (memories, path, part) in cases {
        let (found, message) = refused(memories);
        assert_eq!(found, path, "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn json_says_what_is_wrong_with_the_kind_of_memory_that_was_meant() {
    let read = |text: &str| serde_json::from_str::<MemoriesSpec>(text);
    let one =
        r#"{"model":"fixed","latency_cycles":9,"interval_cycles":1,"write_backs_use_bus":true}"#;
    let written = serde_json::to_string(&read(one).expect("one memory"));
    assert_eq!(written.expect("JSON"), one, "one memory is written as ever");
    let list = r#"[{"name":"a","model":"fixed","latency_cycles":9,"interval_cycles":1,"write_backs_use_bus":true}]"#;
    assert!(matches!(read(list), Ok(MemoriesSpec::Several(_))));
    for (text, part) in [
        (r#"{"model":"fixed"}"#, "latency_cycles"),
        (r#"[{"name":"a","model":"fixed"}]"#, "latency_cycles"),
        (r#"[{"model":"fixed"}]"#, "name"),
        (&list.replace("\"name\"", "\"colour\":1,\"name\""), "colour"),
    ] {
        let error = read(text).expect_err("a mistake").to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    /// A second memory of which nothing is touched changes no count and no cycle.
    #[test]
    fn an_untouched_memory_changes_nothing(spec in any_prefetching_machine(), events in any_streaming_trace()) {
        let mut layout = layout();
        layout.segments[1].base = 1 << 60;
        let run = |spec: &MachineSpec| {
            let mut engine = Engine::new(spec, &layout).expect("a valid machine");
            engine.consume(&events).expect("events that the machine has");
            engine.finish()
        };
        let alone = run(&spec);
        let mut two = spec.clone();
        let first = NamedMemory { name: "dram".to_owned(), holds: vec![], times: spec.memory.first().clone() };
        two.memory = MemoriesSpec::Several(vec![first, memory("cxl", &["far"], 1_000, 100)]);
        let beside = run(&two);
        prop_assert_eq!(traffic(&beside), [(alone.bus.fills, alone.bus.write_backs), (0, 0)]);
        prop_assert_eq!(Statistics { memories: vec![], ..beside }, alone);
    }

    /// With everything in the second memory a machine is one whose only memory it is.
    #[test]
    fn a_memory_that_holds_everything_is_the_only_one(spec in any_prefetching_machine(), events in any_streaming_trace()) {
        let mut layout = layout();
        layout.segments.remove(0);
        layout.segments[0] = Segment { name: "far".to_owned(), base: 0, size_bytes: u64::MAX };
        let run = |spec: &MachineSpec| {
            let mut engine = Engine::new(spec, &layout).expect("a valid machine");
            engine.consume(&events).expect("events that the machine has");
            engine.finish()
        };
        let alone = run(&spec);
        let mut two = spec.clone();
        let held = NamedMemory { name: "cxl".to_owned(), holds: vec!["far".to_owned()], times: spec.memory.first().clone() };
        two.memory = MemoriesSpec::Several(vec![memory("dram", &[], 1_000, 100), held]);
        prop_assert_eq!(Statistics { memories: vec![], ..run(&two) }, alone);
    }
}
