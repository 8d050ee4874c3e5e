//! The trace format: names, versions, columns and how each column is packed.

use crate::event::{Event, Kind};
use crate::store::info::TraceInfo;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, TypePtr};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name of the format, written into every file.
pub const FORMAT: &str = "memwalk-trace";
/// The latest version of columns and metadata that this build reads. It writes the earliest that says all of a trace, so that
/// earlier builds read what they can.
pub const SCHEMA_VERSION: u64 = OF_SHARED_LATCHES;
/// The versions in which latches that several hold at a time, frames and latches that threads share, exchanges, non-temporal stores, arrivals of pages and threads came, and the one before.
const OF_SHARED_LATCHES: u64 = 7;
const OF_SHARING: u64 = 6;
const OF_EXCHANGES: u64 = 5;
const OF_NON_TEMPORAL_STORES: u64 = 4;
const OF_ARRIVALS: u64 = 3;
const OF_THREADS: u64 = 2;
pub(super) const FIRST: u64 = 1;
/// Events in a row group; the last one of a file may hold fewer.
pub const ROW_GROUP_EVENTS: usize = 1 << 20;
/// Fewest events in a row group that is not the last of its thread: fewer would not pack well.
const FEWEST_ROW_GROUP_EVENTS: usize = 1 << 15;

/// First and last bytes of every Parquet file.
pub(super) const PARQUET_MAGIC: &[u8; 4] = b"PAR1";
/// Bytes after the Parquet footer: its length and the magic.
pub(super) const TAIL_BYTES: usize = 8;
/// Key of the metadata entry that holds the [`Contents`] as JSON.
pub(super) const CONTENTS_KEY: &str = "memwalk.contents";

/// The columns. No value can be null. Outside readers see uint8, uint16, uint32 and uint64.
pub(super) const SCHEMA: &str = "message memwalk_trace {
    required int32 kind (INTEGER(8, false));
    required int64 address (INTEGER(64, false));
    required int32 size (INTEGER(16, false));
    required int32 words (INTEGER(16, false));
    required int32 instructions (INTEGER(16, false));
    required int32 dep (INTEGER(32, false));
    required int32 chain (INTEGER(8, false));
    required int32 site (INTEGER(16, false));
}";

/// Everything that a file says beside its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contents {
    pub(super) events: u64,
    pub(super) instructions: u64,
    pub(super) row_groups: Vec<GroupEntry>,
    pub(super) info: TraceInfo,
}

impl Contents {
    /// The version of a file with these contents, whose events need `of_events`.
    pub(super) fn version(&self, of_events: u64) -> u64 {
        let of_threads = if self.info.threads > 1 {
            OF_THREADS
        } else {
            FIRST
        };
        of_events.max(of_threads)
    }
}

/// The version in which such events came. Barriers came with threads, of which the contents tell.
///
/// Earlier builds know reads and prefetches, but not that they may be for a fill: they would have a page come again that is there.
pub(super) fn version_of(event: &Event) -> u64 {
    match event.kind {
        Kind::ShareLatch | Kind::AwaitLatch => OF_SHARED_LATCHES,
        Kind::PageWait | Kind::Latch | Kind::Unlatch => OF_SHARING,
        _ if event.fill() > 0 => OF_SHARING,
        Kind::Exchange => OF_EXCHANGES,
        Kind::StoreNta => OF_NON_TEMPORAL_STORES,
        Kind::PageArrival => OF_ARRIVALS,
        _ => FIRST,
    }
}

/// Events in a row group of a trace of so many threads. All threads' row groups grow at the same time, in memory.
pub(super) fn row_group_events(threads: u32) -> usize {
    (ROW_GROUP_EVENTS / threads as usize).max(FEWEST_ROW_GROUP_EVENTS)
}

/// One row group as it stands in the file; the groups follow each other without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupEntry {
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// CRC-32 (IEEE) of the bytes.
    pub(super) crc32: u32,
    /// Whose events these are.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) thread: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_first(thread: &u32) -> bool {
    *thread == 0
}

/// The columns as Parquet describes them.
pub(super) fn schema() -> Result<TypePtr> {
    Ok(Arc::new(parse_message_type(SCHEMA)?))
}

/// How the columns are packed.
///
/// All columns but the address hold few distinct values: dictionary and run lengths, the library's default, pack them
/// to next to nothing. Addresses jump between segments, and branch outcomes stand among them, so that deltas are wide;
/// split into byte streams, their upper bytes repeat, which zstd then removes. Measured on a synthetic search trace (ten
/// million keys), addresses take 0.4 bytes per event that way, against 0.9 plain, 1.1 with a dictionary and 1.7
/// delta-packed, and unpack faster than with those. Level 9 finds longer repeats than level 3: files of a search are a
/// third smaller and read a tenth faster.
pub(super) fn properties() -> Result<WriterProperties> {
    Ok(WriterProperties::builder()
        .set_created_by(format!("memwalk version {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(9)?))
        // No statistics and no page index: the footer then follows the last row group, and all of it is sealed.
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        // Pages that stay in the second-level cache while they are unpacked.
        .set_data_page_size_limit(256 << 10)
        .set_data_page_row_count_limit(ROW_GROUP_EVENTS)
        .set_column_dictionary_enabled(ColumnPath::from("address"), false)
        .set_column_encoding(ColumnPath::from("address"), Encoding::BYTE_STREAM_SPLIT)
        .build())
}
