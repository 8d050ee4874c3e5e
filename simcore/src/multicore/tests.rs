//! Running ahead is seen by nobody.

use super::{Multicore, MulticoreStatistics, ThreadOf};
use crate::hierarchy::tests::{LINE, machine};
#[cfg(feature = "dramsim3")]
use crate::spec::{DramFile, Dramsim3Spec, MemorySpec};
use crate::spec::{Inclusion, MachineSpec, PrefetcherSpec};
use proptest::prelude::*;
use traces::{Event, EventSource, Kind, Layout, SinkError};

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

fn spec(prefetches: bool, writes_through: bool, parallel: bool) -> MachineSpec {
    let mut spec = machine([Inclusion::NonInclusive, Inclusion::NonInclusive]);
    spec.cores = 8;
    spec.caches[2].shared = true;
    if !prefetches {
        let prefetchers = spec.caches.iter_mut().map(|cache| &mut cache.prefetchers);
        prefetchers.for_each(Vec::<PrefetcherSpec>::clear);
    }
    if writes_through {
        spec.caches[0].write_policy = crate::spec::WritePolicy::WriteThrough;
    }
    if parallel {
        spec.dtlb.walker = crate::spec::Walker::Parallel;
    }
    spec
}

fn run(
    spec: &MachineSpec,
    programs: &[Vec<Event>],
    size: usize,
    ahead: bool,
) -> MulticoreStatistics {
    let layouts = vec![Layout::default(); programs.len()];
    let mut cores = Multicore::new(spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    assert!(cores.may_run_ahead);
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
        .run(&mut sources, |_| Ok(()))
        .expect("events that the machine has");
    cores.finish()
}

/// Accesses to few lines, most of which are in the first cache, and what else there is.
fn any_program() -> impl Strategy<Value = Vec<Event>> {
    let event = (
        0_usize..12,
        0_u64..10 * LINE,
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
            Kind::Measure,
        ]
        .get(kind)
        .unwrap_or(&Kind::Load);
        let address = match kind {
            Kind::Branch => address & 1,
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

/// Programs with as many barriers each, at places of their own.
fn any_threads() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let thread = (
        any_program(),
        prop::collection::vec(any::<prop::sample::Index>(), 3),
    );
    let threads = (prop::collection::vec(thread, 1..6), 0_usize..=3);
    threads.prop_map(|(threads, barriers)| {
        let with_barriers = |(mut events, places): (Vec<Event>, Vec<prop::sample::Index>)| {
            for place in &places[..barriers] {
                let place = place.index(events.len() + 1);
                events.insert(place, Event::new(Kind::Barrier, 0));
            }
            events
        };
        threads.into_iter().map(with_barriers).collect()
    })
}

proptest! {
    #[test]
    fn running_ahead_changes_nothing(
        threads in any_threads(),
        (prefetches, writes_through, parallel) in any::<(bool, bool, bool)>(),
        size in 1_usize..300,
    ) {
        let spec = spec(prefetches, writes_through, parallel);
        let strict = run(&spec, &threads, 1, false);
        prop_assert_eq!(strict, run(&spec, &threads, size, true));
    }
}

#[cfg(feature = "dramsim3")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn running_ahead_changes_nothing_in_a_dram(threads in any_threads(), parallel in any::<bool>(), size in 1_usize..300) {
        let mut spec = spec(false, false, parallel);
        spec.clock_hz = 3_200_000_000;
        spec.memory = MemorySpec::Dramsim3(Dramsim3Spec {
            config: DramFile {
                path: "dram.ini".to_owned(),
                text: include_str!("../../../configs/dram/ddr4-3200.ini").to_owned(),
            },
            path_latency_cycles: 30,
            write_backs: true,
        });
        let strict = run(&spec, &threads, 1, false);
        prop_assert_eq!(strict, run(&spec, &threads, size, true));
    }
}

#[test]
fn an_inclusive_level_that_is_shared_forbids_running_ahead() {
    let mut spec = spec(false, false, false);
    spec.caches[2].inclusion = Inclusion::Inclusive;
    let cores =
        Multicore::new(&spec, &ThreadOf::one_program([&Layout::default()])).expect("a machine");
    assert!(!cores.may_run_ahead);
}
