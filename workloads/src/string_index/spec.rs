//! What to run on an index of strings, as data.

use super::in_page::{InPageTree, Sizes};
use super::limits::{BITS, COMMON_BYTES, DISTANCE, PREFIX_BYTES, TEXT_BYTES};
use super::slotted::SlottedPage;
use super::text::Texts;
use crate::bounds::{FILL, LINE_BYTES, OPERATIONS};
use crate::operations::{
    BUFFER_BYTES, BULKLOADED_SHARE, Buffers, INSERT_SHARE, KEYS, LINES, Maturity, Operation,
    Operations, SEARCH_SHARE, ScanLengths, Thread, most_number,
};
use crate::pool::UpwardMoves;
use crate::pool::limits::{FRAMES, PAGE_BYTES};
use crate::ranks::SKEW;
use crate::schema::{applies, bytes, parameters, required, takes};
use crate::warm_up::{CacheState, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a page finds its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Structure {
    /// Slots in the order of keys, each of which points to an entry anywhere in the page.
    Slotted,
    /// The same, with the first bytes of each key in its slot (thesis Figure 3.29).
    PrefixArray,
    /// A tree in each page, whose nodes are small slotted pages (thesis Figure 3.30), prefetched.
    InPageTree,
}

/// Operations on an index in pages whose keys are strings of bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct StringIndexWorkload {
    /// What is done to the index.
    #[schemars(transform = required)]
    pub operation: Operation,
    /// How a page finds its keys.
    #[schemars(transform = required)]
    pub structure: Structure,
    /// Size of a page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Size of a cache line.
    #[schemars(transform = bytes, transform = takes(LINE_BYTES))]
    pub line_bytes: u32,
    /// Bytes of each key in its slot, N.
    #[schemars(transform = required, transform = bytes, transform = takes(PREFIX_BYTES), transform = applies("structure", vec![Structure::PrefixArray]))]
    pub prefix_bytes: u32,
    /// Cache lines per node of the tree in a page.
    #[schemars(transform = required, transform = takes(LINES), transform = applies("structure", vec![Structure::InPageTree]))]
    pub node_lines: u32,
    /// Index entries before the operations.
    #[schemars(transform = required, transform = takes(KEYS))]
    pub keys: u64,
    /// Size of the shortest key; lengths are drawn evenly between the shortest and the longest.
    #[schemars(transform = bytes, transform = takes(TEXT_BYTES))]
    pub shortest_key_bytes: u32,
    /// Size of the longest key.
    #[schemars(transform = bytes, transform = takes(TEXT_BYTES))]
    pub longest_key_bytes: u32,
    /// Bytes that all keys begin with.
    #[schemars(transform = bytes, transform = takes(COMMON_BYTES))]
    pub common_prefix_bytes: u32,
    /// Bits by which each byte behind the common ones tells keys apart, until all of them are told apart: 8 for bytes of any value, fewer
    /// for keys that share their first bytes with many others; what comes behind is random.
    #[schemars(transform = takes(BITS))]
    pub bits_per_byte: u32,
    /// Share of the bytes that the bulkload fills in a page, truncated to whole entries.
    #[schemars(transform = takes(FILL))]
    pub fill: f64,
    /// How the index got its keys.
    pub maturity: Maturity,
    /// Share of the keys that the bulkload of a mature index gets, drawn at random; the others are inserted one by one in random order.
    #[schemars(transform = takes(BULKLOADED_SHARE), transform = applies("maturity", vec![Maturity::Mature]))]
    pub bulkloaded_share: f64,
    /// Frames of the buffer pool, which is empty at first; 0 for a frame of its own for every page, each of which is there; without `storage`, pages come in no time
    /// and leave the lines of their frames in the caches, so that fewer frames make a run faster.
    #[schemars(transform = takes(FRAMES))]
    pub pool_frames: u64,
    /// How many operations.
    #[schemars(transform = required, transform = takes(OPERATIONS))]
    pub operations: u64,
    /// TupleIDs per scan.
    #[schemars(transform = required, transform = takes(KEYS), transform = applies("operation", Operation::SCANS.to_vec()))]
    pub range: u64,
    /// How long scans are.
    #[schemars(transform = applies("operation", Operation::SCANS.to_vec()))]
    pub scan_lengths: ScanLengths,
    /// Share of the operations that are searches instead, for keys that the index had before them all, at random among those that change it.
    #[schemars(transform = takes(SEARCH_SHARE), transform = applies("operation", vec![Operation::Insert, Operation::Delete]))]
    pub search_share: f64,
    /// Share of the operations that insert, at random among those that scan.
    #[schemars(transform = takes(INSERT_SHARE), transform = applies("operation", vec![Operation::ScanAndInsert]))]
    pub insert_share: f64,
    /// Zipf's exponent of how often keys are searched for, or scans begin at them, of which the popular ones lie anywhere; 0 for all alike.
    #[schemars(transform = takes(SKEW))]
    pub skew: f64,
    /// Return buffer that a scan copies tupleIDs into, again and again: its caller takes them when it is full (thesis section 2.3).
    #[schemars(transform = bytes, transform = takes(BUFFER_BYTES), transform = applies("operation", Operation::SCANS.to_vec()))]
    pub buffer_bytes: u64,
    /// Whether all scans of a thread return into one buffer; else each has its own, as cold as memory that nobody has touched.
    #[schemars(transform = applies("operation", Operation::SCANS.to_vec()))]
    pub reuse_buffer: bool,
    /// In-page leaf nodes that scans prefetch ahead, as far as the page goes; 0 for none.
    #[schemars(
        transform = takes(DISTANCE),
        transform = applies("operation", Operation::SCANS.to_vec()),
        transform = applies("structure", vec![Structure::InPageTree]),
    )]
    pub distance_nodes: u32,
    /// How slots move towards higher addresses within a page (thesis section 3.5.1).
    #[schemars(transform = applies("operation", vec![Operation::Delete]))]
    pub upward_moves: UpwardMoves,
    /// What the operations find in the caches.
    pub caches: CacheState,
    /// Operations before the measurement; before insertions and deletions they are searches, for keys as those of the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WarmUp", transform = applies("caches", vec![CacheState::Warm]))]
    pub warm_up: Option<WarmUp>,
    /// Seed of all random choices but the keys' bytes, which follow from their ranks.
    pub seed: u64,
}

impl Default for StringIndexWorkload {
    fn default() -> Self {
        Self {
            operation: Operation::Search,
            structure: Structure::Slotted,
            page_bytes: 16 << 10,
            line_bytes: 64,
            prefix_bytes: 4,
            node_lines: 8,
            keys: 1_000_000,
            shortest_key_bytes: 24,
            longest_key_bytes: 40,
            common_prefix_bytes: 0,
            bits_per_byte: 8,
            fill: 1.0,
            maturity: Maturity::Bulkloaded,
            bulkloaded_share: 0.1,
            pool_frames: 0,
            operations: 10_000,
            range: 1_000,
            scan_lengths: ScanLengths::Fixed,
            search_share: 0.0,
            insert_share: 0.05,
            skew: 0.0,
            buffer_bytes: 4096,
            reuse_buffer: false,
            distance_nodes: 2,
            upward_moves: UpwardMoves::Bytes,
            caches: CacheState::Warm,
            warm_up: Some(WarmUp::Auto),
            seed: 1,
        }
    }
}

impl StringIndexWorkload {
    /// The keys by their numbers.
    pub(super) fn texts(&self) -> Texts {
        Texts {
            common: self.common_prefix_bytes,
            bits: self.bits_per_byte,
            digits: Texts::digits(most_number(self.keys), self.bits_per_byte),
            shortest: self.shortest_key_bytes,
            longest: self.longest_key_bytes,
        }
    }

    /// The format of pages that are one area.
    pub(super) fn slotted_page(&self) -> SlottedPage {
        let prefix = match self.structure {
            Structure::PrefixArray => self.prefix_bytes,
            Structure::Slotted | Structure::InPageTree => 0,
        };
        SlottedPage::new(
            self.page_bytes,
            self.line_bytes,
            prefix,
            self.longest_key_bytes,
        )
    }

    /// The format of pages with a tree in each; none if pages have no room for it.
    pub(super) fn in_page_tree(&self) -> Option<InPageTree> {
        let sizes = Sizes {
            page_bytes: self.page_bytes,
            line_bytes: self.line_bytes,
            node_lines: self.node_lines,
            longest_key: self.longest_key_bytes,
        };
        InPageTree::new(&sizes)
    }

    /// Keys that the bulkload gets.
    pub(super) fn bulkloaded_keys(&self) -> u64 {
        self.maturity
            .bulkloaded_share(self.keys, self.bulkloaded_share)
    }

    /// Insertions that the index has room for after its bulkload.
    pub(super) fn room(&self) -> u64 {
        self.keys - self.bulkloaded_keys() + self.done().room()
    }

    /// What is done.
    pub(super) fn done(&self) -> Operations {
        Operations {
            operation: self.operation,
            keys: self.keys,
            count: self.operations,
            range: self.range,
            scan_lengths: self.scan_lengths,
            skew: self.skew,
            search_share: self.search_share,
            insert_share: self.insert_share,
            seed: self.seed,
            thread: Thread::ALONE,
        }
    }

    /// The return buffers.
    pub(super) fn buffers(&self) -> Buffers {
        let warm_up = WarmUp::of(self.caches, self.warm_up);
        let buffers = self.done().buffers(self.buffer_bytes, warm_up);
        if self.reuse_buffer {
            buffers.reused()
        } else {
            buffers
        }
    }
}
