//! Operations on indexes in disk pages (thesis chapter 3).
#![allow(dead_code, reason = "the kernel that runs them comes next")]

mod limits;
mod spec;
mod validate;

pub use spec::{DiskIndexWorkload, Structure};
