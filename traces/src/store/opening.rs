//! Opens a trace file: everything that is checked before the first event is read.

use crate::store::error::StoreError;
use crate::store::format::{
    self, CONTENTS_KEY, Contents, PARQUET_MAGIC, SCHEMA_VERSION, TAIL_BYTES,
};
use crate::store::seal::{self, Seal};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// A file whose footer has been checked.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) file_bytes: u64,
    pub(super) parquet: ParquetMetaData,
    pub(super) contents: Contents,
}

const FOOTER: &str = "footer";

/// Opens `path` and checks its footer.
pub(super) fn open(path: &Path) -> Result<Opened, StoreError> {
    let io = |error| StoreError::io(path, error);
    let metadata = path.metadata().map_err(io)?;
    if !metadata.is_file() {
        let found = if metadata.is_dir() {
            "it is a directory"
        } else {
            "it is not a regular file"
        };
        return Err(StoreError::not_a_trace(path, found));
    }
    let mut file = File::open(path).map_err(io)?;
    let file_bytes = metadata.len();
    let footer = read_footer(&mut file, file_bytes, path)?;
    check_seal(&footer, path)?;

    let corrupt = |cause: String| StoreError::corrupt(path, FOOTER, cause);
    let parquet = ParquetMetaDataReader::decode_metadata(&footer[..footer.len() - TAIL_BYTES])
        .map_err(|error| corrupt(error.to_string()))?;
    check_columns(&parquet).map_err(corrupt)?;
    let contents = read_contents(&parquet).map_err(corrupt)?;
    if let Some(cause) = contents.info.problem() {
        return Err(corrupt(cause));
    }
    check_groups(&parquet, &contents, file_bytes - footer.len() as u64).map_err(corrupt)?;
    Ok(Opened {
        file,
        file_bytes,
        parquet,
        contents,
    })
}

/// The footer with its length and the closing magic, of a file that is Parquet at both ends.
fn read_footer(file: &mut File, file_bytes: u64, path: &Path) -> Result<Vec<u8>, StoreError> {
    let io = |error| StoreError::io(path, error);
    let shown = || path.display().to_string();
    if file_bytes == 0 {
        return Err(StoreError::Empty { path: shown() });
    }
    let mut head = Vec::new();
    Read::by_ref(file)
        .take(PARQUET_MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(io)?;
    if !PARQUET_MAGIC.starts_with(&head) {
        return Err(StoreError::not_a_trace(path, "it is no Parquet file"));
    }
    let truncated = |cause: &str| StoreError::Truncated {
        path: shown(),
        cause: cause.to_owned(),
    };
    if file_bytes < (PARQUET_MAGIC.len() + TAIL_BYTES) as u64 {
        return Err(truncated("it has no footer"));
    }
    let mut tail = [0; TAIL_BYTES];
    file.seek(SeekFrom::End(-(TAIL_BYTES as i64))).map_err(io)?;
    file.read_exact(&mut tail).map_err(io)?;
    let [a, b, c, d, magic @ ..] = tail;
    if &magic != PARQUET_MAGIC {
        return Err(truncated("it has no footer at its end"));
    }
    let footer_bytes = u64::from(u32::from_le_bytes([a, b, c, d])) + TAIL_BYTES as u64;
    if footer_bytes > file_bytes - PARQUET_MAGIC.len() as u64 {
        return Err(StoreError::corrupt(
            path,
            FOOTER,
            "its length is beyond the start of the file",
        ));
    }
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(file_bytes - footer_bytes))
        .map_err(io)?;
    file.take(footer_bytes)
        .read_to_end(&mut footer)
        .map_err(io)?;
    if footer.len() as u64 == footer_bytes {
        Ok(footer)
    } else {
        Err(truncated("it shrank while it was read"))
    }
}

fn check_seal(footer: &[u8], path: &Path) -> Result<(), StoreError> {
    match seal::inspect(footer) {
        None => Err(StoreError::not_a_trace(
            path,
            "it is a Parquet file without the seal of a trace",
        )),
        Some(Seal { version, .. }) if version > SCHEMA_VERSION => Err(StoreError::Version {
            path: path.display().to_string(),
            version,
            supported: SCHEMA_VERSION,
        }),
        Some(Seal {
            version: 1..,
            intact: Some(true),
        }) => Ok(()),
        Some(_) => Err(StoreError::corrupt(path, FOOTER, "its checksum differs")),
    }
}

fn check_columns(parquet: &ParquetMetaData) -> Result<(), String> {
    let wanted = SchemaDescriptor::new(format::schema().map_err(|error| error.to_string())?);
    let found = parquet.file_metadata().schema_descr();
    if found.num_columns() != wanted.num_columns() {
        return Err(format!(
            "{} columns instead of {}",
            found.num_columns(),
            wanted.num_columns()
        ));
    }
    for (found, wanted) in found.columns().iter().zip(wanted.columns()) {
        if found.self_type() != wanted.self_type() || found.path() != wanted.path() {
            return Err(format!(
                "column `{}` is not the `{}` of a trace: it has another type or may hold nulls",
                found.name(),
                wanted.name()
            ));
        }
    }
    Ok(())
}

fn read_contents(parquet: &ParquetMetaData) -> Result<Contents, String> {
    let entries = parquet.file_metadata().key_value_metadata();
    let text = entries
        .and_then(|entries| entries.iter().find(|entry| entry.key == CONTENTS_KEY))
        .and_then(|entry| entry.value.as_deref())
        .ok_or_else(|| format!("no metadata entry `{CONTENTS_KEY}`"))?;
    serde_json::from_str(text).map_err(|error| format!("metadata entry `{CONTENTS_KEY}`: {error}"))
}

/// Holds what the contents say about the row groups against what Parquet says.
fn check_groups(
    parquet: &ParquetMetaData,
    contents: &Contents,
    footer_start: u64,
) -> Result<(), String> {
    let entries = &contents.row_groups;
    if parquet.num_row_groups() != entries.len() {
        return Err(format!(
            "{} row groups, but {} are listed",
            parquet.num_row_groups(),
            entries.len()
        ));
    }
    let mut start = PARQUET_MAGIC.len() as u64;
    let mut events = 0_u64;
    for (index, (group, entry)) in parquet.row_groups().iter().zip(entries).enumerate() {
        let end = start.saturating_add(entry.bytes);
        let inside = group.columns().iter().all(|column| {
            let first = column
                .dictionary_page_offset()
                .unwrap_or(column.data_page_offset());
            let begin = u64::try_from(first).unwrap_or(u64::MAX);
            let bytes = u64::try_from(column.compressed_size()).unwrap_or(u64::MAX);
            begin >= start && begin.saturating_add(bytes) <= end
        });
        if entry.thread >= contents.info.threads {
            return Err(format!(
                "row group {index} is of thread {}, but there are {} threads",
                entry.thread, contents.info.threads
            ));
        }
        if !inside || u64::try_from(group.num_rows()) != Ok(entry.events) {
            return Err(format!(
                "row group {index} is not where, or not as long as, it is listed"
            ));
        }
        start = end;
        events = events.saturating_add(entry.events);
    }
    if start != footer_start {
        return Err(format!(
            "the row groups end at byte {start}, but the footer begins at {footer_start}"
        ));
    }
    if events != contents.events {
        return Err(format!(
            "the row groups hold {events} events, but {} are announced",
            contents.events
        ));
    }
    Ok(())
}
