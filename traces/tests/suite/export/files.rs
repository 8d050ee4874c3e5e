//! Exports events into files and reads those.

use flate2::read::GzDecoder;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::Read;
use tempfile::TempDir;
use traces::export::{ExportSummary, Exporter, Format, Settings, Timing};
use traces::{Event, EventSink};

/// Line size of every test.
pub const LINE: u64 = 64;

/// A machine of 2 GHz: a cycle is 500 ticks.
pub fn settings() -> Settings {
    Settings {
        threads: 1,
        line_bytes: LINE,
        timing: Some(Timing {
            clock_hz: 2_000_000_000,
            issue_width: 4,
            integer_units: 2,
            reorder_buffer: Some(32),
            multiply_latency_cycles: 3,
            divide_latency_cycles: 20,
        }),
    }
}

/// An export and the folder that it lies in.
#[derive(Debug)]
pub struct Case {
    pub summary: ExportSummary,
    _folder: TempDir,
}

/// Exports `events` in two batches to a file called `name`.
pub fn export(format: Format, name: &str, events: &[Event]) -> Result<Case, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let text = |error: traces::SinkError| error.to_string();
    let mut exporter = Exporter::create(path, format, &settings()).map_err(text)?;
    let (first, second) = events.split_at(events.len() / 2);
    exporter.consume(first).map_err(text)?;
    exporter.consume(second).map_err(text)?;
    let summary = exporter.finish().map_err(text)?;
    Ok(Case {
        summary,
        _folder: folder,
    })
}

/// The main file, decompressed.
pub fn read(case: &Case) -> Vec<u8> {
    let path = case.summary.files.last().unwrap();
    let file = File::open(path).unwrap();
    let mut stream: Box<dyn Read> = match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("gz") => Box::new(GzDecoder::new(file)),
        Some("xz") => Box::new(XzReader::new(file, true)),
        _ => Box::new(file),
    };
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}
