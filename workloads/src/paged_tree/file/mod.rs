//! Page files: an index on disk, which goes on after it is opened again as if it had never been closed.
//!
//! `format.rs` is the one definition of the bytes. A file is written beside its final name and takes it when it is whole and on the disk
//! ([`traces::atomic`]). Whoever opens one trusts nothing in it: checksums say whether it is as it was written, and the checks of
//! `check.rs` whether an index can work with what was written. Only then it is one.

use crate::watch::{self, BYTES_PER_LOOK};

mod error;
mod format;
mod read;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use error::PageFileError;
pub use format::{Header, State, seal};
pub use read::check;
pub(crate) use read::open;

/// Says now and then that pages are read or written, of which this is one.
fn look_at(page: u32, page_bytes: u32) {
    if page.is_multiple_of(BYTES_PER_LOOK as u32 / page_bytes) {
        watch::look();
    }
}
