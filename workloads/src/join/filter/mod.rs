//! Bloom filters in memory (thesis section 5.4): sets of keys that may be taken to hold one that they do not, never the other way round.
//!
//! A thread fills filters that lie one behind the other (`filters.rs`), of which a bit is a word with a mask (`hashes.rs`). What all threads
//! have filled is then made into one (`merge.rs`), or into a vertical layout, in which a row has the bits of all filters at one position
//! (`vertical.rs`, `row.rs`, `convert.rs`; `ones.rs` finds the bits that are set). Many filters can also be tested where they are
//! (`horizontal.rs`, `many.rs`).

mod convert;
mod filters;
mod hashes;
mod horizontal;
mod many;
mod merge;
mod ones;
mod row;
mod sites;
mod size;
#[cfg(test)]
mod tests;
mod vertical;

pub(super) use convert::Conversion;
pub(super) use filters::Filters;
pub(super) use hashes::positions;
pub(super) use many::Many;
pub(super) use merge::{Merge, Merged};
pub(super) use ones::take_one;
pub(super) use row::{MOST_FILTERS, Row};
pub(super) use sites::Site;
pub(super) use size::{MOST_BITS, bits_for};
pub(super) use vertical::row_bytes;
