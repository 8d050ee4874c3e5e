//! The simulator: core, caches, TLB, bus and DRAM of a machine described as data.
//!
//! [`MachineSpec`] says what the machine is, [`Engine`] runs events on it, [`Statistics`] is what came out. Everything
//! is deterministic, and time is an integer: cycles of the core.

mod arrival;
mod cache;
mod calendar;
mod clock;
mod combined;
mod core;
pub mod counts;
mod directory;
mod engine;
mod footprint;
mod hierarchy;
mod journeys;
mod ledger;
mod line;
mod line_room;
mod line_set;
mod memory;
mod miss_end;
mod mshr;
pub mod multicore;
pub mod page_requests;
mod page_table;
mod predictor;
mod prefetcher;
pub mod profile;
pub mod reads;
mod recency;
mod replacement;
pub mod sampling;
mod segments;
mod sets;
pub mod spec;
pub mod stack_distance;
pub mod statistics;
pub mod storage;
mod system;
mod tlb;
pub mod usage;
mod validate;
mod walkers;
mod walks;
pub mod warm_up;
mod write_combining;

pub use core::EventTimes;
pub use counts::Counts;
pub use engine::Engine;
pub use footprint::Footprint;
pub use ledger::Accounts;
#[cfg(feature = "dramsim3")]
#[doc(hidden)]
pub use memory::DRAMSIM3_CREATION;
pub use memory::DramFacts;
pub use multicore::Multicore;
pub use reads::AddressSink;
pub use sampling::Sampler;
pub use spec::{MachineSpec, SpecError};
pub use statistics::Statistics;
pub use storage::Storage;
pub use usage::ByteUsage;
pub use warm_up::WarmUp;
