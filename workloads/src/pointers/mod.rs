//! Microbenchmarks that visit lines in random order (thesis section 2.4): through an array of pointers, and along a chain of them.

pub(crate) mod array;
pub(crate) mod chase;
mod lines;
mod native;
