//! The standard row store, with column abstraction or without: slotted pages, a record for every tuple of every level.

use super::abstraction::Levels;
use super::geometry::check_geometry;
use super::nsm_format::{RecordFormat, SLOT_BYTES, TAG_BYTES, header};
use super::store::{Call, Store};
use super::{Frames, Geometry, PageSites, Schema, Value, value};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;
use crate::word::Word;

/// Place of the record's type in its tag: here the level, from 1.
const LEVEL: usize = 4;

/// One level's records.
#[derive(Clone, Debug)]
struct LevelFormat {
    schema: Schema,
    format: RecordFormat,
}

/// A row store; tuples of all levels follow each other in the order of the sort.
#[derive(Clone, Debug)]
pub struct RowStore {
    schema: Schema,
    levels: Levels,
    formats: Vec<LevelFormat>,
    geometry: Geometry,
    frames: Frames,
    sites: PageSites,
    records: u32,
}

impl RowStore {
    /// An empty store.
    ///
    /// # Errors
    /// If a page has no room for the longest record.
    pub fn new(
        schema: Schema,
        levels: Levels,
        geometry: Geometry,
        sites: PageSites,
    ) -> Result<Self, WorkloadError> {
        super::store::check_fixed(&schema)?;
        let format = |level| {
            let schema = Schema::new(schema.attributes()[levels.attributes(level)].to_vec());
            let format = RecordFormat::new(&schema);
            LevelFormat { schema, format }
        };
        let formats: Vec<LevelFormat> = (0..levels.count()).map(format).collect();
        let longest = formats.iter().map(|level| level.format.stride(0)).max();
        check_geometry(geometry, header::BYTES, longest.unwrap_or(0) + SLOT_BYTES)?;
        Ok(Self {
            frames: Frames::new(geometry.page_bytes),
            schema,
            levels,
            formats,
            geometry,
            sites,
            records: 0,
        })
    }

    /// The pages, to give them a place.
    pub fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    /// Records of all levels.
    #[must_use]
    pub fn records(&self) -> u32 {
        self.records
    }

    fn field(&self, page: u32, field: usize) -> usize {
        usize::from(u16::read(self.frames.page(page), field))
    }

    /// A page that has room for a record and its slot.
    fn page_for(&mut self, stride: usize) -> u32 {
        if let Some(last) = self.frames.count().checked_sub(1) {
            let slots = self.field(last, header::SLOTS) + 1;
            let end = self.field(last, header::FREE_START) + stride;
            if end + slots * SLOT_BYTES <= self.frames.page_bytes() {
                return last;
            }
        }
        let page = self.frames.add();
        let bytes = self.frames.page_mut(page);
        page.write(bytes, header::NUMBER);
        (self.geometry.header_bytes as u16).write(bytes, header::FREE_START);
        page
    }

    fn slot_place(&self, slot: usize) -> usize {
        self.frames.page_bytes() - (slot + 1) * SLOT_BYTES
    }
}

/// A column that a scan reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Its place among the columns of the scan.
    pub(super) position: usize,
    pub(super) attribute: usize,
}

/// The columns of a scan, by level.
pub(super) fn by_level(levels: &Levels, columns: &[usize]) -> Vec<Vec<Wanted>> {
    let mut wanted = vec![Vec::new(); levels.count()];
    for (position, &attribute) in columns.iter().enumerate() {
        wanted[levels.level_of(attribute)].push(Wanted {
            position,
            attribute,
        });
    }
    wanted
}

impl Store for RowStore {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn append(&mut self, first_level: usize, row: &[Value]) {
        value::check(&self.schema, row);
        for level in first_level..self.levels.count() {
            let stride = self.formats[level].format.stride(0);
            let page = self.page_for(stride);
            let start = self.field(page, header::FREE_START);
            let slots = self.field(page, header::SLOTS);
            let slot = self.slot_place(slots);
            let LevelFormat { schema, format } = &self.formats[level];
            let bytes = self.frames.page_mut(page);
            let record = &mut bytes[start..start + stride];
            let values = &row[self.levels.attributes(level)];
            format.write(schema, values, self.records, record);
            (level as u16 + 1).write(record, LEVEL);
            (start as u16).write(bytes, slot);
            (stride as u16).write(bytes, slot + 2);
            (slots as u16 + 1).write(bytes, header::SLOTS);
            ((start + stride) as u16).write(bytes, header::FREE_START);
            self.records += 1;
        }
    }

    fn scan<T: Trace>(
        &self,
        trace: &mut T,
        columns: &[usize],
        mut take: impl FnMut(&mut T, &[u64]),
    ) {
        let wanted = by_level(&self.levels, columns);
        let (leaf, sites) = (self.levels.leaf(), self.sites);
        let mut row = vec![0; columns.len()];
        for page in 0..self.frames.count() {
            if trace.failed() {
                return;
            }
            trace.page_read(u64::from(page), self.frames.frame(page));
            let framed = self.frames.framed(self.frames.fix(page));
            let count = framed.load::<u16, T>(trace, sites.header(), header::SLOTS, Dep::NONE);
            let slots = usize::from(count.value);
            for slot in 0..slots {
                trace.call(Call::Iterate as u16);
                // Address of the slot, then the slot.
                let place = self.slot_place(slot);
                trace.work(2);
                let (site, place) = (sites.slot(), place..place + SLOT_BYTES);
                let found = framed.load_bytes(trace, site, place, 1, Dep::NONE);
                let record = usize::from(u16::read(found.value, 0));
                let dep = found.token.after(1);
                let level = if leaf == 0 {
                    0
                } else {
                    // Which level is it?
                    let tag = framed.load::<u16, T>(trace, sites.tag(), record + LEVEL, dep);
                    let level = usize::from(tag.value) - 1;
                    trace.work(1);
                    trace.branch(sites.tag(), level == leaf, tag.token.after(1));
                    level
                };
                let LevelFormat { schema, format } = &self.formats[level];
                let first = self.levels.attributes(level).start;
                if level == leaf {
                    trace.call(Call::ColumnValue as u16);
                }
                for column in &wanted[level] {
                    let own = column.attribute - first;
                    let kind = schema.attributes()[own].kind;
                    let offset = record + format.place(own);
                    debug_assert!(offset >= record + TAG_BYTES);
                    let place = offset..offset + kind.most_bytes().min(8);
                    let site = sites.attribute(column.attribute);
                    let value = framed.load_bytes(trace, site, place, 1, dep);
                    row[column.position] = value::word(kind, value.value);
                }
                if level == leaf {
                    take(trace, &row);
                }
                trace.work(1);
                trace.branch(sites.slot(), slot + 1 < slots, count.token.after(1));
            }
        }
    }

    fn pages(&self) -> u64 {
        u64::from(self.frames.count())
    }
}
