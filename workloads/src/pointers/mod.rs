//! Microbenchmarks that visit lines in random order (thesis section 2.4): two families, one through an array of pointers, one along
//! a chain of them.

mod array;
mod chase;
mod contents;
mod estimates;
mod lines;
mod validate;

pub use array::PointerArrayWorkload;
pub use chase::{PointerChaseWorkload, TlbState, measure_laps};
