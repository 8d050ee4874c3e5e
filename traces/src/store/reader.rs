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
use crate::turns::take_turns;
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

    /// The events of each thread from its start, in batches. What is read at the same time is a row group of each.
    pub fn threads(&self) -> Vec<Batches<'_>> {
        let of_threads = (0..self.contents.info.threads).map(|thread| Batches {
            reader: self,
            thread,
            group: None,
            next_group: 0,
            next_byte: PARQUET_MAGIC.len() as u64,
            next_event: 0,
            decoder: Decoder::new(),
            events: vec![Event::new(Kind::Flush, 0); BATCH_EVENTS],
        });
        of_threads.collect()
    }

    /// Hands all events to `take`, in order, [`BATCH_EVENTS`] or fewer at a time. Several threads take turns as on one core
    /// ([`TraceInfo::slice`]).
    ///
    /// # Errors
    /// The first error of `take`, or of the file.
    pub fn for_each_batch<E: From<StoreError>>(
        &self,
        mut take: impl FnMut(&[Event]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut threads = self.threads();
        if let [thread] = &mut threads[..] {
            while let Some(events) = thread.next_batch()? {
                take(events)?;
            }
            return Ok(());
        }
        let next = |thread: usize, events: &mut Vec<Event>| {
            events.extend_from_slice(threads[thread].next_batch()?.unwrap_or_default());
            Ok(())
        };
        let info = &self.contents.info;
        let turns = take_turns(info.threads as usize, info.slice, next, |_, events| {
            take(events)
        });
        turns?.map_err(|alone| StoreError::corrupt(&self.path, "events", alone).into())
    }

    /// The first `count` events, or all of them if there are fewer; of several threads, those of the first.
    ///
    /// # Errors
    /// The file is damaged in what is read for them.
    pub fn head(&self, count: usize) -> Result<Vec<Event>, StoreError> {
        let head = self.head_by_thread(count)?;
        Ok(head.into_iter().map(|(_, event)| event).collect())
    }

    /// As [`Reader::head`], each event with the number of its thread.
    ///
    /// # Errors
    /// The file is damaged in what is read for them.
    pub fn head_by_thread(&self, count: usize) -> Result<Vec<(usize, Event)>, StoreError> {
        let mut head = Vec::new();
        for (number, mut thread) in self.threads().into_iter().enumerate() {
            while head.len() < count {
                let Some(events) = thread.next_batch()? else {
                    break;
                };
                let wanted = events.iter().take(count - head.len());
                head.extend(wanted.map(|&event| (number, event)));
            }
        }
        Ok(head)
    }

    /// Reads a row group that begins at byte `start` and checks that it is as it was written.
    fn load_group(&self, index: usize, start: u64) -> Result<OpenGroup, StoreError> {
        let entry = self.contents.row_groups[index];
        // Who reads says where: threads of the trace read the file by turns.
        let mut file = &self.file;
        let io = |error| StoreError::io(&self.path, error);
        let corrupt =
            |cause: String| StoreError::corrupt(&self.path, format!("row group {index}"), cause);
        let mut bytes = Vec::with_capacity(entry.bytes as usize);
        file.seek(SeekFrom::Start(start)).map_err(io)?;
        file.take(entry.bytes).read_to_end(&mut bytes).map_err(io)?;
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

/// The events of a thread, a batch at a time; the buffers are used again for each batch.
pub struct Batches<'a> {
    reader: &'a Reader,
    thread: u32,
    group: Option<OpenGroup>,
    next_group: usize,
    next_byte: u64,
    next_event: u64,
    decoder: Decoder,
    events: Vec<Event>,
}

impl Batches<'_> {
    /// The next events, or nothing at the thread's end.
    ///
    /// # Errors
    /// The file is damaged, or holds a value that no event may have.
    pub fn next_batch(&mut self) -> Result<Option<&[Event]>, StoreError> {
        let group = match self.group.take() {
            Some(group) => Some(group),
            None => self.open_group()?,
        };
        let Some(mut group) = group else {
            return Ok(None);
        };
        let rows = BATCH_EVENTS.min(group.events - group.next_row);
        self.decode(&mut group, rows)?;
        if group.next_row < group.events {
            self.group = Some(group);
        }
        Ok(Some(&self.events[..rows]))
    }

    /// Opens the thread's next row group, if there is one.
    fn open_group(&mut self) -> Result<Option<OpenGroup>, StoreError> {
        let reader = self.reader;
        while let Some(entry) = reader.contents.row_groups.get(self.next_group) {
            let (index, start) = (self.next_group, self.next_byte);
            self.next_group += 1;
            self.next_byte += entry.bytes;
            if entry.thread == self.thread {
                self.decoder.next_group();
                return reader.load_group(index, start).map(Some);
            }
        }
        Ok(None)
    }

    fn decode(&mut self, group: &mut OpenGroup, rows: usize) -> Result<(), StoreError> {
        let Reader { path, rules, .. } = self.reader;
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
