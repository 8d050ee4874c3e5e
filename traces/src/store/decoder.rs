//! Turns the columns of a row group into events.

use crate::event::Event;
use crate::rules::Rules;
use crate::store::pages::GroupColumns;
use crate::store::row::{self, COLUMNS, Row};
use crate::store::shapes::{KEY_BITS, Shapes};
use parquet::errors::{ParquetError, Result};

/// Why rows are no events.
#[derive(Debug)]
pub(super) enum Fault {
    /// The columns cannot be read.
    Columns(ParquetError),
    /// A row, counted from the first that was asked for, holds no event.
    Row(usize, String),
}

impl From<ParquetError> for Fault {
    fn from(error: ParquetError) -> Self {
        Self::Columns(error)
    }
}

/// The buffers of decoding, used again for all row groups of a file.
pub(super) struct Decoder {
    /// How many bits of a key each column takes.
    widths: [u32; COLUMNS.len()],
    keys: Vec<u64>,
    /// The codes of each column, if all of a row's do not fit a key.
    codes: [Vec<u64>; COLUMNS.len()],
    addresses: Vec<u64>,
    shapes: Shapes,
}

impl Decoder {
    pub(super) fn new() -> Self {
        Self {
            widths: Default::default(),
            keys: Vec::new(),
            codes: Default::default(),
            addresses: Vec::new(),
            shapes: Shapes::new(),
        }
    }

    /// Prepares for the columns of another row group, where codes mean something else.
    pub(super) fn next_group(&mut self) {
        self.shapes.clear();
    }

    /// Fills `events` with the next rows, which are events `first`, `first + 1`, ... of the trace.
    pub(super) fn decode(
        &mut self,
        columns: &mut GroupColumns,
        rules: &Rules,
        first: u64,
        events: &mut [Event],
    ) -> std::result::Result<(), Fault> {
        let mut done = 0;
        while done < events.len() {
            let rows = columns.rows_at_hand()?.min(events.len() - done);
            let span = &mut events[done..done + rows];
            self.read(columns, rows)?;
            self.assemble(columns, rules, first + done as u64, span)
                .map_err(|fault| match fault {
                    Fault::Row(row, cause) => Fault::Row(done + row, cause),
                    fault => fault,
                })?;
            done += rows;
        }
        Ok(())
    }

    /// Reads the next `rows` rows, which are at hand.
    fn read(&mut self, columns: &mut GroupColumns, rows: usize) -> Result<()> {
        let widths = columns.coded.each_ref().map(|column| column.width());
        if widths != self.widths {
            self.widths = widths;
            self.shapes.clear();
        }
        self.addresses.resize(rows, 0);
        columns.address.read(&mut self.addresses);
        if self.keyed() {
            self.keys.clear();
            self.keys.resize(rows, 0);
            let mut shift = 0;
            for (column, width) in columns.coded.iter_mut().zip(widths) {
                column.join(&mut self.keys, shift)?;
                shift += width;
            }
        } else {
            for (column, codes) in columns.coded.iter_mut().zip(&mut self.codes) {
                codes.clear();
                codes.resize(rows, 0);
                column.join(codes, 0)?;
            }
        }
        Ok(())
    }

    /// Whether the codes of a row fit a key.
    fn keyed(&self) -> bool {
        self.widths.iter().sum::<u32>() <= KEY_BITS
    }

    fn assemble(
        &mut self,
        columns: &GroupColumns,
        rules: &Rules,
        first: u64,
        events: &mut [Event],
    ) -> std::result::Result<(), Fault> {
        let widths = self.widths;
        let decode = |key| {
            let row = columns.row(split(key, widths)).ok()?;
            row::event(row, 0).ok()
        };
        let rows = (&self.keys[..], &self.addresses[..]);
        if self.keyed() && self.shapes.assemble(rules, first, rows, events, decode) {
            return Ok(());
        }
        self.assemble_singly(columns, rules, first, events)
    }

    /// Looks at each row for itself: slower, but for rows that have no key, and exact about the first one that is wrong.
    fn assemble_singly(
        &self,
        columns: &GroupColumns,
        rules: &Rules,
        first: u64,
        events: &mut [Event],
    ) -> std::result::Result<(), Fault> {
        for (row, (event, index)) in events.iter_mut().zip(first..).enumerate() {
            let codes = if self.keyed() {
                split(self.keys[row], self.widths)
            } else {
                self.codes.each_ref().map(|codes| codes[row])
            };
            let values: Row = columns.row(codes)?;
            *event =
                row::event(values, self.addresses[row]).map_err(|cause| Fault::Row(row, cause))?;
            if !rules.allow(event, index) {
                let cause = rules.violation(event, index).unwrap_or_default();
                return Err(Fault::Row(row, cause));
            }
        }
        Ok(())
    }
}

/// The codes that make up `key`.
fn split(mut key: u64, widths: [u32; COLUMNS.len()]) -> [u64; COLUMNS.len()] {
    widths.map(|width| {
        let code = key & ((1 << width) - 1);
        key >>= width;
        code
    })
}
