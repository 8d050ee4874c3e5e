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
    want(Kind::Latch, number)
}

/// An event that wants a latch.
fn want(kind: Kind, number: u64) -> Event {
    Event::new(kind, 1 << 20 | number << 6)
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

/// Two read at the same time, and who writes waits for the later of them.
#[test]
fn a_shared_latch_is_held_by_several() {
    let section = |before, kind, with| vec![((before, 0, with), kind)];
    let threads = [
        section(10, Kind::ShareLatch, 500),
        section(20, Kind::ShareLatch, 600),
        section(30, Kind::AwaitLatch, 5),
        section(100, Kind::Latch, 50),
        section(200, Kind::ShareLatch, 5),
        section(300, Kind::AwaitLatch, 5),
        section(630, Kind::AwaitLatch, 5),
    ];
    let cycles = simulated_ends(&threads, usize::MAX);
    for (core, expected) in [510, 620, 35, 670, 675, 305, 675].into_iter().enumerate() {
        assert!(cycles[core].abs_diff(expected) <= 3, "{core}: {cycles:?}");
    }
}

/// Where one page's latch was, another's is: they are two.
#[test]
fn latches_of_two_pages_have_one_word() {
    let section = |before, page, with| {
        let of_page = |kind| vec![Event::of_page_latch(kind, 1 << 20, page)];
        [
            busy(before),
            of_page(Kind::Latch),
            busy(with),
            of_page(Kind::Unlatch),
        ]
        .concat()
    };
    for (second, expected) in [(70_000, 510 + 50), (70_001, 150)] {
        let threads = [section(10, 70_000, 500), section(100, second, 50)];
        let statistics = on_cores(&narrow(), &threads);
        let ended = statistics.cores[1].cycles;
        assert!(ended.abs_diff(expected) <= 3, "{ended}");
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

/// A section whose latch is wanted in some way. One that holds nothing releases nothing.
type Wanted = (Section, Kind);

fn wanted(all: &[Wanted]) -> Vec<Event> {
    let section = |&((before, number, with), kind): &Wanted| {
        let begins = [busy(before), vec![want(kind, number)], busy(with)].concat();
        match kind {
            Kind::AwaitLatch => begins,
            _ => [begins, vec![unlatch(number)]].concat(),
        }
    };
    all.iter().flat_map(section).collect()
}

/// What a model knows of a latch: sections of who held it alone, the end of the last that was shared, and when the last who waited had it.
#[derive(Default)]
struct Known {
    alone: Vec<(u64, u64)>,
    shared_until: u64,
    last: u64,
}

impl Known {
    /// When somebody who comes at a cycle has the latch as he wants it, for so long.
    fn give(&mut self, at: u64, kind: Kind, with: u64) -> u64 {
        let holds_alone = |&(from, until): &(u64, u64)| (from..until).contains(&at);
        if kind == Kind::AwaitLatch && !self.alone.iter().any(holds_alone) {
            return at;
        }
        let alone_until = self.alone.last().map_or(0, |&(_, until)| until);
        let mut from = at.max(alone_until).max(self.last);
        if kind == Kind::Latch {
            from = from.max(self.shared_until);
            self.alone.push((from, from + with));
        } else if kind == Kind::ShareLatch {
            self.shared_until = self.shared_until.max(from + with);
        }
        self.last = from;
        from
    }
}

/// When each thread ends, if all that takes time are the cycles that it is busy, and who comes first has a latch; of those that come at
/// once the lower number.
fn ends(threads: &[Vec<Wanted>]) -> Vec<u64> {
    let mut now = vec![0_u64; threads.len()];
    let mut next = vec![0_usize; threads.len()];
    let mut latches: BTreeMap<u64, Known> = BTreeMap::new();
    let comes = |now: &[u64], next: &[usize], thread: usize| -> Option<(u64, usize)> {
        let &((before, ..), _) = threads[thread].get(next[thread])?;
        Some((now[thread] + before as u64, thread))
    };
    while let Some((at, thread)) = (0..threads.len())
        .filter_map(|thread| comes(&now, &next, thread))
        .min()
    {
        let ((_, number, with), kind) = threads[thread][next[thread]];
        let latch = latches.entry(number).or_default();
        now[thread] = latch.give(at, kind, with as u64) + with as u64;
        next[thread] += 1;
    }
    now
}

fn any_sections(kinds: &'static [Kind]) -> impl Strategy<Value = Vec<Wanted>> {
    let section = (1_usize..120, 0_u64..3, 1_usize..90);
    prop::collection::vec((section, prop::sample::select(kinds)), 1..25)
}

/// When each thread ends in simulation.
fn simulated_ends(threads: &[Vec<Wanted>], batch: usize) -> Vec<u64> {
    let events: Vec<Vec<Event>> = threads.iter().map(|thread| wanted(thread)).collect();
    let mut spec = narrow();
    spec.cores = events.len() as u32;
    let layouts = vec![Layout::default(); events.len()];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    let batches = |events: &Vec<Event>| Batches(events.clone(), batch);
    let mut sources: Vec<Batches> = events.iter().map(batches).collect();
    let mut sources: Vec<&mut dyn traces::EventSource> =
        sources.iter_mut().map(|source| source as _).collect();
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("all release what they hold");
    let statistics = cores.finish();
    statistics.cores.iter().map(|core| core.cycles).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn threads_have_latches_in_the_order_in_which_they_come(
        threads in prop::collection::vec(any_sections(&[Kind::Latch]), 2..6),
        batch in 1_usize..40,
    ) {
        for (simulated, expected) in simulated_ends(&threads, batch).iter().zip(ends(&threads)) {
            prop_assert!(simulated.abs_diff(expected) <= 3, "{simulated} {expected}");
        }
    }

    #[test]
    fn threads_share_latches_that_nobody_holds_alone(
        threads in prop::collection::vec(any_sections(&[Kind::Latch, Kind::ShareLatch, Kind::AwaitLatch]), 2..6),
        batch in 1_usize..40,
    ) {
        for (simulated, expected) in simulated_ends(&threads, batch).iter().zip(ends(&threads)) {
            prop_assert!(simulated.abs_diff(expected) <= 3, "{simulated} {expected}");
        }
    }
}
