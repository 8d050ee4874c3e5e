//! Threads of one program wait for each other at barriers, and for nobody else.

use crate::common::batches::Batches;
use crate::common::*;
use crate::multicore::{Programs, on_cores, on_cores_with};
use simcore::Engine;
use simcore::multicore::{Multicore, ThreadOf};
use traces::{Event, EventSink, Kind, Layout};

fn barrier() -> Event {
    Event::new(Kind::Barrier, 0)
}

/// Plain instructions, so many times a hundred, and the barrier.
fn work(hundreds: usize) -> Vec<Event> {
    let mut events = vec![plain(99, Event::new(Kind::Branch, 1)); hundreds];
    events.push(barrier());
    events
}

#[test]
fn the_early_wait_for_the_late() {
    for spec in [machine(), in_order()] {
        let width = u64::from(spec.core.issue_width);
        let statistics = on_cores(&spec, &[work(10), work(1)]);
        let [late, early] = &statistics.cores[..] else {
            panic!("two cores")
        };
        let kept = late.slots.barrier.expect("there are others");
        assert!(
            kept < width,
            "the last one waits for the end of its cycle: {kept}"
        );
        assert!(late.cycles.abs_diff(early.cycles) <= 1);
        let waited = early.slots.barrier.expect("there are others") / width;
        let alone = |hundreds| run(&spec, &work(hundreds)).cycles;
        assert!(waited.abs_diff(alone(10) - alone(1)) <= 2, "{waited}");
    }
}

/// What comes behind a barrier comes after all that is before it, on every core.
#[test]
fn nothing_passes_a_barrier() {
    for spec in [machine(), in_order()] {
        let mut producer = work(50);
        producer.insert(0, load(0));
        let mut consumer = work(0);
        consumer.push(load(0));
        let statistics = on_cores(&spec, &[producer, consumer]);
        assert_eq!(
            statistics.cores[1].caches[2].counts.hits, 1,
            "the line is there already"
        );
        assert!(statistics.cores[1].cycles > statistics.cores[0].cycles);
    }
}

#[test]
fn a_store_is_done_before_the_barrier() {
    for spec in [machine(), in_order()] {
        let statistics = on_cores(&spec, &[vec![store(0), barrier()], vec![barrier()]]);
        let waited = statistics.cores[1].slots.barrier.expect("others");
        assert!(waited / u64::from(spec.core.issue_width) >= T1);
    }
}

/// Stores are written one behind the other: one that hits waits for those that miss, and costs nothing itself.
#[test]
fn the_wait_for_a_store_is_the_storing_cores_own() {
    for spec in [machine(), in_order()] {
        let width = u64::from(spec.core.issue_width);
        for stores in [
            vec![store(0)],
            vec![load(64), after(1, store(0)), store(64)],
        ] {
            let waits_for_nobody = [stores, vec![barrier(), branch(true)]].concat();
            let early = vec![barrier(), branch(true)];
            let statistics = on_cores(&spec, &[waits_for_nobody, early]);
            let [stores, waits] = [0, 1].map(|core| &statistics.cores[core].slots);
            assert!(stores.barrier.expect("others") < 2 * width);
            assert!(stores.dcache["memory"] / width >= T1 - 1);
            assert!(waits.barrier.expect("others") / width >= T1);
            assert_eq!(waits.dcache["memory"], 0);
        }
    }
}

/// Whether or not anything needs the line: its wait is the loading core's own, and the others' at the barrier.
#[test]
fn a_load_is_done_before_the_barrier() {
    for spec in [machine(), in_order()] {
        let width = u64::from(spec.core.issue_width);
        let statistics = on_cores(&spec, &[vec![load(0), barrier()], vec![barrier()]]);
        let [loads, waits] = [0, 1].map(|core| &statistics.cores[core].slots);
        assert!(waits.barrier.expect("others") / width >= T1);
        assert!(loads.dcache["memory"] / width >= T1 - 1);
        assert!(loads.barrier.expect("others") < 2 * width);
    }
}

#[test]
fn one_thread_waits_for_nobody() {
    for spec in [machine(), in_order()] {
        let with = run(&spec, &[load(0), barrier(), load(64)]);
        let without = run(&spec, &[load(0), Event::new(Kind::PageRead, 0), load(64)]);
        assert_eq!(with.cycles, without.cycles);
        assert_eq!(with.slots.barrier, None);
        let programs = [work(10), work(1)];
        let apart = on_cores_with(&spec, &programs, Programs::Apart);
        assert!(apart.cores.iter().all(|core| core.slots.barrier == Some(0)));
    }
}

#[test]
fn several_barriers_in_a_row_are_several_meetings() {
    let statistics = on_cores(
        &machine(),
        &[
            [work(0), work(0), work(5), work(0)].concat(),
            [work(0), work(7), work(0), work(0)].concat(),
            [work(0), work(0), work(0), work(9)].concat(),
        ],
    );
    let alone = run(&machine(), &[work(7), work(5), work(9)].concat()).cycles;
    for core in &statistics.cores {
        assert!(core.cycles.abs_diff(alone) <= 12, "{} {alone}", core.cycles);
    }
}

#[test]
fn a_thread_that_ends_too_early_is_an_error() {
    let mut spec = machine();
    spec.cores = 2;
    let layouts = vec![Layout::default(); 2];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    let (mut first, mut second) = (
        Batches(work(1), usize::MAX),
        Batches(vec![load(0)], usize::MAX),
    );
    let error = cores.run(&mut [&mut first, &mut second], &mut |_| Ok(()));
    let message = error.expect_err("one waits forever").to_string();
    assert_eq!(
        message,
        "thread 0 waits at a barrier, but thread 1 has ended; all threads of a program must come to as many barriers"
    );
}

/// Where no time passes, nobody waits.
#[test]
fn barriers_pass_in_no_time() {
    let mut engine = Engine::new(&machine(), &Layout::default()).expect("a machine");
    engine.pass(&[load(0), barrier()]).expect("no calls");
    engine.consume(&[barrier()]).expect("no calls");
    assert_eq!(engine.finish().events, 3);
}
