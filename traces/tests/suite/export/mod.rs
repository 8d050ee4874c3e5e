//! Exports against byte-exact golden files and against small decoders of their own.

mod champsim;
mod elastic;
mod events;
mod files;
mod lines;
mod packet;

use events::sample;
use files::{Case, export, read, settings};
use std::fs;
use std::path::Path;
use traces::export::{Exporter, Format, fetch_path};
use traces::{Event, EventSink, Kind};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/export");

/// The sample's name in every format.
fn golden(format: Format) -> String {
    format!("{SAMPLES}/sample.{}", format.name())
}

#[test]
fn every_format_writes_its_golden_file_byte_for_byte() {
    for format in Format::ALL {
        let case = export(format, "t", &sample()).unwrap();
        for (written, kept) in case.summary.files.iter().zip(golden_files(format)) {
            let found = fs::read(written).unwrap();
            assert!(found.len() < 10 << 10);
            assert_eq!(found, fs::read(&kept).unwrap(), "{kept}");
        }
    }
}

/// `cargo test -p memwalk-traces --test suite export:: -- --ignored` writes the golden files of a changed format.
#[test]
#[ignore = "writes samples; look at what changed"]
fn write_the_golden_files() {
    for format in Format::ALL {
        let mut exporter = Exporter::create(golden(format), format, &settings()).unwrap();
        exporter.consume(&sample()).unwrap();
        exporter.finish().unwrap();
    }
}

fn golden_files(format: Format) -> Vec<String> {
    let main = golden(format);
    let fetches = fetch_path(Path::new(&main)).display().to_string();
    match format {
        Format::Gem5Elastic => vec![fetches, main],
        _ => vec![main],
    }
}

#[test]
fn compressed_files_hold_the_plain_bytes() {
    for format in Format::ALL {
        let plain = read(&export(format, "t", &sample()).unwrap());
        for suffix in ["gz", "xz"] {
            let outcome = export(format, &format!("t.{suffix}"), &sample());
            if suffix == "xz" && format.needs_timing() {
                let message = outcome.unwrap_err();
                assert!(message.ends_with("gem5 cannot read xz; choose a name that ends in .gz"));
                continue;
            }
            let case = outcome.unwrap();
            assert_eq!(read(&case), plain, "{} {suffix}", format.name());
            assert!(fs::read(&case.summary.files[0]).unwrap() != plain);
        }
    }
}

#[test]
fn the_paired_trace_is_named_after_the_main_one() {
    let name = |path| fetch_path(Path::new(path)).display().to_string();
    assert_eq!(name("a/t.elastic.gz"), "a/t.elastic.inst.gz");
    assert_eq!(name("t.elastic"), "t.elastic.inst");
}

#[test]
fn what_is_left_out_is_counted() {
    let summary = export(Format::Din, "t", &sample()).unwrap().summary;
    let left_out: Vec<_> = summary
        .left_out
        .iter()
        .map(|c| (c.kind, c.events))
        .collect();
    let expected = [
        (Kind::Branch, 3),
        (Kind::Op, 1),
        (Kind::Mark, 1),
        (Kind::PageRead, 1),
        (Kind::Flush, 1),
    ];
    assert_eq!(left_out, expected);
    assert_eq!(summary.events, sample().len() as u64);
    assert!(!summary.lost.is_empty());
    let summary = export(Format::Gem5Elastic, "t", &sample()).unwrap().summary;
    let left_out: Vec<_> = summary.left_out.iter().map(|c| c.kind).collect();
    assert_eq!(left_out, [Kind::Mark, Kind::PageRead, Kind::Flush]);
}

#[test]
fn pages_that_arrive_and_waits_are_left_out() {
    let is_read = |event: &Event| event.kind == Kind::PageRead;
    let behind = sample().iter().position(is_read).unwrap() + 1;
    let mut events = sample();
    let arrival = Event {
        size: 8192,
        ..Event::new(Kind::PageArrival, 0x2_0000_0000)
    };
    let wait = Event::for_fill(Kind::PageWait, 7, 1);
    let for_another = Event::arrival_for_another(0x2_0000_0000, 8192);
    let latches = [
        Kind::Latch,
        Kind::Unlatch,
        Kind::ShareLatch,
        Kind::AwaitLatch,
    ];
    let without_instructions = [arrival, wait, for_another]
        .into_iter()
        .chain(latches.map(|kind| Event::new(kind, 64)));
    events.splice(behind..behind, without_instructions);
    for format in Format::ALL {
        let plain = export(format, "t", &sample()).unwrap();
        let case = export(format, "t", &events).unwrap();
        // ChampSim's registers are numbered by events.
        if format == Format::Champsim {
            assert_eq!(case.summary.records, plain.summary.records);
        } else {
            assert_eq!(read(&case), read(&plain), "{}", format.name());
        }
        let left_out = case.summary.left_out;
        for (kind, events) in [
            (Kind::PageArrival, 2),
            (Kind::PageWait, 1),
            (Kind::Latch, 1),
            (Kind::Unlatch, 1),
            (Kind::ShareLatch, 1),
            (Kind::AwaitLatch, 1),
        ] {
            assert!(
                left_out
                    .iter()
                    .any(|c| (c.kind, c.events) == (kind, events))
            );
        }
    }
}

#[test]
fn an_export_that_fails_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    let mut events = sample();
    events[4].address = 1 << 63;
    let mut exporter = Exporter::create(&path, Format::Ramulator, &settings()).unwrap();
    let error = exporter.consume(&events).unwrap_err().to_string();
    let expected = "event 4: address 0x8000000000000000 is beyond 0x7fffffffffffffff, the largest that Ramulator 2 reads; format ramulator1 takes it";
    assert!(error.ends_with(expected), "{error}");
    assert!(exporter.consume(&events).is_err());
    assert!(exporter.finish().is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_export_replaces_a_file_only_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    fs::write(&path, "before").unwrap();
    let mut exporter = Exporter::create(&path, Format::Din, &settings()).unwrap();
    exporter.consume(&sample()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"before");
    drop(exporter);
    assert_eq!(fs::read(&path).unwrap(), b"before");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = folder.path().join("no/such/t");
    let error = Exporter::create(&missing, Format::Din, &settings()).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn times_need_a_machine() {
    for format in Format::ALL {
        let folder = tempfile::tempdir().unwrap();
        let settings = traces::export::Settings {
            timing: None,
            ..settings()
        };
        let created = Exporter::create(folder.path().join("t"), format, &settings);
        assert_eq!(created.is_err(), format.needs_timing());
    }
}

#[test]
fn formats_are_found_by_name() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("dinn"), None);
}

#[test]
fn an_empty_trace_is_an_empty_file_where_the_format_allows() {
    for format in Format::ALL {
        let case: Result<Case, String> = export(format, "t", &[]);
        match format {
            Format::Gem5Elastic => assert!(case.unwrap_err().contains("at least two instructions")),
            _ => assert_eq!(case.unwrap().summary.records, 0),
        }
    }
}

#[test]
fn what_is_lost_is_what_the_trace_has() {
    let lost = |format, threads, events: &[Event]| {
        let folder = tempfile::tempdir().unwrap();
        let settings = traces::export::Settings {
            threads,
            ..settings()
        };
        let path = folder.path().join("t");
        let mut exporter = Exporter::create(path, format, &settings).unwrap();
        exporter.consume(events).unwrap();
        exporter.finish().unwrap().lost.join("; ")
    };
    let [store, plain, exchange] =
        [Kind::StoreNta, Kind::Store, Kind::Exchange].map(|kind| Event::new(kind, 64));
    let [prefetch, op] = [Kind::PrefetchNta, Kind::Prefetch].map(|kind| Event::new(kind, 64));
    let (with, without) = ([exchange, store, prefetch], [plain, plain, op]);
    for format in Format::ALL {
        let name = format.name();
        let all = lost(format, 4, &with);
        assert!(
            all.contains("that a non-temporal store is one"),
            "{name}: {all}"
        );
        assert!(
            all.contains("which of the 4 threads an event is of"),
            "{name}: {all}"
        );
        let prefetches_are_told = matches!(name, "din" | "gem5-packet" | "gem5-elastic");
        let told = all.contains("that a non-temporal prefetch is one");
        assert_eq!(told, prefetches_are_told, "{name}: {all}");
        let remains = match name {
            "champsim" => None,
            "gem5-elastic" => Some("(it is a load)"),
            _ => Some("(it is a store)"),
        };
        let told = all.contains("that an exchange reads and writes at once");
        assert_eq!(told, remains.is_some(), "{name}: {all}");
        assert!(all.contains(remains.unwrap_or_default()), "{name}: {all}");
        let few = lost(format, 1, &without);
        assert_eq!(few, format.losses().join("; "), "{name}");
        assert!(
            !few.contains("non-temporal") && !few.contains("exchange") && !few.contains("thread"),
            "{few}"
        );
    }
}
