//! What an event is, the Parquet store that keeps events, and the import of other tools' traces; and of the host, its free memory and
//! its prefetches.
//!
//! This crate knows no other crate of memwalk: kernels write events, the simulator reads them.

pub mod atomic;
pub mod dependences;
pub mod event;
pub mod export;
pub mod gem5;
pub mod host_memory;
pub mod host_prefetch;
pub mod import;
pub mod layout;
mod rules;
pub mod sink;
pub mod source;
pub mod store;
pub mod turns;
pub mod window;

pub use dependences::{Dependences, Overlay};
pub use event::{Event, Kind, OpClass};
pub use layout::{Layout, Segment};
pub use sink::{Counter, EventSink, SinkError};
pub use source::EventSource;
pub use turns::{AloneAtBarrier, HeldForEver};
