//! A chained hash table of sub-records in simulated memory.

use super::calls::Call;
use super::entry::{EntryFormat, LINK_BYTES};
use super::hash::Hash;
use super::heap::{CHUNK_BYTES, Heap};
use super::sites::Site;
use crate::arena::Word;
use crate::page::{Loaded, Value, copy_words};
use crate::tracer::{Token, Trace};

/// Buckets of an empty table.
const FEWEST_BUCKETS: usize = 64;

/// The table of one partition.
#[derive(Clone, Debug)]
pub struct HashTable {
    format: EntryFormat,
    /// Bits of the hash that chose the partition.
    skipped_bits: u32,
    /// Number of the first entry of each bucket, counted from 1.
    directory: Vec<u32>,
    directory_address: u64,
    entries: Vec<u8>,
    chunks: Vec<u64>,
}

impl HashTable {
    /// An empty table whose directory is at an address.
    #[must_use]
    pub fn new(format: EntryFormat, skipped_bits: u32, directory_address: u64) -> Self {
        Self {
            format,
            skipped_bits,
            directory: vec![0; FEWEST_BUCKETS],
            directory_address,
            entries: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// Entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() / self.format.bytes
    }

    /// Gives all entries up, and their memory back.
    pub fn clear(&mut self, heap: &mut Heap) {
        heap.give_back(self.chunks.drain(..));
        self.entries.clear();
        self.directory = vec![0; FEWEST_BUCKETS];
    }

    /// Adds a sub-record; `false` if the heap is full.
    pub fn insert<T: Trace>(
        &mut self,
        trace: &mut T,
        heap: &mut Heap,
        hash: Hash,
        row: &[Loaded<Value>],
    ) -> bool {
        let entry = self.len();
        if entry == self.chunks.len() * self.entries_per_chunk() {
            let Some(chunk) = heap.take() else {
                return false;
            };
            self.chunks.push(chunk);
        }
        trace.call(Call::HashBuild as u16);
        if entry == self.directory.len() {
            self.grow(trace);
        }
        let start = self.entries.len();
        self.entries.resize(start + self.format.bytes, 0);
        let mut latest = Token::NONE;
        for (loaded, &(kind, offset)) in row.iter().zip(&self.format.places) {
            let place = start + offset;
            let bytes = &mut self.entries[place..place + kind.most_bytes()];
            loaded.value.write(kind, bytes);
            latest = loaded.token;
        }
        let address = self.address(entry) + LINK_BYTES;
        let bytes = self.format.bytes - LINK_BYTES as usize;
        trace.store(
            Site::EntryRest,
            address,
            bytes as u16,
            copy_words(bytes),
            latest.after(0),
        );
        self.link(trace, entry, hash);
        true
    }

    /// Makes an entry the first of its bucket.
    fn link<T: Trace>(&mut self, trace: &mut T, entry: usize, hash: Hash) {
        let bucket = self.bucket(hash);
        let head = self.head_address(bucket);
        // Shift and mask the hash.
        trace.work(2);
        let first = trace.load(
            Site::Bucket,
            head,
            LINK_BYTES as u16,
            1,
            hash.token.after(2),
        );
        let link = self.address(entry);
        trace.store(Site::EntryLink, link, LINK_BYTES as u16, 1, first.after(0));
        trace.store(
            Site::Bucket,
            head,
            LINK_BYTES as u16,
            1,
            hash.token.after(2),
        );
        let before = std::mem::replace(&mut self.directory[bucket], entry as u32 + 1);
        before.write(&mut self.entries, entry * self.format.bytes);
    }

    /// Doubles the directory and links all entries anew.
    fn grow<T: Trace>(&mut self, trace: &mut T) {
        self.directory = vec![0; 2 * self.directory.len()];
        for entry in 0..self.len() {
            let key = self.key(trace, entry, Token::NONE);
            let hash = Hash::of(trace, key);
            self.link(trace, entry, hash);
        }
    }

    /// Hands every entry with this key to `take`.
    pub fn probe<T: Trace>(
        &self,
        trace: &mut T,
        hash: Hash,
        key: Loaded<i64>,
        mut take: impl FnMut(&mut T, &[Loaded<Value>]),
    ) {
        trace.call(Call::HashProbe as u16);
        let bucket = self.bucket(hash);
        trace.work(2);
        let head = self.head_address(bucket);
        let mut link = trace.load(
            Site::Bucket,
            head,
            LINK_BYTES as u16,
            1,
            hash.token.after(2),
        );
        let mut next = self.directory[bucket];
        while let Some(entry) = (next as usize).checked_sub(1) {
            let found = self.key(trace, entry, link);
            let equal = found.value == key.value;
            trace.work(1);
            trace.branch(Site::Match, equal, found.token.after(1));
            if equal {
                let row = self.read(trace, entry, link);
                take(trace, &row);
            }
            link = trace.load(
                Site::EntryLink,
                self.address(entry),
                LINK_BYTES as u16,
                1,
                link.after(0),
            );
            next = u32::read(&self.entries, entry * self.format.bytes);
        }
    }

    /// Reads an entry by its number, counted from 0.
    pub fn entry<T: Trace>(&self, trace: &mut T, entry: usize) -> Vec<Loaded<Value<'_>>> {
        self.read(trace, entry, Token::NONE)
    }

    /// Reads a whole entry, whose number `link` brought.
    fn read<T: Trace>(&self, trace: &mut T, entry: usize, link: Token) -> Vec<Loaded<Value<'_>>> {
        let start = entry * self.format.bytes;
        let bytes = self.format.bytes - LINK_BYTES as usize;
        let address = self.address(entry) + LINK_BYTES;
        let token = trace.load(
            Site::EntryRest,
            address,
            bytes as u16,
            copy_words(bytes),
            link.after(0),
        );
        self.format
            .places
            .iter()
            .map(|&(kind, offset)| {
                let place = start + offset;
                let value = Value::read(kind, &self.entries[place..place + kind.most_bytes()]);
                Loaded { value, token }
            })
            .collect()
    }

    fn key<T: Trace>(&self, trace: &mut T, entry: usize, link: Token) -> Loaded<i64> {
        let (kind, offset) = self.format.places[0];
        let address = self.address(entry) + offset as u64;
        let token = trace.load(
            Site::EntryKey,
            address,
            self.format.key_bytes(),
            1,
            link.after(0),
        );
        let place = entry * self.format.bytes + offset;
        let value = Value::read(kind, &self.entries[place..place + kind.most_bytes()]).int();
        Loaded { value, token }
    }

    fn bucket(&self, hash: Hash) -> usize {
        let bits = self.directory.len().trailing_zeros();
        (hash.bits << self.skipped_bits >> (u64::BITS - bits)) as usize
    }

    fn head_address(&self, bucket: usize) -> u64 {
        self.directory_address + bucket as u64 * LINK_BYTES
    }

    fn entries_per_chunk(&self) -> usize {
        CHUNK_BYTES as usize / self.format.bytes
    }

    fn address(&self, entry: usize) -> u64 {
        let per_chunk = self.entries_per_chunk();
        self.chunks[entry / per_chunk] + (entry % per_chunk * self.format.bytes) as u64
    }
}
