//! A latch is held by one thread of a program at a time; others wait for it in the order in which they come.

use crate::common::batches::Batches;
use crate::common::*;
use crate::multicore::{Programs, on_cores, on_cores_with};
use proptest::prelude::*;
use simcore::multicore::{Multicore, MulticoreStatistics, ThreadOf};
use simcore::spec::{ExchangeSpec, MachineSpec};
use simcore::statistics::ReadingStatistics;
use std::collections::BTreeMap;
use std::ops::Range;
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
/// Whoever takes a latch by an exchange that runs alone comes when what is before that has been written.
#[test]
fn who_waits_for_stores_anyway_does_not_wait_for_others() {
    let address = latch(0).address;
    for mut spec in [machine(), narrow()] {
        spec.core.exchange = Some(ExchangeSpec {
            further_cycles: 0,
            alone: true,
        });
        spec.dtlb.walk_latency_cycles = 0;
        let holder = [vec![latch(0)], delay(300), vec![after(1, unlatch(0))]].concat();
        let comes = |before: Event| {
            let takes = [after(1, before), latch(0), exchange(address)];
            let events = [&delay(200)[..], &takes].concat();
            let statistics = on_cores(&spec, &[holder.clone(), events]);
            statistics.cores[1].slots.barrier.expect("others")
        };
        assert_eq!(comes(store(0)), 0, "its line comes after the latch is free");
        assert!(comes(branch(true)) > 80);
    }
}

#[test]
fn accesses_are_done_before_a_latch_is_free() {
    for spec in [machine(), in_order()] {
        for access in [store(0), load(0)] {
            let accesses = vec![latch(0), access, unlatch(0)];
            let waits = [delay(10), vec![latch(0), unlatch(0)]].concat();
            let statistics = on_cores(&spec, &[accesses, waits]);
            assert!(
                statistics.cores[1].cycles >= T1,
                "{}",
                statistics.cores[1].cycles
            );
        }
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

/// A thread that reads what a latch guards, which it only awaits: cycles before it, and cycles of reading.
fn reads(before: usize, with: usize) -> Vec<Event> {
    let reading = [want(Kind::AwaitLatch, 0)];
    [busy(before), reading.to_vec(), busy(with), vec![unlatch(0)]].concat()
}

/// Each thread's cycles and what it read, the same for batches of any size.
fn readings(threads: &[Vec<Event>]) -> Vec<(u64, Option<ReadingStatistics>)> {
    let [small, whole] = [3, usize::MAX].map(|batch| {
        let statistics = in_batches(threads, batch);
        let cores = statistics.cores.iter();
        cores
            .map(|core| (core.cycles, core.readings))
            .collect::<Vec<_>>()
    });
    assert_eq!(small, whole);
    whole
}

/// Somebody changes, for 50 cycles, what another reads from cycle 100 on for 200.
#[test]
fn what_others_change_meanwhile_is_read_again() {
    for (change, in_vain, expected) in [
        (20, 0, 320),  // Over before the reading.
        (80, 0, 350),  // Under way when it begins, which waits.
        (110, 1, 520), // In the midst.
        (280, 1, 550), // Under way when it ends: waits for that, and reads again.
        (310, 0, 320), // After it.
    ] {
        let reader = [reads(100, 200), busy(20)].concat();
        let found = readings(&[reader, sections(&[(change, 0, 50)])]);
        let (cycles, read) = found[0];
        assert!(cycles.abs_diff(expected) <= 4, "{change}: {cycles}");
        let repeated = in_vain;
        let ended = 1 + repeated;
        assert_eq!(
            read,
            Some(ReadingStatistics {
                ended,
                in_vain,
                repeated
            }),
            "{change}"
        );
        assert_eq!(found[1].1, None);
    }
}

/// It is read until nobody has changed it.
#[test]
fn what_is_changed_again_and_again_is_read_as_often() {
    let changes: Vec<Section> = vec![(190, 0, 10); 3];
    let found = readings(&[reads(100, 200), sections(&changes)]);
    // Read from 100, 300, 500 and 700 on; changed from 190, 390 and 590 on.
    assert!(found[0].0.abs_diff(900) <= 5, "{}", found[0].0);
    let read = found[0].1.expect("it reads");
    assert_eq!((read.ended, read.in_vain, read.repeated), (4, 3, 3));
}

/// A reading within another is read again with it, and by itself if that alone was in vain.
#[test]
fn of_readings_within_each_other_the_outer_one_takes_the_inner_one_along() {
    let reading = [
        busy(100),
        vec![want(Kind::AwaitLatch, 0)],
        busy(100),
        vec![want(Kind::AwaitLatch, 1)],
        busy(100),
        vec![unlatch(0)],
        busy(100),
        vec![unlatch(1)],
    ];
    for (number, at, expected) in [(0, 150, 600), (1, 250, 600), (1, 350, 600), (1, 150, 400)] {
        let found = readings(&[reading.concat(), sections(&[(at, number, 10)])]);
        let (cycles, read) = found[0];
        assert!(cycles.abs_diff(expected) <= 5, "{number} {at}: {cycles}");
        let repeated = u64::from(expected > 400);
        assert_eq!(read.expect("it reads").repeated, repeated);
    }
}

/// Who has taken a latch meanwhile releases it before it goes back: another may have changed what was read while it waits for that latch.
#[test]
fn who_reads_again_holds_nothing() {
    let reading = [
        busy(100),
        vec![want(Kind::AwaitLatch, 0)],
        busy(100),
        vec![latch(1)],
        busy(100),
        vec![unlatch(0)],
        busy(30),
        vec![unlatch(1)],
    ];
    let changes_both = [
        busy(150),
        vec![latch(0)],
        busy(100),
        vec![latch(1)],
        busy(40),
        vec![unlatch(1), unlatch(0)],
    ];
    let found = readings(&[reading.concat(), changes_both.concat()]);
    // The other comes for latch 1 in cycle 250, has it when the first has read in vain in 300, and is done in 340.
    assert!(found[1].0.abs_diff(340) <= 4, "{}", found[1].0);
    assert!(found[0].0.abs_diff(340 + 230) <= 6, "{}", found[0].0);
    let read = found[0].1.expect("it reads");
    assert_eq!((read.ended, read.in_vain, read.repeated), (2, 1, 1));
}

/// A page that was asked for has come: that happens once.
#[test]
fn a_reading_that_asks_for_a_page_is_not_repeated() {
    let reading = [
        busy(100),
        vec![want(Kind::AwaitLatch, 0)],
        busy(100),
        vec![Event::new(Kind::PageRead, 7)],
        busy(100),
        vec![unlatch(0)],
    ];
    let found = readings(&[reading.concat(), sections(&[(150, 0, 10)])]);
    assert!(found[0].0.abs_diff(300) <= 4, "{}", found[0].0);
    let read = found[0].1.expect("it reads");
    assert_eq!((read.ended, read.in_vain, read.repeated), (1, 1, 0));
}

/// Who takes the latch that it has awaited changes that itself.
#[test]
fn one_s_own_changes_are_not_in_vain() {
    let changing = [
        vec![want(Kind::AwaitLatch, 0)],
        busy(50),
        vec![latch(0)],
        busy(50),
        vec![unlatch(0)],
        reads(10, 50),
    ];
    let found = readings(&[changing.concat(), busy(300)]);
    let read = found[0].1.expect("it reads");
    assert_eq!((read.ended, read.in_vain), (1, 0));
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

/// What threads say that can never end: their error.
fn refusal(threads: [Vec<Event>; 2]) -> String {
    let mut spec = narrow();
    spec.cores = 2;
    let layouts = vec![Layout::default(); 2];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    let mut sources = threads.map(|events| Batches(events, usize::MAX));
    let [first, second] = &mut sources;
    let error = cores.run(&mut [first, second], &mut |_| Ok(()));
    error.expect_err("they wait forever").to_string()
}

#[test]
fn threads_that_wait_for_each_other_are_an_error() {
    let nested = |outer, inner| {
        [
            vec![latch(outer)],
            busy(50),
            vec![latch(inner), unlatch(inner), unlatch(outer)],
        ]
        .concat()
    };
    assert_eq!(
        refusal([nested(0, 1), nested(1, 0)]),
        "thread 0 waits for a latch that thread 1 does not release"
    );
    let barrier = || Event::new(Kind::Barrier, 0);
    let meets = vec![latch(0), barrier(), unlatch(0)];
    let comes = [busy(50), vec![latch(0), unlatch(0), barrier()]].concat();
    assert_eq!(
        refusal([meets, comes]),
        "thread 1 waits for a latch that thread 0 does not release"
    );
}

#[test]
fn who_does_not_hold_a_latch_does_not_release_it() {
    let holds = sections(&[(10, 0, 500)]);
    let releases = [busy(20), vec![unlatch(0)], sections(&[(80, 0, 50)])].concat();
    let statistics = on_cores(&narrow(), &[holds, releases]);
    let ended = statistics.cores[1].cycles;
    assert!(ended.abs_diff(510 + 50) <= 3, "{ended}");
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

/// A cycle and the thread that does something in it: of those who do so in one cycle, the lower number is first.
type Moment = (u64, usize);

/// What a model knows of a latch: when it was taken and released by each who held it alone, the end of the last that was shared, and when
/// the last who waited had it.
#[derive(Default)]
struct Known {
    alone: Vec<Range<Moment>>,
    shared_until: Moment,
    last: Moment,
}

impl Known {
    /// The cycle in which somebody who comes has the latch as he wants it, for so long.
    fn give(&mut self, comes: Moment, kind: Kind, with: u64) -> u64 {
        if kind == Kind::AwaitLatch && !self.alone.iter().any(|held| held.contains(&comes)) {
            return comes.0;
        }
        let alone_until = self.alone.last().map_or((0, 0), |held| held.end);
        let mut given = comes.max(alone_until).max(self.last);
        let (_, thread) = comes;
        let ends = |given: Moment| (given.0 + with, thread);
        if kind == Kind::Latch {
            given = given.max(self.shared_until);
            self.alone.push(given..ends(given));
        } else if kind == Kind::ShareLatch {
            self.shared_until = self.shared_until.max(ends(given));
        }
        self.last = given;
        given.0
    }
}

/// When each thread ends, if all that takes time are the cycles that it is busy, and who comes first has a latch.
fn ends(threads: &[Vec<Wanted>]) -> Vec<u64> {
    let mut now = vec![0_u64; threads.len()];
    let mut next = vec![0_usize; threads.len()];
    let mut latches: BTreeMap<u64, Known> = BTreeMap::new();
    let comes = |now: &[u64], next: &[usize], thread: usize| -> Option<Moment> {
        let &((before, ..), _) = threads[thread].get(next[thread])?;
        Some((now[thread] + before as u64, thread))
    };
    while let Some(moment) = (0..threads.len())
        .filter_map(|thread| comes(&now, &next, thread))
        .min()
    {
        let (_, thread) = moment;
        let ((_, number, with), kind) = threads[thread][next[thread]];
        let latch = latches.entry(number).or_default();
        now[thread] = latch.give(moment, kind, with as u64) + with as u64;
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
    let statistics = in_batches(&events, batch);
    statistics.cores.iter().map(|core| core.cycles).collect()
}

/// Threads on narrow cores, whose events come so many at a time.
fn in_batches(threads: &[Vec<Event>], batch: usize) -> MulticoreStatistics {
    let mut spec = narrow();
    spec.cores = threads.len() as u32;
    let layouts = vec![Layout::default(); threads.len()];
    let mut cores = Multicore::new(&spec, &ThreadOf::one_program(&layouts)).expect("a machine");
    let batches = |events: &Vec<Event>| Batches(events.clone(), batch);
    let mut sources: Vec<Batches> = threads.iter().map(batches).collect();
    let mut sources: Vec<&mut dyn traces::EventSource> =
        sources.iter_mut().map(|source| source as _).collect();
    cores
        .run(&mut sources, &mut |_| Ok(()))
        .expect("all release what they hold");
    cores.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn threads_have_latches_in_the_order_in_which_they_come(
        threads in prop::collection::vec(any_sections(&[Kind::Latch]), 2..6),
        batch in 1_usize..40,
    ) {
        for (simulated, expected) in simulated_ends(&threads, batch).iter().zip(ends(&threads)) {
            prop_assert_eq!(*simulated, expected);
        }
    }

    #[test]
    fn threads_share_latches_that_nobody_holds_alone(
        threads in prop::collection::vec(any_sections(&[Kind::Latch, Kind::ShareLatch, Kind::AwaitLatch]), 2..6),
        batch in 1_usize..40,
    ) {
        for (simulated, expected) in simulated_ends(&threads, batch).iter().zip(ends(&threads)) {
            prop_assert_eq!(*simulated, expected);
        }
    }
}
