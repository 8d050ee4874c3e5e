//! Random programs on random machines before a DRAM: whatever loads wait for, and whoever waits for them.

use crate::common::batches::Batches;
use crate::common::in_turn::InTurn;
use crate::common::random::{any_event, any_prefetching_machine};
use crate::dram::{DDR4, HBM2, ddr4, with_dram};
use crate::multicore::{Programs, on_all_cores_of};
use crate::storage::request;
use proptest::prelude::*;
use proptest::sample::Index;
use simcore::multicore::{Multicore, MulticoreStatistics, ThreadOf};
use simcore::sampling::SamplingPlan;
use simcore::spec::{
    Interval, MachineSpec, MemoriesSpec, MemorySpec, NamedMemory, PageTableSpec, PrefetcherSpec,
    Walker,
};
use simcore::{Counts, Engine, Sampler, Statistics};
use traces::{Event, EventSink, EventSource, Kind, Layout, OpClass, Segment};

/// What random events access is in two segments, and marks open one of two phases.
fn layout() -> Layout {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: 100_000,
    };
    Layout {
        segments: vec![segment("near", 0), segment("far", 100_000)],
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

/// Any event, operations among them, that needs any other in the reorder buffer or further back, and markers now and then.
fn any_program() -> impl Strategy<Value = Vec<Event>> {
    let step = (any_event(), prop::option::of(0_u32..300), 0_u16..6);
    let steps = prop::collection::vec(step, 1..600);
    let kinds = prop::sample::select(vec![Kind::Flush, Kind::Measure, Kind::Mark]);
    let markers = prop::collection::vec((any::<Index>(), kinds), 0..4);
    (steps, markers).prop_map(|(steps, markers)| {
        let mut events: Vec<Event> = steps.into_iter().map(step_of).collect();
        for (place, kind) in markers {
            events.insert(place.index(events.len() + 1), Event::new(kind, 1));
        }
        events
    })
}

fn step_of((event, dep, class): (Event, Option<u32>, u16)) -> Event {
    let dep = dep.unwrap_or(event.dep);
    let instructions = event.instructions % 8;
    let operation = Event {
        size: class,
        ..Event::new(Kind::Op, 0)
    };
    let is_operation = class <= OpClass::Add as u16;
    Event {
        dep,
        instructions,
        ..if is_operation { operation } else { event }
    }
}

/// The DRAM's times, and whether something else lies in a memory of fixed times.
fn any_memory() -> impl Strategy<Value = (&'static str, u32, bool, bool)> {
    let texts = prop::sample::select(vec![DDR4, HBM2]);
    let paths = prop::sample::select(vec![12, 30, 322]);
    (texts, paths, any::<bool>(), any::<bool>())
}

/// Walkers beside each other, and whether they read the page table from caches.
fn any_walks() -> impl Strategy<Value = (Option<u32>, bool)> {
    (prop::option::of(1_u32..4), any::<bool>())
}

prop_compose! {
    fn any_machine()(
        spec in any_prefetching_machine(),
        (text, path, write_backs, is_alone) in any_memory(),
        entries in 8_u32..600,
        handlers in 1_u32..40,
        pages in 1_u32..64,
        (walkers, reads_table) in any_walks(),
    ) -> MachineSpec {
        let mut spec = with_dram(spec, text);
        if let Some(before) = &mut spec.core.reorder_buffer {
            *before = entries;
        }
        spec.caches[0].mshrs = Some(handlers);
        spec.dtlb.levels[0].entries = pages;
        if walkers.is_some() {
            (spec.dtlb.walker, spec.dtlb.walkers) = (Walker::Parallel, walkers);
        }
        let first_cache = spec.caches[spec.caches.len().min(2) - 1].name.clone();
        spec.dtlb.page_table = reads_table.then_some(PageTableSpec {
            levels: 4,
            entry_bytes: 8,
            node_bytes: None,
            walk_cache_entries: 0,
            first_cache,
        });
        let MemorySpec::Dramsim3(mut dram) = spec.memory.first().clone() else {
            unreachable!("the machine has one");
        };
        (dram.path_latency_cycles, dram.write_backs) = (path, write_backs);
        let dram = MemorySpec::Dramsim3(dram);
        spec.memory = if is_alone { dram.into() } else { beside_fixed(dram) };
        spec
    }
}

fn beside_fixed(dram: MemorySpec) -> MemoriesSpec {
    let memory = |name: &str, holds: &[&str], times| NamedMemory {
        name: name.to_owned(),
        holds: holds.iter().map(|&name| name.to_owned()).collect(),
        times,
    };
    let fixed = MemorySpec::Fixed {
        latency_cycles: 250,
        interval_cycles: Interval::of_cycles(15),
        write_backs_use_bus: true,
        write_interval_cycles: None,
    };
    MemoriesSpec::Several(vec![
        memory("dram", &[], dram),
        memory("fixed", &["far"], fixed),
    ])
}

fn engine_of(spec: &MachineSpec) -> Engine {
    Engine::new(spec, &layout()).expect("a valid machine")
}

fn run_in_batches(mut engine: Engine, events: &[Event], batch: usize) -> Statistics {
    for events in events.chunks(batch) {
        engine.consume(events).expect("events that the machine has");
    }
    engine.finish()
}

/// Threads of one program, or programs, on a core each, whose events come so many at a time; pages may come from storage.
fn run_on_cores(
    spec: &MachineSpec,
    programs: &[Vec<Event>],
    (kind, stores_pages): (Programs, bool),
    batch: usize,
) -> MulticoreStatistics {
    let layouts = vec![layout(); programs.len()];
    let threads = match kind {
        Programs::Threads => ThreadOf::one_program(&layouts),
        Programs::Apart => ThreadOf::programs(&layouts),
    };
    let mut cores = Multicore::new(spec, &threads).expect("a valid machine");
    if stores_pages {
        cores.set_storage(Box::new(InTurn::of(&[1_000, 300_000])));
    }
    let batches = programs.iter().map(|events| Batches(events.clone(), batch));
    let mut batches: Vec<_> = batches.collect();
    let sources = batches.iter_mut().map(|one| one as &mut dyn EventSource);
    let mut sources: Vec<_> = sources.collect();
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("events that the machine has");
    cores.finish()
}

/// Misses and write-backs of each cache.
fn misses(statistics: &Statistics) -> Vec<[u64; 2]> {
    let caches = statistics.caches.iter();
    let of = caches.map(|cache| [cache.counts.misses, cache.counts.write_backs]);
    of.collect()
}

/// Accesses of each data structure in each phase.
fn accesses_by_place(statistics: &Statistics) -> Vec<(&str, &str, u64)> {
    let rows = statistics.breakdown.iter();
    let of = rows.map(|row| (row.phase.as_str(), row.segment.as_str(), row.accesses));
    of.collect()
}

/// Without time they come in the order of the program, whoever counts.
#[test]
fn counts_say_that_accesses_come_in_another_order() {
    let mut next_line = ddr4();
    next_line.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    for spec in [ddr4(), next_line] {
        let counts = Counts::new(&spec, &layout()).expect("a valid machine");
        let [said] = &counts.finish().differs_from_timing[..] else {
            panic!("one thing is said");
        };
        assert!(
            said.starts_with("accesses come in the order of the program: "),
            "{said}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_run_by_batches_and_as_one_of_several(
        spec in any_machine(),
        events in any_program(),
        batch in 1_usize..20,
    ) {
        let whole = run_in_batches(engine_of(&spec), &events, events.len());
        prop_assert_eq!(&run_in_batches(engine_of(&spec), &events, batch), &whole);
        let threads = [events];
        let run = on_all_cores_of(&spec, &threads, Programs::Apart, &layout());
        let mut one_core = run.cores.into_iter().next().expect("a core");
        // What a run of several cores counts in the memories, it counts for all.
        (one_core.dram, one_core.memories) = (whole.dram, whole.memories.clone());
        prop_assert_eq!(one_core, whole);
    }

    /// They wait for lines, for each other, for latches, and for pages.
    #[test]
    fn several_cores_run_by_batches(
        spec in any_machine(),
        programs in prop::collection::vec(any_program(), 2..5),
        (shared, threads, stores_pages) in any::<(bool, bool, bool)>(),
        latch in prop::option::of((any::<Index>(), 1_usize..20)),
        barriers in prop::collection::vec(any::<Index>(), 0..3),
        requests in prop::collection::vec((any::<Index>(), request()), 0..3),
        batch in 1_usize..20,
    ) {
        let mut spec = spec;
        spec.cores = 4;
        for cache in spec.caches.iter_mut().skip(2) {
            cache.shared = shared;
        }
        let mut programs = programs;
        for events in &mut programs {
            if stores_pages {
                for (place, request) in &requests {
                    events.insert(place.index(events.len() + 1), *request);
                }
            }
            if let Some((place, held)) = latch {
                let take = place.index(events.len());
                events.insert(take, Event::new(Kind::Latch, 1));
                let release = (take + held).min(events.len());
                events.insert(release, Event::new(Kind::Unlatch, 1));
            } else {
                // Who holds a latch must not wait for who wants it.
                for place in &barriers {
                    events.insert(place.index(events.len() + 1), Event::new(Kind::Barrier, 0));
                }
            }
        }
        let how = (if threads { Programs::Threads } else { Programs::Apart }, stores_pages);
        let whole = run_on_cores(&spec, &programs, how, usize::MAX);
        prop_assert_eq!(run_on_cores(&spec, &programs, how, batch), whole);
    }

    /// Units of a sample begin and end where time stands still.
    #[test]
    fn samples_are_the_same_in_batches_of_any_size(
        spec in any_machine(),
        events in any_program(),
        batch in 1_usize..20,
    ) {
        let plan = SamplingPlan { unit: 100, warmup: 50, period: 300 };
        let sampled = |batch: usize| {
            let mut sampler = Sampler::new(&spec, &layout(), plan).expect("a valid plan");
            for events in events.chunks(batch) {
                sampler.consume(events).expect("events that the machine has");
            }
            format!("{:?}", sampler.finish())
        };
        prop_assert_eq!(sampled(events.len()), sampled(batch));
    }

    /// Accesses come in another order. Where no line displaces another that makes no difference to who misses, and never to whose they are.
    #[test]
    fn each_line_is_missed_once_where_caches_hold_all(
        spec in any_machine(),
        events in any_program(),
    ) {
        let mut spec = spec;
        for (level, cache) in spec.caches.iter_mut().enumerate() {
            cache.prefetchers.clear();
            (cache.size_bytes, cache.ways, cache.write_allocate) = (1 << (19 + level), 16, true);
        }
        let open = run_in_batches(engine_of(&spec), &events, events.len());
        let mut closed = engine_of(&spec);
        closed.watch(&events, &mut Vec::new()).expect("events that the machine has");
        let closed = closed.finish();
        prop_assert_eq!(misses(&open), misses(&closed));
        prop_assert_eq!(&open.bus, &closed.bus);
        prop_assert_eq!(&open.branches, &closed.branches);
        prop_assert_eq!(accesses_by_place(&open), accesses_by_place(&closed));
    }

    /// Some of the events pass in no time, and pages come from storage.
    #[test]
    fn loads_are_closed_before_time_stands_still_and_before_the_core_stops(
        spec in any_machine(),
        events in any_program(),
        requests in prop::collection::vec((any::<Index>(), request()), 0..6),
        pass in (any::<Index>(), any::<Index>()),
        batch in 1_usize..20,
    ) {
        let mut events = events;
        for (place, request) in requests {
            events.insert(place.index(events.len() + 1), request);
        }
        let (first, second) = (pass.0.index(events.len() + 1), pass.1.index(events.len() + 1));
        let passed = first.min(second)..first.max(second);
        let run = |batch: usize| {
            let mut engine = engine_of(&spec);
            engine.set_storage(Box::new(InTurn::of(&[1_000, 300_000])));
            for part in events[..passed.start].chunks(batch) {
                engine.consume(part).expect("events that the machine has");
            }
            engine.pass(&events[passed.clone()]).expect("events that the machine has");
            for part in events[passed.end..].chunks(batch) {
                engine.consume(part).expect("events that the machine has");
            }
            engine.await_written().expect("storage goes on");
            engine.finish()
        };
        prop_assert_eq!(run(events.len()), run(batch));
    }
}
