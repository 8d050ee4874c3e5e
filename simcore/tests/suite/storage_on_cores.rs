//! Pages from storage for several cores: each stops at its own, and the others go on.

use crate::common::batches::Batches;
use crate::common::in_turn::InTurn;
use crate::common::random::{any_event, any_machine, with_arrivals};
use crate::common::stepped::stepped;
use crate::common::*;
use crate::storage::{of_all_causes, one_a_cycle, request};
use proptest::prelude::*;
use simcore::Engine;
use simcore::multicore::{Multicore, MulticoreStatistics, ThreadOf};
use simcore::spec::{CoherenceProtocol, CoherenceSpec, MachineSpec};
use traces::{Event, EventSink, EventSource, Kind, Layout, SinkError};

pub fn run(
    spec: &MachineSpec,
    threads: &[Vec<Event>],
    storage: Option<InTurn>,
    batch: usize,
) -> MulticoreStatistics {
    try_run(spec, threads, storage, batch).unwrap()
}

fn try_run(
    spec: &MachineSpec,
    threads: &[Vec<Event>],
    storage: Option<InTurn>,
    batch: usize,
) -> Result<MulticoreStatistics, SinkError> {
    let spec = MachineSpec {
        cores: threads.len() as u32,
        ..spec.clone()
    };
    let layout = Layout {
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    };
    let layouts = vec![layout; threads.len()];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    if let Some(storage) = storage {
        cores.set_storage(Box::new(storage));
    }
    let mut events: Vec<Batches> = threads
        .iter()
        .map(|events| Batches(events.clone(), batch))
        .collect();
    let mut sources: Vec<&mut dyn EventSource> = events
        .iter_mut()
        .map(|events| events as &mut dyn EventSource)
        .collect();
    cores.run(&mut sources, &mut |_| Ok(()))?;
    Ok(cores.finish())
}

/// Requests for frames that threads share, and for others.
fn any_request() -> impl Strategy<Value = Event> {
    let kinds = prop_oneof![
        Just(Kind::PageRead),
        Just(Kind::PageWait),
        Just(Kind::PagePrefetch)
    ];
    let shared = (kinds, 0_u64..4, 0_u16..4, 0_u16..30)
        .prop_map(|(kind, page, fill, before)| plain(before, Event::for_fill(kind, page, fill)));
    prop_oneof![1 => request(), 2 => shared]
}

/// Threads of one program that have pages from storage and meet at as many barriers.
fn any_threads() -> impl Strategy<Value = Vec<Vec<Event>>> {
    let event = prop_oneof![3 => any_event(), 1 => any_request()];
    let part = || with_arrivals(prop::collection::vec(event.clone(), 0..25));
    let thread = (part(), part())
        .prop_map(|(before, after)| [before, vec![Event::new(Kind::Barrier, 0)], after].concat());
    prop::collection::vec(thread, 1..4)
}

#[test]
fn a_run_beyond_the_end_of_time_is_refused() {
    let spec = one_a_cycle(1_000_000_000_000);
    let read = vec![Event::new(Kind::PageRead, 1)];
    let others = [vec![], vec![plain(1, Event::new(Kind::Mark, 0)); 100]];
    for other in others {
        let threads = [read.clone(), other];
        let run = |time_ps| try_run(&spec, &threads, Some(InTurn::of(&[time_ps])), 7);
        assert_eq!(run((1 << 50) - 1).unwrap().together.cycles, (1 << 50) - 1);
        for too_long in [1 << 50, 1 << 60, u64::MAX] {
            let error = run(too_long).unwrap_err().to_string();
            assert!(error.contains("days of simulated time"), "{error}");
        }
    }
}

#[test]
fn a_core_works_while_another_waits_for_its_page() {
    let reads = vec![Event::new(Kind::PageRead, 0)];
    let works = vec![plain(400, branch(1))];
    let found = run(
        &one_a_cycle(1_000_000_000),
        &[reads, works],
        Some(InTurn::of(&[1_000_000])),
        10,
    );
    let [reads, works] = &found.cores[..] else {
        panic!("two cores")
    };
    assert_eq!((reads.cycles, reads.slots.storage), (1000, Some(1000)));
    assert_eq!((works.cycles, works.slots.storage), (401, Some(0)));
    assert_eq!(found.together.pages.unwrap().stops, 1);
}

/// Each core calls the operating system for its own pages; meanwhile the other goes on, and is first at the device.
#[test]
fn the_operating_system_takes_the_core_that_asks() {
    let read = |before, page| vec![plain(before, Event::new(Kind::PageRead, page))];
    let found = run(
        &one_a_cycle(1_000_000_000),
        &[read(0, 0), read(30, 1), vec![plain(400, branch(1))]],
        Some(InTurn::of(&[1_000_000, 2_000_000]).that_takes_a_core(50_000)),
        10,
    );
    let times = found
        .cores
        .iter()
        .map(|core| (core.cycles, core.slots.system));
    let times: Vec<_> = times.collect();
    assert_eq!(times, [(1050, Some(50)), (3050, Some(50)), (401, Some(0))]);
}

/// Core 1 asks later, and for something earlier, as core 0 has more to run before.
#[test]
fn requests_reach_the_device_in_the_order_of_their_times() {
    let read = |before, page| vec![plain(before, Event::new(Kind::PageRead, page))];
    let spec = one_a_cycle(1_000_000_000);
    let found = run(
        &spec,
        &[read(500, 0), read(100, 1)],
        Some(InTurn::of(&[1_000_000, 2_000_000])),
        10,
    );
    let cycles: Vec<u64> = found.cores.iter().map(|core| core.cycles).collect();
    assert_eq!(cycles, [100 + 2000 + 1000, 100 + 2000]);
}

#[test]
fn the_core_that_ends_last_waits_for_what_all_have_written() {
    let writes = vec![Event::new(Kind::PageWrite, 0)];
    let works = vec![plain(400, branch(1))];
    let found = run(
        &one_a_cycle(1_000_000_000),
        &[writes, works],
        Some(InTurn::of(&[1_000_000])),
        10,
    );
    let cycles: Vec<u64> = found.cores.iter().map(|core| core.cycles).collect();
    assert_eq!(cycles, [0, 1000]);
    assert_eq!(found.cores[1].slots.storage, Some(1000 - 401));
}

/// What a core had written to a frame is gone when a page has come into it for another: the line comes from memory.
#[test]
fn a_page_that_comes_is_no_core_s_whose_caches_are_coherent() {
    let mut spec = machine();
    spec.caches.last_mut().unwrap().shared = true;
    spec.coherence = Some(CoherenceSpec {
        protocol: CoherenceProtocol::Mesi,
        transfer_cycles: 80,
    });
    let page = [
        Event::new(Kind::PageRead, 0),
        Event {
            size: 4096,
            ..Event::new(Kind::PageArrival, 0)
        },
    ];
    for (comes, fills, transfers) in [(&page[..], 3, 0), (&[], 2, 1)] {
        let reads = [
            &[load(8 * LINE)],
            &delay(4000)[..],
            comes,
            &[after(1, load(0))],
        ]
        .concat();
        let storage = InTurn::of(&[1_000_000]);
        let found = run(&spec, &[vec![store(0)], reads], Some(storage), 10);
        assert_eq!(found.together.bus.fills, fills);
        assert_eq!(found.together.bus.write_backs, 0);
        let coherence = found.cores[1].coherence.expect("coherent caches");
        assert_eq!(coherence.transfers, transfers);
    }
}

fn branch(site: u16) -> Event {
    Event {
        site,
        ..Event::new(Kind::Branch, 1)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 4000, ..ProptestConfig::default() })]

    #[test]
    fn a_run_is_that_of_all_cores_and_the_device_stepped_side_by_side(
        hz in prop_oneof![Just(100_000_000_000_u64), Just(150_000_000_000), Just(70_000_000_000)],
        threads in prop::collection::vec(prop::collection::vec(any_request(), 0..8), 1..5),
        times_ps in prop::collection::vec(1_u64..900, 1..6),
    ) {
        let expected = stepped(hz, &threads, &times_ps);
        prop_assume!(expected.is_some());
        let found = run(&one_a_cycle(hz), &threads, Some(InTurn::of(&times_ps)), 3);
        let found: Vec<_> = found.cores.iter().map(|core| (core.cycles, core.slots.storage.unwrap())).collect();
        prop_assert_eq!(found, expected.unwrap());
    }

    #[test]
    fn one_thread_is_an_engine(
        spec in any_machine(),
        events in with_arrivals(prop::collection::vec(prop_oneof![3 => any_event(), 1 => any_request()], 0..200)),
        times_ps in prop::collection::vec(0_u64..5_000_000, 1..6),
        cpu_per_page_ps in prop_oneof![Just(0), 1_u64..3_000_000],
    ) {
        let storage = InTurn::of(&times_ps).that_takes_a_core(cpu_per_page_ps);
        let found = run(&spec, std::slice::from_ref(&events), Some(storage.clone()), 7);
        let layout = Layout { phases: vec!["start".to_owned(), "work".to_owned()], ..Layout::default() };
        let mut engine = Engine::new(&spec, &layout).unwrap();
        engine.set_storage(Box::new(storage));
        engine.consume(&events).unwrap();
        engine.await_written().unwrap();
        prop_assert_eq!(&found.cores[0], &engine.finish());
    }

    #[test]
    fn batches_make_no_difference_to_cores_that_share_caches(
        mut spec in any_machine(),
        threads in any_threads(),
        times_ps in prop::collection::vec(0_u64..5_000_000, 1..6),
        cpu_per_page_ps in prop_oneof![Just(0), 1_u64..3_000_000],
        batch in 1_usize..20,
    ) {
        if let [_, .., last] = &mut spec.caches[..] {
            last.shared = true;
        }
        let storage = InTurn::of(&times_ps).that_takes_a_core(cpu_per_page_ps);
        let found = run(&spec, &threads, Some(storage.clone()), batch);
        prop_assert_eq!(&found, &run(&spec, &threads, Some(storage), 1000));
        for core in found.cores.iter().chain([&found.together]) {
            prop_assert_eq!(of_all_causes(core), core.slots.total);
        }
        let wait = found.together.pages.unwrap().wait.total_ps();
        let waits: u64 = found.cores.iter().map(|core| core.pages.unwrap().wait.total_ps()).sum();
        prop_assert_eq!(wait, waits);
    }

    /// A core of one instruction a cycle that waits for a page until some cycle is one that has as many instructions to run: it comes to the
    /// shared caches and the bus between the others' accesses, neither before nor behind them.
    #[test]
    fn a_core_that_has_waited_takes_its_place_among_the_others(
        threads in prop::collection::vec((1_u64..3000, prop::collection::vec(any_event(), 0..120)), 2..5),
    ) {
        let mut spec = one_a_cycle(1_000_000_000);
        spec.caches.last_mut().unwrap().shared = true;
        let times_ps: Vec<u64> = threads.iter().map(|(cycles, _)| cycles * 1000).collect();
        let mut arrives = 0;
        let (mut wait, mut work) = (Vec::new(), Vec::new());
        for (core, (cycles, events)) in (0..).zip(&threads) {
            arrives += cycles;
            let read = Event::new(Kind::PageRead, core);
            wait.push([&[read], &events[..]].concat());
            let begins = plain(arrives as u16, Event::new(Kind::Mark, 0));
            work.push([&[begins], &events[..]].concat());
        }
        let waited = run(&spec, &wait, Some(InTurn::of(&times_ps)), 50);
        let worked = run(&spec, &work, Some(InTurn::of(&[0])), 50);
        for (core, other) in waited.cores.iter().zip(&worked.cores) {
            prop_assert_eq!(core.cycles, other.cycles);
            prop_assert_eq!(&core.caches, &other.caches);
            prop_assert_eq!(core.slots.busy + core.slots.storage.unwrap(), other.slots.busy);
            prop_assert_eq!(&core.slots.dcache, &other.slots.dcache);
        }
    }

    /// Storage that takes no time leaves cores that run in order as they are without it. Others stop at the end of a cycle.
    #[test]
    fn pages_that_are_there_at_once_change_nothing(
        threads in prop::collection::vec(prop::collection::vec(prop_oneof![3 => any_event(), 1 => any_request()], 0..120), 2..5),
    ) {
        let mut spec = one_a_cycle(1_000_000_000);
        spec.caches.last_mut().unwrap().shared = true;
        let found = run(&spec, &threads, Some(InTurn::of(&[0])), 9);
        let without = run(&spec, &threads, None, 9);
        for (core, other) in found.cores.iter().zip(&without.cores) {
            prop_assert_eq!((core.slots.storage, core.pages.unwrap().stops), (Some(0), 0));
            prop_assert_eq!((core.cycles, &core.bus, &core.dtlb), (other.cycles, &other.bus, &other.dtlb));
            prop_assert_eq!(&core.slots.dcache, &other.slots.dcache);
        }
    }
}

/// At some barriers all threads wait until what one of them has written is on storage. At others it leaves while they work.
#[test]
fn at_a_barrier_for_writes_all_wait_for_what_one_has_written() {
    let (write_ps, work) = (1_000_000, 3000);
    for threads in [1, 2] {
        let cycles = |barrier: Event| -> Vec<u64> {
            let other = vec![barrier, plain(work, branch(0))];
            let writer = [vec![Event::new(Kind::PageWrite, 0)], other.clone()].concat();
            let programs = [vec![writer], vec![other; threads - 1]].concat();
            let cores = run(
                &one_a_cycle(1_000_000_000),
                &programs,
                Some(InTurn::of(&[write_ps])),
                2,
            )
            .cores;
            cores.iter().map(|core| core.cycles).collect()
        };
        let (waits, goes_on) = (
            cycles(Event::barrier_behind_writes()),
            cycles(Event::new(Kind::Barrier, 0)),
        );
        for (waits, goes_on) in waits.iter().zip(&goes_on) {
            assert!(goes_on.abs_diff(u64::from(work)) < 10, "{goes_on}");
            assert!(waits.abs_diff(u64::from(work) + 1000) < 10, "{waits}");
        }
    }
}
