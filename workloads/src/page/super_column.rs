//! Super tuples of columns (row- and column-store comparison, sections 2.1 and 3.1): a file of packed arrays per column.
//!
//! A column of the last level is an array of values; one of a level above is run-length encoded: each value with the
//! number of its rows. A scan prefetches from each column in turn, so many pages that all its columns fit the memory set
//! aside for that.

use super::abstraction::Levels;
use super::geometry::check_geometry;
use super::store::{Call, Store, check_fixed};
use super::{Frames, Geometry, PageSites, Schema, Type, Value, value};
use crate::tracer::{Dep, Token, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;

/// Place of the number of a page's values, 2 bytes.
pub(super) const COUNT: usize = 4;
/// Bytes of a page's own header: number and count.
const HEADER_BYTES: u32 = 6;
/// Bytes of the number of a value's rows.
const RUN_BYTES: usize = 4;

/// One column's file.
#[derive(Clone, Debug)]
struct ColumnFile {
    frames: Frames,
    kind: Type,
    value_bytes: usize,
    /// Whether values come with their number of rows.
    encoded: bool,
    /// Values of a full page.
    capacity: usize,
}

/// A column store of super tuples.
#[derive(Clone, Debug)]
pub struct SuperColumn {
    schema: Schema,
    levels: Levels,
    geometry: Geometry,
    prefetch_bytes: u64,
    files: Vec<ColumnFile>,
    sites: PageSites,
}

impl ColumnFile {
    fn entry_bytes(&self) -> usize {
        self.value_bytes + if self.encoded { RUN_BYTES } else { 0 }
    }

    fn count(&self, page: u32) -> usize {
        usize::from(u16::read(self.frames.page(page), COUNT))
    }

    fn append(&mut self, header: usize, value: Value) {
        let last = self.frames.count().checked_sub(1);
        let page = match last {
            Some(last) if self.count(last) < self.capacity => last,
            _ => {
                let page = self.frames.add();
                page.write(self.frames.page_mut(page), 0);
                page
            }
        };
        let count = self.count(page);
        let place = header + count * self.entry_bytes();
        let (kind, end) = (self.kind, place + self.value_bytes);
        let bytes = self.frames.page_mut(page);
        value.write(kind, &mut bytes[place..end]);
        (count as u16 + 1).write(bytes, COUNT);
    }

    /// One more row has the last value.
    fn extend(&mut self, header: usize) {
        let page = self.frames.count() - 1;
        let run = header + (self.count(page) - 1) * self.entry_bytes() + self.value_bytes;
        let bytes = self.frames.page_mut(page);
        (u32::read(bytes, run) + 1).write(bytes, run);
    }
}

impl SuperColumn {
    /// An empty store, whose scans prefetch into `prefetch_bytes` of memory.
    ///
    /// # Errors
    /// If a page has no room for a value, or one is not of fixed length.
    pub fn new(
        schema: Schema,
        levels: Levels,
        geometry: Geometry,
        prefetch_bytes: u64,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        check_fixed(&schema)?;
        let longest = schema
            .attributes()
            .iter()
            .map(|attribute| attribute.kind.most_bytes());
        check_geometry(
            geometry,
            HEADER_BYTES,
            longest.max().unwrap_or(0) + RUN_BYTES,
        )?;
        let files = schema
            .attributes()
            .iter()
            .enumerate()
            .map(|(number, attribute)| {
                let mut file = ColumnFile {
                    frames: Frames::new(geometry.page_bytes),
                    kind: attribute.kind,
                    value_bytes: attribute.kind.most_bytes(),
                    encoded: levels.level_of(number) < levels.leaf(),
                    capacity: 0,
                };
                file.capacity = geometry.usable_bytes() / file.entry_bytes();
                file
            });
        Ok(Self {
            files: files.collect(),
            schema,
            levels,
            geometry,
            prefetch_bytes,
            sites,
        })
    }

    /// Pages of each column.
    pub fn file_pages(&self) -> impl Iterator<Item = u32> {
        self.files.iter().map(|file| file.frames.count())
    }

    /// The pages of each column, to give them a place.
    pub fn frames_mut(&mut self) -> impl Iterator<Item = &mut Frames> {
        self.files.iter_mut().map(|file| &mut file.frames)
    }
}

/// A column being scanned.
struct Cursor<'s> {
    file: &'s ColumnFile,
    site: u16,
    /// Number of the file's first page among those of all columns.
    first_page: u64,
    /// Pages prefetched at once, and the first that is not there yet.
    prefetch_pages: u32,
    prefetched: u32,
    /// The next page, and the next value of the one before it, of `count`.
    next_page: u32,
    next: usize,
    count: usize,
    /// What brought `count`, and what brought `rows`.
    counted: Token,
    run: Token,
    /// Rows that still have the value.
    rows: u32,
    word: u64,
}

impl Cursor<'_> {
    fn turn<T: Trace>(&mut self, trace: &mut T, header: u16) {
        let page = self.next_page;
        if page == self.prefetched {
            let end = self.file.frames.count().min(page + self.prefetch_pages);
            for page in page..end {
                let frame = self.file.frames.frame(page);
                trace.page_read(self.first_page + u64::from(page), frame);
            }
            self.prefetched = end;
        }
        trace.call(Call::Iterate as u16);
        let frames = &self.file.frames;
        let framed = frames.framed(frames.fix(page));
        let count = framed.load::<u16, T>(trace, header, COUNT, Dep::NONE);
        self.count = count.value.into();
        self.counted = count.token;
        self.next = 0;
        self.next_page += 1;
    }

    /// Reads the value of the next row, if it is not the one of this row.
    #[inline]
    fn advance<T: Trace>(&mut self, trace: &mut T, header_bytes: usize, sites: PageSites) -> u64 {
        if self.file.encoded {
            trace.work(1);
            trace.branch(sites.run_length(), self.rows > 0, self.run.after(1));
        }
        if self.rows > 0 {
            self.rows -= 1;
            return self.word;
        }
        trace.work(1);
        let ends = self.next == self.count;
        trace.branch(sites.header(), ends, self.counted.after(1));
        if self.next == self.count {
            self.turn(trace, sites.header());
        }
        trace.call(Call::ColumnValue as u16);
        let page = self.next_page - 1;
        let place = header_bytes + self.next * self.file.entry_bytes();
        let frames = &self.file.frames;
        let framed = frames.framed(frames.fix(page));
        let bytes = place..place + self.file.value_bytes.min(8);
        let found = framed.load_bytes(trace, self.site, bytes, 1, Dep::NONE);
        self.word = value::word(self.file.kind, found.value);
        if self.file.encoded {
            let (site, run) = (sites.run_length(), place + self.file.value_bytes);
            let rows = framed.load::<u32, T>(trace, site, run, Dep::NONE);
            (self.rows, self.run) = (rows.value - 1, rows.token);
        }
        // The next value's place.
        trace.work(1);
        self.next += 1;
        self.word
    }

    fn is_at_end(&self) -> bool {
        self.rows == 0 && self.next == self.count && self.next_page == self.file.frames.count()
    }
}

impl Store for SuperColumn {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn append(&mut self, first_level: usize, row: &[Value]) {
        value::check(&self.schema, row);
        let header = self.geometry.header_bytes as usize;
        let first = self.levels.attributes(first_level).start;
        for (attribute, (file, value)) in self.files.iter_mut().zip(row).enumerate() {
            if attribute >= first {
                file.append(header, *value);
            }
            if file.encoded {
                file.extend(header);
            }
        }
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        columns: &[usize],
        mut take: impl FnMut(&mut T, &[u64]),
    ) {
        let page_bytes = u64::from(self.geometry.page_bytes);
        let share = self.prefetch_bytes / (page_bytes * columns.len().max(1) as u64);
        let mut cursors: Vec<Cursor> = columns
            .iter()
            .map(|&attribute| Cursor {
                file: &self.files[attribute],
                site: self.sites.attribute(attribute),
                first_page: self.files[..attribute]
                    .iter()
                    .map(|file| u64::from(file.frames.count()))
                    .sum(),
                prefetch_pages: u32::try_from(share).unwrap_or(u32::MAX / 2).max(1),
                prefetched: 0,
                next_page: 0,
                next: 0,
                count: 0,
                counted: Token::NONE,
                run: Token::NONE,
                rows: 0,
                word: 0,
            })
            .collect();
        let header = self.geometry.header_bytes as usize;
        let mut row = vec![0; columns.len()];
        while cursors.iter().any(|cursor| !cursor.is_at_end()) {
            for (value, cursor) in row.iter_mut().zip(&mut cursors) {
                *value = cursor.advance(trace, header, self.sites);
            }
            take(trace, &row);
            if trace.failed() {
                return;
            }
        }
    }

    fn pages(&self) -> u64 {
        self.files
            .iter()
            .map(|file| u64::from(file.frames.count()))
            .sum()
    }
}
