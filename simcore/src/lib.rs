//! The simulator: core, caches, TLB, bus and DRAM of a machine described as data.
//!
//! [`MachineSpec`] says what the machine is, [`Engine`] runs events on it, [`Statistics`] is what came out. Everything
//! is deterministic, and time is an integer: cycles of the core.

mod bus;
mod cache;
mod core;
mod engine;
mod hierarchy;
mod ledger;
mod memory;
mod mshr;
mod predictor;
pub mod spec;
pub mod statistics;
mod tlb;
mod validate;

pub use engine::Engine;
pub use memory::DramFacts;
pub use spec::{MachineSpec, SpecError};
pub use statistics::Statistics;
