//! When events got on: watching changes nothing, and times are in order.

use crate::common::random::{any_machine, any_trace};
use crate::common::*;
use proptest::prelude::*;
use simcore::Engine;
use simcore::spec::{CoreKind, InterferenceSpec};
use traces::{EventSink, Kind, Layout};

fn layout() -> Layout {
    Layout {
        phases: vec!["start".to_owned(), "work".to_owned()],
        ..Layout::default()
    }
}

#[test]
fn a_chain_of_two_loads_is_told_cycle_by_cycle() {
    let mut engine = Engine::new(&machine(), &layout()).unwrap();
    let mut times = Vec::new();
    let events = [load(0), after(1, load(PAGE * 7))];
    engine.watch(&events, &mut times).unwrap();
    let [first, second] = times[..] else {
        panic!("two events")
    };
    assert_eq!((first.dispatched, first.ready, first.issued), (0, 1, 1));
    assert_eq!(first.translated, 1 + WALK);
    assert_eq!(first.complete, first.translated + T1);
    assert_eq!((first.level, first.arrived), (3, first.complete));
    assert_eq!((second.dispatched, second.ready), (0, first.complete));
}

proptest! {
    /// Caches are emptied before the first event that is dispatched at or after each interval: in no other cycle than it is said to be.
    #[test]
    fn caches_are_emptied_before_what_is_dispatched_then(
        spec in any_machine(),
        events in any_trace(),
        interval in 1_u64..400,
        more in 0_u16..300,
    ) {
        let mut spec = spec;
        spec.interference = Some(InterferenceSpec { flush_interval_cycles: interval });
        let mut events = events;
        events.retain(|event| event.kind.is_instruction());
        for event in &mut events {
            if matches!(event.kind, Kind::Load | Kind::Store | Kind::StoreNta | Kind::Exchange) {
                event.words = 1;
            }
            if event.address % 64 < 8 {
                event.instructions += more;
            }
        }
        let mut engine = Engine::new(&spec, &layout()).unwrap();
        let mut times = Vec::new();
        engine.watch(&events, &mut times).unwrap();
        let (mut next, mut flushes) = (interval, 0);
        for one in &times {
            if one.dispatched >= next {
                next = (one.dispatched / interval + 1) * interval;
                flushes += 1;
            }
        }
        if spec.core.kind == CoreKind::OutOfOrder {
            prop_assert_eq!(engine.finish().cache_flushes, Some(flushes));
        }
    }

    #[test]
    fn watching_changes_nothing(
        spec in any_machine(),
        events in any_trace(),
        flush in prop::option::of(20_u64..400),
    ) {
        let mut spec = spec;
        spec.interference = flush.map(|flush_interval_cycles| InterferenceSpec { flush_interval_cycles });
        let mut watched = Engine::new(&spec, &layout()).unwrap();
        let mut times = Vec::new();
        watched.watch(&events, &mut times).unwrap();
        let mut run = Engine::new(&spec, &layout()).unwrap();
        run.consume(&events).unwrap();
        prop_assert_eq!(watched.finish(), run.finish());
        if spec.core.kind == CoreKind::InOrder {
            prop_assert!(times.is_empty());
            return Ok(());
        }
        let instructions = events.iter().filter(|event| event.kind != Kind::Mark);
        prop_assert_eq!(times.len(), instructions.count());
        for one in &times {
            prop_assert!(one.dispatched < one.ready && one.ready <= one.issued);
            prop_assert!(one.issued <= one.translated && one.issued <= one.complete);
            prop_assert!(one.graduated_slot >= one.complete * u64::from(spec.core.issue_width));
        }
        prop_assert!(times.is_sorted_by_key(|one| one.graduated_slot));
        prop_assert!(times.is_sorted_by_key(|one| one.dispatched));
    }
}
