//! Scans and point queries of a relation in columns: records are put together one after the other, without an index.
//!
//! Either the files of all attributes that a query is about are scanned together, each from record to record, and
//! values are read of the records that are wanted. Or only the file of the first attribute is scanned so, and the other
//! values of a record are read at the place that its number says. A file's page is turned to when it is first needed.

use super::Reconstruction;
use super::calls::Call;
use super::point::lock;
use super::predicate::Predicate;
use super::scan::{OpenPage, Scan, Stored, loaded};
use crate::page::{Columns, Loaded, PageFile, Pax, Value};
use crate::tracer::{Dep, Trace};

/// Place of the only attribute of a column's file.
pub(super) const VALUE: usize = 0;

/// A relation in columns, and where it is in storage.
#[derive(Clone, Copy, Debug)]
pub struct StoredColumns<'f> {
    /// The relation.
    pub relation: &'f Columns,
    /// Number of its first page among all pages in storage: the files lie one after the other.
    pub first_page: u64,
    /// Whether all scans move together ([`Reconstruction::Merge`]) or one alone ([`Reconstruction::Position`]).
    pub reconstruction: Reconstruction,
}

impl<'f> StoredColumns<'f> {
    /// The file of each attribute.
    fn files(self) -> impl Iterator<Item = Stored<'f, Pax>> {
        let mut next = self.first_page;
        (0..self.relation.schema().degree()).map(move |attribute| {
            let file = self.relation.file(attribute);
            let first_page = next;
            next += u64::from(file.pages());
            Stored { file, first_page }
        })
    }

    /// The attributes whose files are gone through record by record, each once and the first one tested first.
    pub(super) fn moving(self, predicates: &[Predicate], project: &[usize]) -> Vec<usize> {
        let tested = predicates.iter().flat_map(Predicate::attributes);
        let mut moving = Vec::new();
        for attribute in tested.chain(project.iter().copied()) {
            if !moving.contains(&attribute) {
                moving.push(attribute);
            }
        }
        if self.reconstruction == Reconstruction::Position {
            // Any file tells which records there are.
            moving.truncate(1);
        }
        moving
    }
}

/// How far a scan is in each file.
pub(super) struct Cursors<'f> {
    relation: &'f Columns,
    pub(super) files: Vec<Stored<'f, Pax>>,
    open: Vec<Option<OpenPage<'f, Pax>>>,
}

impl<'f> Cursors<'f> {
    pub(super) fn new(stored: StoredColumns<'f>) -> Self {
        let files: Vec<_> = stored.files().collect();
        Self {
            relation: stored.relation,
            open: files.iter().map(|_| None).collect(),
            files,
        }
    }

    /// Turns to the page of a record, if it is not open; returns the page and the record's place in it.
    pub(super) fn turn_to<T: Trace>(
        &mut self,
        trace: &mut T,
        attribute: usize,
        number: u32,
    ) -> (&mut OpenPage<'f, Pax>, u32) {
        let id = self.relation.place(attribute, number);
        let open = &mut self.open[attribute];
        if open
            .as_ref()
            .is_none_or(|open| open.page.number() != id.page)
        {
            let Stored { file, first_page } = self.files[attribute];
            let stored = first_page + u64::from(id.page);
            *open = Some(OpenPage::turn(file, trace, id.page, stored));
        }
        (open.as_mut().expect("a page was turned to"), id.slot)
    }

    fn value<T: Trace>(
        &mut self,
        trace: &mut T,
        attribute: usize,
        number: u32,
    ) -> Loaded<Value<'f>> {
        let file = self.files[attribute].file;
        let (open, slot) = self.turn_to(trace, attribute, number);
        let record = file
            .record(trace, open.page, slot)
            .expect("columns keep every record");
        open.read(trace, record, VALUE)
    }

    /// Goes to a record in the files that are `moving`, and tells whether it passes every predicate.
    pub(super) fn passes<T: Trace>(
        &mut self,
        trace: &mut T,
        moving: &[usize],
        predicates: &[Predicate],
        number: u32,
    ) -> bool {
        for &attribute in moving {
            self.turn_to(trace, attribute, number);
            trace.call(Call::NextRecord as u16);
        }
        predicates.iter().all(|predicate| {
            predicate.holds(trace, |trace, wanted| self.value(trace, wanted, number))
        })
    }
}

impl<'f> Scan<'f> for StoredColumns<'f> {
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        mut take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        let mut cursors = Cursors::new(self);
        let moving = self.moving(predicates, project);
        let mut row = Vec::with_capacity(project.len());
        for number in 0..self.relation.records() {
            if trace.failed() {
                return;
            }
            if cursors.passes(trace, &moving, predicates, number) {
                row.clear();
                for &attribute in project {
                    row.push(cursors.value(trace, attribute, number));
                }
                take(trace, &row);
            }
        }
    }
}

/// As [`super::point`], from columns: a page of each file is fixed in the buffer pool, and no index is needed.
pub(crate) fn point_in_columns<'f, T: Trace>(
    stored: StoredColumns<'f>,
    trace: &mut T,
    number: u32,
    project: &[usize],
) -> Vec<Loaded<Value<'f>>> {
    let files: Vec<_> = stored.files().collect();
    lock(trace);
    let read = |&attribute: &usize| {
        let Stored { file, first_page } = files[attribute];
        let id = stored.relation.place(attribute, number);
        let frame = file.frames().frame(id.page);
        trace.page_read(first_page + u64::from(id.page), frame);
        trace.call(Call::FixPage as u16);
        let page = file.open(trace, id.page, Dep::NONE);
        let record = file
            .record(trace, page, id.slot)
            .expect("columns keep every record");
        trace.call(Call::ReadAttribute as u16);
        let mut column = file.column(trace, page, VALUE);
        loaded(file, trace, page, VALUE, &mut column, record)
    };
    project.iter().map(read).collect()
}
