//! Byte usage: by hand, and beside a list of all bytes that were touched.

use crate::common::random::{any_machine, any_trace, any_trace_through_caches, with_arrivals};
use crate::common::*;
use proptest::prelude::*;
use simcore::Counts;
use simcore::spec::MachineSpec;
use simcore::usage::{ByteUsage, UsageStatistics};
use std::collections::BTreeSet;
use traces::{Event, EventSink, Kind, Layout};

fn layout() -> Layout {
    Layout {
        sites: ["page header", "slot", "attribute a"]
            .map(str::to_owned)
            .to_vec(),
        phases: vec!["load".to_owned(), "scan".to_owned()],
        ..Layout::default()
    }
}

fn observe(spec: &MachineSpec, events: &[Event]) -> UsageStatistics {
    let mut usage = ByteUsage::new(spec, &layout()).unwrap();
    usage.consume(events).unwrap();
    usage.finish()
}

fn at(site: u16, size: u16, event: Event) -> Event {
    Event {
        site,
        size,
        ..event
    }
}

/// One set of two lines of 64 bytes.
fn two_lines() -> MachineSpec {
    let mut spec = machine();
    spec.caches.truncate(1);
    spec.caches[0].size_bytes = 2 * LINE;
    spec.caches[0].ways = 2;
    spec
}

#[test]
fn a_line_counts_for_the_site_that_fetched_it_with_the_bytes_that_anybody_used() {
    let events = [
        Event::new(Kind::Mark, 1),
        // The header's line, of which a slot is used too, at the other end.
        at(0, 8, load(0)),
        at(1, 4, load(LINE - 4)),
        at(1, 4, load(LINE - 4)),
        // A value that straddles two lines: the second displaces the older of the two that are there.
        at(2, 8, store(2 * LINE - 4)),
        // Nothing of a prefetched line is used.
        at(1, 8, prefetch(3 * LINE)),
        Event::new(Kind::Flush, 0),
        at(0, 1, load(5)),
    ];
    let found = observe(&two_lines(), &events);
    assert_eq!((found.cache.as_str(), found.line_bytes), ("L1", LINE));
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            (
                row.site.as_str(),
                row.lines,
                row.fetched_bytes,
                row.used_bytes,
            )
        })
        .collect();
    let expected = [
        ("page header", 2, 2 * LINE, 12 + 1),
        ("slot", 1, LINE, 0),
        ("attribute a", 2, 2 * LINE, 8),
    ];
    assert_eq!(rows, expected);
    assert!(found.rows.iter().all(|row| row.phase == "scan"));
}

#[test]
fn a_line_fetched_again_is_fetched_twice() {
    let lines = [0, LINE, 2 * LINE, 0].map(|address| at(0, 4, load(address)));
    let [row] = &observe(&two_lines(), &lines).rows[..] else {
        panic!("one site in one phase")
    };
    assert_eq!((row.lines, row.used_bytes), (4, 16));
    assert_eq!(row.phase, "load");
}

proptest! {
    #[test]
    fn lines_are_the_misses_of_the_cache_where_pages_arrive(
        mut spec in any_machine(),
        events in with_arrivals(any_trace()),
    ) {
        spec.caches.truncate(1);
        let mut counts = Counts::new(&spec, &layout()).unwrap().with_arrivals();
        counts.consume(&events).unwrap();
        let mut usage = ByteUsage::new(&spec, &layout()).unwrap().with_arrivals();
        usage.consume(&events).unwrap();
        let lines: u64 = usage.finish().rows.iter().map(|row| row.lines).sum();
        prop_assert_eq!(lines, counts.finish().caches[0].counts.misses);
    }

    #[test]
    fn lines_are_the_misses_of_the_cache_and_a_large_one_uses_each_byte_once(
        mut spec in any_machine(),
        events in any_trace_through_caches(),
    ) {
        spec.caches.truncate(1);
        let mut counts = Counts::new(&spec, &layout()).unwrap();
        counts.consume(&events).unwrap();
        let found = observe(&spec, &events);
        let lines: u64 = found.rows.iter().map(|row| row.lines).sum();
        prop_assert_eq!(lines, counts.finish().caches[0].counts.misses);

        spec.caches[0].ways = 1 << 12;
        spec.caches[0].size_bytes = spec.caches[0].line_bytes << 12;
        let used: u64 = observe(&spec, &events).rows.iter().map(|row| row.used_bytes).sum();
        let mut touched = BTreeSet::new();
        for event in events.iter().filter(|event| matches!(event.kind, Kind::Load | Kind::Store | Kind::Exchange)) {
            let last = event.address.saturating_add(u64::from(event.size) - 1);
            touched.extend(event.address..=last);
        }
        prop_assert_eq!(used, touched.len() as u64);
    }
}
