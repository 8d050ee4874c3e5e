//! Super tuples of rows (row- and column-store comparison, section 2.1): a page is one packed array of tuples.
//!
//! With column abstraction the array is nested: a tuple of a level above the last is followed by the number of its tuples
//! on the level below, then by these. A group that does not end with its page goes on in the next, which begins with the
//! tuples that it belongs to: each page can be read on its own.

use super::abstraction::Levels;
use super::framed::Framed;
use super::geometry::check_geometry;
use super::row_store::{Wanted, by_level};
use super::store::{Call, Store, check_fixed};
use super::{Frames, Geometry, Loaded, PageSites, Schema, Value, value};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;

/// Place of the number of the page's tuples of the first level, 2 bytes.
pub(super) const COUNT: usize = 4;
/// Bytes of a page's own header: number and count.
const HEADER_BYTES: u32 = 6;
/// Bytes of the number of tuples in a group: a page holds fewer than 2^16.
const RUN_BYTES: usize = 2;

/// A row store of super tuples.
#[derive(Clone, Debug)]
pub struct SuperRow {
    schema: Schema,
    levels: Levels,
    geometry: Geometry,
    frames: Frames,
    sites: PageSites,
    /// Offset of each attribute in its level's tuple.
    offsets: Vec<usize>,
    /// Bytes of the values of each level's tuple.
    value_bytes: Vec<usize>,
    /// Free space of the last page begins here.
    end: usize,
    /// Where the last page counts the tuples of each level's open group.
    counts: Vec<usize>,
}

impl SuperRow {
    /// An empty store.
    ///
    /// # Errors
    /// If a page has no room for a row, or a value is not of fixed length.
    pub fn new(
        schema: Schema,
        levels: Levels,
        geometry: Geometry,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        check_fixed(&schema)?;
        let row = schema.fixed_bytes() + levels.leaf() * RUN_BYTES;
        check_geometry(geometry, HEADER_BYTES, row)?;
        let (mut offsets, mut value_bytes) = (Vec::new(), Vec::new());
        for level in 0..levels.count() {
            let mut offset = 0;
            for attribute in &schema.attributes()[levels.attributes(level)] {
                offsets.push(offset);
                offset += attribute.kind.most_bytes();
            }
            value_bytes.push(offset);
        }
        Ok(Self {
            frames: Frames::new(geometry.page_bytes),
            end: geometry.page_bytes as usize,
            counts: vec![COUNT; levels.count()],
            schema,
            levels,
            geometry,
            sites,
            offsets,
            value_bytes,
        })
    }

    /// The pages, to give them a place.
    pub fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    /// Bytes of a tuple with the number of the tuples under it.
    fn tuple_bytes(&self, level: usize) -> usize {
        let run = if level < self.levels.leaf() {
            RUN_BYTES
        } else {
            0
        };
        self.value_bytes[level] + run
    }

    /// Writes the tuples of a row from level `first` on at the end of the last page.
    fn write(&mut self, first: usize, row: &[Value]) {
        let bytes = self.frames.page_mut(self.frames.count() - 1);
        for level in first..self.levels.count() {
            let count = self.counts[level];
            (u16::read(bytes, count) + 1).write(bytes, count);
            for attribute in self.levels.attributes(level) {
                let kind = self.schema.attributes()[attribute].kind;
                let start = self.end + self.offsets[attribute];
                row[attribute].write(kind, &mut bytes[start..start + kind.most_bytes()]);
            }
            self.end += self.value_bytes[level];
            if level < self.levels.leaf() {
                self.counts[level + 1] = self.end;
                self.end += RUN_BYTES;
            }
        }
    }
}

/// A page being read.
struct Reading<'s> {
    page: Framed<'s>,
    /// What comes next.
    place: usize,
    wanted: &'s [Vec<Wanted>],
    row: Vec<u64>,
}

impl SuperRow {
    /// Reads the `count` tuples of a group and what is under them. Whether there is another one shows once their number is there.
    fn read<T: Trace>(
        &self,
        trace: &mut T,
        reading: &mut Reading<'_>,
        level: usize,
        count: Loaded<u16>,
        take: &mut impl FnMut(&mut T, &[u64]),
    ) {
        for tuple in 0..count.value {
            let is_leaf = level == self.levels.leaf();
            if is_leaf {
                trace.call(Call::ColumnValue as u16);
            }
            for column in &reading.wanted[level] {
                let kind = self.schema.attributes()[column.attribute].kind;
                let offset = reading.place + self.offsets[column.attribute];
                let place = offset..offset + kind.most_bytes().min(8);
                let site = self.sites.attribute(column.attribute);
                let value = reading.page.load_bytes(trace, site, place, 1, Dep::NONE);
                reading.row[column.position] = value::word(kind, value.value);
            }
            reading.place += self.value_bytes[level];
            if is_leaf {
                take(trace, &reading.row);
            } else {
                let (site, place) = (self.sites.run_length(), reading.place);
                let below = reading.page.load(trace, site, place, Dep::NONE);
                reading.place += RUN_BYTES;
                self.read(trace, reading, level + 1, below, take);
            }
            // Next tuple's address, count down.
            trace.work(2);
            let more = tuple + 1 < count.value;
            trace.branch(self.sites.run_length(), more, count.token.after(1));
        }
    }
}

impl Store for SuperRow {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn append(&mut self, first_level: usize, row: &[Value]) {
        value::check(&self.schema, row);
        let needed: usize = (first_level..self.levels.count())
            .map(|level| self.tuple_bytes(level))
            .sum();
        if self.end + needed <= self.geometry.page_bytes as usize {
            self.write(first_level, row);
            return;
        }
        let page = self.frames.add();
        page.write(self.frames.page_mut(page), 0);
        self.end = self.geometry.header_bytes as usize;
        self.write(0, row);
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        columns: &[usize],
        mut take: impl FnMut(&mut T, &[u64]),
    ) {
        let wanted = by_level(&self.levels, columns);
        let mut row = vec![0; columns.len()];
        for page in 0..self.frames.count() {
            if trace.failed() {
                return;
            }
            trace.page_read(u64::from(page), self.frames.frame(page));
            trace.call(Call::Iterate as u16);
            let page = self.frames.framed(self.frames.fix(page));
            let count = page.load(trace, self.sites.header(), COUNT, Dep::NONE);
            let mut reading = Reading {
                page,
                place: self.geometry.header_bytes as usize,
                wanted: &wanted,
                row,
            };
            self.read(trace, &mut reading, 0, count, &mut take);
            row = reading.row;
        }
    }

    fn pages(&self) -> u64 {
        u64::from(self.frames.count())
    }
}
