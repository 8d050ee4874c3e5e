//! Relations in pages: how records lie in them, and how they are read and changed.
//!
//! [`PageFile`] is what operators are written against: a file whose pages hold whole records, as slotted pages ([`Nsm`])
//! and PAX pages ([`Pax`]) do. Reading a value takes four steps, which a scan does as seldom as it can: open the page,
//! open a column of it, find the record, read the value. Each step leaves the loads that it takes, with their
//! dependences. Calls into the host DBMS and requests for pages are the operators' business.

pub mod abstraction;
mod access;
pub mod averages;
mod borrow;
pub(crate) mod columns;
mod copies;
pub mod dsm;
mod file;
mod framed;
mod frames;
mod geometry;
pub mod lines;
mod minipage;
mod node_frames;
mod node_pages;
mod nsm;
mod nsm_file;
pub mod nsm_format;
mod packed;
mod pax;
mod pax_boundaries;
mod pax_change;
mod pax_file;
pub mod pax_format;
mod pax_load;
mod record_index;
mod room;
mod row_store;
mod schema;
mod sites;
mod source;
pub mod store;
mod super_column;
mod super_row;
mod value;

pub use crate::place::Loaded;
pub use access::{Column, Page, Record, RecordId};
pub use borrow::FullMinipage;
pub use columns::Columns;
pub(crate) use copies::{COPY_WORD, copy_words, store_words};
pub use dsm::{Dsm, DsmLoader};
pub use file::PageFile;
pub use framed::FixedPage;
pub use frames::{Frames, Pool, assert_apart};
pub use geometry::{Geometry, MOST_PAGE_BYTES};
pub use node_pages::{NodesInPool, NodesOfIndex};
pub use nsm::Nsm;
pub use pax::{Pax, PaxOptions};
pub use pax_load::Loading;
pub use record_index::RecordIndex;
pub use row_store::RowStore;
pub use schema::{Attribute, Schema, Type};
pub use sites::PageSites;
pub use source::Source;
pub use store::Store;
pub use super_column::SuperColumn;
pub use super_row::SuperRow;
pub use value::Value;
