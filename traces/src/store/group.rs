//! One row group, from its bytes in the file to its pages.

use crate::store::pages::GroupColumns;
use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::Cursor;
use std::sync::Arc;

/// The columns of the row group whose `bytes` begin at byte `start` of the file.
pub(super) fn columns(
    metadata: &RowGroupMetaData,
    start: u64,
    bytes: Vec<u8>,
) -> Result<GroupColumns> {
    let bytes = bytes.into();
    let bytes = Arc::new(GroupBytes { start, bytes });
    let rows = usize::try_from(metadata.num_rows())?;
    GroupColumns::new(|name| -> Result<Box<dyn PageReader>> {
        let mut columns = metadata.columns().iter();
        let column = columns
            .find(|column| column.column_descr().name() == name)
            .ok_or_else(|| ParquetError::General(format!("no column `{name}`")))?;
        let bytes = Arc::clone(&bytes);
        let pages = SerializedPageReader::new(bytes, column, rows, None)?;
        Ok(Box::new(pages))
    })
}

/// The bytes of one row group, addressed as in the file.
struct GroupBytes {
    start: u64,
    bytes: Bytes,
}

impl GroupBytes {
    fn at(&self, position: u64) -> Result<usize> {
        let offset = position
            .checked_sub(self.start)
            .map(|offset| offset as usize);
        offset
            .filter(|offset| *offset <= self.bytes.len())
            .ok_or_else(|| ParquetError::EOF(format!("byte {position} is outside the row group")))
    }
}

impl Length for GroupBytes {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for GroupBytes {
    type T = Cursor<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(Cursor::new(self.bytes.slice(self.at(start)?..)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let begin = self.at(start)?;
        let end = self.at(start.saturating_add(length as u64))?;
        Ok(self.bytes.slice(begin..end))
    }
}
