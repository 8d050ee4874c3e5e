//! Events on their way to the file: as columns, in the physical types of Parquet.

use crate::event::Event;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;
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
