//! Reads a trace file, in bounded memory.

use crate::event::{Event, Kind};
use crate::rules::Rules;
use crate::store::decoder::{Decoder, Fault};
use crate::store::error::StoreError;
use crate::store::format::{Contents, PARQUET_MAGIC};
use crate::store::group;
use crate::store::info::{TraceInfo, TraceSummary};
use crate::store::opening::{self, Opened};
use crate::store::pages::GroupColumns;
use parquet::file::metadata::ParquetMetaData;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Events decoded at a time: few enough to leave most of the second-level cache to whoever takes them.
pub const BATCH_EVENTS: usize = 1024;

/// A trace file, open for reading.
pub struct Reader {
    path: PathBuf,
    file: File,
    file_bytes: u64,
    parquet: ParquetMetaData,
    contents: Contents,
    rules: Rules,
}

impl Reader {
    /// Opens a trace and checks everything but its events.
    ///
    /// # Errors
    /// The file cannot be read, or it is empty, foreign, cut short, damaged or of a later version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_path_buf();
        let Opened {
            file,
            file_bytes,
            parquet,
            contents,
        } = opening::open(&path)?;
        let rules = Rules::new(&contents.info.layout);
        Ok(Self {
            path,
            file,
            file_bytes,
            parquet,
            contents,
            rules,
        })
    }

    /// Where the trace comes from and what its numbers mean.
    #[must_use]
    pub fn info(&self) -> &TraceInfo {
        &self.contents.info
    }

    /// How much the trace holds.
    #[must_use]
    pub fn summary(&self) -> TraceSummary {
        TraceSummary {
            events: self.contents.events,
            instructions: self.contents.instructions,
            row_groups: self.contents.row_groups.len(),
            file_bytes: self.file_bytes,
        }
    }

    /// The events from the start, in batches.
    pub fn batches(&mut self) -> Batches<'_> {
        Batches {
            next_group: 0,
            next_byte: PARQUET_MAGIC.len() as u64,
            group: None,
            next_event: 0,
            decoder: Decoder::new(),
            events: vec![Event::new(Kind::Flush, 0); BATCH_EVENTS],
            reader: self,
        }
    }

    /// Hands all events to `take`, in order, [`BATCH_EVENTS`] or fewer at a time.
    ///
    /// # Errors
    /// The first error of `take`, or of the file.
    pub fn for_each_batch<E: From<StoreError>>(
        &mut self,
        mut take: impl FnMut(&[Event]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batches = self.batches();
        while let Some(events) = batches.next_batch()? {
            take(events)?;
        }
        Ok(())
    }

    /// The first `count` events, or all of them if there are fewer.
    ///
    /// # Errors
    /// The file is damaged in what is read for them.
    pub fn head(&mut self, count: usize) -> Result<Vec<Event>, StoreError> {
        let mut head = Vec::new();
        let mut batches = self.batches();
        while head.len() < count {
            let Some(events) = batches.next_batch()? else {
                break;
            };
            head.extend_from_slice(&events[..events.len().min(count - head.len())]);
        }
        Ok(head)
    }

    /// Reads a row group that begins at byte `start` and checks that it is as it was written.
    fn load_group(&mut self, index: usize, start: u64) -> Result<OpenGroup, StoreError> {
        let entry = self.contents.row_groups[index];
        let io = |error| StoreError::io(&self.path, error);
        let corrupt =
            |cause: String| StoreError::corrupt(&self.path, format!("row group {index}"), cause);
        let mut bytes = Vec::with_capacity(entry.bytes as usize);
        self.file.seek(SeekFrom::Start(start)).map_err(io)?;
        Read::by_ref(&mut self.file)
            .take(entry.bytes)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        if bytes.len() as u64 != entry.bytes {
            return Err(corrupt(format!(
                "{} bytes instead of {}",
                bytes.len(),
                entry.bytes
            )));
        }
        if crc32fast::hash(&bytes) != entry.crc32 {
            return Err(corrupt("its checksum differs".to_owned()));
        }
        let columns = group::columns(self.parquet.row_group(index), start, bytes)
            .map_err(|error| corrupt(error.to_string()))?;
        Ok(OpenGroup {
            index,
            events: entry.events as usize,
            next_row: 0,
            columns,
        })
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Reader");
        shown.field("path", &self.path).finish_non_exhaustive()
    }
}

/// The row group being read.
struct OpenGroup {
    index: usize,
    events: usize,
    next_row: usize,
    columns: GroupColumns,
}

/// The events of a trace, a batch at a time; the buffers are used again for each batch.
pub struct Batches<'a> {
    reader: &'a mut Reader,
    group: Option<OpenGroup>,
    next_group: usize,
    next_byte: u64,
    next_event: u64,
    decoder: Decoder,
    events: Vec<Event>,
}

impl Batches<'_> {
    /// The next events, or nothing at the end of the trace.
    ///
    /// # Errors
    /// The file is damaged, or holds a value that no event may have.
    pub fn next_batch(&mut self) -> Result<Option<&[Event]>, StoreError> {
        let mut group = match self.group.take() {
            Some(group) => group,
            None if self.next_group == self.reader.contents.row_groups.len() => {
                return Ok(None);
            }
            None => self.open_group()?,
        };
        let rows = BATCH_EVENTS.min(group.events - group.next_row);
        self.decode(&mut group, rows)?;
        if group.next_row < group.events {
            self.group = Some(group);
        }
        Ok(Some(&self.events[..rows]))
    }

    fn open_group(&mut self) -> Result<OpenGroup, StoreError> {
        let group = self.reader.load_group(self.next_group, self.next_byte)?;
        self.next_byte += self.reader.contents.row_groups[self.next_group].bytes;
        self.next_group += 1;
        self.decoder.next_group();
        Ok(group)
    }

    fn decode(&mut self, group: &mut OpenGroup, rows: usize) -> Result<(), StoreError> {
        let Reader { path, rules, .. } = &*self.reader;
        let events = &mut self.events[..rows];
        self.decoder
            .decode(&mut group.columns, rules, self.next_event, events)
            .map_err(|fault| match fault {
                Fault::Columns(error) => {
                    StoreError::corrupt(path, format!("row group {}", group.index), error)
                }
                Fault::Row(row, cause) => StoreError::Value {
                    path: path.display().to_string(),
                    row_group: group.index,
                    row: group.next_row + row,
                    event: self.next_event + row as u64,
                    cause,
                },
            })?;
        group.next_row += rows;
        self.next_event += rows as u64;
        Ok(())
    }
}
