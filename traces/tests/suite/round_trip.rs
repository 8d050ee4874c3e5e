//! What is written is read, whatever it is.

use crate::common;
use proptest::prelude::*;
use traces::store::{ROW_GROUP_EVENTS, Reader, StoreError, TraceInfo, Writer, check};
use traces::{Counter, Event, EventSink, Kind, Layout, OpClass, SinkError};

const SITES: u16 = 300;
const PHASES: u64 = 5;
const CALLS: u64 = 3;

fn info() -> TraceInfo {
    let layout = Layout {
        segments: Vec::new(),
        sites: (0..SITES)
            .map(|site| format!("site \"{site}\" ä"))
            .collect(),
        phases: (0..PHASES).map(|phase| format!("phase {phase}")).collect(),
        calls: (0..CALLS).map(|call| format!("call {call}")).collect(),
    };
    TraceInfo::new(serde_json::json!({"kernel": "any"}), layout)
}

/// An event that may stand anywhere but for `dep`, which is taken modulo the event's index + 1.
fn any_event() -> impl Strategy<Value = Event> {
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let numbers = (
        any::<u64>(),
        any::<u32>(),
        any::<u16>(),
        any::<u16>(),
        any::<u16>(),
        0..SITES,
        any::<u8>(),
    );
    (kind, numbers).prop_map(
        |(kind, (address, dep, size, words, instructions, site, chain))| Event {
            address: match kind {
                Kind::Branch => address % 2,
                Kind::Mark => address % PHASES,
                Kind::Call => address % CALLS,
                _ => address,
            },
            size: if kind == Kind::Op {
                size % (OpClass::Add as u16 + 1)
            } else {
                size
            },
            words: if kind.moves_words() {
                words.max(1)
            } else {
                words
            },
            dep,
            instructions,
            site,
            kind,
            chain,
        },
    )
}

fn any_trace() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(any_event(), 0..3000).prop_map(|mut events| {
        for (index, event) in (0..).zip(&mut events) {
            event.dep %= index + 1;
        }
        events
    })
}

fn record(path: &std::path::Path, events: &[Event], batch: usize) {
    let mut writer = Writer::create(path, &info()).unwrap();
    for batch in events.chunks(batch) {
        writer.consume(batch).unwrap();
    }
    let summary = writer.finish().unwrap();
    assert_eq!(summary.events, events.len() as u64);
    assert_eq!(summary.file_bytes, path.metadata().unwrap().len());
    assert_eq!(check(path).unwrap().summary, summary);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_valid_trace_comes_back(events in any_trace(), batch in 1_usize..2000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        record(&path, &events, batch);
        let reader = Reader::open(&path).unwrap();
        prop_assert_eq!(reader.info(), &info());
        let mut read = Vec::new();
        reader.for_each_batch::<SinkError>(|batch| read.consume(batch)).unwrap();
        prop_assert_eq!(&read, &events);

        let mut counter = Counter::default();
        counter.count(&events);
        prop_assert_eq!(reader.summary().instructions, counter.instructions);

        let again = folder.path().join("again.parquet");
        record(&again, &events, 1 + batch / 2);
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
    }

    #[test]
    fn any_metadata_comes_back(
        number in any::<f64>().prop_filter("JSON has no other numbers", |number| number.is_finite()),
        integer in any::<i64>(),
        text in any::<String>(),
        seed in any::<Option<u64>>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut described = info();
        described.workload = serde_json::json!({"number": number, "text": text, "integer": [integer, null]});
        described.parameters.insert(text.clone(), number.into());
        described.seed = seed;
        let mut writer = Writer::create(&path, &described).unwrap();
        described.outcome.insert(text.clone(), integer.into());
        writer.set_outcome(described.outcome.clone());
        writer.finish().unwrap();
        let reader = Reader::open(&path).unwrap();
        prop_assert_eq!(reader.info(), &described);
    }
}

#[test]
fn a_trace_of_several_row_groups_streams_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let events = common::events(2 * ROW_GROUP_EVENTS as u64 / 30);
    let mut writer = Writer::create(&path, &common::info()).unwrap();
    writer.consume(&events).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!(summary.row_groups, events.len().div_ceil(ROW_GROUP_EVENTS));
    assert_eq!(summary.row_groups, 3);

    let reader = Reader::open(&path).unwrap();
    let mut next = 0;
    reader
        .for_each_batch::<StoreError>(|batch| {
            assert_eq!(batch, &events[next..next + batch.len()]);
            next += batch.len();
            Ok(())
        })
        .unwrap();
    assert_eq!(next, events.len());
    // A second reading starts again from the front.
    assert_eq!(reader.head(5).unwrap(), events[..5]);
}

#[test]
fn an_error_of_the_consumer_ends_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    record(&path, &[Event::new(Kind::Flush, 0); 10], 10);
    let reader = Reader::open(&path).unwrap();
    let stop = reader
        .for_each_batch(|_| Err(SinkError::Interrupted))
        .unwrap_err();
    assert!(matches!(stop, SinkError::Interrupted));
}

/// The names of an unnamed trace come last, and what was taken before can be forgotten.
#[test]
fn names_may_come_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let phases = |count: usize| Layout {
        sites: vec!["a".to_owned(); 3],
        phases: vec!["p".to_owned(); count],
        ..Layout::default()
    };
    let info = TraceInfo::new(serde_json::Value::Null, phases(1));
    let mut event = Event::new(Kind::Load, 64);
    event.site = 2;
    let kept = [event, Event::new(Kind::Mark, 4)];
    let begin = || {
        let mut writer = Writer::create_unnamed(&path, &info).unwrap();
        writer.consume(&vec![event; 3 << 19]).unwrap();
        writer.forget().unwrap();
        writer.consume(&kept).unwrap();
        writer
    };
    let mut writer = begin();
    writer.set_layout(phases(4));
    let message = writer.finish().unwrap_err().to_string();
    assert!(
        message.contains("site 2 and phase 4, but the layout names 3 sites and 4 phases"),
        "{message}"
    );
    assert!(!path.exists());
    let mut writer = begin();
    writer.set_layout(phases(5));
    assert_eq!(writer.finish().unwrap().events, 2);
    assert_eq!(Reader::open(&path).unwrap().head(9).unwrap(), kept);
    check(&path).unwrap();
}

#[test]
fn events_and_layouts_that_cannot_be_read_back_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut writer = Writer::create(&path, &info()).unwrap();
    let bad = Event {
        dep: 2,
        ..Event::new(Kind::Load, 0)
    };
    let message = writer
        .consume(&[Event::new(Kind::Load, 0), bad])
        .unwrap_err()
        .to_string();
    let expected = "event 1 cannot be stored: dep = 2 points before the start of the trace; it is at most 1 here";
    assert!(message.ends_with(expected), "{message}");
    let message = writer
        .consume(&[Event::new(Kind::Load, 0)])
        .unwrap_err()
        .to_string();
    assert!(
        message.ends_with("not written, because an earlier write failed"),
        "{message}"
    );
    assert!(matches!(
        writer.finish().unwrap_err(),
        StoreError::GivenUp { .. }
    ));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);

    let mut overlapping = common::info();
    overlapping.layout.segments.swap(0, 1);
    let message = Writer::create(&path, &overlapping).unwrap_err().to_string();
    assert!(
        message.contains("segment `level 1` begins at 0x100000000, before the end 0x200100000"),
        "{message}"
    );
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
