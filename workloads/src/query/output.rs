//! Files that operators write: temporary ones of a join, and results.

use super::calls::Call;
use super::scan::{OpenPage, ScanOrder};
use crate::page::{Loaded, Value};
use crate::tracer::{Token, Trace};

/// Numbers of the pages in storage that such files take, one after the other as they are written.
#[derive(Clone, Debug)]
pub struct OutputSpace {
    next: u64,
    first: u64,
}

impl OutputSpace {
    /// Space behind the tables: from page `first` on.
    #[must_use]
    pub fn new(first: u64) -> Self {
        Self { next: first, first }
    }

    /// Pages written.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.next - self.first
    }

    fn write<T: Trace>(&mut self, trace: &mut T) -> u64 {
        let page = self.next;
        self.next += 1;
        trace.page_write(page);
        page
    }
}

/// A file that grows at its end: one page is in memory, to be filled; those before it are in storage.
#[derive(Clone, Debug)]
pub struct OutputFile<F> {
    file: F,
    /// Number in storage of each written page.
    written: Vec<u64>,
}

impl<F: ScanOrder> OutputFile<F> {
    /// An empty file whose pages all take the same frame.
    #[must_use]
    pub fn new(file: F) -> Self {
        Self {
            file,
            written: Vec::new(),
        }
    }

    /// Adds a record; the page before the one it went to is written.
    pub fn add<T: Trace>(&mut self, trace: &mut T, space: &mut OutputSpace, row: &[Loaded<Value>]) {
        trace.call(Call::OutputRecord as u16);
        let values: Vec<Value> = row.iter().map(|loaded| loaded.value).collect();
        let latest = row.last().map_or(Token::NONE, |loaded| loaded.token);
        let id = self.file.insert_once(trace, &values, latest.after(0));
        self.write_to(trace, space, id.page);
    }

    /// Writes the last page.
    pub fn finish<T: Trace>(&mut self, trace: &mut T, space: &mut OutputSpace) {
        self.write_to(trace, space, self.file.pages());
    }

    fn write_to<T: Trace>(&mut self, trace: &mut T, space: &mut OutputSpace, end: u32) {
        while self.written.len() < end as usize {
            self.written.push(space.write(trace));
        }
    }

    /// Reads every record.
    pub fn scan<'f, T: Trace>(
        &'f self,
        trace: &mut T,
        mut take: impl FnMut(&mut T, &[Loaded<Value<'f>>]),
    ) {
        let degree = self.file.schema().degree();
        for (number, &stored) in (0..).zip(&self.written) {
            let mut page = OpenPage::turn(&self.file, trace, number, stored);
            page.select(trace, &[], |page, trace, record| {
                let row: Vec<_> = (0..degree)
                    .map(|attribute| page.read(trace, record, attribute))
                    .collect();
                take(trace, &row);
            });
        }
    }
}
