//! Indexes in disk pages that are reached through a buffer pool (thesis chapter 3).

pub mod geometry;
