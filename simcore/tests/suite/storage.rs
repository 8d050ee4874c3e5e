//! Pages from storage: a core that reads one stops until it is there.

use crate::common::in_turn::InTurn;
use crate::common::random::{any_event, any_machine, with_arrivals};
use crate::common::*;
use proptest::prelude::*;
use simcore::spec::MachineSpec;
use simcore::{Engine, Statistics};
use std::collections::{HashMap, HashSet};
use traces::{Event, EventSink, Kind, Layout, OpClass, Segment, SinkError};

/// The phases of [`any_event`].
fn layout() -> Layout {
    Layout {
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

fn run_with(spec: &MachineSpec, events: &[Event], storage: InTurn) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).unwrap();
    engine.set_storage(Box::new(storage));
    engine.consume(events).unwrap();
    engine.await_written().unwrap();
    engine.finish()
}

pub fn request() -> impl Strategy<Value = Event> {
    let kinds = prop_oneof![
        3 => Just(Kind::PageRead),
        2 => Just(Kind::PagePrefetch),
        1 => Just(Kind::PageWrite),
    ];
    (kinds, 0_u64..6, 0_u16..30)
        .prop_map(|(kind, page, instructions)| plain(instructions, Event::new(kind, page)))
}

/// Requests whose pages come into one of three frames of two lines each when they are read, and loads of these lines, each of which is
/// waited for.
fn request_or_load() -> impl Strategy<Value = Vec<Event>> {
    let requests = request().prop_map(|event| match event.kind {
        Kind::PageRead => vec![
            event,
            arrival(event.address % 3 * 2 * LINE, 2 * LINE as u16),
        ],
        _ => vec![event],
    });
    let loads = (0_u64..6, 0_u16..10).prop_map(|(line, instructions)| {
        let wait = Event {
            size: OpClass::Add as u16,
            ..Event::new(Kind::Op, 0)
        };
        vec![plain(instructions, load(line * LINE)), after(1, wait)]
    });
    prop_oneof![requests, loads]
}

fn arrival(address: u64, size: u16) -> Event {
    Event {
        size,
        ..Event::new(Kind::PageArrival, address)
    }
}

/// One instruction a cycle and nothing else: what a run takes can be counted on fingers.
pub fn one_a_cycle(hz: u64) -> MachineSpec {
    let mut spec = in_order();
    spec.core.issue_width = 1;
    spec.core.integer_units = 1;
    spec.clock_hz = hz;
    spec
}

/// The same run, with the core and the device stepped side by side picosecond by picosecond: cycles, those among them in which the core
/// was stopped, and those in which the operating system had it, which takes it for so many cycles for each page. Lines are in the cache since they were loaded, until a page overwrites them; the first load of all walks the page table.
fn stepped(hz: u64, requests: &[Event], times_ps: &[u64], cpu: u64) -> (u64, u64, u64) {
    let begins = |cycle: u64| (u128::from(cycle) * 1_000_000_000_000 / u128::from(hz)) as u64;
    let (mut cycle, mut stopped, mut system) = (0, 0, 0);
    let mut call: Option<u64> = None; // what is left of the operating system's time, once it is called
    let mut queue: Vec<(u64, u64)> = Vec::new(); // number of the request, and what is left of its time
    let (mut asked, mut ahead) = (0_u64, HashMap::new());
    let mut done: Vec<u64> = Vec::new();
    let mut requests = requests.iter();
    let mut next = requests.next().copied();
    let (mut waits, mut written): (Option<u64>, Option<u64>) = (None, None);
    let (mut held, mut loaded, mut ready): (HashSet<u64>, bool, u64) = (HashSet::new(), false, 0);
    for ps in 0.. {
        if let Some((number, left)) = queue.first_mut() {
            *left -= 1;
            if *left == 0 {
                done.push(*number);
                queue.remove(0);
            }
        }
        if ps != begins(cycle) {
            continue;
        }
        let mut ask = |page: u64, queue: &mut Vec<(u64, u64)>| {
            asked += 1;
            queue.push((asked, times_ps[page as usize % times_ps.len()]));
            asked
        };
        while waits.is_none_or(|number| done.contains(&number)) {
            waits = None;
            let Some(event) = &mut next else {
                if let Some(number) = written.filter(|number| !done.contains(number)) {
                    waits = Some(number);
                    break;
                }
                return (cycle, stopped, system);
            };
            if event.instructions > 0 {
                event.instructions -= 1;
                break;
            }
            match event.kind {
                Kind::Load => {
                    let walk = if loaded { 0 } else { WALK };
                    let hits = !held.insert(event.address / LINE);
                    ready = cycle + walk + if hits { 1 } else { T1 };
                    loaded = true;
                    next = requests.next().copied();
                    break;
                }
                Kind::Op => {
                    if cycle >= ready {
                        next = requests.next().copied();
                    }
                    break;
                }
                Kind::PageArrival => {
                    let frame = event.address..event.address + u64::from(event.size);
                    held.retain(|line| !frame.contains(&(line * LINE)));
                    next = requests.next().copied();
                    continue;
                }
                _ => {}
            }
            let page = event.address;
            let comes = event.kind != Kind::PageWrite && ahead.contains_key(&page);
            let left = call.get_or_insert(if comes { 0 } else { cpu });
            if *left > 0 {
                *left -= 1;
                system += 1;
                break;
            }
            call = None;
            match event.kind {
                Kind::PageRead => {
                    let number = ahead.remove(&page);
                    waits = Some(number.unwrap_or_else(|| ask(page, &mut queue)));
                }
                Kind::PagePrefetch => {
                    ahead.entry(page).or_insert_with(|| ask(page, &mut queue));
                }
                _ => {
                    let number = ask(page, &mut queue);
                    waits = written.replace(number);
                }
            }
            next = requests.next().copied();
        }
        cycle += 1;
        stopped += u64::from(waits.is_some());
    }
    unreachable!("the run has an end")
}

/// An event for each of its causes.
pub fn of_all_causes(stats: &Statistics) -> u64 {
    let slots = &stats.slots;
    let some = |slots: Option<u64>| slots.unwrap_or(0);
    slots.busy
        + slots.dcache.values().sum::<u64>()
        + slots.dtlb
        + some(slots.icache)
        + slots.branch
        + slots.other
        + some(slots.barrier)
        + some(slots.system)
        + some(slots.storage)
        + slots.drain
}

#[test]
fn a_read_stops_the_core_for_as_long_as_storage_takes() {
    // 1.5 GHz: a microsecond is 1500 cycles.
    for spec in [machine(), in_order()] {
        let stats = run_with(
            &spec,
            &[Event::new(Kind::PageRead, 7)],
            InTurn::of(&[1_000_000]),
        );
        assert_eq!(stats.cycles, 1500);
        assert_eq!(stats.slots.storage, Some(1500 * 4));
        let storage = stats.pages.unwrap();
        assert_eq!((storage.reads, storage.stops), (1, 1));
        assert_eq!(storage.wait.transfer_ps, 1_000_000);
    }
}

#[test]
fn a_run_beyond_the_end_of_time_is_refused() {
    // At a terahertz a cycle is a picosecond. The last that a run may come to is 2^50 - 1.
    let spec = one_a_cycle(1_000_000_000_000);
    let run = |events: &[Event], time_ps| {
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        engine.set_storage(Box::new(InTurn::of(&[time_ps])));
        let consumed = engine.consume(events);
        consumed.and_then(|()| engine.await_written())?;
        Ok::<_, SinkError>(engine.finish().cycles)
    };
    let read = [Event::new(Kind::PageRead, 1)];
    assert_eq!(run(&read, (1 << 50) - 1).unwrap(), (1 << 50) - 1);
    for too_long in [1 << 50, 1 << 60, u64::MAX] {
        let error = run(&read, too_long).unwrap_err().to_string();
        assert!(
            error.contains("more than 0.0 days of simulated time"),
            "{error}"
        );
    }
    // Many short waits are too long, too; and so are instructions.
    let reads: Vec<_> = (0..4)
        .map(|page| Event::new(Kind::PageRead, page))
        .collect();
    assert!(run(&reads[..3], 1 << 48).is_ok());
    assert!(run(&reads, 1 << 48).is_err());
    let instruction = plain(1, Event::new(Kind::Mark, 0));
    assert!(run(&[read[0], instruction], (1 << 50) - 1).is_err());
}

#[test]
fn a_page_that_was_asked_for_ahead_is_waited_for_no_longer_than_it_takes() {
    let events = |between| {
        let read = plain(between, Event::new(Kind::PageRead, 0));
        [Event::new(Kind::PagePrefetch, 0), read]
    };
    let spec = one_a_cycle(1_000_000_000);
    let stats = run_with(&spec, &events(300), InTurn::of(&[1_000_000]));
    assert_eq!((stats.cycles, stats.slots.storage), (1000, Some(700)));
    let stats = run_with(&spec, &events(1200), InTurn::of(&[1_000_000]));
    assert_eq!((stats.cycles, stats.slots.storage), (1200, Some(0)));
    assert_eq!(stats.pages.unwrap().stops, 0);
}

/// The operating system has the core for a page that is asked for, ahead or not, and for one that is written; reading what was asked for
/// ahead is no business of its.
#[test]
fn the_operating_system_takes_the_core_once_for_each_page() {
    let spec = one_a_cycle(1_000_000_000);
    let storage = || InTurn::of(&[1_000_000]).that_takes_a_core(50_000);
    let stats = run_with(&spec, &[Event::new(Kind::PageRead, 0)], storage());
    assert_eq!(
        (stats.cycles, stats.slots.system, stats.slots.storage),
        (1050, Some(50), Some(1000))
    );
    let ahead = [
        Event::new(Kind::PagePrefetch, 0),
        Event::new(Kind::PagePrefetch, 0),
        plain(300, Event::new(Kind::PageRead, 0)),
        plain(10, Event::new(Kind::PageWrite, 1)),
    ];
    let stats = run_with(&spec, &ahead, storage());
    // The page is there in cycle 50 + 1000; ten instructions later it is written, for which the end waits.
    assert_eq!(stats.slots.busy, 310);
    assert_eq!(
        (stats.cycles, stats.slots.system, stats.slots.storage),
        (2110, Some(100), Some(1700))
    );
    // A page that is read again has to be asked for again.
    let twice = [Event::new(Kind::PageRead, 0); 2];
    let stats = run_with(&spec, &twice, storage());
    assert_eq!((stats.cycles, stats.slots.system), (2100, Some(100)));
}

/// Slots of waits for storage, by phase and segment.
fn waits(stats: &Statistics) -> Vec<(&str, &str, u64)> {
    let rows = stats.breakdown.iter();
    let waits = rows.map(|row| (&*row.phase, &*row.segment, row.slots.storage.unwrap()));
    waits.filter(|(_, _, slots)| *slots > 0).collect()
}

#[test]
fn what_a_page_comes_into_pays_for_the_wait_for_it() {
    let segment = |name: &str, base| Segment {
        name: name.to_owned(),
        base,
        size_bytes: 4096,
    };
    let layout = Layout {
        segments: vec![segment("output", 0), segment("input", 4096)],
        phases: vec!["scan".to_owned(), "rest".to_owned()],
        ..Layout::default()
    };
    let spec = one_a_cycle(1_000_000_000);
    let run = |events: &[Event]| {
        let mut engine = Engine::new(&spec, &layout).unwrap();
        engine.set_storage(Box::new(InTurn::of(&[1_000_000])));
        engine.consume(events).unwrap();
        engine.finish()
    };
    let (read, wait) = (Event::new(Kind::PageRead, 0), plain(0, load(0)));
    let stats = run(&[wait, after(1, plain(0, load(0))), read, arrival(4096, 4096)]);
    let found = waits(&stats);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1), ("scan", "input"));
    assert_eq!(found[0].2, stats.slots.storage.unwrap());
    // Where no frame is named it is what was touched last, and a page that was there costs nobody anything.
    let stats = run(&[
        wait,
        read,
        Event::new(Kind::Mark, 1),
        Event::new(Kind::PageWrite, 3),
        arrival(4096, 4096),
    ]);
    assert_eq!(
        waits(&stats),
        [("scan", "output", stats.slots.storage.unwrap())]
    );
}

/// Cycles of a run of a page that is there at once, and misses of its first cache.
fn at_once(spec: &MachineSpec, events: &[Event]) -> (u64, u64) {
    let stats = run_with(spec, events, InTurn::of(&[0]));
    (stats.cycles, stats.caches[0].counts.misses)
}

#[test]
fn a_page_takes_the_lines_of_its_frame_out_of_every_cache_and_no_others() {
    let spec = machine();
    let page = 10 * LINE;
    let before = [
        store(page),
        load(page + LINE),
        load(page - LINE),
        load(page + 2 * LINE),
    ];
    let read = [
        Event::new(Kind::PageRead, 0),
        arrival(page, 2 * LINE as u16),
    ];
    let events = [&before[..], &read, &before].concat();
    let stats = run_with(&spec, &events, InTurn::of(&[0]));
    for cache in &stats.caches {
        assert_eq!(cache.counts.misses, 6);
        assert_eq!(cache.overwritten, Some(2));
        assert_eq!(cache.counts.write_backs, 0, "the device has written later");
    }
    let first = stats.caches[0].counts;
    assert_eq!(first.hits + first.merges, 2);
    assert_eq!((stats.bus.fills, stats.bus.write_backs), (6, 0));
    let walks = run(&spec, &before).dtlb.walks;
    assert_eq!(stats.dtlb.walks, walks, "addresses stay what they were");
    // Without a frame, or without storage, nothing is missed again.
    let events = [&before[..], &read[..1], &before].concat();
    assert_eq!(at_once(&spec, &events).1, 4);
    let events = [&before[..], &read, &before].concat();
    assert_eq!(run(&spec, &events).caches[0].counts.misses, 4);
}

/// A miss that is under way when its line is overwritten holds its miss handler until the old line is there.
#[test]
fn a_line_on_its_way_is_overwritten_and_keeps_its_miss_handler() {
    let events = [prefetch(0), arrival(0, 8192), load(0), load(0)];
    let mut spec = machine();
    spec.caches[0].mshrs = Some(2);
    let walk_and_miss = WALK + T1;
    let (two_handlers, misses) = at_once(&spec, &events);
    assert_eq!(misses, 2);
    assert!(
        (walk_and_miss + T_NEXT..walk_and_miss + T_NEXT + 10).contains(&two_handlers),
        "{two_handlers}"
    );
    spec.caches[0].mshrs = Some(1);
    let (one_handler, misses) = at_once(&spec, &events);
    assert_eq!(misses, 2);
    assert!(
        (walk_and_miss + T1..walk_and_miss + T1 + 10).contains(&one_handler),
        "{one_handler}"
    );
    // Nobody came for the line that was prefetched.
    let stats = run_with(&spec, &events, InTurn::of(&[0]));
    assert_eq!(
        (stats.prefetches.unused, stats.prefetches.late),
        (Some(1), Some(0))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Clocks whose cycle is a whole number of picoseconds, and others.
    #[test]
    fn a_run_is_that_of_both_sides_stepped_side_by_side(
        hz in prop_oneof![Just(100_000_000_000_u64), Just(150_000_000_000), Just(70_000_000_000)],
        requests in prop::collection::vec(request_or_load(), 1..16),
        times_ps in prop::collection::vec(1_u64..900, 1..6),
        cpu_per_page_ps in prop_oneof![Just(0), 1_u64..300],
    ) {
        let requests = requests.concat();
        let storage = InTurn::of(&times_ps).that_takes_a_core(cpu_per_page_ps);
        let stats = run_with(&one_a_cycle(hz), &requests, storage);
        let cpu = (u128::from(cpu_per_page_ps) * u128::from(hz)).div_ceil(1_000_000_000_000) as u64;
        let (cycles, stopped, system) = stepped(hz, &requests, &times_ps, cpu);
        prop_assert_eq!((stats.cycles, stats.slots.storage), (cycles, Some(stopped)));
        prop_assert_eq!(stats.slots.system, (cpu_per_page_ps > 0).then_some(system));
    }

    #[test]
    fn pages_that_are_there_at_once_and_name_no_frame_change_nothing(
        spec in any_machine(),
        events in prop::collection::vec(prop_oneof![4 => any_event(), 1 => request()], 0..200),
    ) {
        let with = run_with(&spec, &events, InTurn::of(&[0]));
        prop_assert_eq!(with.slots.storage, Some(0));
        let mut without = Engine::new(&spec, &layout()).unwrap();
        without.consume(&events).unwrap();
        let mut without = without.finish();
        without.pages = with.pages;
        without.slots.storage = Some(0);
        for cache in &mut without.caches {
            cache.overwritten = Some(0);
        }
        for row in &mut without.breakdown {
            row.slots.storage = Some(0);
        }
        prop_assert_eq!(with, without);
    }

    /// In a cache that gives up what was used longest ago, a line that leaves before its time is missed once at most, and leaves room for
    /// others: the misses are those of the run whose pages stay, but for the lines that were overwritten.
    #[test]
    fn pages_that_are_there_at_once_cost_the_lines_that_they_overwrite(
        mut spec in any_machine(),
        events in with_arrivals(prop::collection::vec(any_event(), 0..300)),
    ) {
        spec.caches.truncate(1);
        let with = run_with(&spec, &events, InTurn::of(&[0]));
        let mut without = Engine::new(&spec, &layout()).unwrap();
        without.consume(&events).unwrap();
        let without = without.finish();
        let (cache, plain) = (&with.caches[0], &without.caches[0]);
        prop_assert!(cache.counts.misses <= plain.counts.misses + cache.overwritten.unwrap());
        prop_assert_eq!(cache.accesses, plain.accesses);
        prop_assert_eq!(&with.dtlb, &without.dtlb);
    }

    #[test]
    fn the_parts_sum_to_the_time_that_passed(
        spec in any_machine(),
        events in prop::collection::vec(prop_oneof![3 => any_event(), 1 => request()], 0..200),
        times_ps in prop::collection::vec(1_u64..5_000_000, 1..6),
        cpu_per_page_ps in prop_oneof![Just(0), 1_u64..3_000_000],
    ) {
        let storage = InTurn::of(&times_ps).that_takes_a_core(cpu_per_page_ps);
        let stats = run_with(&spec, &events, storage);
        let width = u64::from(spec.core.issue_width);
        prop_assert_eq!(of_all_causes(&stats), stats.cycles * width);
        let storage = stats.pages.unwrap();
        let slots = stats.slots.storage.unwrap();
        let ps = (u128::from(slots) * 1_000_000_000_000 / u128::from(width * spec.clock_hz)) as u64;
        prop_assert!(storage.wait.total_ps().abs_diff(ps) <= storage.stops);
        let rows: u64 = stats.breakdown.iter().filter_map(|row| row.slots.storage).sum();
        prop_assert_eq!(rows, slots);
    }

    /// Behind a warm-up, what storage was asked for before is not counted, and what it still does is in the way.
    #[test]
    fn what_a_warm_up_waited_for_is_not_measured(
        spec in any_machine(),
        before in prop::collection::vec(prop_oneof![2 => any_event(), 1 => request()], 0..60),
        after in prop::collection::vec(prop_oneof![2 => any_event(), 1 => request()], 0..60),
        times_ps in prop::collection::vec(1_u64..5_000_000, 1..6),
        cpu_per_page_ps in prop_oneof![Just(0), 1_u64..3_000_000],
    ) {
        let events = [&before[..], &[Event::new(Kind::Measure, 0)], &after].concat();
        let storage = InTurn::of(&times_ps).that_takes_a_core(cpu_per_page_ps);
        let stats = run_with(&spec, &events, storage);
        if cpu_per_page_ps > 0 {
            let cycles = (u128::from(cpu_per_page_ps) * u128::from(spec.clock_hz)).div_ceil(1_000_000_000_000) as u64;
            let of_each = cycles * u64::from(spec.core.issue_width);
            let system = stats.slots.system.unwrap();
            let most = after.iter().filter(|event| matches!(event.kind, Kind::PageRead | Kind::PagePrefetch | Kind::PageWrite)).count();
            prop_assert_eq!(system % of_each, 0, "whole calls are measured");
            prop_assert!(system <= of_each * most as u64);
        }
        let asked = |kind| after.iter().filter(|event| event.kind == kind).count() as u64;
        let pages = stats.pages.unwrap();
        prop_assert_eq!(
            (pages.reads, pages.prefetches, pages.writes),
            (asked(Kind::PageRead), asked(Kind::PagePrefetch), asked(Kind::PageWrite))
        );
        let width = u64::from(spec.core.issue_width);
        prop_assert_eq!(of_all_causes(&stats), stats.cycles * width);
        let slots = stats.slots.storage.unwrap();
        let ps = (u128::from(slots) * 1_000_000_000_000 / u128::from(width * spec.clock_hz)) as u64;
        prop_assert!(pages.wait.total_ps().abs_diff(ps) <= pages.stops);
    }

    #[test]
    fn batches_make_no_difference(
        events in with_arrivals(prop::collection::vec(prop_oneof![3 => any_event(), 1 => request()], 0..100)),
        batch in 1_usize..20,
    ) {
        let mut engine = Engine::new(&machine(), &layout()).unwrap();
        engine.set_storage(Box::new(InTurn::of(&[70_000, 900_000])));
        for part in events.chunks(batch) {
            engine.consume(part).unwrap();
        }
        engine.await_written().unwrap();
        prop_assert_eq!(engine.finish(), run_with(&machine(), &events, InTurn::of(&[70_000, 900_000])));
    }
}
