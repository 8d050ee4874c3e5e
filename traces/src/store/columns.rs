//! Events as columns, in the physical types of Parquet.

use crate::event::{Event, Kind};
use crate::rules::Rules;
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReaderImpl, get_column_reader, get_typed_column_reader};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::SchemaDescriptor;
use std::io::Write;

/// One vector per column, all of one length.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) kind: Vec<i32>,
    pub(super) address: Vec<i64>,
    pub(super) size: Vec<i32>,
    pub(super) words: Vec<i32>,
    pub(super) instructions: Vec<i32>,
    pub(super) dep: Vec<i32>,
    pub(super) chain: Vec<i32>,
    pub(super) site: Vec<i32>,
}

impl Columns {
    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    pub(super) fn push(&mut self, event: &Event) {
        self.kind.push(event.kind as i32);
        self.address.push(event.address.cast_signed());
        self.size.push(i32::from(event.size));
        self.words.push(i32::from(event.words));
        self.instructions.push(i32::from(event.instructions));
        self.dep.push(event.dep.cast_signed());
        self.chain.push(i32::from(event.chain));
        self.site.push(i32::from(event.site));
    }

    pub(super) fn clear(&mut self) {
        self.address.clear();
        for column in self.narrow() {
            column.clear();
        }
    }

    fn narrow(&mut self) -> [&mut Vec<i32>; 7] {
        [
            &mut self.kind,
            &mut self.size,
            &mut self.words,
            &mut self.instructions,
            &mut self.dep,
            &mut self.chain,
            &mut self.site,
        ]
    }

    /// Writes the columns in the order of the schema.
    pub(super) fn write<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        write_column::<Int32Type, W>(group, &self.kind)?;
        write_column::<Int64Type, W>(group, &self.address)?;
        write_column::<Int32Type, W>(group, &self.size)?;
        write_column::<Int32Type, W>(group, &self.words)?;
        write_column::<Int32Type, W>(group, &self.instructions)?;
        write_column::<Int32Type, W>(group, &self.dep)?;
        write_column::<Int32Type, W>(group, &self.chain)?;
        write_column::<Int32Type, W>(group, &self.site)
    }

    /// Appends the rows to `events` as events `first`, `first + 1`, ... of the trace.
    ///
    /// Fails with the first row that holds no event, and says why.
    pub(super) fn decode(
        &self,
        rules: &Rules,
        first: u64,
        events: &mut Vec<Event>,
    ) -> std::result::Result<(), (usize, String)> {
        // One pass per column runs in vector registers; a single pass over all columns would not.
        let fit = below(&self.kind, Kind::ALL.len() as u32)
            && below(&self.size, 1 << u16::BITS)
            && below(&self.words, 1 << u16::BITS)
            && below(&self.instructions, 1 << u16::BITS)
            && below(&self.chain, 1 << u8::BITS)
            && below(&self.site, 1 << u16::BITS);
        let mut allowed = fit;
        if fit {
            let begin = events.len();
            self.assemble(events);
            for (event, index) in events[begin..].iter().zip(first..) {
                allowed &= rules.allow(event, index);
            }
        }
        if allowed {
            Ok(())
        } else {
            Err(self.fault(rules, first))
        }
    }

    /// Appends the rows, whose values fit, to `events`.
    fn assemble(&self, events: &mut Vec<Event>) {
        // Slices of one known length: no bounds check is left in the loop.
        let rows = self.len();
        let (kind, address, size) = (
            &self.kind[..rows],
            &self.address[..rows],
            &self.size[..rows],
        );
        let (words, instructions) = (&self.words[..rows], &self.instructions[..rows]);
        let (dep, chain, site) = (&self.dep[..rows], &self.chain[..rows], &self.site[..rows]);
        events.extend((0..rows).map(|row| Event {
            address: address[row].cast_unsigned(),
            dep: dep[row].cast_unsigned(),
            size: size[row] as u16,
            words: words[row] as u16,
            instructions: instructions[row] as u16,
            site: site[row] as u16,
            kind: Kind::from_number(kind[row] as u8).unwrap_or(Kind::Flush),
            chain: chain[row] as u8,
        }));
    }

    /// The first row that is no event, and why.
    fn fault(&self, rules: &Rules, first: u64) -> (usize, String) {
        let mut events = Vec::new();
        self.assemble(&mut events);
        (events.iter().zip(first..).enumerate())
            .find_map(|(row, (event, index))| {
                Some((
                    row,
                    self.misfit(row).or_else(|| rules.violation(event, index))?,
                ))
            })
            .unwrap_or_default()
    }

    /// Why a value of `row` does not fit the event's field, if one does not.
    fn misfit(&self, row: usize) -> Option<String> {
        let kind = self.kind[row];
        if usize::try_from(kind).map_or(true, |kind| kind >= Kind::ALL.len()) {
            return Some(format!(
                "unknown kind {kind}; the kinds are 0 to {}",
                Kind::ALL.len() - 1
            ));
        }
        let narrow = [
            ("size", self.size[row], i32::from(u16::MAX)),
            ("words", self.words[row], i32::from(u16::MAX)),
            ("instructions", self.instructions[row], i32::from(u16::MAX)),
            ("chain", self.chain[row], i32::from(u8::MAX)),
            ("site", self.site[row], i32::from(u16::MAX)),
        ];
        narrow
            .into_iter()
            .find(|(_, value, max)| !(0..=*max).contains(value))
            .map(|(name, value, max)| format!("{name} = {value}; it is 0 to {max}"))
    }
}

/// Whether all values are at least 0 and less than `end`.
fn below(column: &[i32], end: u32) -> bool {
    column
        .iter()
        .fold(true, |fit, value| fit & (value.cast_unsigned() < end))
}

fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<()> {
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("the schema has too few columns".to_owned()))?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

/// Reads the columns of one row group in step.
pub(super) struct ColumnReaders {
    kind: ColumnReaderImpl<Int32Type>,
    address: ColumnReaderImpl<Int64Type>,
    size: ColumnReaderImpl<Int32Type>,
    words: ColumnReaderImpl<Int32Type>,
    instructions: ColumnReaderImpl<Int32Type>,
    dep: ColumnReaderImpl<Int32Type>,
    chain: ColumnReaderImpl<Int32Type>,
    site: ColumnReaderImpl<Int32Type>,
}

impl ColumnReaders {
    /// Readers over `pages`, which gives the pages of a column by its index in the schema.
    pub(super) fn new(
        schema: &SchemaDescriptor,
        pages: impl Fn(usize) -> Result<Box<dyn PageReader>>,
    ) -> Result<Self> {
        let narrow = |column: usize| -> Result<ColumnReaderImpl<Int32Type>> {
            Ok(get_typed_column_reader(get_column_reader(
                schema.column(column),
                pages(column)?,
            )))
        };
        Ok(Self {
            kind: narrow(0)?,
            address: get_typed_column_reader(get_column_reader(schema.column(1), pages(1)?)),
            size: narrow(2)?,
            words: narrow(3)?,
            instructions: narrow(4)?,
            dep: narrow(5)?,
            chain: narrow(6)?,
            site: narrow(7)?,
        })
    }

    /// Replaces what `columns` holds by the next `rows` rows; fails if there are fewer.
    pub(super) fn read(&mut self, rows: usize, columns: &mut Columns) -> Result<()> {
        read_column(&mut self.kind, rows, "kind", &mut columns.kind)?;
        read_column(&mut self.address, rows, "address", &mut columns.address)?;
        read_column(&mut self.size, rows, "size", &mut columns.size)?;
        read_column(&mut self.words, rows, "words", &mut columns.words)?;
        read_column(
            &mut self.instructions,
            rows,
            "instructions",
            &mut columns.instructions,
        )?;
        read_column(&mut self.dep, rows, "dep", &mut columns.dep)?;
        read_column(&mut self.chain, rows, "chain", &mut columns.chain)?;
        read_column(&mut self.site, rows, "site", &mut columns.site)
    }
}

fn read_column<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    name: &str,
    values: &mut Vec<T::T>,
) -> Result<()> {
    values.clear();
    let (read, _, _) = reader.read_records(rows, None, None, values)?;
    if read == rows {
        Ok(())
    } else {
        Err(ParquetError::General(format!(
            "column `{name}` ends {} rows early",
            rows - read
        )))
    }
}
