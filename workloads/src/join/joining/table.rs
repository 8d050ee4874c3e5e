//! The hash table in memory: buckets with one cell in their header, and arrays of cells that double (thesis Figure 4.2).

use crate::arena::{Arena, Far};
use crate::join::ahead::lines;
use crate::join::limits::WORD;
use crate::join::sites::Site;
use crate::page::copy_words;
use crate::place::{Extent, Loaded, Place};
use crate::tracer::{Dep, Trace};
use crate::word::Word;

/// Bytes of a bucket's header: how many cells, hash code of the only one or room of the array, pointer to its tuple or to the array,
/// and who changes the bucket.
pub(super) const HEADER_BYTES: u64 = 16;
/// Bytes of a cell: hash code and pointer to the tuple.
pub(super) const CELL_BYTES: u64 = 8;
/// Cells of a bucket's first array.
pub(super) const FIRST_CELLS: u32 = 4;
/// Cells that arrays have room for, per tuple, at most: those of a bucket's last one are fewer than twice its tuples, those of all
/// before it together fewer than that. Two tuples take the first.
pub(super) const MOST_CELLS: u64 = 4;

/// A bucket's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) count: u32,
    /// Hash code of the only cell, or room of the array.
    pub(super) code_or_room: u32,
    /// Pointer to the only cell's tuple, or place of the array among the cells.
    pub(super) pointer: u32,
    /// Who changes the bucket, counted from 1.
    pub(super) busy: u32,
}

/// A hash code and a pointer to its tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) code: u32,
    pub(super) tuple: u32,
}

/// Words one behind the other.
fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|word| u32::read(bytes, word * u32::BYTES))
}

fn write(bytes: &mut [u8], words: impl IntoIterator<Item = u32>) {
    for (place, word) in words.into_iter().enumerate() {
        word.write(bytes, place * u32::BYTES);
    }
}

/// Where the parts of a table lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct TablePlaces {
    pub(super) buckets: u32,
    pub(super) headers: u64,
    pub(super) cells: u64,
    /// Cells that there is room for.
    pub(super) room: u64,
}

/// The table of a partition.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) buckets: u32,
    headers: Arena<Far>,
    first_header: u64,
    cells: Arena<Far>,
    first_cell: u64,
    /// Cells that have been allocated.
    used: u32,
    /// Whether tuples have been inserted since it was empty.
    in_use: bool,
}

impl Table {
    /// An empty table.
    pub(super) fn new(places: TablePlaces) -> Self {
        Self {
            buckets: places.buckets,
            headers: Arena::of(places.headers, u64::from(places.buckets) * HEADER_BYTES),
            first_header: places.headers,
            cells: Arena::of(places.cells, places.room * CELL_BYTES),
            first_cell: places.cells,
            used: 0,
            in_use: false,
        }
    }

    /// Makes it ready for the build tuples of a partition: empty, which its memory is at first.
    pub(super) fn begin<T: Trace>(&mut self, trace: &mut T) {
        if std::mem::replace(&mut self.in_use, true) {
            self.used = 0;
            for number in 0..self.buckets {
                self.set_header(trace, self.bucket(number), Header::default(), Dep::NONE);
            }
        }
    }

    /// Address of a bucket's header.
    pub(super) fn bucket(&self, number: u32) -> u64 {
        self.first_header + u64::from(number) * HEADER_BYTES
    }

    /// Address of a cell.
    fn cell(&self, number: u32) -> u64 {
        self.first_cell + u64::from(number) * CELL_BYTES
    }

    /// Memory for an array of so many cells.
    pub(super) fn allocate(&mut self, cells: u32) -> u32 {
        let first = self.used;
        self.used += cells;
        first
    }

    pub(super) fn prefetch_header<T: Trace>(&self, trace: &mut T, bucket: u64, dep: Dep) {
        self.headers
            .prefetch(trace, Site::HeaderPrefetch, bucket, dep);
    }

    /// Prefetches the lines of cells, from `first` on.
    pub(super) fn prefetch_cells<T: Trace>(
        &self,
        trace: &mut T,
        first: u32,
        cells: u32,
        line_bytes: u32,
        dep: Dep,
    ) {
        let bytes = cells * CELL_BYTES as u32;
        for line in lines(self.cell(first), bytes, line_bytes) {
            self.cells.prefetch(trace, Site::CellPrefetch, line, dep);
        }
    }

    pub(super) fn header<T: Trace>(&self, trace: &mut T, bucket: u64, dep: Dep) -> Loaded<Header> {
        let place = extent(bucket, HEADER_BYTES);
        let count = copy_words(place.bytes);
        let loaded = self
            .headers
            .load_bytes(trace, Site::Header, place, count, dep);
        loaded.map(|bytes| {
            let [count, code_or_room, pointer, busy] = words(bytes);
            Header {
                count,
                code_or_room,
                pointer,
                busy,
            }
        })
    }

    /// Writes a whole header.
    pub(super) fn set_header<T: Trace>(
        &mut self,
        trace: &mut T,
        bucket: u64,
        header: Header,
        dep: Dep,
    ) {
        let place = extent(bucket, HEADER_BYTES);
        let count = copy_words(place.bytes);
        let bytes = self
            .headers
            .store_bytes(trace, Site::HeaderChange, place, count, dep);
        let Header {
            count,
            code_or_room,
            pointer,
            busy,
        } = header;
        write(bytes, [count, code_or_room, pointer, busy]);
    }

    /// Writes how many cells a bucket has.
    pub(super) fn set_count<T: Trace>(&mut self, trace: &mut T, bucket: u64, count: u32, dep: Dep) {
        let place = Place::<u32>::new(0, bucket);
        self.headers
            .store(trace, Site::HeaderChange, place, count, dep);
    }

    /// Writes who changes a bucket; 0 is nobody.
    pub(super) fn set_busy<T: Trace>(&mut self, trace: &mut T, bucket: u64, busy: u32, dep: Dep) {
        let place = Place::<u32>::new(0, bucket + HEADER_BYTES - u64::from(WORD));
        self.headers
            .store(trace, Site::HeaderChange, place, busy, dep);
    }

    pub(super) fn load_cell<T: Trace>(&self, trace: &mut T, number: u32, dep: Dep) -> Loaded<Cell> {
        let place = extent(self.cell(number), CELL_BYTES);
        let count = copy_words(place.bytes);
        let loaded = self.cells.load_bytes(trace, Site::Cell, place, count, dep);
        loaded.map(|bytes| {
            let [code, tuple] = words(bytes);
            Cell { code, tuple }
        })
    }

    pub(super) fn store_cell<T: Trace>(
        &mut self,
        trace: &mut T,
        number: u32,
        cell: Cell,
        dep: Dep,
    ) {
        let place = extent(self.cell(number), CELL_BYTES);
        let count = copy_words(place.bytes);
        let bytes = self
            .cells
            .store_bytes(trace, Site::CellChange, place, count, dep);
        write(bytes, [cell.code, cell.tuple]);
    }
}

fn extent(address: u64, bytes: u64) -> Extent {
    Extent {
        segment: 0,
        address,
        bytes: bytes as usize,
    }
}
