//! Indexes in disk pages that are reached through a buffer pool (thesis chapter 3).

mod array;
mod cache_first;
mod check;
mod disk_first;
pub mod file;
mod format;
pub mod geometry;
mod index;
mod key;
mod moves;
mod page;
mod page_jumps;
pub mod plan;
mod sites;
mod slotted;
pub(crate) mod structure;
mod take;
#[cfg(test)]
mod tests;
mod tree;
mod tree_check;

pub use format::Ahead;
pub use index::{Index, Shape};
pub use key::{Key, Long};
pub use sites::Site;
