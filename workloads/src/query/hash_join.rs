//! The adaptive dynamic hash join (PAX section 4.3).
//!
//! The build input is partitioned into hash tables in the heap. When the heap is full, all partitions but one are
//! destaged to temporary files, which later records of theirs join; if that one fills the heap alone, it follows. The
//! probe input meets the tables that are still there, and goes into temporary files where there is none. At the end
//! each destaged partition is loaded and probed, in pieces if it does not fit. Records are cut down to the attributes
//! that the query needs, the key first.

use super::entry::EntryFormat;
use super::hash::Hash;
use super::hash_table::HashTable;
use super::heap::Heap;
use super::output::{OutputFile, OutputSpace};
use super::scan::ScanOrder;
use crate::page::{Loaded, Schema, Value};
use crate::tracer::Trace;

/// Bits of the hash that choose a partition: there are 32.
const PARTITION_BITS: u32 = 5;
/// Partitions of each input.
pub const PARTITIONS: usize = 1 << PARTITION_BITS;

/// One of the two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// That of the hash tables.
    Build,
    /// That which looks for its partners.
    Probe,
}

/// Where the parts of a join are in the simulated address space.
#[derive(Clone, Copy, Debug)]
pub struct JoinPlaces {
    /// The directories, one behind the other.
    pub directories: u64,
    /// Bytes set aside for each directory.
    pub directory_bytes: u64,
    /// The heap.
    pub heap: u64,
    /// Its bytes.
    pub heap_bytes: u64,
}

/// The temporary files of a destaged partition.
#[derive(Clone, Debug)]
struct Destaged<F> {
    build: OutputFile<F>,
    probe: OutputFile<F>,
}

/// A join whose temporary files `create` makes, for a side and the number of a partition.
#[derive(Debug)]
pub struct HashJoin<F, C> {
    heap: Heap,
    tables: Vec<HashTable>,
    destaged: Vec<Option<Destaged<F>>>,
    space: OutputSpace,
    create: C,
}

impl<F: ScanOrder, C: Fn(Side, usize) -> F> HashJoin<F, C> {
    /// A join of nothing yet. `schema` is that of the build input's records.
    pub fn new(schema: &Schema, places: JoinPlaces, space: OutputSpace, create: C) -> Self {
        let format = EntryFormat::new(schema);
        debug_assert!(
            places.heap + places.heap_bytes <= places.directories
                || places.directories + PARTITIONS as u64 * places.directory_bytes <= places.heap,
            "the directories are in the heap: {places:?}"
        );
        let table = |partition| {
            let directory = places.directories + partition * places.directory_bytes;
            HashTable::new(
                format.clone(),
                PARTITION_BITS,
                directory,
                places.directory_bytes,
            )
        };
        Self {
            heap: Heap::new(places.heap, places.heap_bytes),
            tables: (0..PARTITIONS as u64).map(table).collect(),
            destaged: (0..PARTITIONS).map(|_| None).collect(),
            space,
            create,
        }
    }

    /// Takes a record of the build input.
    pub fn build<T: Trace>(&mut self, trace: &mut T, row: &[Loaded<Value>]) {
        let hash = Hash::of(trace, key(row));
        let partition = hash.partition(PARTITION_BITS);
        while self.destaged[partition].is_none() {
            if self.tables[partition].insert(trace, &mut self.heap, hash, row) {
                return;
            }
            self.make_room(trace);
        }
        if let Some(files) = &mut self.destaged[partition] {
            files.build.add(trace, &mut self.space, row);
        }
    }

    /// Destages every partition in memory but the first, or that one if it is alone.
    fn make_room<T: Trace>(&mut self, trace: &mut T) {
        let mut there: Vec<usize> = (0..PARTITIONS)
            .filter(|&partition| self.destaged[partition].is_none())
            .collect();
        if there.len() > 1 {
            there.remove(0);
        }
        for partition in there {
            let table = &mut self.tables[partition];
            let mut files = Destaged {
                build: OutputFile::new((self.create)(Side::Build, partition)),
                probe: OutputFile::new((self.create)(Side::Probe, partition)),
            };
            for entry in 0..table.len() {
                let row = table.entry(trace, &self.heap, entry);
                files.build.add(trace, &mut self.space, &row);
            }
            table.clear(&mut self.heap);
            self.destaged[partition] = Some(files);
        }
    }

    /// Takes a record of the probe input; its partners in memory go to `take`, each before it.
    pub fn probe<T: Trace>(
        &mut self,
        trace: &mut T,
        row: &[Loaded<Value>],
        take: &mut impl FnMut(&mut T, &[Loaded<Value>], &[Loaded<Value>]),
    ) {
        let hash = Hash::of(trace, key(row));
        let partition = hash.partition(PARTITION_BITS);
        match &mut self.destaged[partition] {
            Some(files) => files.probe.add(trace, &mut self.space, row),
            None => {
                let table = &self.tables[partition];
                table.probe(trace, &self.heap, hash, key(row), |trace, partner| {
                    take(trace, partner, row);
                });
            }
        }
    }

    /// Joins what was destaged. Returns the pages that were written to storage.
    pub fn finish<T: Trace>(
        mut self,
        trace: &mut T,
        take: &mut impl FnMut(&mut T, &[Loaded<Value>], &[Loaded<Value>]),
    ) -> u64 {
        for table in &mut self.tables {
            table.clear(&mut self.heap);
        }
        for files in self.destaged.iter_mut().flatten() {
            files.build.finish(trace, &mut self.space);
            files.probe.finish(trace, &mut self.space);
        }
        for (table, files) in self.tables.iter_mut().zip(&self.destaged) {
            let Some(Destaged { build, probe }) = files else {
                continue;
            };
            let heap = &mut self.heap;
            build.scan(trace, |trace, row| {
                let hash = Hash::of(trace, key(row));
                if !table.insert(trace, heap, hash, row) {
                    probe_all(trace, table, heap, probe, take);
                    table.clear(heap);
                    table.insert(trace, heap, hash, row);
                }
            });
            probe_all(trace, table, heap, probe, take);
            table.clear(heap);
        }
        self.space.pages()
    }
}

/// Reads a temporary file and probes a table with it.
fn probe_all<F: ScanOrder, T: Trace>(
    trace: &mut T,
    table: &HashTable,
    heap: &Heap,
    probe: &OutputFile<F>,
    take: &mut impl FnMut(&mut T, &[Loaded<Value>], &[Loaded<Value>]),
) {
    probe.scan(trace, |trace, row| {
        let hash = Hash::of(trace, key(row));
        table.probe(trace, heap, hash, key(row), |trace, partner| {
            take(trace, partner, row);
        });
    });
}

/// The join attribute: the first.
fn key(row: &[Loaded<Value>]) -> Loaded<i64> {
    row[0].map(Value::int)
}
