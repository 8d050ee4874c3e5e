//! Which workloads on a tree can run: checked before anything is built.

use super::keys::GAPS;
use super::return_buffers;
use super::spec::{IndexWorkload, JumpPointerArray, Operation, TreeKind};
use crate::arena;
use crate::tree::plan::reservations;
use crate::validate::{
    MOST_OPERATIONS, WorkloadError, address_space, power_of_two, within, word_bytes,
};
use crate::warm_up::WarmUp;

/// Most index entries: more would not fit the host's memory.
const MOST_KEYS: u64 = 200_000_000;
/// Largest return buffer.
const MOST_BUFFER_BYTES: u64 = 1 << 28;
/// Fewest child pointers of a node: below that, splits have nothing to divide.
const FEWEST_CHILDREN: usize = 4;

impl IndexWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
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
        if tree.kind == TreeKind::CsbPlus && tree.jump_pointers != JumpPointerArray::None {
            return Err(WorkloadError::new(
                "tree.jump_pointers",
                "CSB+-trees have none here; it must be `none`",
            ));
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
                self.keys.saturating_mul(GAPS),
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
