//! What to run on a tree, as data.

use crate::bounds::{CALL, FILL, LINE_BYTES, OPERATIONS, THREADS, WORD_BYTES};
use crate::operations::{
    BUFFER_BYTES, Buffers, INSERT_SHARE, KEYS, LINES, Maturity, Operation, Operations,
    SEARCH_SHARE, ScanLengths, Thread,
};
use crate::ranks::SKEW;
use crate::schema::{applies, bytes, parameters, required, takes};
use crate::tree::Prefetching;
use crate::tree::layout::{self, JumpPointers, Shape};
use crate::tree::plan::Fill;
use crate::warm_up::{CacheState, WarmUp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TreeKind {
    /// B+-tree.
    #[serde(rename = "b+")]
    BPlus,
    /// Cache-sensitive B+-tree.
    #[serde(rename = "csb+")]
    CsbPlus,
}

/// Jump-pointer array of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JumpPointerArray {
    /// There is none.
    None,
    /// Chunks beside the tree.
    External,
    /// The leaf parents.
    Internal,
}

/// The tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct TreeSpec {
    /// Which tree.
    #[schemars(transform = required)]
    pub kind: TreeKind,
    /// w, cache lines per node.
    #[schemars(transform = takes(LINES))]
    pub node_lines: u32,
    /// Whether nodes are prefetched as a whole.
    pub prefetch: bool,
    /// Plain instructions of a prefetch, besides itself: its address, and what the compiler loses around it; 0 where the address is an offset in
    /// the instruction.
    #[schemars(transform = takes(CALL), transform = applies("prefetch", vec![true]))]
    pub prefetch_instructions: u32,
    /// Jump-pointer array.
    pub jump_pointers: JumpPointerArray,
    /// d, leaves that scans prefetch ahead.
    #[schemars(
        transform = takes(LINES),
        transform = applies("jump_pointers", vec![JumpPointerArray::External, JumpPointerArray::Internal]),
    )]
    pub distance_nodes: u32,
    /// c, cache lines per chunk.
    #[schemars(transform = takes(LINES), transform = applies("jump_pointers", vec![JumpPointerArray::External]))]
    pub chunk_lines: u32,
    /// Most that the bulkload fills of a chunk.
    #[schemars(transform = takes(FILL), transform = applies("jump_pointers", vec![JumpPointerArray::External]))]
    pub chunk_fill: f64,
}

impl Default for TreeSpec {
    fn default() -> Self {
        Self {
            kind: TreeKind::BPlus,
            node_lines: 1,
            prefetch: false,
            prefetch_instructions: 0,
            jump_pointers: JumpPointerArray::None,
            distance_nodes: 3,
            chunk_lines: 3,
            chunk_fill: 0.8,
        }
    }
}

/// Operations on a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(transform = parameters::<Self>)]
pub struct IndexWorkload {
    /// What is done to the tree.
    #[schemars(transform = required)]
    pub operation: Operation,
    /// The tree.
    #[schemars(transform = required)]
    pub tree: TreeSpec,
    /// Size of a key, a pointer and a tupleID.
    #[schemars(transform = bytes, transform = takes(WORD_BYTES))]
    pub word_bytes: u32,
    /// Size of a cache line.
    #[schemars(transform = bytes, transform = takes(LINE_BYTES))]
    pub line_bytes: u32,
    /// Index entries before the operations.
    #[schemars(transform = required, transform = takes(KEYS))]
    pub keys: u64,
    /// Share of a node's keys that the bulkload fills, truncated to whole keys.
    #[schemars(transform = takes(FILL))]
    pub fill: f64,
    /// How the tree got its keys.
    pub maturity: Maturity,
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
    /// Threads that divide each range among themselves (thesis section 3.6.4), or to which searches are dealt out; they begin together and share
    /// the tree, while each has return buffers of its own.
    #[schemars(transform = takes(THREADS), transform = applies("operation", vec![Operation::Search, Operation::Scan]))]
    pub threads: u32,
    /// What the operations find in the caches.
    pub caches: CacheState,
    /// Operations before the measurement; before insertions and deletions they are searches, for keys as those of the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WarmUp", transform = applies("caches", vec![CacheState::Warm]))]
    pub warm_up: Option<WarmUp>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for IndexWorkload {
    fn default() -> Self {
        Self {
            operation: Operation::Search,
            tree: TreeSpec::default(),
            word_bytes: 4,
            line_bytes: 64,
            keys: 1_000_000,
            fill: 1.0,
            maturity: Maturity::Bulkloaded,
            operations: 10_000,
            range: 1_000,
            scan_lengths: ScanLengths::Fixed,
            search_share: 0.0,
            insert_share: 0.05,
            skew: 0.0,
            buffer_bytes: 4096,
            reuse_buffer: false,
            threads: 1,
            caches: CacheState::Warm,
            warm_up: Some(WarmUp::Auto),
            seed: 1,
        }
    }
}

impl IndexWorkload {
    /// What determines the nodes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        Shape {
            kind: match self.tree.kind {
                TreeKind::BPlus => layout::Kind::BPlus,
                TreeKind::CsbPlus => layout::Kind::CsbPlus,
            },
            word_bytes: self.word_bytes,
            line_bytes: self.line_bytes,
            node_lines: self.tree.node_lines,
            jump_pointers: match self.tree.jump_pointers {
                JumpPointerArray::None => JumpPointers::None,
                JumpPointerArray::External => JumpPointers::External {
                    chunk_lines: self.tree.chunk_lines,
                },
                JumpPointerArray::Internal => JumpPointers::Internal,
            },
        }
    }

    /// How full the bulkload makes nodes and chunks.
    #[must_use]
    pub fn fills(&self) -> Fill {
        Fill {
            nodes: self.fill,
            chunks: self.tree.chunk_fill,
        }
    }

    /// How the tree is run.
    #[must_use]
    pub fn prefetching(&self) -> Prefetching {
        Prefetching {
            nodes: self.tree.prefetch,
            distance_nodes: self.tree.distance_nodes,
            instructions: self.tree.prefetch_instructions,
        }
    }

    /// Keys that the bulkload gets.
    #[must_use]
    pub fn bulkloaded_keys(&self) -> u64 {
        self.maturity.bulkloaded(self.keys)
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

    /// Insertions that the tree has room for after its bulkload.
    #[must_use]
    pub fn room(&self) -> u64 {
        let reads = self.done().read_only();
        if self.tree.kind == TreeKind::CsbPlus && reads && self.maturity == Maturity::Bulkloaded {
            // Most CSB+-trees are never changed, and room would put their levels elsewhere than published results have them.
            return 0;
        }
        self.keys - self.bulkloaded_keys() + self.done().room()
    }
}
