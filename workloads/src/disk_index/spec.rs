//! What to run on an index in pages, as data.

use super::limits::{DISTANCE, DISTANCE_PAGES};
use super::named_file::PageFile;
use crate::bounds::{CALL, FILL, LINE_BYTES, OPERATIONS, THREADS};
use crate::operations::{
    BUFFER_BYTES, BULKLOADED_SHARE, Buffers, INSERT_SHARE, KEYS, LINES, Maturity, Operation,
    Operations, SEARCH_SHARE, ScanLengths, Thread,
};
use crate::paged_tree::geometry::PageSizes;
use crate::paged_tree::structure::{Build, KEY_BYTES, Lines, Structure};
use crate::paged_tree::{Ahead, Shape};
use crate::pool::coloring::WAY_BYTES;
use crate::pool::limits::{FEWEST_FRAMES, FRAMES, PAGE_BYTES};
use crate::pool::{Latching, Program, UpwardMoves};
use crate::ranks::SKEW;
use crate::schema::{applies, bytes, file, parameters, required, takes};
use crate::warm_up::{CacheState, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operations on an index in pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct DiskIndexWorkload {
    /// What is done to the index.
    #[schemars(transform = required)]
    pub operation: Operation,
    /// What the pages are made of.
    #[schemars(transform = required)]
    pub structure: Structure,
    /// Size of a page.
    #[schemars(transform = bytes, transform = takes(PAGE_BYTES))]
    pub page_bytes: u32,
    /// Size of a key; pageIDs and tupleIDs have 4 bytes.
    #[schemars(transform = bytes, transform = takes(KEY_BYTES))]
    pub key_bytes: u32,
    /// Size of a cache line.
    #[schemars(transform = bytes, transform = takes(LINE_BYTES))]
    pub line_bytes: u32,
    /// w, cache lines per non-leaf node of the tree in a page.
    #[schemars(transform = required, transform = takes(LINES), transform = applies("structure", vec![Structure::DiskFirst]))]
    pub nonleaf_lines: u32,
    /// x, cache lines per leaf node of the tree in a page.
    #[schemars(transform = required, transform = takes(LINES), transform = applies("structure", vec![Structure::DiskFirst]))]
    pub leaf_lines: u32,
    /// Cache lines per node.
    #[schemars(transform = required, transform = takes(LINES), transform = applies("structure", vec![Structure::CacheFirst]))]
    pub node_lines: u32,
    /// Cache lines of keys for each key of the micro-index.
    #[schemars(transform = required, transform = takes(LINES), transform = applies("structure", vec![Structure::MicroIndex]))]
    pub subarray_lines: u32,
    /// Index entries before the operations.
    #[schemars(transform = required, transform = takes(KEYS))]
    pub keys: u64,
    /// Share of the entries that the bulkload fills in a page, or in a node of a cache-first tree, truncated to whole entries.
    #[schemars(transform = takes(FILL))]
    pub fill: f64,
    /// How the index got its keys.
    pub maturity: Maturity,
    /// Share of the keys that the bulkload of a mature index gets, drawn at random; the others are inserted one by one in random order.
    #[schemars(transform = takes(BULKLOADED_SHARE), transform = applies("maturity", vec![Maturity::Mature]))]
    pub bulkloaded_share: f64,
    /// Page file of the index that runs start from, which `memwalk index build` writes; without one the index is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", transform = file)]
    pub page_file: Option<PageFile>,
    /// Frames of the buffer pool, which is empty at first and which threads share; 0 for a frame of its own for every page, each of which is there; without `storage`, pages come in no time
    /// and leave the lines of their frames in the caches, so that fewer frames make a run faster.
    #[schemars(transform = takes(FRAMES))]
    pub pool_frames: u64,
    /// Bytes of a way of a cache in which frames keep off the sets of the pool's page table and descriptors, where these take half of a way at
    /// most (page coloring, thesis section 3.4.1); 0 if frames lie anywhere.
    #[schemars(transform = bytes, transform = takes(WAY_BYTES), transform = applies("pool_frames", vec![0]))]
    pub coloring_way_bytes: u32,
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
    /// Whether scans find their last leaf first and prefetch leaf nodes up to it by jump pointers (thesis section 3.3.5).
    #[schemars(
        transform = applies("operation", Operation::SCANS.to_vec()),
        transform = applies("structure", Structure::FRACTAL.to_vec()),
    )]
    pub jump_pointers: bool,
    /// d, leaf nodes that scans prefetch ahead.
    #[schemars(
        transform = takes(DISTANCE),
        transform = applies("operation", Operation::SCANS.to_vec()),
        transform = applies("structure", vec![Structure::DiskFirst]),
        transform = applies("jump_pointers", vec![true]),
    )]
    pub distance_nodes: u32,
    /// Leaf pages that scans ask storage for ahead, by jump pointers in leaf parent pages or in the external array of a cache-first tree, up
    /// to the last one of the range, which is looked for first (thesis sections 3.2.2, 3.3.5 and 3.6.3); 0 for none.
    #[schemars(transform = takes(DISTANCE_PAGES), transform = applies("operation", Operation::SCANS.to_vec()))]
    pub distance_pages: u32,
    /// Threads that divide each range among themselves (thesis section 3.6.4), or to which other operations are dealt out; they begin together and
    /// share one buffer pool with latches, and pages with latches where they change some, while each has return buffers of its own.
    #[schemars(transform = takes(THREADS))]
    pub threads: u32,
    /// How threads keep pages in their frames while they read them.
    pub latching: Latching,
    /// How arrays and slots move towards higher addresses within a page (thesis section 3.5.1).
    #[schemars(transform = applies("operation", Operation::CHANGES.to_vec()))]
    pub upward_moves: UpwardMoves,
    /// Plain instructions of calling the buffer manager, to pin a page or to unpin it, and coming back.
    #[schemars(transform = takes(CALL))]
    pub buffer_call: u32,
    /// Plain instructions of asking a slotted page for the entry of a slot, or giving it one, and coming back; 0 if that is in line.
    #[schemars(transform = takes(CALL), transform = applies("structure", vec![Structure::Slotted]))]
    pub entry_call: u32,
    /// Plain instructions of calling `memcpy`, besides what it loads and stores: for moves of bytes, and entries of slotted pages.
    #[schemars(transform = takes(CALL), transform = applies("operation", Operation::CHANGES.to_vec()))]
    pub copy_call: u32,
    /// Plain instructions of a prefetch, besides itself: its address, and what the compiler loses around it; 0 where the address is an offset in
    /// the instruction.
    #[schemars(transform = takes(CALL), transform = applies("structure", Structure::PREFETCHING.to_vec()))]
    pub prefetch_instructions: u32,
    /// What the operations find in the caches.
    pub caches: CacheState,
    /// Operations before the measurement; before insertions and deletions they are searches, for keys as those of the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WarmUp", transform = applies("caches", vec![CacheState::Warm]))]
    pub warm_up: Option<WarmUp>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for DiskIndexWorkload {
    /// Widths of Table 3.1 for 16 KB pages.
    fn default() -> Self {
        Self {
            operation: Operation::Search,
            structure: Structure::Slotted,
            page_bytes: 16 << 10,
            key_bytes: 4,
            line_bytes: 64,
            nonleaf_lines: 2,
            leaf_lines: 12,
            node_lines: 15,
            subarray_lines: 5,
            keys: 1_000_000,
            fill: 1.0,
            maturity: Maturity::Bulkloaded,
            bulkloaded_share: 0.1,
            page_file: None,
            pool_frames: 0,
            coloring_way_bytes: 0,
            operations: 10_000,
            range: 1_000,
            scan_lengths: ScanLengths::Fixed,
            search_share: 0.0,
            insert_share: 0.05,
            skew: 0.0,
            buffer_bytes: 4096,
            reuse_buffer: false,
            jump_pointers: true,
            distance_nodes: 3,
            distance_pages: 0,
            threads: 1,
            latching: Latching::Pessimistic,
            upward_moves: UpwardMoves::Bytes,
            buffer_call: Program::BUFFER_CALL,
            entry_call: Program::ENTRY_CALL,
            copy_call: Program::COPY_CALL,
            prefetch_instructions: Program::PREFETCH_INSTRUCTIONS,
            caches: CacheState::Warm,
            warm_up: Some(WarmUp::Auto),
            seed: 1,
        }
    }
}

impl DiskIndexWorkload {
    /// Sizes of pages, keys and lines.
    #[must_use]
    pub fn sizes(&self) -> PageSizes {
        PageSizes {
            page: self.page_bytes,
            key: self.key_bytes,
            line: self.line_bytes,
        }
    }

    /// What is built.
    pub(super) fn build(&self) -> Build {
        Build {
            structure: self.structure,
            sizes: self.sizes(),
            lines: Lines {
                nonleaf: self.nonleaf_lines,
                leaf: self.leaf_lines,
                node: self.node_lines,
                subarray: self.subarray_lines,
            },
        }
    }

    /// What determines the pages.
    ///
    /// # Panics
    /// If nothing fits the pages, which validation rules out.
    #[must_use]
    pub(super) fn shape(&self) -> Shape {
        self.build().shape().expect("it was validated")
    }

    /// Keys that the bulkload gets.
    #[must_use]
    pub fn bulkloaded_keys(&self) -> u64 {
        self.maturity
            .bulkloaded_share(self.keys, self.bulkloaded_share)
    }

    /// Whether the index gets keys after its bulkload: the one in a page file has them.
    pub(super) fn grows(&self) -> bool {
        self.maturity == Maturity::Mature && self.page_file.is_none()
    }

    /// Insertions that the index has room for when the operations begin.
    pub(super) fn room_to_come(&self) -> u64 {
        self.done().room()
    }

    /// Insertions that the index has room for after its bulkload.
    pub(super) fn room(&self) -> u64 {
        self.keys - self.bulkloaded_keys() + self.room_to_come()
    }

    /// Whether the pool is one that threads may share: then a single thread does what several would do.
    pub(super) fn is_shared(&self) -> bool {
        self.threads > 1 || self.latching == Latching::Optimistic
    }

    /// Whether threads change the index together: then pages have latches.
    pub(super) fn is_changing(&self) -> bool {
        self.is_shared() && !self.done().read_only()
    }

    /// Frames, if not every page has one of its own: no more than there may be pages.
    pub(super) fn frames(&self) -> Option<u32> {
        let most = self.plan(self.room()).most.iter().sum::<u64>();
        let fewest = FEWEST_FRAMES * u64::from(self.threads);
        (self.pool_frames > 0).then(|| self.pool_frames.min(most.max(fewest)) as u32)
    }

    /// What is done.
    pub(super) fn done(&self) -> Operations {
        self.done_by(0)
    }

    /// What a thread does.
    pub(super) fn done_by(&self, number: u32) -> Operations {
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
            thread: Thread {
                number,
                of: self.threads,
            },
        }
    }

    /// What the program around the pages was made into.
    pub(super) fn program(&self) -> Program {
        Program {
            upward_moves: self.upward_moves,
            buffer_call: self.buffer_call,
            entry_call: self.entry_call,
            copy_call: self.copy_call,
            prefetch_instructions: self.prefetch_instructions,
        }
    }

    /// What scans prefetch by jump pointers.
    pub(super) fn ahead(&self) -> Ahead {
        let nodes = Structure::FRACTAL.contains(&self.structure) && self.jump_pointers;
        Ahead {
            nodes: nodes.then_some(self.distance_nodes),
            pages: self.distance_pages,
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
