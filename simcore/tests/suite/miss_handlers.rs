//! Waits for a miss handler: they are waits for the line whose end frees it.

use crate::common::*;
use simcore::Statistics;
use simcore::spec::MachineSpec;
use traces::{Event, Kind};

const FAR_L2: u64 = 100;

/// One miss handler, a first cache of one line, and a second one that takes long; translation takes no time.
fn with_one_handler(mut spec: MachineSpec) -> MachineSpec {
    spec.dtlb.walk_latency_cycles = 0;
    spec.core.store_buffer_entries = 1;
    let first = &mut spec.caches[0];
    (first.size_bytes, first.ways, first.mshrs) = (LINE, 1, Some(1));
    spec.caches[1].latency_cycles = FAR_L2 as u32;
    spec.caches[2].latency_cycles = 120;
    spec
}

/// Has the second cache line 0, which the first has no more, and then what follows. What is loaded last is used.
fn behind_a_line_in_the_second_cache(rest: &[Event]) -> Vec<Event> {
    let mut events = vec![load(0), after(1, load(LINE))];
    events.extend(delay(4));
    events.extend((1..).zip(rest).map(|(back, &event)| after(back, event)));
    events.extend(delay(4));
    events
}

/// Cycles that loads and stores are charged for the second cache, and for memory, beyond those of the two loads that fill the caches.
fn waits(spec: &MachineSpec, rest: &[Event]) -> (u64, u64) {
    let slots = |events: &[Event]| {
        let stats: Statistics = run(spec, events);
        let width = u64::from(spec.core.issue_width);
        let of = |level: &str| stats.slots.dcache[level].div_ceil(width);
        (of("L2"), of("memory"))
    };
    let filling = slots(&behind_a_line_in_the_second_cache(&[]));
    let all = slots(&behind_a_line_in_the_second_cache(rest));
    assert_eq!(filling.0, 0);
    (all.0, all.1 - filling.1)
}

/// Waits are those for the second cache and for memory, but for a few cycles in which the core does something, too.
fn assert_waits(spec: &MachineSpec, rest: &[Event], expected: (u64, u64)) {
    let found = waits(spec, rest);
    let is_close = |found: u64, expected: u64| found <= expected && found + 3 >= expected;
    assert!(
        is_close(found.0, expected.0) && is_close(found.1, expected.1),
        "{:?}: {found:?}, not {expected:?}",
        spec.core.kind
    );
}

#[test]
fn a_load_waits_for_the_line_that_has_its_handler() {
    for spec in [machine(), in_order()] {
        let spec = with_one_handler(spec);
        // The handler is that of a line from memory, and then the load's, of a line from the second cache.
        assert_waits(&spec, &[prefetch(2 * LINE), load(0)], (FAR_L2, T1));
        // And the other way round.
        assert_waits(&spec, &[prefetch(0), load(2 * LINE)], (FAR_L2, T1));
    }
}

#[test]
fn a_store_in_the_buffer_waits_for_the_line_that_has_its_handler() {
    for spec in [machine(), in_order()] {
        let spec = with_one_handler(spec);
        // The second store waits until the first has left the buffer.
        assert_waits(
            &spec,
            &[prefetch(0), store(2 * LINE), store(3 * LINE)],
            (FAR_L2, T1),
        );
    }
}

#[test]
fn a_line_written_past_the_caches_waits_for_the_line_that_has_its_handler() {
    for spec in [machine(), in_order()] {
        let spec = with_one_handler(spec);
        let past = Event {
            size: LINE as u16,
            ..Event::new(Kind::StoreNta, 2 * LINE)
        };
        assert_waits(&spec, &[prefetch(0), past, store(0)], (FAR_L2, 0));
    }
}
