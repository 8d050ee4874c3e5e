//! Which workloads on a tree can run: checked before anything is built.

use super::spec::{IndexWorkload, JumpPointerArray, TreeKind};
use crate::arena;
use crate::bounds::{CALL, FILL, LINE_BYTES, OPERATIONS, WORD_BYTES};
use crate::operations::{KEYS, LINES, check_buffer};
use crate::tree::plan::reservations;
use crate::validate::{WorkloadError, address_space};
use crate::warm_up::WarmUp;

/// Fewest child pointers of a node: below that, splits have nothing to divide.
const FEWEST_CHILDREN: usize = 4;

impl IndexWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        WORD_BYTES.check("word_bytes", self.word_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        let tree = &self.tree;
        LINES.check("tree.node_lines", tree.node_lines)?;
        let children = self.shape().fanout();
        if children < FEWEST_CHILDREN {
            let message = format!(
                "a node has {children} child pointers; it must have at least {FEWEST_CHILDREN}"
            );
            return Err(WorkloadError::new("tree.node_lines", message));
        }
        CALL.check("tree.prefetch_instructions", tree.prefetch_instructions)?;
        if tree.jump_pointers != JumpPointerArray::None {
            LINES.check("tree.distance_nodes", tree.distance_nodes)?;
            if !tree.prefetch {
                return Err(WorkloadError::new(
                    "tree.prefetch",
                    "false, but jump pointers serve prefetching; it must be true",
                ));
            }
        }
        if tree.jump_pointers == JumpPointerArray::External {
            LINES.check("tree.chunk_lines", tree.chunk_lines)?;
            FILL.check("tree.chunk_fill", tree.chunk_fill)?;
        }
        if tree.kind == TreeKind::CsbPlus && tree.jump_pointers != JumpPointerArray::None {
            return Err(WorkloadError::new(
                "tree.jump_pointers",
                "CSB+-trees have none here; it must be `none`",
            ));
        }
        KEYS.check("keys", self.keys)?;
        FILL.check("fill", self.fill)?;
        OPERATIONS.check("operations", self.operations)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        self.done().check()?;
        self.done().check_threads(self.caches)?;
        self.done().check_threads_read()?;
        if self.operation.scans() {
            check_buffer(self.buffer_bytes, self.line_bytes)?;
        }
        let reserved = reservations(
            &self.shape(),
            self.bulkloaded_keys(),
            self.fills(),
            self.room(),
        );
        let end = (self.buffers())
            .behind(&arena::place(&reserved), self.threads)
            .last()
            .map_or(0, |last| last.base + last.size_bytes);
        address_space("keys", self.word_bytes, end)
    }
}
