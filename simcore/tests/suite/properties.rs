//! Laws that hold for any trace on any machine, and a textbook cache as the judge of all counts.

use crate::common::machine;
use crate::common::random::{any_machine, any_trace};
use crate::common::textbook::{Textbook, simulated};
use proptest::prelude::*;
use simcore::spec::MachineSpec;
use simcore::{Engine, Statistics};
use traces::{Event, EventSink, Kind, Layout, Segment};

fn layout() -> Layout {
    Layout {
        segments: vec![
            Segment {
                name: "low".to_owned(),
                base: 0,
                size_bytes: 1000,
            },
            Segment {
                name: "empty".to_owned(),
                base: 1500,
                size_bytes: 0,
            },
            Segment {
                name: "high".to_owned(),
                base: 2000,
                size_bytes: 100_000,
            },
        ],
        sites: Vec::new(),
        phases: vec!["start".to_owned(), "work".to_owned()],
        calls: Vec::new(),
    }
}

fn run_in_batches(spec: &MachineSpec, events: &[Event], batch: usize) -> Statistics {
    let mut engine = Engine::new(spec, &layout()).unwrap();
    for part in events.chunks(batch) {
        engine.consume(part).unwrap();
    }
    engine.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_a_textbook_cache(spec in any_machine(), events in any_trace()) {
        let mut book = Textbook::new(&spec);
        book.run(&events);
        prop_assert_eq!(simulated(&run_in_batches(&spec, &events, 400)), book.counts());
    }

    #[test]
    fn slots_sum_to_the_time(spec in any_machine(), events in any_trace()) {
        let stats = run_in_batches(&spec, &events, 400);
        let width = u64::from(spec.core.issue_width);
        prop_assert_eq!(stats.slots.total, stats.cycles * width);
        prop_assert_eq!(stats.slots.busy, stats.instructions);
        let instructions: u64 = events
            .iter()
            .map(|event| u64::from(event.instructions) + event.own_instructions())
            .sum();
        prop_assert_eq!(stats.instructions, instructions);
        let rows: u64 = stats.breakdown.iter().map(|row| row.slots.total).sum();
        prop_assert_eq!(rows, stats.slots.total);
        prop_assert!(stats.breakdown.iter().all(|row| row.segment != "empty"));
        let marks = events.iter().filter(|event| event.kind == Kind::Mark).count() as u64;
        prop_assert_eq!(stats.phases.iter().map(|phase| phase.entries).sum::<u64>(), marks);
    }

    #[test]
    fn batches_do_not_matter(spec in any_machine(), events in any_trace(), batch in 1_usize..50) {
        prop_assert_eq!(run_in_batches(&spec, &events, batch), run_in_batches(&spec, &events, 400));
    }

    #[test]
    fn a_larger_fully_associative_cache_never_misses_more(
        events in any_trace(),
        ways in 1_u32..20,
        line in 5_u32..8,
    ) {
        let misses = |ways: u32| {
            let mut spec = machine();
            spec.caches.truncate(1);
            spec.caches[0].line_bytes = 1 << line;
            spec.caches[0].ways = ways;
            spec.caches[0].size_bytes = u64::from(ways) << line;
            run_in_batches(&spec, &events, 400).caches[0].counts.misses
        };
        prop_assert!(misses(ways + 1) <= misses(ways));
    }
}
