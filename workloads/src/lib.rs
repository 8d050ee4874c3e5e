//! Instrumented database kernels over a simulated address space.
//!
//! Kernels are functional (a search finds the key) and generic over [`tracer::Trace`]: with a [`tracer::Tracer`] they
//! leave events, with [`tracer::Untraced`] they run at full speed. [`Library`] turns a [`Workload`] into events.

pub mod arena;
mod index;
mod library;
pub mod memory;
pub mod native;
mod outcome;
pub mod page;
mod pointers;
pub mod query;
pub mod random;
pub mod registry;
mod relocated;
pub mod spec;
pub mod table;
pub mod tpch;
pub mod tracer;
pub mod tree;
mod validate;
mod warm_up;
pub mod watch;
mod work;

pub use library::{Library, Prepared};
pub use outcome::Outcome;
pub use registry::{KernelInfo, kernels};
pub use spec::Workload;
pub use validate::WorkloadError;
pub use work::Work;
