//! Exports a trace: an event sink that writes another format.

use super::champsim::Champsim;
use super::din::Din;
use super::dramsim3::Dramsim3;
use super::gem5_elastic::{self, Gem5Elastic};
use super::gem5_packet::Gem5Packet;
use super::output::Output;
use super::ramulator::{Ramulator, Ramulator1};
use super::{Encoder, Failure, Format, Settings, Timing};
use crate::event::{Event, Kind};
use crate::sink::{Counter, EventSink, SinkError};
use crate::store::{KindCount, StoreError};
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// What an export wrote, and what it did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportSummary {
    /// The format.
    pub format: Format,
    /// Every file written, the main one last.
    pub files: Vec<PathBuf>,
    /// Events consumed.
    pub events: u64,
    /// Instructions they stand for.
    pub instructions: u64,
    /// Those of them before the measurement, which no format tells apart.
    pub warm_up_instructions: u64,
    /// Records written, headers not counted.
    pub records: u64,
    /// Events that the format has no place for.
    pub left_out: Vec<KindCount>,
    /// What of the other events is lost, a phrase each.
    pub lost: Vec<String>,
}

/// Writes events in another simulator's format. Nothing stands under the final name before [`Exporter::finish`].
pub struct Exporter {
    path: PathBuf,
    format: Format,
    threads: u32,
    /// Nothing after a failure.
    encoder: Option<Box<dyn Encoder>>,
    counter: Counter,
    records: u64,
}

impl Exporter {
    /// Starts an export to `path`; a file of that name is replaced at the end.
    ///
    /// # Errors
    /// The directory cannot be written, or `path` or `settings` do not suit the format.
    pub fn create(
        path: impl AsRef<Path>,
        format: Format,
        settings: &Settings,
    ) -> Result<Self, SinkError> {
        let path = path.as_ref();
        let exporter = |encoder| Self {
            path: path.to_path_buf(),
            format,
            threads: settings.threads,
            encoder: Some(encoder),
            counter: Counter::default(),
            records: 0,
        };
        match encoder(path, format, settings) {
            Ok(encoder) => Ok(exporter(encoder)),
            Err(Failure::Io(error)) => Err(StoreError::io(path, error).into()),
            Err(Failure::Unsupported(cause)) => Err(SinkError::Unsupported(format!(
                "{}: {cause}",
                path.display()
            ))),
        }
    }

    /// Ends the export: brings it onto the disk and gives it its name.
    ///
    /// # Errors
    /// A write failed, now or before, or the format cannot hold a trace as short as this; then there is no file.
    pub fn finish(mut self) -> Result<ExportSummary, SinkError> {
        let encoder = self.encoder.take().ok_or_else(|| self.given_up())?;
        let (outputs, records) = encoder
            .finish()
            .map_err(|failure| self.failed(failure, None))?;
        let files: Result<_, _> = outputs.into_iter().map(Output::finish).collect();
        let files = files.map_err(|error| self.failed(error.into(), None))?;
        let left_out = Kind::ALL.into_iter().zip(self.counter.events);
        let left_out = left_out
            .filter(|&(kind, events)| events > 0 && !self.format.keeps(kind))
            .map(|(kind, events)| KindCount { kind, events });
        Ok(ExportSummary {
            format: self.format,
            files,
            events: self.counter.events.iter().sum(),
            instructions: self.counter.instructions,
            warm_up_instructions: self.counter.warm_up_instructions,
            records: self.records + records,
            left_out: left_out.collect(),
            lost: self.format.losses_of(&self.counter, self.threads),
        })
    }

    fn failed(&self, failure: Failure, event: Option<u64>) -> SinkError {
        match failure {
            Failure::Io(error) => StoreError::io(&self.path, error).into(),
            Failure::Unsupported(cause) => {
                let place = event.map_or(String::new(), |event| format!("event {event}: "));
                SinkError::Unsupported(format!("{}: {place}{cause}", self.path.display()))
            }
        }
    }

    fn given_up(&self) -> SinkError {
        let path = self.path.display().to_string();
        StoreError::GivenUp { path }.into()
    }
}

impl EventSink for Exporter {
    fn consume(&mut self, events: &[Event]) -> Result<(), SinkError> {
        let Some(encoder) = &mut self.encoder else {
            return Err(self.given_up());
        };
        for (place, event) in (0..).zip(events) {
            match encoder.encode(event) {
                Ok(records) => self.records += records,
                Err(failure) => {
                    // Removes the temporary file at once: the disk may be full.
                    self.encoder = None;
                    let before: u64 = self.counter.events.iter().sum();
                    return Err(self.failed(failure, Some(before + place)));
                }
            }
        }
        self.counter.count(events);
        Ok(())
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Exporter");
        shown
            .field("path", &self.path)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// The writer of one format.
fn encoder(path: &Path, format: Format, settings: &Settings) -> Result<Box<dyn Encoder>, Failure> {
    let &Settings {
        line_bytes, timing, ..
    } = settings;
    let output = || match path.extension() {
        Some(suffix) if suffix == "xz" && format.needs_timing() => Err(Failure::Unsupported(
            "gem5 cannot read xz; choose a name that ends in .gz".to_owned(),
        )),
        _ => Ok(Output::create(path)?),
    };
    Ok(match format {
        Format::Din => Box::new(Din::new(output()?, line_bytes)),
        Format::Dramsim3 => Box::new(Dramsim3::new(output()?, line_bytes)),
        Format::Ramulator => Box::new(Ramulator::new(output()?, line_bytes)),
        Format::Ramulator1 => Box::new(Ramulator1::new(output()?, line_bytes)),
        Format::Champsim => Box::new(Champsim::new(output()?, line_bytes)),
        Format::Gem5Packet => {
            let timing = needed(timing)?;
            Box::new(Gem5Packet::new(output()?, line_bytes, &timing)?)
        }
        Format::Gem5Elastic => {
            let timing = needed(timing)?;
            let fetches = Output::create(&gem5_elastic::fetch_path(path))?;
            Box::new(Gem5Elastic::new(output()?, fetches, line_bytes, &timing)?)
        }
    })
}

fn needed(timing: Option<Timing>) -> Result<Timing, Failure> {
    timing.ok_or_else(|| {
        Failure::Unsupported("the format holds times, so a machine must be named".to_owned())
    })
}
