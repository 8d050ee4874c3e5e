//! The scan of a decomposed relation (PAX section 4.3).
//!
//! Each predicate is tested on its attribute's file from end to end, which leaves a list of the numbers of the records that pass it and all
//! before it. Projected values are found by their record number through the attribute's index.

use super::calls::Call;
use super::file_pages::FilePages;
use super::index_pages::IndexNodes;
use super::predicate::{Predicate, Test};
use super::scan::{OpenPage, Scan, Stored, loaded};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::dsm::{NUMBER, VALUE};
use crate::page::{Dsm, Loaded, NodesInPool, NodesOfIndex, Page, PageFile, Record, Value};
use crate::place::Place;
use crate::tracer::{Dep, Trace};

/// Bytes of a record number in the list.
const NUMBER_BYTES: u64 = 4;

/// A decomposed relation, where it is in storage, and where its scan keeps a list.
#[derive(Clone, Copy, Debug)]
pub struct StoredDsm<'f> {
    /// The relation.
    pub relation: &'f Dsm,
    /// Number of its first page among all pages in storage: the files lie one after the other, at the lengths that they have then.
    pub first_page: u64,
    /// Address of the list of record numbers.
    pub list: u64,
    /// Where its indexes are: in storage, their pages follow those of the files.
    pub index_nodes: IndexNodes,
}

impl StoredDsm<'_> {
    /// Number of the first page in storage behind the relation, with its indexes if they are there.
    pub(crate) fn end(self) -> u64 {
        Finder::new(self).pages.end()
    }

    /// Bytes of a list of so many record numbers.
    #[must_use]
    pub fn list_bytes(records: u64) -> u64 {
        records * NUMBER_BYTES
    }
}

/// Finds values by record number.
pub(super) struct Finder {
    /// Where the pages of the files are.
    pages: FilePages,
    /// The page of each file that was read last, which is still in the buffer pool.
    there: Vec<Option<u32>>,
    /// Of the indexes, if they are in storage, what is still in the buffer pool.
    nodes: Option<NodesInPool>,
}

impl Finder {
    fn new(stored: StoredDsm<'_>) -> Self {
        let degree = stored.relation.schema().degree();
        let counts = (0..degree).map(|attribute| stored.relation.file(attribute).pages());
        let mut pages = FilePages::new(stored.first_page, counts);
        let indexes = (0..degree).map(|attribute| stored.relation.record_index(attribute));
        let nodes = stored.index_nodes.of(indexes, pages.end());
        if let Some(nodes) = &nodes {
            pages.leave(nodes.end());
        }
        Self {
            pages,
            there: vec![None; degree],
            nodes,
        }
    }

    /// Number in storage of a page of an attribute's file.
    pub(super) fn stored(&mut self, attribute: usize, page: u32) -> u64 {
        self.pages.number(attribute, page)
    }

    /// Of the index of an attribute, if it is in storage, what is in the buffer pool.
    pub(super) fn nodes(&mut self, attribute: usize) -> Option<NodesOfIndex<'_>> {
        self.nodes.as_mut().map(|nodes| nodes.of(attribute))
    }

    /// Writes nodes of indexes that were changed and are still in the buffer pool.
    pub(super) fn write_nodes<T: Trace>(&mut self, trace: &mut T) {
        if let Some(nodes) = &mut self.nodes {
            nodes.write(trace);
        }
    }

    /// Finds a value; every page on the way, those of the index and that of the value, is fixed in the buffer pool.
    pub(super) fn find<T: Trace>(
        &mut self,
        relation: &Dsm,
        trace: &mut T,
        number: u32,
        attribute: usize,
    ) -> (Page, Record) {
        let (file, index) = (relation.file(attribute), relation.record_index(attribute));
        for _ in 0..index.levels() {
            trace.call(Call::FixPage as u16);
        }
        let found = match self.nodes(attribute) {
            Some(nodes) => index.find_stored(trace, number, nodes),
            None => index.find(trace, number),
        };
        let (id, dep) = found.expect("scans find numbers of records");
        if self.there[attribute].replace(id.page) != Some(id.page) {
            let stored = self.stored(attribute, id.page);
            trace.page_read(stored, file.frames().frame(id.page));
        }
        trace.call(Call::FixPage as u16);
        let page = file.open(trace, id.page, dep);
        let record = file
            .record(trace, page, id.slot)
            .expect("indexes lead to records");
        (page, record)
    }
}

/// Reads values by record number.
pub(crate) struct Fetcher<'f> {
    relation: &'f Dsm,
    finder: Finder,
}

impl<'f> Fetcher<'f> {
    pub(crate) fn new(stored: StoredDsm<'f>) -> Self {
        Self {
            relation: stored.relation,
            finder: Finder::new(stored),
        }
    }

    /// What finds values of the relation, to go on with where it is changed.
    pub(super) fn into_finder(self) -> Finder {
        self.finder
    }

    /// Finds and reads a value.
    pub(super) fn value<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        attribute: usize,
    ) -> Loaded<Value<'f>> {
        let (page, record) = self.finder.find(self.relation, trace, number, attribute);
        let file = self.relation.file(attribute);
        trace.call(Call::ReadAttribute as u16);
        let mut column = file.column(trace, page, VALUE);
        loaded(file, trace, page, VALUE, &mut column, record)
    }
}

/// The list of the records that are left.
pub(super) struct List {
    memory: Arena<Far>,
    numbers: usize,
}

impl List {
    /// An empty list with room for so many numbers.
    fn new(address: u64, records: u64) -> Self {
        Self {
            memory: Arena::of(address, StoredDsm::list_bytes(records)),
            numbers: 0,
        }
    }

    fn place(&self, index: usize) -> Place<u32> {
        Place::new(0, self.memory.segments()[0].base).element(index)
    }

    fn push<T: Trace>(&mut self, trace: &mut T, number: u32, dep: Dep) {
        let place = self.place(self.numbers);
        self.memory.store(trace, Site::List, place, number, dep);
        self.numbers += 1;
    }

    /// How many records are left.
    pub(super) fn numbers(&self) -> usize {
        self.numbers
    }

    pub(super) fn load<T: Trace>(&self, trace: &mut T, index: usize) -> Loaded<u32> {
        let place = self.place(index);
        self.memory.load(trace, Site::List, place, Dep::NONE)
    }
}

impl<'f> StoredDsm<'f> {
    /// Goes through the file of `attribute` and hands the numbers of the records that pass `predicate` to `take`.
    fn passing<T: Trace>(
        self,
        trace: &mut T,
        fetcher: &mut Fetcher<'f>,
        attribute: usize,
        predicate: Option<&Predicate>,
        mut take: impl FnMut(&mut T, Loaded<u32>),
    ) {
        let file = self.relation.file(attribute);
        for number in 0..file.pages() {
            if trace.failed() {
                return;
            }
            let stored = fetcher.finder.stored(attribute, number);
            let mut page = OpenPage::turn(file, trace, number, stored);
            page.select(trace, &[], |page, trace, record| {
                let passes = predicate.is_none_or(|predicate| {
                    predicate.holds(trace, |trace, wanted| {
                        if wanted == attribute {
                            return page.read(trace, record, VALUE);
                        }
                        let number = page.read(trace, record, NUMBER).value.int();
                        fetcher.value(trace, number as u32, wanted)
                    })
                });
                if passes {
                    let number = page.read(trace, record, NUMBER);
                    take(trace, number.map(|number| number.int() as u32));
                }
            });
        }
    }

    /// Lists the records that pass the predicates, each of which is tested on its attribute's file from end to end. Without any, the file of
    /// `spare` tells which records there are.
    pub(super) fn select<T: Trace>(
        self,
        trace: &mut T,
        fetcher: &mut Fetcher<'f>,
        predicates: &[Predicate],
        spare: usize,
    ) -> List {
        let (first, later) = predicates.split_at(predicates.len().min(1));
        let first = first.first();
        let attribute = first.map_or(spare, |predicate| predicate.attribute);
        let mut list = List::new(self.list, self.relation.records());
        self.passing(trace, fetcher, attribute, first, |trace, number| {
            list.push(trace, number.value, number.token.after(0));
        });
        for predicate in later {
            let mut merge = Merge::new(&mut list);
            let (attribute, predicate) = (predicate.attribute, Some(predicate));
            self.passing(trace, fetcher, attribute, predicate, |trace, number| {
                merge.keep(trace, number);
            });
        }
        list
    }
}

/// What is left of a list when the numbers that are kept come in their order: they are written over those that were read.
struct Merge<'l> {
    list: &'l mut List,
    listed: usize,
    read: usize,
    /// The number that was read last.
    head: Option<Loaded<u32>>,
    /// The number before.
    before: Option<u32>,
}

impl<'l> Merge<'l> {
    fn new(list: &'l mut List) -> Self {
        let listed = std::mem::take(&mut list.numbers);
        Self {
            list,
            listed,
            read: 0,
            head: None,
            before: None,
        }
    }

    /// Keeps a number, which is greater than the one before, if the list has it.
    ///
    /// # Panics
    /// If it is not: values of a decomposed relation lie in the order of their records.
    fn keep<T: Trace>(&mut self, trace: &mut T, number: Loaded<u32>) {
        assert!(self.before.replace(number.value) < Some(number.value));
        while self.is_behind(trace, number.value) {
            let more = self.read < self.listed;
            trace.branch(Site::ListEnds, more, Dep::NONE);
            if !more {
                return;
            }
            self.head = Some(self.list.load(trace, self.read));
            self.read += 1;
        }
        let listed = self.head.is_some_and(|head| head.value == number.value);
        trace.branch(Site::Listed, listed, number.token.after(1));
        if listed {
            self.list.push(trace, number.value, number.token.after(0));
        }
    }

    /// Whether the list is to be read on before a number is found in it or not.
    fn is_behind<T: Trace>(&self, trace: &mut T, number: u32) -> bool {
        let Some(head) = self.head else {
            return true;
        };
        let behind = head.value < number;
        trace.work(1);
        trace.branch(Site::List, behind, head.token.after(1));
        behind
    }
}

/// Whether a query is about one attribute: then it is a scan of its file, without a list.
fn concerns_only(attribute: usize, predicates: &[Predicate], project: &[usize]) -> bool {
    let tests_it = |predicate: &Predicate| {
        predicate.attribute == attribute && !matches!(predicate.test, Test::Below(_))
    };
    predicates.iter().all(tests_it) && project.iter().all(|&wanted| wanted == attribute)
}

impl<'f> Scan<'f> for StoredDsm<'f> {
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        mut take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        let mut fetcher = Fetcher::new(self);
        let attribute = predicates
            .first()
            .map_or(project[0], |first| first.attribute);
        if concerns_only(attribute, predicates, project) {
            let file = Stored {
                file: self.relation.file(attribute),
                first_page: fetcher.finder.stored(attribute, 0),
            };
            let own = |predicate: &Predicate| Predicate {
                attribute: VALUE,
                test: predicate.test.clone(),
            };
            let predicates: Vec<Predicate> = predicates.iter().map(own).collect();
            file.scan(trace, &predicates, &vec![VALUE; project.len()], take);
            return;
        }
        let list = self.select(trace, &mut fetcher, predicates, project[0]);
        let mut row = Vec::with_capacity(project.len());
        for index in 0..list.numbers {
            if trace.failed() {
                return;
            }
            let number = list.load(trace, index).value;
            row.clear();
            for &attribute in project {
                row.push(fetcher.value(trace, number, attribute));
            }
            take(trace, &row);
        }
    }
}
