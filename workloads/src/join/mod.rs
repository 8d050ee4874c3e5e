//! Hash joins: the partition phase and the join phase of Chen's thesis (chapter 4), by GRACE and with three ways of prefetching.
//!
//! What is done with a tuple is cut into stages (`visit.rs`), each of which ends where the address of the next memory reference is known.
//! The algorithms are orders in which the stages of many tuples run (`one_by_one.rs`, `group.rs`, `pipeline.rs`); `algorithm.rs` tells them
//! apart. Two kernels have stages of their own: `joining/` inserts and probes, `partitioning/` copies tuples into output buffers. Both scan
//! tuples in slotted pages (`pages.rs`, `relation.rs`, `scan.rs`).

mod ahead;
mod algorithm;
mod copy;
mod costs;
mod group;
mod hash;
mod joining;
mod limits;
mod one_by_one;
mod pages;
mod partitioning;
mod permutation;
mod pipeline;
mod relation;
mod scan;
mod sites;
mod states;
mod visit;

pub use algorithm::{JoinAlgorithm, OutputPages};
pub use joining::JoinWorkload;
pub use partitioning::PartitionWorkload;
