//! Operations on a B+-tree or CSB+-tree.

pub(crate) mod keys;
pub(crate) mod return_buffers;
pub(crate) mod run;
