//! Instrumented database kernels over a simulated address space.
//!
//! Kernels are functional (a search finds the key) and generic over [`tracer::Trace`]: with a [`tracer::Tracer`] they
//! leave events, with [`native::Native`] the host's processor is timed. What builders do is said to [`tracer::Untraced`], which does nothing.
//! [`Library`] turns a [`Workload`] into events. Each module knows those of its own tier and of the tiers before it:
//!
//! | tier | modules |
//! |---|---|
//! | foundations | `tracer`, `relocated` and `awaiting`, `word`, `place` and `arena`, `shared` and `board`, `buckets`, `pool`, `random`, `ranks` and `permutation`, `sorted`, `watch`, `warm_up`, `outcome`, `validate`, `schema` and `bounds`, `work`, `memory`, `instructions` and `traffic`, `native` |
//! | what a family is | `family`, `threads` (those of a kernel), `kept` (what the next run may need) |
//! | libraries of data structures | [`tree`], `operations` (what is done to an index), `paged_tree`, [`page`] (which uses `tree`), [`query`] (which uses `page`) |
//! | families of kernels | [`disk_index`], [`index`], [`join`], [`parallel_join`], [`pointers`], [`probe`], [`string_index`], [`table`], [`tpch`]: none knows another |
//! | the list of them | `register`, `families` |
//! | what runs them | `library`, `rounds` |

pub mod arena;
mod awaiting;
mod board;
mod bounds;
mod buckets;
pub mod disk_index;
mod families;
mod family;
pub mod index;
mod instructions;
pub mod join;
mod kept;
mod library;
mod memory;
pub mod native;
pub mod operations;
mod outcome;
pub mod page;
mod paged_tree;
pub mod parallel_join;
mod permutation;
pub mod place;
pub mod pointers;
pub mod pool;
pub mod probe;
pub mod query;
pub mod random;
mod ranks;
mod register;
mod relocated;
pub mod rounds;
mod schema;
mod shared;
mod sorted;
pub mod string_index;
pub mod table;
pub mod threads;
pub mod tpch;
pub mod tracer;
mod traffic;
pub mod tree;
mod validate;
mod warm_up;
pub mod watch;
pub mod word;
mod work;

pub use families::{Workload, kernels};
pub use family::KernelInfo;
pub use instructions::Instructions;
pub use library::{Library, Prepared};
pub use memory::Memory;
pub use outcome::Outcome;
pub use traffic::Traffic;
pub use validate::WorkloadError;
pub use warm_up::{CacheState, WarmUp};
pub use work::Work;
