//! The data files that tables are loaded from (PAX section 7.1): text, a line for each record, as the benchmark's generator writes them.

use super::queries::ONE;
use super::{Table, for_each_record};
use crate::page::{Attribute, Schema, Type, Value};
use crate::tracer::{Dep, Trace};
use std::ops::Range;

/// A day, such as 1998-12-01.
const DAY_BYTES: usize = 10;
/// The point and the digits behind it of a decimal.
const HUNDREDTHS_BYTES: usize = 3;

/// A data file in storage, read from its beginning on, page by page into one buffer.
#[derive(Clone, Debug)]
pub(super) struct DataFile {
    site: u16,
    buffer: Range<u64>,
    first_page: u64,
    bytes_read: u64,
}

impl DataFile {
    /// The file at the beginning of storage. Its buffer has the addresses `buffer`, as many as a page has bytes.
    pub(super) fn new(buffer: Range<u64>, site: u16) -> Self {
        Self {
            site,
            buffer,
            first_page: 0,
            bytes_read: 0,
        }
    }

    /// Turns to another file, whose first page has number `first_page` in storage.
    pub(super) fn open(&mut self, first_page: u64) {
        (self.first_page, self.bytes_read) = (first_page, 0);
    }

    /// Reads the line of the next record: each character is loaded and looked at. Returns what brought the last ones.
    pub(super) fn read_line<T: Trace>(
        &mut self,
        trace: &mut T,
        schema: &Schema,
        record: &[Value<'_>],
    ) -> Dep {
        let mut read = Dep::NONE;
        let page_bytes = self.buffer.end - self.buffer.start;
        let mut left = line_bytes(schema, record) as u64;
        while left > 0 {
            let (page, offset) = (self.bytes_read / page_bytes, self.bytes_read % page_bytes);
            if offset == 0 {
                trace.page_read(self.first_page + page, self.buffer.clone());
            }
            let bytes = left.min(page_bytes - offset);
            let (address, characters) = (self.buffer.start + offset, bytes as u16);
            let token = trace.load(self.site, address, characters, characters, Dep::NONE);
            read = token.after(1);
            trace.work(characters.into());
            self.bytes_read += bytes;
            left -= bytes;
        }
        read
    }
}

/// Pages of the data file of a table.
pub(super) fn pages(table: Table, scale_factor: f64, page_bytes: u32) -> u64 {
    let (schema, mut bytes) = (table.schema(), 0);
    for_each_record(table, scale_factor, |record| {
        bytes += line_bytes(&schema, record) as u64;
    });
    bytes.div_ceil(page_bytes.into())
}

/// Bytes of the line of a record: a bar behind each value, and what ends the line.
fn line_bytes(schema: &Schema, record: &[Value<'_>]) -> usize {
    let value = |(attribute, value): (&Attribute, &Value<'_>)| {
        1 + match attribute.kind {
            Type::Int32 => integer_bytes(value.int()),
            // Sums of money, in hundredths.
            Type::Int64 => integer_bytes(value.int() / ONE) + HUNDREDTHS_BYTES,
            Type::Date => DAY_BYTES,
            Type::Float64 => unreachable!("no table has floating-point numbers"),
            Type::Fixed(_) | Type::Variable(_) => value.bytes().len(),
        }
    };
    schema
        .attributes()
        .iter()
        .zip(record)
        .map(value)
        .sum::<usize>()
        + 1
}

/// Digits of a number, and its sign if it has one.
fn integer_bytes(value: i64) -> usize {
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    digits as usize + usize::from(value < 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracer::Untraced;
    use tpchgen::generators::{LineItemGenerator, SupplierGenerator};

    fn bytes(table: Table) -> usize {
        let (schema, mut bytes) = (table.schema(), 0);
        for_each_record(table, 0.001, |record| bytes += line_bytes(&schema, record));
        bytes
    }

    fn written(lines: impl Iterator<Item = String>) -> (usize, usize) {
        lines.fold((0, 0), |(records, bytes), line| {
            (records + 1, bytes + line.len() + 1)
        })
    }

    /// The generator writes quantities as whole numbers, where the benchmark has a decimal. Some balances of suppliers are negative.
    #[test]
    fn lines_are_as_long_as_the_generators() {
        let suppliers = SupplierGenerator::new(0.001, 1, 1);
        let (_, expected) = written(suppliers.iter().map(|row| row.to_string()));
        assert_eq!(bytes(Table::Supplier), expected);
        let items = LineItemGenerator::new(0.001, 1, 1);
        let (records, expected) = written(items.iter().map(|row| row.to_string()));
        assert_eq!(
            bytes(Table::Lineitem),
            expected + records * HUNDREDTHS_BYTES
        );
    }

    #[test]
    fn a_file_has_the_pages_that_are_read() {
        let (table, page_bytes) = (Table::Region, 100);
        let mut file = DataFile::new(0..100, 0);
        let schema = table.schema();
        for_each_record(table, 0.001, |record| {
            file.read_line(&mut Untraced, &schema, record);
        });
        assert_eq!(
            pages(table, 0.001, page_bytes),
            file.bytes_read.div_ceil(100)
        );
    }
}
