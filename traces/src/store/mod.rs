//! The Parquet store: one event per row, eight plain columns that any Parquet reader opens.
//!
//! - [`Writer`] is the recorder: an [`crate::EventSink`] whose file appears under its name when it is whole, or never.
//! - [`Reader`] streams the events back in bounded memory and validates every value.
//! - [`check`] reads all of a file and reports.
//!
//! A file is an ordinary Parquet file: row groups of [`ROW_GROUP_EVENTS`] events, zstd, no nulls. Of a program of several threads, each
//! row group holds events of one of them, in program order, and is smaller. The footer holds two
//! metadata entries: `memwalk.contents`, JSON with the [`TraceInfo`], the event and instruction counts and a checksum
//! of every row group; and `memwalk.seal`, JSON with the format's name, its version and the checksum of the footer.
//! No byte reaches a Parquet decoder before its checksum has been compared.

mod check;
mod columns;
mod decoder;
mod encoder;
mod error;
mod format;
mod group;
mod hybrid;
mod info;
mod opening;
mod pages;
mod reader;
mod row;
mod seal;
mod shapes;
mod writer;

pub use check::{CheckReport, KindCount, check, check_with};
pub use error::StoreError;
pub use format::{FORMAT, ROW_GROUP_EVENTS, SCHEMA_VERSION};
pub(crate) use info::MOST_THREADS;
pub use info::{Generator, TraceInfo, TraceSummary};
pub use reader::{BATCH_EVENTS, Batches, Reader};
pub(crate) use seal::SEAL_KEY;
pub use writer::Writer;
