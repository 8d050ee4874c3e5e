//! The columns of one row group, page by page: codes and addresses in step.

use crate::store::hybrid::Hybrid;
use crate::store::row::{COLUMNS, Row};
use bytes::Bytes;
use multiversion::multiversion;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};

/// The columns of a row group.
pub(super) struct GroupColumns {
    pub(super) coded: [CodedColumn; COLUMNS.len()],
    pub(super) address: AddressColumn,
}

impl GroupColumns {
    /// The columns whose pages `pages` gives by the column's name.
    pub(super) fn new(pages: impl Fn(&str) -> Result<Box<dyn PageReader>>) -> Result<Self> {
        let address = AddressColumn::new(pages(AddressColumn::NAME)?);
        let coded = |name| Ok::<_, ParquetError>(CodedColumn::new(name, pages(name)?));
        let [kind, size, words, instructions, dep, chain, site] = COLUMNS.map(coded);
        Ok(Self {
            coded: [kind?, size?, words?, instructions?, dep?, chain?, site?],
            address,
        })
    }

    /// Rows until the page of any column ends, at least 1.
    pub(super) fn rows_at_hand(&mut self) -> Result<usize> {
        let mut rows = self.address.rows_at_hand()?;
        for column in &mut self.coded {
            rows = rows.min(column.rows_at_hand()?);
        }
        Ok(rows)
    }

    /// The values that the codes of a row stand for.
    pub(super) fn row(&self, codes: [u64; COLUMNS.len()]) -> Result<Row> {
        let mut row = Row::default();
        for ((value, column), code) in row.iter_mut().zip(&self.coded).zip(codes) {
            *value = column.value(code)?;
        }
        Ok(row)
    }
}

/// A column of few distinct values, which are read as codes.
pub(super) struct CodedColumn {
    name: &'static str,
    pages: Box<dyn PageReader>,
    /// The value of each code, if the codes are not the values.
    dictionary: Vec<i32>,
    page: CodedPage,
    rows_left: usize,
}

enum CodedPage {
    /// Codes into the dictionary.
    Dictionary(Hybrid),
    /// The values themselves, four bytes each: where the dictionary grew too large.
    Plain(Bytes),
}

impl CodedColumn {
    pub(super) fn new(name: &'static str, pages: Box<dyn PageReader>) -> Self {
        Self {
            name,
            pages,
            dictionary: Vec::new(),
            page: CodedPage::Plain(Bytes::new()),
            rows_left: 0,
        }
    }

    /// Rows until the page ends, at least 1; opens the next page if there is none left.
    pub(super) fn rows_at_hand(&mut self) -> Result<usize> {
        while self.rows_left == 0 {
            match next_page(&mut *self.pages, self.name)? {
                Page::DictionaryPage { buf, .. } if self.dictionary.is_empty() => {
                    self.dictionary = integers(&buf).collect();
                }
                Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    ..
                } => {
                    self.rows_left = num_values as usize;
                    self.page = self.open(buf, encoding)?;
                }
                _ => return Err(unknown(self.name)),
            }
        }
        Ok(self.rows_left)
    }

    fn open(&self, page: Bytes, encoding: Encoding) -> Result<CodedPage> {
        match encoding {
            Encoding::RLE_DICTIONARY => {
                let codes = Hybrid::new(page)?;
                if codes.width() > self.dictionary_width() {
                    return Err(unknown(self.name));
                }
                Ok(CodedPage::Dictionary(codes))
            }
            Encoding::PLAIN if page.len() == self.rows_left * size_of::<i32>() => {
                Ok(CodedPage::Plain(page))
            }
            _ => Err(unknown(self.name)),
        }
    }

    fn dictionary_width(&self) -> u32 {
        let last = self.dictionary.len().saturating_sub(1);
        usize::BITS - last.leading_zeros()
    }

    /// Bits that hold any code of this page, and of every page that is coded alike.
    pub(super) fn width(&self) -> u32 {
        match self.page {
            CodedPage::Dictionary(_) => self.dictionary_width(),
            CodedPage::Plain(_) => u32::BITS,
        }
    }

    /// Joins the codes of the next rows, which are at hand, to `keys`: moved up by `shift` bits, with a bitwise or.
    pub(super) fn join(&mut self, keys: &mut [u64], shift: u32) -> Result<()> {
        self.rows_left -= keys.len();
        match &mut self.page {
            CodedPage::Dictionary(codes) => codes.join(keys, shift),
            CodedPage::Plain(page) => {
                let values = page.split_to(keys.len() * size_of::<i32>());
                for (key, value) in keys.iter_mut().zip(integers(&values)) {
                    *key |= u64::from(value.cast_unsigned()) << shift;
                }
                Ok(())
            }
        }
    }

    /// The value that `code` stands for.
    pub(super) fn value(&self, code: u64) -> Result<i32> {
        match self.page {
            CodedPage::Dictionary(_) => {
                let value = self.dictionary.get(code as usize).copied();
                value.ok_or_else(|| unknown(self.name))
            }
            CodedPage::Plain(_) => Ok((code as u32).cast_signed()),
        }
    }
}

fn integers(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| i32::from_le_bytes(*bytes))
}

/// The column of addresses: pages of one stream per byte, of which the lowest comes first.
pub(super) struct AddressColumn {
    pages: Box<dyn PageReader>,
    page: Bytes,
    rows: usize,
    next_row: usize,
}

impl AddressColumn {
    const NAME: &str = "address";

    pub(super) fn new(pages: Box<dyn PageReader>) -> Self {
        Self {
            pages,
            page: Bytes::new(),
            rows: 0,
            next_row: 0,
        }
    }

    /// Rows until the page ends, at least 1; opens the next page if there is none left.
    pub(super) fn rows_at_hand(&mut self) -> Result<usize> {
        while self.next_row == self.rows {
            match next_page(&mut *self.pages, Self::NAME)? {
                Page::DataPage {
                    buf,
                    num_values,
                    encoding: Encoding::BYTE_STREAM_SPLIT,
                    ..
                } if buf.len() == num_values as usize * size_of::<u64>() => {
                    self.page = buf;
                    self.rows = num_values as usize;
                    self.next_row = 0;
                }
                _ => return Err(unknown(Self::NAME)),
            }
        }
        Ok(self.rows - self.next_row)
    }

    /// Reads the next rows, which are at hand.
    pub(super) fn read(&mut self, addresses: &mut [u64]) {
        let rows = self.next_row..self.next_row + addresses.len();
        self.next_row = rows.end;
        addresses.fill(0);
        for (number, stream) in self.page.chunks_exact(self.rows).enumerate() {
            let stream = &stream[rows.clone()];
            let shift = number as u32 * u8::BITS;
            // The highest bytes of addresses are zeros, as a rule.
            if stream.iter().fold(0, |any, byte| any | byte) == 0 {
                continue;
            }
            join_bytes(addresses, stream, shift);
        }
    }
}

/// Joins a byte each to `addresses`, moved up by `shift` bits, with the widest vector registers of the processor.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512dq+avx512vl+bmi1+bmi2",
    "x86_64+avx2+bmi1+bmi2"
))]
fn join_bytes(addresses: &mut [u64], bytes: &[u8], shift: u32) {
    for (address, byte) in addresses.iter_mut().zip(bytes) {
        *address |= u64::from(*byte) << shift;
    }
}

fn next_page(pages: &mut dyn PageReader, column: &str) -> Result<Page> {
    pages
        .get_next_page()?
        .ok_or_else(|| ParquetError::General(format!("column `{column}` ends early")))
}

fn unknown(column: &str) -> ParquetError {
    ParquetError::General(format!("column `{column}` is not packed as in a trace"))
}
