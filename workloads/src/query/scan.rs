//! The sequential scan with sargable predicates, on pages that hold whole records (PAX section 4.3).

use super::calls::Call;
use super::predicate::Predicate;
use crate::page::{Column, Loaded, Nsm, Page, PageFile, Pax, Record, Type, Value};
use crate::tracer::{Dep, Token, Trace};
use crate::validate::WorkloadError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order a scan tests the records of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One record after the other, each to its end: what suits records in one piece.
    Records,
    /// One attribute after the other, each for all records that are left: what suits minipages.
    #[default]
    Attributes,
}

impl Order {
    /// Checks that there is a choice.
    ///
    /// # Errors
    /// For an order that is not the default where minipages are not scanned.
    pub(crate) fn validate(self, scans_minipages: bool) -> Result<(), WorkloadError> {
        if scans_minipages || self == Self::default() {
            return Ok(());
        }
        let message = "the choice is that of queries that scan `pax`; it must be `attributes`";
        Err(WorkloadError::new("scan_order", message))
    }
}

/// A file in the order that its pages are scanned in.
pub trait ScanOrder: PageFile {
    /// The order.
    const ORDER: Order;
}

impl ScanOrder for Nsm {
    const ORDER: Order = Order::Records;
}

impl ScanOrder for Pax {
    const ORDER: Order = Order::Attributes;
}

/// A table's file, and where it is in storage.
#[derive(Debug)]
pub struct Stored<'f, F> {
    /// The file.
    pub file: &'f F,
    /// Number of its first page among all pages in storage.
    pub first_page: u64,
}

impl<F> Clone for Stored<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Stored<'_, F> {}

impl<F> Stored<'_, F> {
    /// The file, to be scanned in an order that is not its own.
    pub(crate) fn in_order(self, order: Order) -> InOrder<Self> {
        InOrder {
            stored: self,
            order,
        }
    }
}

/// A stored file whose scans have an order of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder<S> {
    pub(crate) stored: S,
    order: Order,
}

/// A page being scanned: its columns are looked up when they are first needed.
pub(super) struct OpenPage<'f, F> {
    file: &'f F,
    pub(super) page: Page,
    columns: Vec<Option<Column>>,
}

impl<'f, F: ScanOrder> OpenPage<'f, F> {
    /// Turns to page `number` of the file, which is page `stored` in storage.
    pub(super) fn turn<T: Trace>(file: &'f F, trace: &mut T, number: u32, stored: u64) -> Self {
        trace.page_read(stored, file.frames().frame(number));
        trace.call(Call::NextPage as u16);
        Self {
            file,
            page: file.open(trace, number, Dep::NONE),
            columns: vec![None; file.schema().degree()],
        }
    }

    /// The next record of the scan; `None` if it was deleted.
    #[inline]
    pub(super) fn record<T: Trace>(&self, trace: &mut T, slot: u32) -> Option<Record> {
        trace.call(Call::NextRecord as u16);
        self.file.record(trace, self.page, slot)
    }

    /// An attribute's values in this page.
    #[inline]
    pub(super) fn column<T: Trace>(&mut self, trace: &mut T, attribute: usize) -> &mut Column {
        let (file, page) = (self.file, self.page);
        self.columns[attribute].get_or_insert_with(|| file.column(trace, page, attribute))
    }

    /// Reads a value of a record.
    #[inline]
    pub(super) fn read<T: Trace>(
        &mut self,
        trace: &mut T,
        record: Record,
        attribute: usize,
    ) -> Loaded<Value<'f>> {
        trace.call(Call::ReadAttribute as u16);
        let (file, page) = (self.file, self.page);
        let column = self.column(trace, attribute);
        loaded(file, trace, page, attribute, column, record)
    }

    /// Whether a record passes every predicate; the first that fails is the last tried.
    #[inline]
    fn passes<T: Trace>(
        &mut self,
        trace: &mut T,
        record: Record,
        predicates: &[Predicate],
    ) -> bool {
        predicates.iter().all(|predicate| {
            predicate.holds(trace, |trace, attribute| {
                self.read(trace, record, attribute)
            })
        })
    }

    /// Hands every record that passes to `take`, in the order of the page.
    pub(super) fn select<T: Trace>(
        &mut self,
        trace: &mut T,
        predicates: &[Predicate],
        take: impl FnMut(&mut Self, &mut T, Record),
    ) {
        self.select_in(F::ORDER, trace, predicates, take);
    }

    /// As [`Self::select`]; what is tested when is said by `order`.
    fn select_in<T: Trace>(
        &mut self,
        order: Order,
        trace: &mut T,
        predicates: &[Predicate],
        mut take: impl FnMut(&mut Self, &mut T, Record),
    ) {
        let slots = 0..self.page.slots;
        if order == Order::Records {
            for slot in slots {
                if let Some(record) = self.record(trace, slot)
                    && self.passes(trace, record, predicates)
                {
                    take(self, trace, record);
                }
            }
            return;
        }
        let (first, later) = predicates.split_at(predicates.len().min(1));
        let mut left = Vec::with_capacity(slots.len());
        for slot in slots {
            if let Some(record) = self.record(trace, slot)
                && self.passes(trace, record, first)
            {
                left.push(record);
            }
        }
        for predicate in later.chunks(1) {
            left.retain(|&record| self.passes(trace, record, predicate));
        }
        for record in left {
            take(self, trace, record);
        }
    }
}

/// A relation that can be scanned, however it is stored.
pub trait Scan<'f>: Copy {
    /// Hands the projected values of every record that passes the predicates to `take`, in the order of the file.
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    );
}

impl<'f, F: ScanOrder> Scan<'f> for Stored<'f, F> {
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        self.in_order(F::ORDER)
            .scan(trace, predicates, project, take);
    }
}

impl<'f, F: ScanOrder> Scan<'f> for InOrder<Stored<'f, F>> {
    fn scan<T: Trace>(
        self,
        trace: &mut T,
        predicates: &[Predicate],
        project: &[usize],
        mut take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        let Stored { file, first_page } = self.stored;
        let mut row = Vec::with_capacity(project.len());
        for number in 0..file.pages() {
            if trace.failed() {
                return;
            }
            let stored = first_page + u64::from(number);
            let mut page = OpenPage::turn(file, trace, number, stored);
            page.select_in(self.order, trace, predicates, |page, trace, record| {
                row.clear();
                for &attribute in project {
                    row.push(page.read(trace, record, attribute));
                }
                take(trace, &row);
            });
        }
    }
}

/// Reads a value of any type, and keeps what brought it.
#[inline]
pub(super) fn loaded<'f, F: PageFile, T: Trace>(
    file: &'f F,
    trace: &mut T,
    page: Page,
    attribute: usize,
    column: &mut Column,
    record: Record,
) -> Loaded<Value<'f>> {
    let absent = Loaded {
        value: Value::Null,
        token: Token::NONE,
    };
    match file.schema().attributes()[attribute].kind {
        Type::Fixed(_) | Type::Variable(_) => file
            .bytes(trace, page, column, record)
            .map(|found| found.map(Value::Bytes)),
        Type::Float64 => file
            .float(trace, page, column, record)
            .map(|found| found.map(Value::Float)),
        Type::Int32 | Type::Int64 | Type::Date => file
            .int(trace, page, column, record)
            .map(|found| found.map(Value::Int)),
    }
    .unwrap_or(absent)
}
