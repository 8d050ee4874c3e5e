//! What to run on a relation, as data.

use super::limits::{ATTRIBUTES, BLOCK_BYTES, PAGE_BYTES, RECORDS, STRING_BYTES};
use crate::bounds::{OPERATIONS, SHARE, WORD_BYTES};
use crate::page::abstraction::Gen;
use crate::page::lines::{self, LinesPerRecord};
use crate::page::{Attribute, FullMinipage, Geometry, Schema, Type, columns, dsm};
use crate::query::{INDEX_FRAMES, IndexNodes, IndexPages, Order, Reconstruction};
use crate::schema::{applies, bytes, has_effect, parameters, required, takes};
use crate::validate::WorkloadError;
use crate::warm_up::{CacheState, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done to the relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableOperation {
    /// Selects records by a range and aggregates or returns attributes of theirs (PAX section 6.1); stores for reading
    /// return attributes of every row.
    Scan,
    /// Looks up random records by their number and returns attributes of theirs (PAX section 7.5).
    Point,
    /// Adds to attributes of the records that a range selects (PAX section 7.1), or gives them other strings (section 4.2).
    Update,
    /// Deletes the records that a range selects (PAX section 4.2).
    Delete,
    /// Copies blocks, which were read attribute by attribute, to their places in pages (Clotho section 7.2.1).
    Scatter,
}

impl TableOperation {
    /// Operations that look for records by predicates.
    const BY_RANGE: [Self; 3] = [Self::Scan, Self::Update, Self::Delete];
    /// Operations on some attributes of a record.
    const ON_ATTRIBUTES: [Self; 3] = [Self::Scan, Self::Point, Self::Update];
}

/// How records lie in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PageLayout {
    /// Contiguous records in slotted pages.
    Nsm,
    /// A minipage per attribute in each page.
    Pax,
    /// A file per attribute.
    Dsm,
    /// Slotted pages of a sorted relation that is only read.
    StandardRow,
    /// Super tuples of rows.
    SuperRow,
    /// Super tuples of columns.
    SuperColumn,
}

impl PageLayout {
    /// Layouts of records, which can be looked up and changed.
    const OF_RECORDS: [Self; 3] = [Self::Nsm, Self::Pax, Self::Dsm];
    /// Layouts of sorted relations that are filled once and then scanned.
    const STORES: [Self; 3] = [Self::StandardRow, Self::SuperRow, Self::SuperColumn];

    /// Whether it is one of the stores.
    #[must_use]
    pub fn is_store(self) -> bool {
        Self::STORES.contains(&self)
    }
}

/// Operations on a relation. Attributes are numbered from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct TableWorkload {
    /// What is done.
    #[schemars(transform = required)]
    pub operation: TableOperation,
    /// How records lie in pages.
    #[schemars(transform = required)]
    pub layout: PageLayout,
    /// How records of a relation in a file per attribute are put together.
    #[schemars(transform = has_effect("layout", vec![PageLayout::Dsm]))]
    pub reconstruction: Reconstruction,
    /// In which order scans of minipages test predicates: attribute by attribute, each for all records of a page that are left, or record by record.
    #[schemars(
        transform = has_effect("operation", vec![TableOperation::Scan]),
        transform = has_effect("layout", vec![PageLayout::Pax]),
    )]
    pub scan_order: Order,
    /// Where the nodes of indexes on record numbers are; they have the size of a page.
    #[schemars(transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()))]
    pub index_pages: IndexPages,
    /// Nodes of all indexes together that the buffer pool has frames for, replaced by CLOCK; 0 is two of each level of each index, those used last, and 1 is too few.
    #[schemars(transform = takes(INDEX_FRAMES), transform = has_effect("index_pages", vec![IndexPages::Stored]))]
    pub index_frames: u32,
    /// Size of a page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Bytes at the beginning of a page that hold no records: 12 at least, for what the page says of itself, or what `layout` needs.
    #[schemars(transform = bytes)]
    pub header_bytes: u32,
    /// Degree of the relation, whose attributes are numbered from 1.
    #[schemars(transform = takes(ATTRIBUTES))]
    pub attributes: u32,
    /// Size of every attribute that is no string.
    #[schemars(transform = bytes, transform = takes(WORD_BYTES))]
    pub attribute_bytes: u32,
    /// Attributes that a record may have no value of, by their numbers.
    #[schemars(transform = takes(ATTRIBUTES), transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()))]
    pub nullable: Vec<u32>,
    /// Share of the values of these attributes that are missing.
    #[schemars(transform = takes(SHARE), transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()))]
    pub nulls: f64,
    /// Attributes that are strings of variable length, by their numbers.
    #[schemars(transform = takes(ATTRIBUTES), transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()))]
    pub strings: Vec<u32>,
    /// The longest string; lengths are from 1 byte on, each as often.
    #[schemars(transform = bytes, transform = takes(STRING_BYTES), transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()))]
    pub string_bytes: u32,
    /// The longest string after an update, which gives other lengths, from 1 byte on.
    #[schemars(
        transform = bytes,
        transform = takes(STRING_BYTES),
        transform = has_effect("operation", vec![TableOperation::Update]),
        transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()),
    )]
    pub updated_string_bytes: u32,
    /// What becomes of a minipage without room for a string that grows.
    #[schemars(
        transform = has_effect("operation", vec![TableOperation::Update]),
        transform = has_effect("layout", vec![PageLayout::Pax]),
    )]
    pub full_minipage: FullMinipage,
    /// Records, or rows.
    #[schemars(transform = required, transform = takes(RECORDS))]
    pub records: u64,
    /// Attributes in a row with a predicate; the first selects, the others hold for every value.
    #[schemars(
        transform = takes(ATTRIBUTES),
        transform = has_effect("operation", TableOperation::BY_RANGE.to_vec()),
        transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()),
    )]
    pub predicates: u32,
    /// Attribute of the first predicate.
    #[schemars(
        transform = takes(ATTRIBUTES),
        transform = has_effect("operation", TableOperation::BY_RANGE.to_vec()),
        transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()),
    )]
    pub first_predicate: u32,
    /// Share of the records with a value of its attribute that the first predicate selects, in steps of 1/200,000, as there are so many values.
    #[schemars(
        transform = takes(SHARE),
        transform = has_effect("operation", TableOperation::BY_RANGE.to_vec()),
        transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()),
    )]
    pub selectivity: f64,
    /// Attributes in a row that are read, or changed by an update.
    #[schemars(
        transform = takes(ATTRIBUTES),
        transform = has_effect("operation", TableOperation::ON_ATTRIBUTES.to_vec()),
    )]
    pub projected: u32,
    /// The first of these.
    #[schemars(
        transform = takes(ATTRIBUTES),
        transform = has_effect("operation", TableOperation::ON_ATTRIBUTES.to_vec()),
    )]
    pub first_projected: u32,
    /// Whether a scan sums up the numbers that it reads, or returns what it reads.
    #[schemars(
        transform = has_effect("operation", vec![TableOperation::Scan]),
        transform = has_effect("layout", PageLayout::OF_RECORDS.to_vec()),
    )]
    pub aggregate: bool,
    /// How many point queries.
    #[schemars(transform = takes(OPERATIONS), transform = has_effect("operation", vec![TableOperation::Point]))]
    pub point_queries: u64,
    /// Size of a block of storage; a page has groups of one block of each attribute.
    #[schemars(transform = bytes, transform = takes(BLOCK_BYTES), transform = has_effect("operation", vec![TableOperation::Scatter]))]
    pub block_bytes: u32,
    /// Tuples of each level of column abstraction under a tuple of the level above; one level if empty.
    #[schemars(transform = takes(RECORDS), transform = has_effect("layout", PageLayout::STORES.to_vec()))]
    pub abstraction: Vec<u64>,
    /// Attributes of each level of column abstraction.
    #[schemars(transform = takes(ATTRIBUTES), transform = has_effect("layout", PageLayout::STORES.to_vec()))]
    pub level_attributes: Vec<u32>,
    /// Memory that a scan prefetches into, shared by its columns.
    #[schemars(transform = bytes, transform = has_effect("layout", vec![PageLayout::SuperColumn]))]
    pub prefetch_bytes: u64,
    /// What the operations find in the caches; an operation is a point query, or a scan, update or deletion that goes through the whole relation.
    pub caches: CacheState,
    /// Operations before the measurement; before an update or a deletion they are scans of what it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WarmUp", transform = applies("caches", vec![CacheState::Warm]))]
    pub warm_up: Option<WarmUp>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for TableWorkload {
    fn default() -> Self {
        Self {
            operation: TableOperation::Scan,
            layout: PageLayout::Nsm,
            reconstruction: Reconstruction::default(),
            scan_order: Order::default(),
            index_pages: IndexPages::default(),
            index_frames: 0,
            page_bytes: 8192,
            header_bytes: 32,
            attributes: 8,
            attribute_bytes: 8,
            nullable: Vec::new(),
            nulls: 0.0,
            strings: Vec::new(),
            string_bytes: 32,
            updated_string_bytes: 32,
            full_minipage: FullMinipage::default(),
            records: 50_000,
            predicates: 1,
            first_predicate: 1,
            selectivity: 0.1,
            projected: 1,
            first_projected: 1,
            aggregate: true,
            point_queries: 10_000,
            block_bytes: 512,
            abstraction: Vec::new(),
            level_attributes: Vec::new(),
            prefetch_bytes: 256 << 20,
            caches: CacheState::Empty,
            warm_up: None,
            seed: 1,
        }
    }
}

impl TableWorkload {
    /// Where the nodes of its indexes are.
    pub(super) fn index_nodes(&self) -> IndexNodes {
        IndexNodes {
            pages: self.index_pages,
            frames: self.index_frames,
        }
    }

    /// Attributes of integers, or of strings.
    pub(super) fn schema(&self) -> Schema {
        let kind = if self.attribute_bytes == 4 {
            Type::Int32
        } else {
            Type::Int64
        };
        let string = Type::Variable(self.string_bytes.max(self.updated_string_bytes) as u16);
        let attribute = |number: u32| {
            let kind = if self.strings.contains(&number) {
                string
            } else {
                kind
            };
            let plain = Attribute::new(format!("a{number}"), kind);
            if self.nullable.contains(&number) {
                plain.nullable()
            } else {
                plain
            }
        };
        Schema::new((1..=self.attributes).map(attribute).collect())
    }

    pub(super) fn geometry(&self) -> Geometry {
        Geometry {
            page_bytes: self.page_bytes,
            header_bytes: self.header_bytes,
        }
    }

    /// Places of the attributes with a predicate.
    pub(super) fn tested(&self) -> Vec<usize> {
        run(self.first_predicate, self.predicates)
    }

    /// Places of the attributes that are read or changed: all, where records are deleted.
    pub(super) fn wanted(&self) -> Vec<usize> {
        if self.operation == TableOperation::Delete {
            return run(1, self.attributes);
        }
        run(self.first_projected, self.projected)
    }

    /// Whether records are found through an index on their numbers.
    pub(super) fn has_index(&self) -> bool {
        match self.layout {
            PageLayout::Nsm | PageLayout::Pax => self.operation == TableOperation::Point,
            PageLayout::Dsm => self.reconstruction == Reconstruction::Index,
            PageLayout::StandardRow | PageLayout::SuperRow | PageLayout::SuperColumn => false,
        }
    }

    /// Whether an attribute is a string.
    pub(super) fn is_string(&self, attribute: usize) -> bool {
        self.strings.contains(&(attribute as u32 + 1))
    }

    /// Whether strings are changed.
    pub(super) fn changes_strings(&self) -> bool {
        self.operation == TableOperation::Update
            && self
                .wanted()
                .into_iter()
                .any(|wanted| self.is_string(wanted))
    }

    /// Lines per record that a scan touches if no record is selected, or all rows of a store without column abstraction are
    /// read: a closed form of the page format.
    ///
    /// # Errors
    /// If values may be missing or vary in length: there is none then.
    pub fn scan_lines(&self, line_bytes: usize) -> Result<LinesPerRecord, WorkloadError> {
        for (name, numbers) in [("nullable", &self.nullable), ("strings", &self.strings)] {
            if !numbers.is_empty() {
                let message = "lines have a closed form where every record has all values, each of one length; it must be empty";
                return Err(WorkloadError::new(name, message));
            }
        }
        let (schema, page) = (self.schema(), self.geometry());
        let tested = &self.tested()[..1];
        let lines = match self.layout {
            PageLayout::Nsm => lines::nsm_scan(&schema, page, tested, line_bytes),
            PageLayout::Pax => lines::pax_scan(&schema, page, tested, line_bytes),
            PageLayout::Dsm => {
                let attribute = &schema.attributes()[tested[0]];
                match self.reconstruction {
                    Reconstruction::Index => {
                        let file = dsm::sub_relation(attribute);
                        lines::nsm_scan(&file, page, &[dsm::VALUE], line_bytes)
                    }
                    Reconstruction::Merge | Reconstruction::Position => {
                        lines::pax_scan(&columns::column(attribute), page, &[0], line_bytes)
                    }
                }
            }
            PageLayout::StandardRow => lines::nsm_scan(&schema, page, &self.wanted(), line_bytes),
            PageLayout::SuperRow => {
                lines::super_row_scan(&schema, page, &self.wanted(), line_bytes)
            }
            PageLayout::SuperColumn => {
                lines::super_column_scan(&schema, page, &self.wanted(), line_bytes)
            }
        };
        Ok(lines)
    }

    /// The rows of a store for reading.
    pub(super) fn generated(&self) -> Gen {
        if self.abstraction.is_empty() {
            return Gen {
                tuples: vec![self.records],
                attributes: vec![self.attributes as usize],
            };
        }
        let attributes = self.level_attributes.iter();
        Gen {
            tuples: self.abstraction.clone(),
            attributes: attributes.map(|&count| count as usize).collect(),
        }
    }
}

/// Places of `count` attributes from number `first` on.
fn run(first: u32, count: u32) -> Vec<usize> {
    (first as usize - 1..).take(count as usize).collect()
}
