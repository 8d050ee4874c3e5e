//! Updates and deletions in a decomposed relation: records are listed first, and each value is found through its index.

use super::assign::Assigned;
use super::calls::Call;
use super::change::add;
use super::delete::log_record;
use super::dirty::Dirty;
use super::dsm_scan::{Fetcher, Finder, StoredDsm};
use super::filling::{Assignment, Filling};
use super::index_pages::IndexNodes;
use super::log_buffer::LogBuffer;
use super::predicate::Predicate;
use crate::page::dsm::{NUMBER, VALUE};
use crate::page::{Dsm, Page, PageFile, Record, RecordId};
use crate::tracer::Trace;

/// A decomposed relation to be changed, where it is in storage, and where lists of its records are kept.
#[derive(Debug)]
pub struct ChangedDsm<'r> {
    /// The relation.
    pub relation: &'r mut Dsm,
    /// Number of its first page among all pages in storage: the files lie one after the other.
    pub first_page: u64,
    /// Address of the list of record numbers.
    pub list: u64,
    /// Where its indexes are, as in [`StoredDsm`].
    pub index_nodes: IndexNodes,
}

impl ChangedDsm<'_> {
    /// As [`super::update`]: every attribute is changed in its own file.
    pub fn update<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        attributes: &[usize],
        summand: i64,
        log: &mut LogBuffer,
    ) -> u64 {
        self.change(
            trace,
            predicates,
            attributes,
            |relation, trace, found, _| {
                let (page, record) = found.place;
                trace.call(Call::UpdateAttribute as u16);
                let file = relation.file_mut(found.attribute);
                let mut column = file.column(trace, page, VALUE);
                add(file, trace, page, &mut column, record, summand, log);
            },
        )
    }

    /// As [`super::assign`]: a value that its page has no room for moves to another one of its attribute's file, and its entry in the
    /// index says so.
    pub fn assign<'s, T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        attributes: &[usize],
        mut next: impl FnMut() -> &'s [u8],
        log: &mut LogBuffer,
    ) -> Assigned {
        let mut filling = vec![Filling::new(); self.relation.schema().degree()];
        let mut moved = 0;
        let records = self.change(
            trace,
            predicates,
            attributes,
            |relation, trace, found, finder| {
                trace.call(Call::UpdateAttribute as u16);
                let (number, attribute) = (found.number, found.attribute);
                let (page, record) = found.place;
                let before = RecordId {
                    page: page.number(),
                    slot: record.slot,
                };
                let assignment = Assignment {
                    place: found.place,
                    attribute: VALUE,
                    string: next(),
                };
                let file = relation.file_mut(attribute);
                let stored = |page| finder.stored(attribute, page);
                let now = filling[attribute].assign(file, trace, &assignment, log, stored);
                if now != before {
                    relation.lead_to(trace, number, attribute, now, finder.nodes(attribute));
                    moved += 1;
                }
            },
        );
        for filling in filling {
            filling.write(trace);
        }
        Assigned { records, moved }
    }

    /// As [`super::delete`]: each value is deleted, and its entry in the index.
    pub fn delete<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        log: &mut LogBuffer,
    ) -> u64 {
        let all: Vec<usize> = (0..self.relation.schema().degree()).collect();
        self.change(trace, predicates, &all, |relation, trace, found, finder| {
            let (page, record) = found.place;
            trace.call(Call::DeleteRecord as u16);
            let file = relation.file(found.attribute);
            let columns = [NUMBER, VALUE].map(|place| file.column(trace, page, place));
            log_record(file, trace, page, &columns, record, log);
            let (number, attribute) = (found.number, found.attribute);
            let nodes = finder.nodes(attribute);
            relation.remove(trace, number, attribute, found.place, nodes);
        })
    }

    /// Lists the records that pass the predicates, and then changes `attributes` of each. Returns how many records that were.
    fn change<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        attributes: &[usize],
        mut change: impl FnMut(&mut Dsm, &mut T, Found, &mut Finder),
    ) -> u64 {
        let stored = StoredDsm {
            relation: &*self.relation,
            first_page: self.first_page,
            list: self.list,
            index_nodes: self.index_nodes,
        };
        let mut fetcher = Fetcher::new(stored);
        let list = stored.select(trace, &mut fetcher, predicates, 0);
        let mut finder = fetcher.into_finder();
        let mut dirty = Dirty::new(self.relation.schema().degree());
        for index in 0..list.numbers() {
            if trace.failed() {
                return index as u64;
            }
            let number = list.load(trace, index).value;
            trace.call(Call::LockRecord as u16);
            for &attribute in attributes {
                let place = finder.find(self.relation, trace, number, attribute);
                let found = Found {
                    number,
                    attribute,
                    place,
                };
                change(self.relation, trace, found, &mut finder);
                dirty.change(trace, attribute, finder.stored(attribute, place.0.number()));
            }
        }
        dirty.write(trace);
        finder.write_nodes(trace);
        list.numbers() as u64
    }
}

/// A value to be changed.
struct Found {
    number: u32,
    attribute: usize,
    place: (Page, Record),
}
