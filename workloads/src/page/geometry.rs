//! Sizes of pages.

use crate::validate::{WorkloadError, power_of_two};

/// Size of a page, and what of it the storage manager keeps for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes at its beginning that hold no records.
    pub header_bytes: u32,
}

impl Geometry {
    /// Bytes behind the header.
    #[must_use]
    pub fn usable_bytes(self) -> usize {
        (self.page_bytes - self.header_bytes) as usize
    }
}

/// Largest page: offsets in it take 2 bytes.
pub const MOST_PAGE_BYTES: u32 = 1 << 15;

/// Checks that a page has room for its own header and for the longest record, which needs so many bytes.
pub(super) fn check_geometry(
    geometry: Geometry,
    least_header: u32,
    record_bytes: usize,
) -> Result<(), WorkloadError> {
    let Geometry {
        page_bytes,
        header_bytes,
    } = geometry;
    let least_page = (least_header + 1).next_power_of_two();
    power_of_two("page_bytes", page_bytes, least_page, MOST_PAGE_BYTES)?;
    if header_bytes < least_header || header_bytes >= page_bytes {
        let message = format!(
            "{header_bytes} bytes; it must be from {least_header} to less than a page, {page_bytes}"
        );
        return Err(WorkloadError::new("header_bytes", message));
    }
    if record_bytes > geometry.usable_bytes() {
        let message = format!(
            "{page_bytes} bytes, {} of them usable; the longest record needs {record_bytes}",
            geometry.usable_bytes()
        );
        return Err(WorkloadError::new("page_bytes", message));
    }
    Ok(())
}
