//! Frames that threads share: who comes first has a page brought, and the others wait for it.

use crate::common::in_turn::InTurn;
use crate::common::random::{any_machine, any_trace};
use crate::common::*;
use crate::storage::one_a_cycle;
use crate::storage_on_cores::run as run_threads;
use proptest::prelude::*;
use simcore::multicore::MulticoreStatistics;
use simcore::spec::MachineSpec;
use simcore::stack_distance::StackDistances;
use simcore::{ByteUsage, Counts, Engine};
use traces::{Event, EventSink, Kind, Layout, OpClass};

/// A nanosecond a cycle, and a microsecond a page.
const HZ: u64 = 1_000_000_000;
const PAGE_PS: u64 = 1_000_000;
/// Two lines.
const FRAME: u16 = 2 * LINE as u16;

/// Reads a page into the frame at address 0.
fn read(before: u16, page: u64, fill: u16) -> [Event; 2] {
    let read = Event::for_fill(Kind::PageRead, page, fill);
    [plain(before, read), Event::arrival(0, FRAME)]
}

/// Waits for one that another thread reads.
fn wait(before: u16, page: u64, fill: u16) -> [Event; 2] {
    let wait = Event::for_fill(Kind::PageWait, page, fill);
    [plain(before, wait), Event::arrival_for_another(0, FRAME)]
}

/// Loads the first line of the frame, and does nothing before it is there.
fn loads() -> [Event; 2] {
    let wait = Event {
        size: OpClass::Add as u16,
        ..Event::new(Kind::Op, 0)
    };
    [load(0), after(1, wait)]
}

fn run(threads: &[Vec<Event>], storage: InTurn) -> MulticoreStatistics {
    run_threads(&one_a_cycle(HZ), threads, Some(storage), 10)
}

fn one_device() -> InTurn {
    InTurn::of(&[PAGE_PS])
}

/// Cycles of each core, and those among them in which it was stopped.
fn cycles(found: &MulticoreStatistics) -> Vec<(u64, u64)> {
    let cores = found.cores.iter();
    cores
        .map(|core| (core.cycles, core.slots.storage.unwrap()))
        .collect()
}

/// Reads that cores were counted to have made, and pages that were not there when they wanted them.
fn counted(found: &MulticoreStatistics) -> Vec<(u64, u64)> {
    let cores = found.cores.iter().map(|core| core.pages.unwrap());
    cores.map(|pages| (pages.reads, pages.stops)).collect()
}

/// The device is free again when the one page is there: it has read it once.
#[test]
fn two_cores_that_want_a_page_wait_for_one_coming_of_it() {
    let next = read(0, 1, 2);
    let reads = [&read(0, 0, 1)[..], &next].concat();
    let waits = wait(100, 0, 1).to_vec();
    let found = run(&[reads, waits], one_device());
    assert_eq!(cycles(&found), [(2000, 2000), (1000, 900)]);
    assert_eq!(counted(&found), [(2, 2), (0, 1)]);
    assert_eq!(found.together.pages.unwrap().wait.total_ps(), 2_900_000);
}

/// The planned reader comes later: it reads nothing, and waits for the rest.
#[test]
fn a_core_that_was_to_wait_and_comes_first_has_the_page_brought() {
    let waits = [&wait(0, 0, 1)[..], &read(0, 1, 2)].concat();
    let reads = read(100, 0, 1).to_vec();
    let found = run(&[reads, waits], one_device());
    assert_eq!(cycles(&found), [(1000, 900), (2000, 2000)]);
    assert_eq!(counted(&found), [(1, 1), (1, 2)]);
}

#[test]
fn the_operating_system_takes_the_planned_reader_whoever_comes_first() {
    let threads = [read(100, 0, 1).to_vec(), wait(0, 0, 1).to_vec()];
    let found = run(&threads, one_device().that_takes_a_core(50_000));
    assert_eq!(cycles(&found), [(1000, 850), (1000, 1000)]);
    let system = found.cores.iter().map(|core| core.slots.system);
    assert!(system.eq([Some(50), Some(0)]));
}

/// What was asked for ahead is of one fill. The next has to be asked for anew.
#[test]
fn the_operating_system_is_called_once_for_a_fill_that_is_asked_for_ahead() {
    let ahead = Event::for_fill(Kind::PagePrefetch, 0, 1);
    for (fill, calls) in [(1, 1), (2, 2)] {
        let reads = [&[ahead, ahead], &read(0, 0, fill)[..]].concat();
        let found = run(&[reads], one_device().that_takes_a_core(50_000));
        assert_eq!(found.cores[0].slots.system, Some(50 * calls));
    }
}

/// One core asks for it ahead, and another reads it.
#[test]
fn the_operating_system_is_called_once_for_a_fill_whoever_asks_for_it_ahead() {
    let ahead = Event::for_fill(Kind::PagePrefetch, 0, 1);
    for (fill, second) in [(1, 0), (2, 50)] {
        let threads = [vec![ahead], read(100, 0, fill).to_vec()];
        let found = run(&threads, one_device().that_takes_a_core(50_000));
        let system = found.cores.iter().map(|core| core.slots.system);
        assert!(system.eq([Some(50), Some(second)]));
    }
}

#[test]
fn a_core_goes_on_at_once_with_a_page_that_is_there() {
    let found = run(
        &[read(0, 0, 1).to_vec(), wait(3000, 0, 1).to_vec()],
        one_device(),
    );
    assert_eq!(cycles(&found), [(1000, 1000), (3000, 0)]);
    assert_eq!(counted(&found), [(1, 1), (0, 0)]);
}

#[test]
fn a_later_fill_brings_the_page_again_and_an_earlier_one_does_not() {
    for (fill, until) in [(3, 4000), (2, 3000), (1, 3000)] {
        let found = run(
            &[read(0, 0, 2).to_vec(), read(3000, 0, fill).to_vec()],
            one_device(),
        );
        assert_eq!(cycles(&found)[1].0, until);
    }
}

#[test]
fn what_somebody_has_come_for_is_not_asked_for_ahead() {
    for (fill, until) in [(1, 1100), (2, 2000)] {
        let ahead = Event::for_fill(Kind::PagePrefetch, 0, fill);
        let other = [&[plain(50, ahead)], &read(1050, 1, 9)[..]].concat();
        let found = run(&[read(0, 0, 1).to_vec(), other], one_device());
        // The other page comes behind the first, and behind what was asked for ahead.
        assert_eq!(cycles(&found)[1].0, until + 1000);
    }
}

/// Private caches in front of a shared one.
fn shared_at_the_end() -> MachineSpec {
    let mut spec = one_a_cycle(HZ);
    spec.caches.last_mut().unwrap().shared = true;
    spec
}

/// Both cores have the old page's line. Once the new page is there, one of them fetches the line from memory, and the other from the
/// shared cache, much later.
#[test]
fn a_frame_is_made_cold_once_by_whoever_was_first() {
    let [before, behind] = [600, 5000]; // the arrival of the page
    for (first_is_reader, at) in [
        (true, before),
        (false, before),
        (true, behind),
        (false, behind),
    ] {
        let (first, other) = if first_is_reader {
            (read(500, 0, 1), wait(at, 0, 1))
        } else {
            (wait(500, 0, 1), read(at, 0, 1))
        };
        let first = [&loads()[..], &first, &loads()].concat();
        let late = plain(9000, branch(true));
        let other = [&loads()[..], &other, &[late], &loads()].concat();
        let found = run_threads(
            &shared_at_the_end(),
            &[first, other],
            Some(one_device()),
            10,
        );
        let fills = found.together.bus.fills;
        assert_eq!(fills, 2, "the old page's line, and the new one's");
        let overwritten = found.cores.iter().map(|core| core.caches[0].overwritten);
        assert!(overwritten.eq([Some(1), Some(0)]));
    }
}

/// All go on in the cycle in which the page comes, the lower number first, though the higher one was first to ask.
#[test]
fn no_core_uses_old_lines_where_a_higher_one_was_first() {
    let thread = |asks: [Event; 2]| [&loads()[..], &asks, &loads()].concat();
    let found = run_threads(
        &shared_at_the_end(),
        &[thread(wait(600, 0, 1)), thread(read(500, 0, 1))],
        Some(one_device()),
        10,
    );
    assert_eq!(found.together.bus.fills, 2);
    let overwritten = found.cores.iter().map(|core| core.caches[2].overwritten);
    assert!(overwritten.eq([Some(1), Some(0)]));
}

fn layout() -> Layout {
    Layout {
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Pages follow each other in one frame, and all threads meet between them. Each page's line comes from memory once, whoever comes for
    /// it, in whatever order, and no core finds the one of the page before.
    #[test]
    fn the_lines_of_every_page_come_from_memory_once(
        pages in prop::collection::vec(
            (prop::collection::vec(prop::option::of((0_u16..3000, any::<bool>())), 4), prop::option::of(0_u16..2000)), 1..6),
        ties in any::<bool>(),
    ) {
        let mut threads = vec![Vec::new(); 4];
        let mut brought = 0;
        for (number, (comers, ahead)) in (1..).zip(&pages) {
            let fill = number as u16;
            threads[3].extend(ahead.map(|before| plain(before, Event::for_fill(Kind::PagePrefetch, number, fill))));
            for (thread, comer) in threads.iter_mut().zip(comers) {
                if let Some((before, reads)) = comer {
                    let before = if ties { before % 3 * 40 } else { *before };
                    thread.extend(if *reads { read(before, number, fill) } else { wait(before, number, fill) });
                    thread.extend(loads());
                }
                thread.push(Event::new(Kind::Barrier, 0));
            }
            brought += u64::from(comers.iter().any(Option::is_some));
        }
        let found = run_threads(&shared_at_the_end(), &threads, Some(one_device()), 10);
        prop_assert_eq!(found.together.bus.fills, brought);
        let comers = pages.iter().flat_map(|(comers, _)| comers.iter().flatten()).count() as u64;
        prop_assert_eq!(found.together.caches[0].counts.misses, comers);
    }

    /// Without storage a wait takes no time. Who counts without time lets it pass, too, and the arrival behind it.
    #[test]
    fn who_knows_no_time_lets_waits_pass(
        spec in any_machine(),
        events in any_trace(),
        places in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..5000), 0..8),
    ) {
        let mut waits: Vec<Event> = events.iter().map(|event| Event { dep: 0, ..*event }).collect();
        let plain = waits.clone();
        for (place, frame) in places {
            let place = place.index(waits.len() + 1);
            let arrival = Event::arrival_for_another(frame, 4096);
            waits.splice(place..place, [Event::for_fill(Kind::PageWait, 0, 1), arrival]);
        }
        let run = |events: &[Event]| {
            let mut engine = Engine::new(&spec, &layout()).unwrap();
            engine.overwrite_frames();
            let mut passed = Engine::new(&spec, &layout()).unwrap();
            passed.overwrite_frames();
            let mut counts = Counts::new(&spec, &layout()).unwrap().with_arrivals();
            let mut usage = ByteUsage::new(&spec, &layout()).unwrap().with_arrivals();
            let mut distances = StackDistances::new(64, 1).unwrap().with_arrivals();
            engine.consume(events).unwrap();
            passed.pass(events).unwrap();
            counts.consume(events).unwrap();
            usage.consume(events).unwrap();
            distances.consume(events).unwrap();
            let (mut engine, mut passed, mut counts) = (engine.finish(), passed.finish(), counts.finish());
            (engine.events, passed.events, counts.events) = (0, 0, 0);
            (engine, passed, counts, usage.finish(), distances.finish().misses())
        };
        prop_assert_eq!(run(&waits), run(&plain));
    }
}
