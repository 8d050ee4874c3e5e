//! Running ahead is seen by nobody.

use super::{Multicore, MulticoreStatistics, ThreadOf};
use crate::engine::Engine;
use crate::hierarchy::tests::{LINE, machine};
use crate::spec::{
    CoherenceProtocol, CoherenceSpec, Inclusion, InterferenceSpec, Interval, MachineSpec,
    MemorySpec, PageTableSpec, PrefetcherSpec, Replacement, Walker, WritePolicy,
};
#[cfg(feature = "dramsim3")]
use crate::spec::{DramFile, Dramsim3Spec};
use proptest::prelude::*;
use traces::{Event, EventSink, EventSource, Kind, Layout, SinkError};

/// Events from memory, so many at a time.
struct Batches {
    events: Vec<Event>,
    size: usize,
}

impl EventSource for Batches {
    fn next_batch(&mut self, events: &mut Vec<Event>) -> Result<(), SinkError> {
        let rest = self.events.split_off(self.events.len().min(self.size));
        *events = std::mem::replace(&mut self.events, rest);
        Ok(())
    }
}

/// Cores that find what they use in caches of their own, if nothing else is said.
fn plain() -> MachineSpec {
    let mut spec = machine([Inclusion::NonInclusive, Inclusion::NonInclusive]);
    spec.cores = 8;
    spec.caches[2].shared = true;
    let prefetchers = spec.caches.iter_mut().map(|cache| &mut cache.prefetchers);
    prefetchers.for_each(Vec::<PrefetcherSpec>::clear);
    // What one level gives up has another neighbourhood in the next.
    spec.caches[1].ways = 1;
    spec.caches[2].ways = 2;
    // A bus so slow that who comes first matters to all.
    spec.memory = MemorySpec::Fixed {
        latency_cycles: 100,
        interval_cycles: Interval::of_cycles(40),
        write_backs_use_bus: true,
        write_interval_cycles: None,
    }
    .into();
    spec
}

/// Machines with all that may let others notice what a core does; most have little of it.
fn any_machine() -> impl Strategy<Value = MachineSpec> {
    let rarely = || prop::bool::weighted(0.1);
    let features = prop::array::uniform7(rarely());
    let second = prop_oneof![
        3 => Just(Inclusion::NonInclusive),
        1 => Just(Inclusion::Inclusive),
        1 => Just(Inclusion::Exclusive),
    ];
    let often = any::<(bool, bool)>();
    let interval = prop::option::weighted(0.3, 1_u64..2000);
    let protocol = prop_oneof![
        Just(CoherenceProtocol::Mesi),
        Just(CoherenceProtocol::Moesi)
    ];
    let protocol = prop::option::weighted(0.3, protocol);
    let choices = (features, second, often, interval, protocol);
    let machines = choices.prop_map(|(features, second, (parallel, own), interval, protocol)| {
        let [
            prefetches,
            through,
            through_second,
            no_allocate,
            random,
            shared,
            table,
        ] = features;
        let mut spec = plain();
        spec.interference = interval.map(|flush_interval_cycles| InterferenceSpec {
            flush_interval_cycles,
        });
        spec.caches[1].inclusion = second;
        spec.caches[1].shared = shared;
        spec.coherence = protocol.map(|protocol| CoherenceSpec {
            protocol,
            transfer_cycles: 30,
        });
        spec.caches[2].shared = !own || spec.caches[1].shared;
        if prefetches {
            spec.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 2 }];
        }
        for (level, through) in [through, through_second].into_iter().enumerate() {
            if through {
                spec.caches[level].write_policy = WritePolicy::WriteThrough;
            }
        }
        spec.caches[0].write_allocate = !no_allocate;
        if random {
            spec.caches[0].replacement = Replacement::Random;
        }
        if parallel {
            spec.dtlb.walker = Walker::Parallel;
        }
        if table {
            spec.dtlb.page_table = Some(PageTableSpec {
                levels: 2,
                entry_bytes: 8,
                node_bytes: None,
                walk_cache_entries: 0,
                first_cache: "L1".to_owned(),
            });
        }
        spec
    });
    machines.prop_filter("cannot exist", |spec| spec.validate().is_ok())
}

fn run(
    spec: &MachineSpec,
    programs: &[Vec<Event>],
    size: usize,
    ahead: bool,
) -> MulticoreStatistics {
    let layout = Layout {
        phases: vec!["one".into(), "other".into()],
        ..Layout::default()
    };
    let layouts = vec![layout; programs.len()];
    let mut cores = Multicore::new(spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    cores.may_run_ahead = ahead;
    let mut batches: Vec<Batches> = programs
        .iter()
        .map(|events| Batches {
            events: events.clone(),
            size,
        })
        .collect();
    let mut sources: Vec<&mut dyn EventSource> = batches
        .iter_mut()
        .map(|source| source as &mut dyn EventSource)
        .collect();
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("events that the machine has");
    cores.finish()
}

/// Accesses to few lines, most of which are in a core's own caches, and what else there is.
fn any_program() -> impl Strategy<Value = Vec<Event>> {
    let event = (
        0_usize..15,
        0_u64..40 * LINE,
        0_u16..6,
        0_u32..4,
        any::<bool>(),
    );
    let event = event.prop_map(|(kind, address, instructions, dep, far)| {
        let kind = *[
            Kind::Branch,
            Kind::Op,
            Kind::Store,
            Kind::Prefetch,
            Kind::StoreNta,
            Kind::Exchange,
            Kind::Measure,
            Kind::Mark,
        ]
        .get(kind)
        .unwrap_or(&Kind::Load);
        let address = match kind {
            Kind::Branch | Kind::Mark => address & 1,
            Kind::Measure => 0,
            _ if far => address * 7,
            _ => address,
        };
        Event {
            instructions,
            dep,
            size: if kind == Kind::Op { 0 } else { 4 },
            ..Event::new(kind, address)
        }
    });
    prop::collection::vec(event, 0..200)
}

/// Where a thread takes a latch, which one, for how many events, and whether it only awaits it.
type Section = (prop::sample::Index, u64, usize, bool);

/// The same events with sections that have one latch each, and no barrier.
fn with_latches(events: &[Event], sections: &[Section]) -> Vec<Event> {
    let mut latched = Vec::new();
    let mut held: Option<(u64, usize)> = None;
    for (number, &event) in events.iter().enumerate() {
        if let Some((latch, left)) = held
            && (left == 0 || event.kind == Kind::Barrier)
        {
            latched.push(Event::new(Kind::Unlatch, latch));
            held = None;
        }
        let begins = |section: &&Section| section.0.index(events.len()) == number;
        if let Some(&(_, latch, length, awaits)) = sections.iter().find(begins)
            && held.is_none()
            && event.kind != Kind::Barrier
        {
            let kind = if awaits {
                Kind::AwaitLatch
            } else {
                Kind::Latch
            };
            latched.push(Event::new(kind, latch));
            held = Some((latch, length));
        }
        latched.push(event);
        held = held.map(|(latch, left)| (latch, left.saturating_sub(1)));
    }
    latched.extend(held.map(|(latch, _)| Event::new(Kind::Unlatch, latch)));
    latched
}

/// Programs with as many barriers each, and with latches, at places of their own.
fn any_threads() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let section = (
        any::<prop::sample::Index>(),
        0_u64..2,
        0_usize..12,
        any::<bool>(),
    );
    let thread = (
        any_program(),
        prop::collection::vec(any::<prop::sample::Index>(), 3),
        prop::collection::vec(section, 0..8),
    );
    let threads = (prop::collection::vec(thread, 1..6), 0_usize..=3);
    threads.prop_map(|(threads, barriers)| {
        let meets = |(mut events, places, sections): (
            Vec<Event>,
            Vec<prop::sample::Index>,
            Vec<Section>,
        )| {
            for place in &places[..barriers] {
                let place = place.index(events.len() + 1);
                events.insert(place, Event::new(Kind::Barrier, 0));
            }
            with_latches(&events, &sections)
        };
        threads.into_iter().map(meets).collect()
    })
}

proptest! {
    #[test]
    fn running_ahead_changes_nothing(
        threads in any_threads(),
        spec in any_machine(),
        size in 1_usize..300,
    ) {
        let strict = run(&spec, &threads, 1, false);
        prop_assert_eq!(strict, run(&spec, &threads, size, true));
    }
}

proptest! {
    /// Batches and barriers, at which nobody else is waited for, change nothing for a program of one thread, and no event is lost.
    #[test]
    fn one_thread_runs_on_an_engine_as_among_several(
        threads in any_threads(),
        spec in any_machine(),
        size in 1_usize..300,
    ) {
        let events = &threads[0];
        let layout = Layout { phases: vec!["one".into(), "other".into()], ..Layout::default() };
        let mut engine = Engine::new(&spec, &layout).expect("a machine");
        for batch in events.chunks(size) {
            engine.consume(batch).expect("events that the machine has");
        }
        let alone = engine.finish();
        let measured = events.iter().rposition(|event| event.kind == Kind::Measure);
        prop_assert_eq!(alone.events, (events.len() - measured.map_or(0, |place| place + 1)) as u64);
        let among = run(&spec, &threads[..1], size, true);
        prop_assert_eq!(alone, among.cores.into_iter().next().expect("a core"));
    }
}

/// Who empties its caches leaves the bus to those who are on it.
#[test]
fn a_flush_frees_no_bus_for_others() {
    let mut spec = plain();
    spec.caches[2].shared = false;
    let loads: Vec<_> = (0..100)
        .map(|line| Event::new(Kind::Load, line * LINE))
        .collect();
    let flush = Event {
        instructions: 50,
        ..Event::new(Kind::Flush, 0)
    };
    let alone = run(&spec, std::slice::from_ref(&loads), 1, true);
    let beside = run(&spec, &[loads, vec![flush; 60]], 1, true);
    assert_eq!(beside.cores[0].cycles, alone.cores[0].cycles);
}

/// An inclusive level that one core empties holds nothing any more that others have nearer.
#[test]
fn a_flush_of_an_inclusive_level_reaches_the_caches_before_it() {
    let load = Event::new(Kind::Load, 0);
    let flush = Event::new(Kind::Flush, 0);
    // What comes behind it is no sooner than so many instructions.
    let pause = |instructions| Event {
        instructions,
        size: 0,
        ..Event::new(Kind::Op, 0)
    };
    for (inclusion, misses) in [(Inclusion::NonInclusive, 1), (Inclusion::Inclusive, 2)] {
        let mut spec = plain();
        spec.caches[2].inclusion = inclusion;
        let layouts = [Layout::default(), Layout::default()];
        let threads = ThreadOf::one_program(&layouts);
        let mut cores = Multicore::new(&spec, &threads).expect("a machine");
        let programs = [vec![pause(500), flush], vec![load, pause(2000), load]];
        let mut batches = programs.map(|events| Batches { events, size: 1 });
        let mut sources: Vec<&mut dyn EventSource> = Vec::new();
        sources.extend(
            batches
                .iter_mut()
                .map(|source| source as &mut dyn EventSource),
        );
        cores
            .run(&mut sources, &mut |_| Ok(()))
            .expect("events that the machine has");
        let found = cores.finish();
        assert_eq!(
            found.cores[1].caches[0].counts.misses, misses,
            "{inclusion:?}"
        );
    }
}

#[cfg(feature = "dramsim3")]
fn give_dram(spec: &mut MachineSpec) {
    spec.clock_hz = 3_200_000_000;
    spec.memory = MemorySpec::Dramsim3(Dramsim3Spec {
        config: DramFile {
            path: "dram.ini".to_owned(),
            text: include_str!("../../../configs/dram/ddr4-3200.ini").to_owned(),
        },
        path_latency_cycles: 30,
        write_backs: true,
    })
    .into();
}

/// Nobody waits for a prefetch; the core that asked for it ends when it has come, whatever others do long after.
#[cfg(feature = "dramsim3")]
#[test]
fn a_core_that_has_ended_waits_for_its_own_misses() {
    let mut spec = plain();
    give_dram(&mut spec);
    let asks = vec![Event::new(Kind::Prefetch, 0)];
    let alone = run(&spec, std::slice::from_ref(&asks), 1, true).cores[0].cycles;
    assert!(alone > 50, "{alone} cycles");
    let load = |line: u64| Event {
        instructions: 1000,
        dep: 1,
        ..Event::new(Kind::Load, line * LINE)
    };
    let goes_on = (1..20).map(load).collect();
    let beside = run(&spec, &[asks, goes_on], 1, true);
    assert_eq!(beside.cores[0].cycles, alone);
}

#[cfg(feature = "dramsim3")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn running_ahead_changes_nothing_in_a_dram(threads in any_threads(), mut spec in any_machine(), size in 1_usize..300) {
        give_dram(&mut spec);
        let strict = run(&spec, &threads, 1, false);
        prop_assert_eq!(strict, run(&spec, &threads, size, true));
    }
}

#[test]
fn an_inclusive_level_that_is_shared_forbids_running_ahead() {
    let mut spec = plain();
    spec.caches[2].inclusion = Inclusion::Inclusive;
    let cores =
        Multicore::new(&spec, &ThreadOf::one_program([&Layout::default()])).expect("a machine");
    assert!(!cores.has_own_caches);
}
