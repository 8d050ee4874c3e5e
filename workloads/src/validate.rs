//! Which workloads can run: checked before anything is built.

use crate::arena;
use crate::index::return_buffers;
use crate::spec::{
    IndexWorkload, JumpPointerArray, Maturity, Operation, TlbState, TreeKind, WarmUp, Workload,
};
use crate::tree::plan::reservations;
use thiserror::Error;

/// A workload that cannot run: which parameter, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct WorkloadError {
    /// Place in the workload, such as `tree.node_lines`.
    pub path: String,
    /// What is wrong with it and what would be right.
    pub message: String,
}

impl WorkloadError {
    pub(crate) fn new(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

/// Most index entries: more would not fit the host's memory.
const MOST_KEYS: u64 = 200_000_000;
/// Most operations of a run.
pub(crate) const MOST_OPERATIONS: u64 = 100_000_000;
/// Largest return buffer.
const MOST_BUFFER_BYTES: u64 = 1 << 28;
/// Most lines of a pointer workload.
const MOST_LINES: u64 = 10_000_000;
/// Fewest child pointers of a node: below that, splits have nothing to divide.
const FEWEST_CHILDREN: usize = 4;

pub(crate) fn within<N: PartialOrd + std::fmt::Display>(
    path: &str,
    value: N,
    low: N,
    high: N,
) -> Result<(), WorkloadError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(WorkloadError::new(
        path,
        format!("{value} is out of range; it must be from {low} to {high}"),
    ))
}

pub(crate) fn power_of_two(
    path: &str,
    value: u32,
    low: u32,
    high: u32,
) -> Result<(), WorkloadError> {
    if value.is_power_of_two() && value >= low && value <= high {
        return Ok(());
    }
    Err(WorkloadError::new(
        path,
        format!("{value} bytes; it must be a power of two from {low} to {high}"),
    ))
}

fn word_bytes(value: u32) -> Result<(), WorkloadError> {
    if matches!(value, 4 | 8) {
        return Ok(());
    }
    Err(WorkloadError::new(
        "word_bytes",
        format!("{value} bytes; it must be 4 or 8"),
    ))
}

impl Workload {
    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot be, with the values that can.
    pub fn validate(&self) -> Result<(), WorkloadError> {
        match self {
            Self::Index(index) => index.validate(),
            Self::Table(table) => table.validate(),
            Self::Tpch(tpch) => tpch.validate(),
            Self::PointerArray(array) => {
                within("distance_lines", array.distance_lines, 0, array.lines)?;
                pages(
                    array.lines,
                    array.line_bytes,
                    array.word_bytes,
                    array.page_bytes,
                    Some(array.pages),
                )
            }
            Self::PointerChase(chase) => {
                let shared = (chase.tlb == TlbState::Warm).then_some(chase.pages);
                pages(
                    chase.lines,
                    chase.line_bytes,
                    chase.word_bytes,
                    chase.page_bytes,
                    shared,
                )
            }
        }
    }
}

/// Checks lines in `shared` pages, or in a page each.
fn pages(
    lines: u64,
    line_bytes: u32,
    word: u32,
    page_bytes: u32,
    shared: Option<u64>,
) -> Result<(), WorkloadError> {
    within("lines", lines, 1, MOST_LINES)?;
    power_of_two("line_bytes", line_bytes, 16, 1024)?;
    word_bytes(word)?;
    power_of_two("page_bytes", page_bytes, 2 * line_bytes, 1 << 30)?;
    if let Some(pages) = shared {
        within("pages", pages, 1, MOST_LINES)?;
        let listed = u64::from(page_bytes / line_bytes - 1);
        if lines > pages * listed {
            let message = format!(
                "{lines} do not fit into {pages} pages, which list at most {} lines",
                pages * listed
            );
            return Err(WorkloadError::new("lines", message));
        }
    }
    let array_bytes = lines * u64::from(word);
    let bytes = shared
        .unwrap_or(lines)
        .saturating_mul(u64::from(page_bytes))
        .saturating_add(array_bytes);
    address_space("lines", word, bytes.saturating_add(1 << 20))
}

/// Checks that addresses up to `end` fit a word.
fn address_space(path: &str, word_bytes: u32, end: u64) -> Result<(), WorkloadError> {
    if word_bytes == 4 && end > u64::from(u32::MAX) {
        let message = format!(
            "these take {:.1} GiB of addresses, but word_bytes 4 reaches 4 GiB; take fewer, or word_bytes 8",
            end as f64 / f64::from(1 << 30)
        );
        return Err(WorkloadError::new(path, message));
    }
    Ok(())
}

impl IndexWorkload {
    fn validate(&self) -> Result<(), WorkloadError> {
        word_bytes(self.word_bytes)?;
        power_of_two("line_bytes", self.line_bytes, 16, 1024)?;
        let tree = &self.tree;
        within("tree.node_lines", tree.node_lines, 1, 64)?;
        let children = self.shape().fanout();
        if children < FEWEST_CHILDREN {
            let message = format!(
                "a node has {children} child pointers; it must have at least {FEWEST_CHILDREN}"
            );
            return Err(WorkloadError::new("tree.node_lines", message));
        }
        if tree.jump_pointers != JumpPointerArray::None {
            within("tree.distance_nodes", tree.distance_nodes, 1, 64)?;
            if !tree.prefetch {
                return Err(WorkloadError::new(
                    "tree.prefetch",
                    "false, but jump pointers serve prefetching; it must be true",
                ));
            }
        }
        if tree.jump_pointers == JumpPointerArray::External {
            within("tree.chunk_lines", tree.chunk_lines, 1, 64)?;
            within("tree.chunk_fill", tree.chunk_fill, 0.1, 1.0)?;
        }
        if tree.kind == TreeKind::CsbPlus {
            if tree.jump_pointers != JumpPointerArray::None {
                return Err(WorkloadError::new(
                    "tree.jump_pointers",
                    "CSB+-trees have none here; it must be `none`",
                ));
            }
            if !matches!(self.operation, Operation::Search | Operation::Scan) {
                return Err(WorkloadError::new(
                    "operation",
                    "CSB+-trees are for `search` and `scan` only",
                ));
            }
            if self.maturity == Maturity::Mature {
                return Err(WorkloadError::new(
                    "maturity",
                    "CSB+-trees take no insertions; it must be `bulkloaded`",
                ));
            }
        }
        within("keys", self.keys, 1, MOST_KEYS)?;
        within("fill", self.fill, 0.1, 1.0)?;
        within("operations", self.operations, 1, MOST_OPERATIONS)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        match self.operation {
            Operation::Search => {}
            Operation::Insert => within(
                "operations",
                self.operations,
                1,
                self.keys.saturating_mul(crate::index::keys::GAPS),
            )?,
            Operation::Delete => within("operations", self.operations, 1, self.keys)?,
            Operation::Scan => {
                within("range", self.range, 1, self.keys)?;
                let line = u64::from(self.line_bytes);
                within("buffer_bytes", self.buffer_bytes, line, MOST_BUFFER_BYTES)?;
                if !self.buffer_bytes.is_multiple_of(line) {
                    return Err(WorkloadError::new(
                        "buffer_bytes",
                        format!(
                            "{} is no whole number of lines of {line} bytes",
                            self.buffer_bytes
                        ),
                    ));
                }
            }
        }
        let mut reserved = reservations(
            &self.shape(),
            self.bulkloaded_keys(),
            self.fills(),
            self.room(),
        );
        reserved.extend(return_buffers::reservation(self));
        let end = arena::place(&reserved)
            .last()
            .map_or(0, |last| last.base + last.size_bytes);
        address_space("keys", self.word_bytes, end)
    }
}
