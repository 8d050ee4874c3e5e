//! Hash joins: the partition phase and the join phase of Chen's thesis (chapter 4), by GRACE and with three ways of prefetching, and the
//! Bloom filters of its inspector joins (chapter 5).
//!
//! What is done with a tuple is cut into stages (`visit.rs`), each of which ends where the address of the next memory reference is known.
//! The algorithms are orders in which the stages of many tuples run (`one_by_one.rs`, `group.rs`, `pipeline.rs`); `algorithm.rs` tells them
//! apart. Two kernels run them: `joining/` inserts and probes, `partitioning/` copies tuples into output buffers (`distribute.rs`, `buffers.rs`),
//! which cache partitioning does within a join, too. Both scan tuples in slotted pages (`pages.rs`, `relation.rs`, `scan.rs`), of one length or of several (`lengths.rs`,
//! `paging.rs`); `stored.rs` says where they lie on storage, if they do. `slots.rs` has the slots of output pages, and `filter/` what tells partitioning which tuples
//! have no matches.

mod ahead;
mod algorithm;
mod buffers;
mod copy;
mod costs;
mod distribute;
mod division;
mod filter;
mod group;
mod hash;
mod joining;
mod lengths;
mod limits;
mod nearly_sorted;
mod one_by_one;
mod pages;
mod paging;
mod partitioning;
mod pipeline;
mod relation;
mod scan;
mod sites;
mod slots;
mod states;
mod stored;
mod tuple;
mod visit;

pub use algorithm::{OutputPages, PassAlgorithm};
pub use joining::{JoinAlgorithm, JoinWorkload, MatchedKeys};
pub use lengths::TupleLengths;
pub use nearly_sorted::TupleOrder;
pub use partitioning::{FilterLayout, Filtering, PartitionWorkload};
