//! Traces of several threads.

use crate::common;
use proptest::prelude::*;
use std::path::Path;
use traces::store::{Reader, StoreError, TraceInfo, Writer, check};
use traces::{Event, Kind, SinkError};

/// What a thread does between two barriers.
fn steps(thread: usize, count: usize) -> Vec<Event> {
    let load = |number: usize| Event {
        dep: u32::from(number > 0),
        ..Event::new(Kind::Load, (thread << 30 | number << 6) as u64)
    };
    (0..count).map(load).collect()
}

/// `counts[round][thread]` loads, and a barrier behind each round.
fn program(counts: &[[usize; 3]]) -> [Vec<Event>; 3] {
    std::array::from_fn(|thread| {
        let rounds = counts.iter().flat_map(|round| {
            let mut events = steps(thread, round[thread]);
            events.push(Event::new(Kind::Barrier, 0));
            events
        });
        rounds.collect()
    })
}

fn info(threads: u32, slice: Option<u32>) -> TraceInfo {
    TraceInfo {
        threads,
        slice,
        ..common::info()
    }
}

/// Records threads as they come: `batch` events of each in turn.
fn record(path: &Path, threads: &[Vec<Event>], batch: usize) -> Result<(), SinkError> {
    record_sliced(path, threads, batch, None)
}

/// The same for threads that take turns of so many events on one core.
fn record_sliced(
    path: &Path,
    threads: &[Vec<Event>],
    batch: usize,
    slice: Option<u32>,
) -> Result<(), SinkError> {
    let mut writer = Writer::create(path, &info(threads.len() as u32, slice))?;
    let longest = threads.iter().map(Vec::len).max().unwrap_or(0);
    for start in (0..longest).step_by(batch) {
        for (number, events) in threads.iter().enumerate() {
            let rest = events.get(start..).unwrap_or_default();
            writer.consume_of(number, &rest[..rest.len().min(batch)])?;
        }
    }
    writer.finish()?;
    Ok(())
}

fn read(reader: &Reader) -> Vec<Event> {
    let mut events = Vec::new();
    reader
        .for_each_batch::<StoreError>(|batch| {
            events.extend_from_slice(batch);
            Ok(())
        })
        .unwrap();
    events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_thread_comes_back_and_so_do_their_turns(
        counts in prop::collection::vec(prop::array::uniform3(0_usize..40), 0..6),
        batch in 1_usize..50,
    ) {
        let threads = program(&counts);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        record(&path, &threads, batch).unwrap();
        let reader = Reader::open(&path).unwrap();
        for (mut batches, events) in reader.threads().into_iter().zip(&threads) {
            let mut back = Vec::new();
            while let Some(batch) = batches.next_batch().unwrap() {
                back.extend_from_slice(batch);
            }
            prop_assert_eq!(&back, events);
        }
        let by_turns: Vec<Event> = counts
            .iter()
            .flat_map(|round| (0..3).flat_map(|thread| {
                let mut events = steps(thread, round[thread]);
                events.push(Event::new(Kind::Barrier, 0));
                events
            }))
            .collect();
        prop_assert_eq!(read(&reader), by_turns);
        prop_assert_eq!(check(&path).unwrap().info.threads, 3);
    }
}

/// Between two barriers: so many events of each thread that has some left, over and over.
fn by_slices(round: [usize; 3], slice: usize) -> Vec<Event> {
    let of_threads: [Vec<Event>; 3] = std::array::from_fn(|thread| {
        let mut events = steps(thread, round[thread]);
        events.push(Event::new(Kind::Barrier, 0));
        events
    });
    let longest = of_threads.iter().map(Vec::len).max().unwrap_or(0);
    let starts = (0..longest).step_by(slice);
    let slices = starts.flat_map(|start| {
        of_threads
            .iter()
            .flat_map(move |events| events.iter().skip(start).take(slice).copied())
    });
    slices.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn threads_take_turns_of_a_slice_each(
        counts in prop::collection::vec(prop::array::uniform3(0_usize..40), 0..6),
        (batch, slice) in (1_usize..50, 1_usize..30),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        record_sliced(&path, &program(&counts), batch, Some(slice as u32)).unwrap();
        let by_turns: Vec<Event> = counts.iter().flat_map(|&round| by_slices(round, slice)).collect();
        prop_assert_eq!(read(&Reader::open(&path).unwrap()), by_turns);
    }
}

#[test]
fn slices_without_events_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let error = record_sliced(&path, &program(&[[1, 1, 1]]), 1, Some(0)).unwrap_err();
    assert!(error.to_string().contains("slices of no events"), "{error}");
}

#[test]
fn threads_of_many_row_groups_are_read_side_by_side() {
    let counts = [[400_000, 3, 40_000], [5, 800_000, 1]];
    let threads = program(&counts);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    record(&path, &threads, 1000).unwrap();
    let reader = Reader::open(&path).unwrap();
    assert!(reader.summary().row_groups > 3);
    let events = read(&reader);
    assert_eq!(events.len(), threads.iter().map(Vec::len).sum::<usize>());
    let first = |address| {
        let found = events.iter().position(|event| event.address == address);
        found.expect("every thread has a first line")
    };
    // Thread 0's round, its barrier, then thread 1's.
    assert_eq!(first(1 << 30), 400_001);
    assert_eq!(reader.head(10).unwrap(), events[..10]);
}

#[test]
fn a_trace_of_one_thread_is_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    record(&path, &[steps(0, 10)], 10).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("\"schema_version\":1,"));
    assert!(!text.contains("thread"));
}

/// Earlier builds are told to be updated by files that they could not read, and read the others.
#[test]
fn the_version_of_a_file_is_the_earliest_that_says_all_of_it() {
    let arrival = Event {
        size: 4096,
        ..Event::new(Kind::PageArrival, 1 << 30)
    };
    let version = |threads: &[Vec<Event>]| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        record(&path, threads, 10).unwrap();
        assert_eq!(
            read(&Reader::open(&path).unwrap()).len(),
            threads.concat().len()
        );
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (_, seal) = text.rsplit_once("\"schema_version\":").unwrap();
        seal.split_once(',').unwrap().0.to_owned()
    };
    let plain = [steps(0, 3), steps(1, 3)];
    assert_eq!(version(&plain[..1]), "1");
    assert_eq!(version(&plain), "2");
    let mut arriving = plain;
    arriving[0].push(arrival);
    assert_eq!(version(&arriving[..1]), "3");
    assert_eq!(version(&arriving), "3");
    let mut passing = arriving;
    passing[1].push(Event::new(Kind::StoreNta, 1 << 30));
    assert_eq!(version(&passing[1..]), "4");
    assert_eq!(version(&passing), "4");
    let mut exchanging = passing;
    exchanging[0].push(Event::new(Kind::Exchange, 1 << 30));
    assert_eq!(version(&exchanging[..1]), "5");
    assert_eq!(version(&exchanging), "5");
    let filling = |kind, fill| [exchanging[0].clone(), vec![Event::for_fill(kind, 7, fill)]];
    for kind in [Kind::PageRead, Kind::PagePrefetch] {
        assert_eq!(version(&filling(kind, 0)), "5");
        assert_eq!(version(&filling(kind, 9)), "6");
    }
    assert_eq!(version(&filling(Kind::PageWait, 9)), "6");
    for kind in [Kind::PageWait, Kind::Latch, Kind::Unlatch] {
        assert_eq!(version(&[vec![Event::new(kind, 7)]]), "6");
    }
    for kind in [Kind::ShareLatch, Kind::AwaitLatch] {
        assert_eq!(version(&[vec![Event::new(kind, 7)]]), "7");
    }
}

#[test]
fn threads_that_cannot_meet_are_damage() {
    let mut threads = program(&[[1, 1, 1], [1, 1, 1]]);
    threads[2].truncate(2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    record(&path, &threads, 10).unwrap();
    let message = check(&path).unwrap_err().to_string();
    assert!(
        message.contains("thread 1 waits at a barrier, but thread 2 has ended"),
        "{message}"
    );
}

#[test]
fn nothing_depends_on_what_came_before_a_barrier() {
    let mut threads = program(&[[4, 4, 4], [4, 4, 4]]);
    threads[1][6].dep = 3;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let message = record(&path, &threads, 10).unwrap_err().to_string();
    assert!(
        message.contains("event 6 cannot be stored: dep = 3"),
        "{message}"
    );
    assert!(!path.exists());
}
