//! Which workloads on an index in pages can run: checked before anything is built.

use super::limits::{DISTANCE, DISTANCE_PAGES};
use super::spec::DiskIndexWorkload;
use crate::bounds::{CALL, FILL, OPERATIONS};
use crate::operations::{BULKLOADED_SHARE, KEYS, check_buffer};
use crate::paged_tree::structure::Structure;
use crate::pool::coloring::WAY_BYTES;
use crate::pool::limits::{FEWEST_FRAMES, check_frames};
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;

impl DiskIndexWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        self.build().shape()?;
        KEYS.check("keys", self.keys)?;
        FILL.check("fill", self.fill)?;
        BULKLOADED_SHARE.check("bulkloaded_share", self.bulkloaded_share)?;
        check_frames("pool_frames", self.pool_frames)?;
        WAY_BYTES.check("coloring_way_bytes", self.coloring_way_bytes)?;
        self.check_threads()?;
        self.check_distance_pages()?;
        self.check_pages_at_a_time()?;
        self.check_page_file()?;
        CALL.check("buffer_call", self.buffer_call)?;
        CALL.check("entry_call", self.entry_call)?;
        CALL.check("copy_call", self.copy_call)?;
        CALL.check("prefetch_instructions", self.prefetch_instructions)?;
        OPERATIONS.check("operations", self.operations)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        self.done().check()?;
        if self.operation.scans() {
            check_buffer(self.buffer_bytes, self.line_bytes)?;
            if self.structure == Structure::DiskFirst && self.jump_pointers {
                DISTANCE.check("distance_nodes", self.distance_nodes)?;
            }
        }
        Ok(())
    }

    /// Checks that threads can do what they are to, and that there are frames for each.
    fn check_threads(&self) -> Result<(), WorkloadError> {
        self.done().check_threads(self.caches)?;
        if self.structure == Structure::CacheFirst && self.is_changing() {
            let (parameter, value) = match self.threads {
                1 => ("latching", "optimistic".into()),
                threads => ("threads", threads.to_string()),
            };
            let message = format!(
                "{value}; the nodes of a cache-first tree have their parents in other pages, for whose changes there are no latches here; take another structure, or one thread that is `pessimistic`"
            );
            return Err(WorkloadError::new(parameter, message));
        }
        let fewest = FEWEST_FRAMES * u64::from(self.threads);
        if self.pool_frames == 0 || self.pool_frames >= fewest {
            return Ok(());
        }
        let message = format!(
            "{} for {} threads; name at least {fewest}",
            self.pool_frames, self.threads
        );
        Err(WorkloadError::new("pool_frames", message))
    }

    /// Checks that threads which scan while others change pages hold one page at a time: who held several might wait for ever.
    fn check_pages_at_a_time(&self) -> Result<(), WorkloadError> {
        if !(self.is_changing() && self.operation.scans()) {
            return Ok(());
        }
        let reason = "scans among threads that change pages, or that read them optimistically, hold one page at a time";
        if self.distance_pages > 0 {
            let message = format!("{}; {reason}: it must be 0", self.distance_pages);
            return Err(WorkloadError::new("distance_pages", message));
        }
        if self.structure == Structure::DiskFirst && self.jump_pointers {
            let message = format!("true; {reason}: it must be false");
            return Err(WorkloadError::new("jump_pointers", message));
        }
        Ok(())
    }

    /// Checks that there are frames for pages that are asked for ahead.
    fn check_distance_pages(&self) -> Result<(), WorkloadError> {
        DISTANCE_PAGES.check("distance_pages", self.distance_pages)?;
        let fewest = (FEWEST_FRAMES + u64::from(self.distance_pages)) * u64::from(self.threads);
        if self.distance_pages == 0 || self.pool_frames >= fewest {
            return Ok(());
        }
        let frames = match self.pool_frames {
            0 => "every page has a frame".into(),
            frames => format!("there are {frames} frames"),
        };
        let message = format!(
            "{} pages asked for ahead{}, and {frames}; name a pool_frames of at least {fewest}",
            self.distance_pages,
            if self.threads > 1 {
                " by each thread"
            } else {
                ""
            }
        );
        Err(WorkloadError::new("distance_pages", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Operation;

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
        // 240 keys of 4 bytes with their tupleIDs, behind a line of header and micro-index, fill 15 lines; no sub-array is longer.
        let subarray = |lines| {
            refused(|workload| {
                workload.structure = Structure::MicroIndex;
                workload.page_bytes = 2048;
                workload.subarray_lines = lines;
            })
        };
        assert_eq!(subarray(15), None);
        assert_eq!(subarray(16).as_deref(), Some("subarray_lines"));
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
        let colored = |bytes| refused(|workload| workload.coloring_way_bytes = bytes);
        assert_eq!(colored(1 << 18), None);
        for bytes in [1 << 16, 3 << 17, 1 << 27] {
            assert_eq!(colored(bytes).as_deref(), Some("coloring_way_bytes"));
        }
    }

    #[test]
    fn scans_among_changes_of_others_hold_one_page_at_a_time() {
        let among = |change: fn(&mut DiskIndexWorkload)| {
            refused(|workload| {
                workload.operation = Operation::ScanAndInsert;
                workload.structure = Structure::DiskFirst;
                workload.pool_frames = 100;
                workload.threads = 2;
                workload.jump_pointers = false;
                change(workload);
            })
        };
        assert_eq!(among(|_| ()), None);
        let jumps = among(|one| one.jump_pointers = true);
        assert_eq!(jumps.as_deref(), Some("jump_pointers"));
        let ahead = among(|one| one.distance_pages = 1);
        assert_eq!(ahead.as_deref(), Some("distance_pages"));
        // One thread may, and several that change nothing.
        let alone = among(|one| {
            (one.threads, one.jump_pointers, one.distance_pages) = (1, true, 1);
        });
        assert_eq!(alone, None);
        let reading = among(|one| {
            (one.operation, one.jump_pointers, one.distance_pages) = (Operation::Scan, true, 1);
        });
        assert_eq!(reading, None);
    }
}
