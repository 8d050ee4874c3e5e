//! What comes earlier in time does not wait for what is behind it there, though the simulator has it in the order of the program.

use crate::common::*;
#[cfg(feature = "dramsim3")]
use crate::dram::{DDR4, with_dram};
use simcore::Statistics;
use simcore::spec::MachineSpec;
#[cfg(feature = "dramsim3")]
use simcore::spec::PrefetcherSpec;
use traces::{Event, Kind, OpClass};

const ISSUE: u64 = 1;
const GRADUATE: u64 = 1;
/// Cycles of work that most others of a test disappear behind.
const LONG: u8 = 250;

/// An addition that takes a cycle, so many cycles after the result of the event `back` events before.
fn work(back: u32, cycles: u8) -> Event {
    let add = Event {
        size: OpClass::Add as u16,
        ..Event::new(Kind::Op, 0)
    };
    Event {
        chain: cycles,
        ..after(back, add)
    }
}

/// When the last instruction had graduated.
fn busy_until(stats: &Statistics, spec: &MachineSpec) -> u64 {
    (stats.slots.total - stats.slots.drain).div_ceil(u64::from(spec.core.issue_width))
}

/// The cycle in which a load of line `line` is done that is ready at once, behind `before` in the program.
fn ready_at_once(spec: &MachineSpec, before: &[Event], line: u64) -> u64 {
    // Long work follows it, so that it decides when the run ends.
    let after_it = [work(1, LONG), work(1, LONG), work(1, LONG), work(1, LONG)];
    let events: Vec<Event> = before
        .iter()
        .copied()
        .chain([load(line * LINE)])
        .chain(after_it)
        .collect();
    let works = (u64::from(LONG) + 1) * after_it.len() as u64;
    busy_until(&run(spec, &events), spec) - works - GRADUATE
}

#[test]
fn a_line_that_is_asked_for_later_holds_up_nobody_who_came_earlier() {
    let spec = machine();
    let alone = ISSUE + WALK + T1;
    assert_eq!(ready_at_once(&spec, &[], 0), alone);
    for fetches in [load(0), store(0), prefetch(0)] {
        // Asked for 250 cycles later, but before in the program.
        let later = Event {
            chain: LONG,
            ..after(1, fetches)
        };
        let before = [work(0, 0), later];
        assert_eq!(
            ready_at_once(&spec, &before, 0),
            alone,
            "{:?}",
            fetches.kind
        );
    }
}

#[test]
fn who_comes_after_a_line_was_asked_for_waits_for_it_to_the_cycle() {
    // The first load is ready in cycle 2, and the second in cycle 1 without the operation before it.
    let spec = machine();
    let first = after(1, load(0));
    let ready = ISSUE + 1 + WALK + T1;
    assert_eq!(ready_at_once(&spec, &[work(0, 0), first], 0), ready - 1);
    // A page that is translated already, so that only the line is waited for: asked for in cycle 283, and there in 533.
    let before = |chain: u8| {
        let later = Event {
            chain,
            ..after(1, load(LINE))
        };
        let earlier = Event {
            chain: 2,
            ..after(2, load(LINE))
        };
        [load(0), later, earlier, work(1, LONG), work(1, LONG)]
    };
    let ends = |chain: u8| busy_until(&run(&spec, &before(chain)), &spec);
    assert_eq!(
        ends(3),
        ends(2),
        "a cycle earlier: it takes as long as the other"
    );
    assert_eq!(
        ends(1) + 1,
        ends(2),
        "a cycle later: it is there a cycle sooner"
    );
    assert_eq!(ends(0) + 2, ends(2));
}

#[test]
fn what_earlier_comers_brought_forward_is_there_for_all() {
    // The line is asked for in 250 cycles, then at once, and then in 100 cycles by one that finds it on its way since the second.
    let spec = machine();
    let later = |back, chain| Event {
        chain,
        ..after(back, load(0))
    };
    let events = [
        work(0, 0),
        later(1, LONG),
        load(0),
        later(3, 100),
        work(1, LONG),
        work(1, LONG),
    ];
    let works = 2 * (u64::from(LONG) + 1);
    let ends = busy_until(&run(&spec, &events), &spec);
    assert_eq!(ends, ISSUE + WALK + T1 + works + GRADUATE);
}

#[test]
fn miss_handlers_that_are_wanted_later_are_free_until_then() {
    let mut spec = machine();
    spec.caches[0].mshrs = Some(2);
    let alone = ready_at_once(&spec, &[], 9);
    let later = |back, line| Event {
        chain: 255,
        ..after(back, load(line * LINE))
    };
    let before = [work(0, 0), later(1, 1), later(2, 2)];
    assert_eq!(ready_at_once(&spec, &before, 9), alone);
    // Both are taken when it comes.
    let now = [load(LINE), load(2 * LINE)];
    assert_eq!(ready_at_once(&spec, &now, 9), alone + T1);
}

/// Out of order, whose operands are there first has the divider first, where there is time for a division before the other's.
#[test]
fn a_division_that_waits_for_a_line_holds_up_none_that_could_begin_before() {
    const DIVIDE: u64 = 50;
    let divide = |back| {
        let division = Event {
            size: OpClass::Divide as u16,
            ..Event::new(Kind::Op, 0)
        };
        after(back, division)
    };
    let mut spec = machine();
    spec.dtlb.walk_latency_cycles = 0;
    // What begins with the load's line ends with it, whatever divides behind it in the program.
    let line = ISSUE + T1 + DIVIDE + GRADUATE;
    assert_eq!(cycles(&spec, &[load(0), divide(1)]), line);
    // Four graduate in a cycle, and five divisions have time before the line is there.
    for (others, late) in [(1, 0), (3, 0), (5, 1), (6, DIVIDE)] {
        let events = [&[load(0), divide(1)], &vec![divide(0); others][..]].concat();
        assert_eq!(cycles(&spec, &events), line + late, "{others}");
    }
}

#[test]
fn a_blocking_walker_walks_once_at_a_time() {
    let spec = machine();
    let pages = 200;
    let events: Vec<Event> = (0..pages).map(|page| load(page * PAGE)).collect();
    let stats = run(&spec, &events);
    assert_eq!(stats.dtlb.walks, pages);
    assert_eq!(stats.cycles, ISSUE + pages * WALK + T1 + GRADUATE);
}

#[test]
fn an_access_that_is_ready_before_a_walk_waits_for_the_walk_before_that() {
    // A walk at once, one in 250 cycles, and a load of a page that is there by then, which is ready while the first walks.
    let spec = machine();
    let far = Event {
        chain: LONG,
        ..after(1, load(2 * PAGE))
    };
    let before = [work(0, 0), load(PAGE), far];
    assert_eq!(ready_at_once(&spec, &before, 0), ISSUE + 2 * WALK + T1);
}

#[test]
fn as_many_stores_of_an_in_order_core_are_under_way_as_its_buffer_has_entries() {
    for entries in [1, 2, 3] {
        let mut spec = in_order();
        spec.core.store_buffer_entries = entries;
        let stores: Vec<Event> = (0..6).map(|line| store(line * LINE)).collect();
        let rounds = stores.len() as u64 / u64::from(entries);
        let last = (u64::from(entries) - 1) * T_NEXT;
        assert_eq!(
            run(&spec, &stores).cycles,
            WALK + rounds * T1 + last,
            "{entries}"
        );
    }
}

/// A line comes to the second level for a prefetcher, and nobody knows yet when; the first level asks for it much later in time, but before in
/// the program. Who wants it at once finds it on its way to the second level.
#[test]
#[cfg(feature = "dramsim3")]
fn before_a_dram_a_line_is_waited_for_that_came_before_it_was_asked_for_here() {
    let mut spec = with_dram(machine(), DDR4);
    spec.caches[1].prefetchers = vec![PrefetcherSpec::NextLine { degree: 1 }];
    let later = |event| Event {
        chain: LONG,
        ..after(2, event)
    };
    let before = |event| [work(0, 0), load(0), later(event)];
    let alone = ready_at_once(&spec, &before(load(0)), 1);
    assert!(alone > L3 + 50, "{alone}");
    assert_eq!(ready_at_once(&spec, &before(prefetch(LINE)), 1), alone);
}
