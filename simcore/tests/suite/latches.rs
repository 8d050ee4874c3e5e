//! A latch is held by one thread of a program at a time; others wait for it in the order in which they come.

use crate::common::batches::Batches;
use crate::common::*;
use crate::multicore::{Programs, on_cores, on_cores_with};
use proptest::prelude::*;
use simcore::multicore::{Multicore, ThreadOf};
use simcore::spec::MachineSpec;
use std::collections::BTreeMap;
use traces::{Event, Kind, Layout, Segment};

fn latch(number: u64) -> Event {
    Event::new(Kind::Latch, 1 << 20 | number << 6)
}

fn unlatch(number: u64) -> Event {
    Event::new(Kind::Unlatch, 1 << 20 | number << 6)
}

/// So many cycles of a core that issues one instruction in each.
fn busy(cycles: usize) -> Vec<Event> {
    vec![branch(true); cycles]
}

/// A section: cycles before it, the latch, and cycles with it.
type Section = (usize, u64, usize);

fn sections(all: &[Section]) -> Vec<Event> {
    let section = |&(before, number, with): &Section| {
        [
            busy(before),
            vec![latch(number)],
            busy(with),
            vec![unlatch(number)],
        ]
        .concat()
    };
    all.iter().flat_map(section).collect()
}

/// One instruction in each cycle, and branches that are foretold.
fn narrow() -> MachineSpec {
    let mut spec = in_order();
    spec.core.issue_width = 1;
    spec
}

#[test]
fn who_comes_second_waits_for_the_rest() {
    let threads = [sections(&[(10, 0, 500)]), sections(&[(100, 0, 50)])];
    let statistics = on_cores(&narrow(), &threads);
    let cycles: Vec<u64> = statistics.cores.iter().map(|core| core.cycles).collect();
    assert!(cycles[0].abs_diff(510) <= 3, "{cycles:?}");
    assert!(cycles[1].abs_diff(510 + 50) <= 3, "{cycles:?}");
    let waits = |core: usize| statistics.cores[core].slots.barrier.expect("others");
    assert_eq!(waits(0), 0);
    assert!(waits(1).abs_diff(410) <= 3, "{}", waits(1));
}

/// The wait is told beside the data structure that the latch is of, and not beside what was touched before.
#[test]
fn a_wait_is_charged_to_the_latch() {
    let segment = |name: &str, base| Segment {
        name: name.into(),
        base,
        size_bytes: 1 << 16,
    };
    let layout = Layout {
        segments: vec![segment("data", 1 << 19), segment("latches", 1 << 20)],
        sites: vec!["somewhere".into()],
        ..Layout::default()
    };
    let mut spec = narrow();
    spec.cores = 2;
    let mut cores =
        Multicore::new(&spec, &ThreadOf::one_program([&layout, &layout])).expect("a machine");
    let threads = [
        sections(&[(10, 0, 2000)]),
        [vec![load(1 << 19)], delay(30), sections(&[(20, 0, 5)])].concat(),
    ];
    let mut sources = threads.map(|events| Batches(events, usize::MAX));
    let [first, second] = &mut sources;
    cores
        .run(&mut [first, second], &mut |_| Ok(()))
        .expect("both end");
    let statistics = cores.finish();
    let waited = |segment: &str| -> u64 {
        let rows = statistics.cores[1].breakdown.iter();
        let of_segment = rows.filter(|row| row.segment == segment);
        of_segment.map(|row| row.slots.barrier.unwrap_or(0)).sum()
    };
    assert_eq!(waited("data"), 0);
    assert!(waited("latches") > 1000, "{}", waited("latches"));
}

#[test]
fn other_latches_and_other_programs_are_nobody_s_concern() {
    let of = |first, second| {
        [
            sections(&[(10, first, 500)]),
            sections(&[(100, second, 50)]),
        ]
    };
    for spec in [narrow(), machine()] {
        let apart = on_cores(&spec, &of(0, 1));
        let programs = on_cores_with(&spec, &of(0, 0), Programs::Apart);
        for statistics in [apart, programs] {
            assert!(
                statistics
                    .cores
                    .iter()
                    .all(|core| core.slots.barrier == Some(0))
            );
        }
    }
}

/// Latches that nobody else wants change nothing, nor do those of one thread.
#[test]
fn a_free_latch_takes_no_time() {
    for spec in [narrow(), machine()] {
        let thread = |number: u64| -> Vec<Event> {
            let section = |place: u64| {
                let address = number << 24 | place << 6;
                let section = [
                    latch(number),
                    exchange(address),
                    load(address + 8),
                    unlatch(number),
                ];
                [delay(30), section.to_vec()].concat()
            };
            (0..50).flat_map(section).collect()
        };
        let without = |thread: Vec<Event>| -> Vec<Event> {
            let marks = |event: Event| match event.kind.is_of_latch() {
                // As many events, so that dependences are the same.
                true => Event::new(Kind::PageRead, 0),
                false => event,
            };
            thread.into_iter().map(marks).collect()
        };
        let (one, other) = (
            on_cores(&spec, &[thread(1), thread(2)]),
            on_cores(&spec, &[without(thread(1)), without(thread(2))]),
        );
        for (with, without) in one.cores.iter().zip(&other.cores) {
            assert_eq!(with.cycles, without.cycles);
            assert_eq!(with.slots, without.slots);
        }
        assert_eq!(
            run(&spec, &thread(1)).cycles,
            run(&spec, &without(thread(1))).cycles
        );
    }
}

/// What is stored with the latch is there before another has it.
#[test]
fn stores_are_done_before_a_latch_is_free() {
    for spec in [machine(), in_order()] {
        let writes = vec![latch(0), store(0), unlatch(0)];
        let waits = [delay(10), vec![latch(0), unlatch(0)]].concat();
        let statistics = on_cores(&spec, &[writes, waits]);
        assert!(
            statistics.cores[1].cycles >= T1,
            "{}",
            statistics.cores[1].cycles
        );
    }
}

#[test]
fn a_latch_that_nobody_releases_is_an_error() {
    let mut spec = machine();
    spec.cores = 2;
    let layouts = vec![Layout::default(); 2];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    let (mut first, mut second) = (
        Batches(vec![latch(0), load(0)], usize::MAX),
        Batches([delay(10), vec![latch(0), unlatch(0)]].concat(), usize::MAX),
    );
    let error = cores.run(&mut [&mut first, &mut second], &mut |_| Ok(()));
    let message = error.expect_err("one waits forever").to_string();
    assert_eq!(
        message,
        "thread 1 waits for a latch that thread 0 does not release"
    );
}

/// When each thread ends, if all that takes time are the cycles that it is busy, and who comes first has a latch; of those that come at
/// once the lower number.
fn ends(threads: &[Vec<Section>]) -> Vec<u64> {
    let mut now = vec![0_u64; threads.len()];
    let mut next = vec![0_usize; threads.len()];
    let mut free: BTreeMap<u64, u64> = BTreeMap::new();
    let comes = |now: &[u64], next: &[usize], thread: usize| -> Option<(u64, usize)> {
        let &(before, ..) = threads[thread].get(next[thread])?;
        Some((now[thread] + before as u64, thread))
    };
    while let Some((at, thread)) = (0..threads.len())
        .filter_map(|thread| comes(&now, &next, thread))
        .min()
    {
        let (_, number, with) = threads[thread][next[thread]];
        let free = free.entry(number).or_default();
        now[thread] = at.max(*free) + with as u64;
        *free = now[thread];
        next[thread] += 1;
    }
    now
}

fn any_sections() -> impl Strategy<Value = Vec<Section>> {
    prop::collection::vec((1_usize..120, 0_u64..3, 1_usize..90), 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn threads_have_latches_in_the_order_in_which_they_come(
        threads in prop::collection::vec(any_sections(), 2..6),
        batch in 1_usize..40,
    ) {
        let events: Vec<Vec<Event>> = threads.iter().map(|thread| sections(thread)).collect();
        let mut spec = narrow();
        spec.cores = events.len() as u32;
        let layouts = vec![Layout::default(); events.len()];
        let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
        let mut sources: Vec<Batches> = events.iter().map(|events| Batches(events.clone(), batch)).collect();
        let mut sources: Vec<&mut dyn traces::EventSource> = sources.iter_mut().map(|source| source as _).collect();
        cores.run(&mut sources, &mut |_| Ok(())).expect("all release what they hold");
        let simulated: Vec<u64> = cores.finish().cores.iter().map(|core| core.cycles).collect();
        let expected = ends(&threads);
        for (simulated, expected) in simulated.iter().zip(&expected) {
            prop_assert!(simulated.abs_diff(*expected) <= 3, "{simulated} {expected}");
        }
    }
}
