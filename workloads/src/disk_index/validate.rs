//! Which workloads on an index in pages can run: checked before anything is built.

use super::limits::{CALL, DISTANCE, DISTANCE_PAGES, KEY_BYTES, LINES};
use super::spec::{DiskIndexWorkload, Structure};
use crate::bounds::{FILL, LINE_BYTES, OPERATIONS};
use crate::operations::{BULKLOADED_SHARE, KEYS, Operation, check_buffer};
use crate::paged_tree::geometry::{
    CacheFirst, InPageTree, MicroIndexPage, PAGE_HEADER_BYTES, slotted_fanout,
};
use crate::pool::limits::{FEWEST_FRAMES, PAGE_BYTES, check_frames};
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;

/// Fewest entries of a page: below that, splits have nothing to divide.
const FEWEST_ENTRIES: u32 = 8;

impl DiskIndexWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        KEY_BYTES.check("key_bytes", self.key_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        self.check_pages()?;
        KEYS.check("keys", self.keys)?;
        FILL.check("fill", self.fill)?;
        BULKLOADED_SHARE.check("bulkloaded_share", self.bulkloaded_share)?;
        check_frames("pool_frames", self.pool_frames)?;
        self.check_distance_pages()?;
        CALL.check("buffer_call", self.buffer_call)?;
        CALL.check("entry_call", self.entry_call)?;
        CALL.check("copy_call", self.copy_call)?;
        OPERATIONS.check("operations", self.operations)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        self.done().check()?;
        if self.operation == Operation::Scan {
            check_buffer(self.buffer_bytes, self.line_bytes)?;
            if self.structure == Structure::DiskFirst && self.jump_pointers {
                DISTANCE.check("distance_nodes", self.distance_nodes)?;
            }
        }
        Ok(())
    }

    /// Checks that there are frames for pages that are asked for ahead.
    fn check_distance_pages(&self) -> Result<(), WorkloadError> {
        DISTANCE_PAGES.check("distance_pages", self.distance_pages)?;
        let fewest = FEWEST_FRAMES + u64::from(self.distance_pages);
        if self.distance_pages == 0 || self.pool_frames >= fewest {
            return Ok(());
        }
        let frames = match self.pool_frames {
            0 => "every page has a frame".into(),
            frames => format!("there are {frames} frames"),
        };
        let message = format!(
            "{} pages asked for ahead, and {frames}; name a pool_frames of at least {fewest}",
            self.distance_pages
        );
        Err(WorkloadError::new("distance_pages", message))
    }

    /// Checks that pages have room for what they are made of.
    fn check_pages(&self) -> Result<(), WorkloadError> {
        let sizes = self.sizes();
        let too_large = |parameter: &str, lines: u32| {
            let message = format!(
                "{lines} lines of {} bytes; pages of {} bytes have no room for two such nodes with keys of {}, or a node has too few entries",
                self.line_bytes, self.page_bytes, self.key_bytes
            );
            WorkloadError::new(parameter, message)
        };
        if self.line_bytes < PAGE_HEADER_BYTES || slotted_fanout(&sizes) < FEWEST_ENTRIES {
            let message = format!(
                "{} bytes; a page of {} has no room for {FEWEST_ENTRIES} entries behind a header of one line",
                self.line_bytes, self.page_bytes
            );
            return Err(WorkloadError::new("line_bytes", message));
        }
        match self.structure {
            Structure::Slotted | Structure::Array => Ok(()),
            Structure::MicroIndex => {
                LINES.check("subarray_lines", self.subarray_lines)?;
                let page = MicroIndexPage::new(&sizes, self.subarray_lines);
                page.filter(|page| page.fanout >= FEWEST_ENTRIES)
                    .map(|_| ())
                    .ok_or_else(|| too_large("subarray_lines", self.subarray_lines))
            }
            Structure::DiskFirst => {
                LINES.check("nonleaf_lines", self.nonleaf_lines)?;
                LINES.check("leaf_lines", self.leaf_lines)?;
                let tree = InPageTree::new(&sizes, self.nonleaf_lines, self.leaf_lines);
                tree.map(|_| ()).ok_or_else(|| {
                    let (parameter, lines) = if self.nonleaf_lines > self.leaf_lines {
                        ("nonleaf_lines", self.nonleaf_lines)
                    } else {
                        ("leaf_lines", self.leaf_lines)
                    };
                    too_large(parameter, lines)
                })
            }
            Structure::CacheFirst => {
                LINES.check("node_lines", self.node_lines)?;
                let nodes = CacheFirst::new(&sizes, self.node_lines)
                    .ok_or_else(|| too_large("node_lines", self.node_lines))?;
                let most = (self.line_bytes - PAGE_HEADER_BYTES) * 8;
                if nodes.nodes > most {
                    let message = format!(
                        "{} lines make {} nodes per page; the page header has bits for {most}, so nodes or lines must be larger",
                        self.node_lines, nodes.nodes
                    );
                    return Err(WorkloadError::new("node_lines", message));
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut DiskIndexWorkload)) -> Option<String> {
        let mut workload = DiskIndexWorkload::default();
        change(&mut workload);
        workload.check().err().map(|error| error.path)
    }

    #[test]
    fn what_does_not_fit_a_page_is_refused_by_name() {
        assert_eq!(refused(|_| ()), None);
        let node = |structure, lines| {
            refused(|workload| {
                workload.structure = structure;
                workload.page_bytes = 4096;
                workload.node_lines = lines;
                workload.leaf_lines = lines;
                workload.subarray_lines = lines;
            })
        };
        assert_eq!(
            node(Structure::DiskFirst, 64).as_deref(),
            Some("leaf_lines")
        );
        assert_eq!(
            node(Structure::CacheFirst, 64).as_deref(),
            Some("node_lines")
        );
        for structure in [
            Structure::DiskFirst,
            Structure::CacheFirst,
            Structure::MicroIndex,
        ] {
            assert_eq!(node(structure, 3), None);
            assert!(node(structure, 65).is_some());
        }
        assert_eq!(
            refused(|workload| workload.page_bytes = 5000).as_deref(),
            Some("page_bytes")
        );
        assert_eq!(
            refused(|workload| workload.key_bytes = 16).as_deref(),
            Some("key_bytes")
        );
        assert_eq!(
            refused(|workload| workload.pool_frames = 3).as_deref(),
            Some("pool_frames")
        );
        assert_eq!(refused(|workload| workload.pool_frames = 16), None);
    }
}
