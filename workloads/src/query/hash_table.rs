//! A chained hash table of sub-records in simulated memory.

use super::calls::Call;
use super::entry::{EntryFormat, LINK_BYTES};
use super::hash::Hash;
use super::heap::{CHUNK_BYTES, Heap};
use super::sites::Site;
use crate::arena::{Arena, Far};
use crate::page::{Loaded, Value, copy_words};
use crate::place::Place;
use crate::tracer::{Token, Trace};

/// The entry that a link leads to, unless the chain ends.
fn follow<T: Trace>(trace: &mut T, link: Loaded<u32>) -> Option<usize> {
    let entry = (link.value as usize).checked_sub(1);
    trace.work(1);
    trace.branch(Site::ChainEnds, entry.is_some(), link.token.after(1));
    entry
}

/// Buckets of an empty table.
const FEWEST_BUCKETS: usize = 64;

/// The table of one partition. Its entries are in chunks of a heap.
#[derive(Debug)]
pub struct HashTable {
    format: EntryFormat,
    /// Bits of the hash that chose the partition.
    skipped_bits: u32,
    /// Number of the first entry of each bucket, counted from 1.
    directory: Arena<Far>,
    buckets: usize,
    entries: usize,
    chunks: Vec<u64>,
}

impl HashTable {
    /// An empty table whose directory may take so many bytes from an address on.
    #[must_use]
    pub fn new(
        format: EntryFormat,
        skipped_bits: u32,
        directory_address: u64,
        directory_bytes: u64,
    ) -> Self {
        Self {
            format,
            skipped_bits,
            directory: Arena::of(directory_address, directory_bytes),
            buckets: FEWEST_BUCKETS,
            entries: 0,
            chunks: Vec::new(),
        }
    }

    /// Entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries
    }

    /// Gives all entries up, and their memory back.
    pub fn clear(&mut self, heap: &mut Heap) {
        heap.give_back(self.chunks.drain(..));
        self.entries = 0;
        self.empty_buckets(FEWEST_BUCKETS);
    }

    /// Makes a directory of so many buckets without entries. Filling memory with zeros is in the cost of the calls.
    fn empty_buckets(&mut self, buckets: usize) {
        self.buckets = buckets;
        for bucket in 0..buckets {
            self.directory.write(self.head(bucket), 0);
        }
    }

    /// Adds a sub-record; `false` if the heap is full.
    pub fn insert<T: Trace>(
        &mut self,
        trace: &mut T,
        heap: &mut Heap,
        hash: Hash,
        row: &[Loaded<Value>],
    ) -> bool {
        let entry = self.entries;
        if entry == self.chunks.len() * self.entries_per_chunk() {
            let Some(chunk) = heap.take() else {
                return false;
            };
            self.chunks.push(chunk);
        }
        trace.call(Call::HashBuild as u16);
        if entry == self.buckets {
            self.grow(trace, heap);
        }
        self.entries += 1;
        let (link, bytes) = (LINK_BYTES as usize, self.format.bytes - LINK_BYTES as usize);
        let place = Heap::place(self.address(entry) + LINK_BYTES, bytes);
        let latest = row.last().map_or(Token::NONE, |loaded| loaded.token);
        let (site, words) = (Site::EntryRest, copy_words(bytes));
        let memory = &mut heap.memory;
        let bytes = memory.store_bytes(trace, site, place, words, latest.after(0));
        for (loaded, &(kind, offset)) in row.iter().zip(&self.format.places) {
            let place = offset - link;
            let to = &mut bytes[place..place + kind.most_bytes()];
            loaded.value.write(kind, to);
        }
        self.link(trace, heap, entry, hash);
        true
    }

    /// Makes an entry the first of its bucket.
    fn link<T: Trace>(&mut self, trace: &mut T, heap: &mut Heap, entry: usize, hash: Hash) {
        let head = self.head(self.bucket(hash));
        let link = self.next(entry);
        // Shift and mask the hash.
        trace.work(2);
        let address = hash.token.after(2);
        let first = self.directory.load(trace, Site::Bucket, head, address);
        let (site, waits) = (Site::EntryLink, first.token.after(0));
        heap.memory.store(trace, site, link, first.value, waits);
        let number = entry as u32 + 1;
        self.directory
            .store(trace, Site::Bucket, head, number, address);
    }

    /// Doubles the directory and links all entries anew.
    fn grow<T: Trace>(&mut self, trace: &mut T, heap: &mut Heap) {
        self.empty_buckets(2 * self.buckets);
        for entry in 0..self.entries {
            let key = self.key(trace, heap, entry, Token::NONE);
            let hash = Hash::of(trace, key);
            self.link(trace, heap, entry, hash);
        }
    }

    /// Hands every entry with this key to `take`.
    pub fn probe<T: Trace>(
        &self,
        trace: &mut T,
        heap: &Heap,
        hash: Hash,
        key: Loaded<i64>,
        mut take: impl FnMut(&mut T, &[Loaded<Value>]),
    ) {
        trace.call(Call::HashProbe as u16);
        let head = self.head(self.bucket(hash));
        trace.work(2);
        let address = hash.token.after(2);
        let mut link = self.directory.load(trace, Site::Bucket, head, address);
        while let Some(entry) = follow(trace, link) {
            let found = self.key(trace, heap, entry, link.token);
            let equal = found.value == key.value;
            trace.work(1);
            trace.branch(Site::Match, equal, found.token.after(1));
            if equal {
                let row = self.read(trace, heap, entry, link.token);
                take(trace, &row);
            }
            let (next, waits) = (self.next(entry), link.token.after(0));
            link = heap.memory.load(trace, Site::EntryLink, next, waits);
        }
    }

    /// Reads an entry by its number, counted from 0.
    pub fn entry<'h, T: Trace>(
        &self,
        trace: &mut T,
        heap: &'h Heap,
        entry: usize,
    ) -> Vec<Loaded<Value<'h>>> {
        self.read(trace, heap, entry, Token::NONE)
    }

    /// Reads a whole entry, whose number `link` brought.
    fn read<'h, T: Trace>(
        &self,
        trace: &mut T,
        heap: &'h Heap,
        entry: usize,
        link: Token,
    ) -> Vec<Loaded<Value<'h>>> {
        let bytes = self.format.bytes - LINK_BYTES as usize;
        let place = Heap::place(self.address(entry) + LINK_BYTES, bytes);
        let (site, words) = (Site::EntryRest, copy_words(bytes));
        let memory = &heap.memory;
        let found = memory.load_bytes(trace, site, place, words, link.after(0));
        let value = |&(kind, offset): &(_, usize)| {
            let place = offset - LINK_BYTES as usize;
            found.map(|bytes| Value::read(kind, &bytes[place..place + kind.most_bytes()]))
        };
        self.format.places.iter().map(value).collect()
    }

    fn key<T: Trace>(&self, trace: &mut T, heap: &Heap, entry: usize, link: Token) -> Loaded<i64> {
        let (kind, offset) = self.format.places[0];
        let place = Heap::place(self.address(entry) + offset as u64, kind.most_bytes());
        let found = heap
            .memory
            .load_bytes(trace, Site::EntryKey, place, 1, link.after(0));
        found.map(|bytes| Value::read(kind, bytes).int())
    }

    fn bucket(&self, hash: Hash) -> usize {
        let bits = self.buckets.trailing_zeros();
        (hash.bits << self.skipped_bits >> (u64::BITS - bits)) as usize
    }

    /// Where the number of a bucket's first entry lies.
    fn head(&self, bucket: usize) -> Place<u32> {
        Place::new(0, self.directory.segments()[0].base).element(bucket)
    }

    /// Where the number of the entry behind an entry lies.
    fn next(&self, entry: usize) -> Place<u32> {
        Place::new(0, self.address(entry))
    }

    fn entries_per_chunk(&self) -> usize {
        CHUNK_BYTES as usize / self.format.bytes
    }

    fn address(&self, entry: usize) -> u64 {
        let per_chunk = self.entries_per_chunk();
        self.chunks[entry / per_chunk] + (entry % per_chunk * self.format.bytes) as u64
    }
}
