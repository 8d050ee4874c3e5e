//! Turns events into the bytes of a trace file, on any output.

use crate::event::{Event, Kind};
use crate::layout::Layout;
use crate::rules::Rules;
use crate::store::columns::Columns;
use crate::store::error::StoreError;
use crate::store::format::{self, CONTENTS_KEY, Contents, GroupEntry, row_group_events};
use crate::store::info::{TraceInfo, TraceSummary};
use crate::store::seal::{self, SEAL_KEY};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Encodes a trace onto `output`. The Parquet library writes to memory only, one row group at a time, so that every
/// byte is checksummed and every failed write is reported as the system reported it.
pub(super) struct Encoder<W> {
    output: W,
    path: PathBuf,
    parquet: SerializedFileWriter<Vec<u8>>,
    rules: Rules,
    /// By thread.
    pending: Vec<Pending>,
    contents: Contents,
    /// The earliest version that has all kinds of events so far.
    version: u64,
    file_bytes: u64,
    /// What the events used of names that are given at the end; nothing if the names were given at the start.
    unnamed: Option<Used>,
}

/// What is known of a thread, and its events that are not yet in the file.
#[derive(Default)]
struct Pending {
    columns: Columns,
    events: u64,
    /// Its events up to the latest barrier, where there are other threads: nothing behind depends on what came before.
    met: u64,
}

/// The highest numbers among some events.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    site: u16,
    phase: u64,
}

impl Used {
    fn add(&mut self, event: &Event) {
        self.site = self.site.max(event.site);
        if event.kind == Kind::Mark {
            self.phase = self.phase.max(event.address);
        }
    }

    /// What `layout` does not name, in words.
    fn missing(self, layout: &Layout) -> Option<String> {
        let (sites, phases) = (layout.sites.len(), layout.phases.len());
        let named = usize::from(self.site) < sites && self.phase < phases as u64;
        (!named).then(|| {
            format!(
                "the events go up to site {} and phase {}, but the layout names {sites} sites and {phases} phases",
                self.site, self.phase
            )
        })
    }
}

impl<W: Write> Encoder<W> {
    /// Starts a trace; `path` is for messages only.
    pub(super) fn new(
        output: W,
        path: PathBuf,
        info: TraceInfo,
    ) -> std::result::Result<Self, StoreError> {
        if let Some(cause) = info.problem() {
            return Err(StoreError::Info {
                path: path.display().to_string(),
                cause,
            });
        }
        let parquet = start_parquet().map_err(|error| StoreError::encode(&path, error))?;
        let rules = Rules::new(&info.layout);
        let pending = (0..info.threads).map(|_| Pending::default()).collect();
        let contents = Contents {
            events: 0,
            instructions: 0,
            row_groups: Vec::new(),
            info,
        };
        let mut encoder = Self {
            output,
            path,
            parquet,
            rules,
            pending,
            contents,
            version: format::FIRST,
            file_bytes: 0,
            unnamed: None,
        };
        encoder.emit_pending_bytes()?;
        Ok(encoder)
    }

    /// Starts a trace whose sites and phases get their names before the end, by [`Encoder::info_mut`].
    pub(super) fn unnamed(
        output: W,
        path: PathBuf,
        info: TraceInfo,
    ) -> std::result::Result<Self, StoreError> {
        let mut encoder = Self::new(output, path, info)?;
        encoder.rules = Rules::unnamed();
        encoder.unnamed = Some(Used::default());
        Ok(encoder)
    }

    /// Starts the same trace again, after its output has been emptied by `empty`.
    pub(super) fn restart(
        self,
        empty: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> std::result::Result<Self, StoreError> {
        let (mut output, path, info) = (self.output, self.path, self.contents.info);
        empty(&mut output).map_err(|error| StoreError::io(&path, error))?;
        match self.unnamed {
            Some(_) => Self::unnamed(output, path, info),
            None => Self::new(output, path, info),
        }
    }

    pub(super) fn info_mut(&mut self) -> &mut TraceInfo {
        &mut self.contents.info
    }

    /// Takes the next events of a thread.
    ///
    /// # Panics
    /// If there is no such thread.
    pub(super) fn push(
        &mut self,
        thread: usize,
        events: &[Event],
    ) -> std::result::Result<(), StoreError> {
        let threads = self.contents.info.threads;
        for event in events {
            let pending = &mut self.pending[thread];
            let index = pending.events - pending.met;
            if !self.rules.allow(event, index) {
                let cause = self.rules.violation(event, index).unwrap_or_default();
                return Err(StoreError::Event {
                    path: self.path.display().to_string(),
                    event: pending.events,
                    cause,
                });
            }
            pending.events += 1;
            if threads > 1 && event.kind == Kind::Barrier {
                pending.met = pending.events;
            }
            if let Some(used) = &mut self.unnamed {
                used.add(event);
            }
            self.version = self.version.max(format::version_of(event));
            self.contents.events += 1;
            self.contents.instructions += u64::from(event.instructions) + event.own_instructions();
            pending.columns.push(event);
            if pending.columns.len() == row_group_events(threads) {
                self.end_group(thread)?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the footer; gives the output back.
    pub(super) fn finish(mut self) -> std::result::Result<(W, TraceSummary), StoreError> {
        let layout = &self.contents.info.layout;
        let wrong = |used: Used| layout.problem().or_else(|| used.missing(layout));
        if let Some(cause) = self.unnamed.and_then(wrong) {
            return Err(StoreError::Info {
                path: self.path.display().to_string(),
                cause,
            });
        }
        for thread in 0..self.pending.len() {
            if self.pending[thread].columns.len() > 0 {
                self.end_group(thread)?;
            }
        }
        let contents = serde_json::to_string(&self.contents)
            .map_err(|error| StoreError::encode(&self.path, error))?;
        self.parquet
            .append_key_value_metadata(KeyValue::new(CONTENTS_KEY.to_owned(), contents));
        self.parquet.append_key_value_metadata(KeyValue::new(
            SEAL_KEY.to_owned(),
            seal::blank(self.contents.version(self.version)),
        ));
        self.parquet
            .finish()
            .map_err(|error| StoreError::encode(&self.path, error))?;
        if !seal::close(self.parquet.inner_mut()) {
            return Err(StoreError::encode(
                &self.path,
                "the footer came out without its seal",
            ));
        }
        self.emit_pending_bytes()?;
        let summary = TraceSummary {
            events: self.contents.events,
            instructions: self.contents.instructions,
            row_groups: self.contents.row_groups.len(),
            file_bytes: self.file_bytes,
        };
        Ok((self.output, summary))
    }

    fn end_group(&mut self, thread: usize) -> std::result::Result<(), StoreError> {
        self.encode_group(thread)
            .map_err(|error| StoreError::encode(&self.path, error))?;
        let bytes = self.parquet.inner();
        self.contents.row_groups.push(GroupEntry {
            events: self.pending[thread].columns.len() as u64,
            bytes: bytes.len() as u64,
            crc32: crc32fast::hash(bytes),
            thread: thread as u32,
        });
        self.pending[thread].columns.clear();
        self.emit_pending_bytes()
    }

    fn encode_group(&mut self, thread: usize) -> Result<()> {
        let mut group = self.parquet.next_row_group()?;
        self.pending[thread].columns.write(&mut group)?;
        group.close()?;
        Ok(self.parquet.flush()?)
    }

    /// Moves what the Parquet library has written from memory to the output.
    fn emit_pending_bytes(&mut self) -> std::result::Result<(), StoreError> {
        let bytes = self.parquet.inner_mut();
        self.output
            .write_all(bytes)
            .map_err(|error| StoreError::io(&self.path, error))?;
        self.file_bytes += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }
}

fn start_parquet() -> Result<SerializedFileWriter<Vec<u8>>> {
    let mut parquet = SerializedFileWriter::new(
        Vec::new(),
        format::schema()?,
        Arc::new(format::properties()?),
    )?;
    parquet.flush()?;
    Ok(parquet)
}
