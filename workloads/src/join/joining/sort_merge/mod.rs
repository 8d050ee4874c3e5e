//! The sort-merge join of nearly sorted partitions (thesis sections 5.3.4 and 5.6.5).
//!
//! While partitioning, tuples that are out of order were put apart, so that each side of a partition has two inputs, both as they came
//! (`inputs.rs`). The keys of those out of order are sorted with pointers to their tuples (`entries.rs`); then both sides are read by key
//! (`stream.rs`), and merged (`merge.rs`).

mod entries;
mod inputs;
mod merge;
mod places;
mod sites;
mod stream;

pub(super) use entries::Entries;
pub(super) use inputs::{DividedSide, Inputs};
pub(super) use merge::{Groups, merge};
pub(super) use places::{SortPlaces, SortSizes};
pub(super) use sites::all as all_sites;
