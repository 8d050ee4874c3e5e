//! Which workloads on an index of strings can run: checked before anything is built.

use super::limits::{BITS, COMMON_BYTES, DISTANCE, FEWEST_ENTRIES, PREFIX_BYTES, TEXT_BYTES};
use super::slotted::PAGE_HEADER_BYTES;
use super::spec::{StringIndexWorkload, Structure};
use crate::bounds::{FILL, LINE_BYTES, OPERATIONS};
use crate::operations::{BULKLOADED_SHARE, KEYS, LINES, check_buffer};
use crate::pool::limits::{PAGE_BYTES, check_frames};
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;

impl StringIndexWorkload {
    /// Checks every parameter.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        LINE_BYTES.check("line_bytes", self.line_bytes)?;
        KEYS.check("keys", self.keys)?;
        self.check_texts()?;
        self.check_pages()?;
        FILL.check("fill", self.fill)?;
        BULKLOADED_SHARE.check("bulkloaded_share", self.bulkloaded_share)?;
        check_frames("pool_frames", self.pool_frames)?;
        OPERATIONS.check("operations", self.operations)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        self.done().check()?;
        if self.operation.scans() {
            check_buffer(self.buffer_bytes, self.line_bytes)?;
        }
        Ok(())
    }

    /// Checks that there are so many keys of such lengths.
    fn check_texts(&self) -> Result<(), WorkloadError> {
        TEXT_BYTES.check("longest_key_bytes", self.longest_key_bytes)?;
        TEXT_BYTES.check("shortest_key_bytes", self.shortest_key_bytes)?;
        COMMON_BYTES.check("common_prefix_bytes", self.common_prefix_bytes)?;
        BITS.check("bits_per_byte", self.bits_per_byte)?;
        let (shortest, longest) = (self.shortest_key_bytes, self.longest_key_bytes);
        if shortest > longest {
            let message = format!("{shortest} bytes; the longest key has {longest}");
            return Err(WorkloadError::new("shortest_key_bytes", message));
        }
        let (common, digits) = (self.common_prefix_bytes, self.texts().digits);
        let least = common + digits;
        if shortest < least {
            let message = format!(
                "{shortest} bytes; keys begin with {common} that all have, and {digits} of {} bits tell {} keys and those between them apart: \
                 it must be at least {least}",
                self.bits_per_byte, self.keys
            );
            return Err(WorkloadError::new("shortest_key_bytes", message));
        }
        Ok(())
    }

    /// Checks that pages have room for what they are made of.
    fn check_pages(&self) -> Result<(), WorkloadError> {
        if self.line_bytes < PAGE_HEADER_BYTES {
            let message = format!(
                "{} bytes; the header of a page has {PAGE_HEADER_BYTES}",
                self.line_bytes
            );
            return Err(WorkloadError::new("line_bytes", message));
        }
        PREFIX_BYTES.check("prefix_bytes", self.prefix_bytes)?;
        if self.structure == Structure::InPageTree {
            LINES.check("node_lines", self.node_lines)?;
            if self.operation.scans() {
                DISTANCE.check("distance_nodes", self.distance_nodes)?;
            }
            return self.in_page_tree().map(|_| ()).ok_or_else(|| {
                let fits = |node_lines| {
                    let other = Self {
                        node_lines,
                        ..self.clone()
                    };
                    other.in_page_tree().is_some()
                };
                let message = format!(
                    "{} lines of {} bytes do not fit pages of {} bytes and keys of {}; with the other sizes as they are, {}",
                    self.node_lines,
                    self.line_bytes,
                    self.page_bytes,
                    self.longest_key_bytes,
                    LINES.those_that(fits)
                );
                WorkloadError::new("node_lines", message)
            });
        }
        if self.slotted_page().fewest_entries() < FEWEST_ENTRIES {
            let message = format!(
                "{} bytes; a page of {} behind a header of {} has no room for {FEWEST_ENTRIES} such keys",
                self.longest_key_bytes, self.page_bytes, self.line_bytes
            );
            return Err(WorkloadError::new("longest_key_bytes", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut StringIndexWorkload)) -> Option<String> {
        let mut workload = StringIndexWorkload::default();
        change(&mut workload);
        workload.check().err().map(|error| error.path)
    }

    #[test]
    fn keys_that_cannot_be_are_refused_by_name() {
        assert_eq!(refused(|_| ()), None);
        let shortest = Some("shortest_key_bytes".to_owned());
        assert_eq!(
            refused(|workload| workload.shortest_key_bytes = 41),
            shortest
        );
        // A million keys and those between them take 23 bits.
        let keys = |bytes, bits| {
            refused(|workload| {
                workload.shortest_key_bytes = bytes;
                workload.bits_per_byte = bits;
                workload.common_prefix_bytes = 2;
            })
        };
        assert_eq!(keys(4, 8), shortest);
        assert_eq!(keys(5, 8), None);
        assert_eq!(keys(24, 1), shortest);
        assert_eq!(keys(25, 1), None);
    }

    #[test]
    fn keys_that_do_not_fit_a_page_are_refused_by_name() {
        let long = |line_bytes| {
            refused(|workload| {
                workload.page_bytes = 2048;
                workload.longest_key_bytes = 128;
                workload.line_bytes = line_bytes;
            })
        };
        assert_eq!(long(64), None);
        assert_eq!(long(1024).as_deref(), Some("longest_key_bytes"));
    }
}
