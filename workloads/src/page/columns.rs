//! A decomposed relation whose files have their values in the same order: a record is where its number says.
//!
//! Each attribute has a file of pages with a single minipage, so that nothing is kept beside the values: the tight form
//! of the decomposition storage model (Clotho section 7.1).

use super::value::check;
use super::{Attribute, Frames, Geometry, PageFile, PageSites, Pax, PaxOptions, RecordId};
use super::{Schema, Source, Value};
use crate::tracer::{Dep, Trace};
use crate::validate::WorkloadError;

/// A relation stored column by column. Records are numbered from 0 in the order of their insertion.
#[derive(Clone, Debug)]
pub struct Columns {
    schema: Schema,
    files: Vec<Pax>,
    /// Number of the first record of each page, by attribute. For values of fixed length it is the page's number times
    /// the values of a page; for others it stands for a list that the storage manager has at hand.
    firsts: Vec<Vec<u32>>,
    records: u32,
}

/// The relation of one attribute.
pub(crate) fn column(attribute: &Attribute) -> Schema {
    Schema::new(vec![attribute.clone()])
}

impl Columns {
    /// A relation without records, whose sites are those of [`PageSites::names`] from `first_site` on.
    ///
    /// # Errors
    /// If a page has no room for the longest value.
    pub fn new(schema: Schema, geometry: Geometry, first_site: u16) -> Result<Self, WorkloadError> {
        let file = |(number, attribute): (u16, &Attribute)| {
            let sites = PageSites::apart(first_site, first_site + PageSites::PARTS + number);
            Pax::new(column(attribute), geometry, PaxOptions::default(), sites)
        };
        let files = (0..).zip(schema.attributes()).map(file);
        Ok(Self {
            files: files.collect::<Result<_, _>>()?,
            firsts: vec![Vec::new(); schema.degree()],
            schema,
            records: 0,
        })
    }

    /// Adds a record.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    pub fn add<T: Trace>(&mut self, trace: &mut T, values: &[Value]) {
        self.add_from(trace, values, Source::registers(Dep::NONE));
    }

    /// Adds a record whose values are copied from where they are.
    ///
    /// # Panics
    /// If the values are not those of the schema.
    pub fn add_from<T: Trace>(&mut self, trace: &mut T, values: &[Value], from: Source) {
        check(&self.schema, values);
        let mut before = 0;
        let files = self.files.iter_mut().zip(&mut self.firsts);
        for ((file, firsts), (attribute, &value)) in
            files.zip(self.schema.attributes().iter().zip(values))
        {
            let bytes = attribute.kind.bytes_of(value);
            let from = from.part(before, bytes);
            before += bytes;
            let id = file.insert_from(trace, &[value], from);
            if id.page as usize == firsts.len() {
                firsts.push(self.records);
            }
        }
        self.records += 1;
    }

    /// The attributes.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Records there are.
    #[must_use]
    pub fn records(&self) -> u32 {
        self.records
    }

    /// The file of an attribute, which is the only one of its schema.
    #[must_use]
    pub fn file(&self, attribute: usize) -> &Pax {
        &self.files[attribute]
    }

    /// The file of an attribute, to change its values in place.
    pub(crate) fn file_mut(&mut self, attribute: usize) -> &mut Pax {
        &mut self.files[attribute]
    }

    /// The pages of each file, to give them their places.
    pub fn frames_mut(&mut self) -> impl Iterator<Item = &mut Frames> {
        self.files.iter_mut().map(PageFile::frames_mut)
    }

    /// Where the value of a record is in the file of an attribute.
    ///
    /// # Panics
    /// If there is no such record.
    #[must_use]
    pub fn place(&self, attribute: usize, number: u32) -> RecordId {
        assert!(number < self.records, "the record exists");
        let firsts = &self.firsts[attribute];
        let page = firsts.partition_point(|&first| first <= number) - 1;
        RecordId {
            page: page as u32,
            slot: number - firsts[page],
        }
    }
}
