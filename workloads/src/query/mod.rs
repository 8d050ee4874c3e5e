//! Query operators over relations in pages: what they read, compute and keep leaves events, and they give true results.

mod calls;
mod column_scan;
mod column_update;
mod delete;
mod dirty;
mod dsm_scan;
mod entry;
mod groups;
mod hash;
mod hash_join;
mod hash_table;
mod heap;
mod output;
mod point;
mod predicate;
mod reconstruction;
mod scan;
mod sites;
mod update;

pub use calls::Call;
pub use column_scan::StoredColumns;
pub(crate) use column_scan::point_in_columns;
pub(crate) use column_update::update_columns;
pub use delete::{delete, delete_decomposed};
pub(crate) use dsm_scan::Fetcher;
pub use dsm_scan::StoredDsm;
pub use groups::Groups;
pub use hash_join::{HashJoin, JoinPlaces, PARTITIONS, Side};
pub use output::{OutputFile, OutputSpace};
pub use point::point;
pub(crate) use point::point_decomposed;
pub use predicate::{Predicate, Test};
pub use reconstruction::Reconstruction;
pub use scan::{Order, Scan, ScanOrder, Stored};
pub use sites::Site;
pub use update::{LogBuffer, update};
