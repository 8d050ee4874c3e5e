//! A column of addresses in a Parquet file of any origin.

use crate::import::about::{About, Unit};
use crate::import::csv;
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;
use crate::store::SEAL_KEY;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::io;

pub(super) static ABOUT: About = About {
    name: "parquet",
    title: "Parquet column of addresses",
    grammar: "a Parquet file with a column of integers without nulls",
    unit: Unit::Records,
    lost: csv::LOST,
};

pub(super) const MAGIC: &[u8] = b"PAR1";
/// Rows read at a time.
const BATCH_ROWS: usize = 4096;

/// Reads the column called `wanted`, or the one that is likely to hold the addresses.
pub(super) fn decode(
    wanted: Option<&str>,
    input: &mut Input,
    events: &mut Emitter<'_>,
) -> Result<(), ImportError> {
    let name = input.name().to_owned();
    let refused = |cause: String| ImportError::Io {
        file: name.clone(),
        cause,
    };
    let damaged =
        |error: ParquetError| refused(format!("the Parquet file is damaged or cut short: {error}"));
    // A Parquet file is read from its end: what comes as a stream goes through the disk.
    let mut file = tempfile::tempfile().map_err(|error| ImportError::io(&name, &error))?;
    io::copy(&mut input.take_rest(), &mut file).map_err(|error| ImportError::io(&name, &error))?;
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let column = choose(reader.metadata(), wanted).map_err(|fault| refused(fault.into_cause()))?;
    let mut rows = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let taken = match group.get_column_reader(column).map_err(damaged)? {
            ColumnReader::Int64ColumnReader(reader) => {
                take(reader, &mut rows, i64::cast_unsigned, events)
            }
            ColumnReader::Int32ColumnReader(reader) => take(
                reader,
                &mut rows,
                |value| u64::from(value.cast_unsigned()),
                events,
            ),
            _ => Err(Stop::Fault("the column holds no integers".to_owned())),
        };
        taken.map_err(|stop| match stop {
            Stop::Fault(cause) => refused(format!("row {rows}: {cause}")),
            Stop::Damage(error) => damaged(error),
            Stop::Sink(error) => error.into(),
        })?;
    }
    input.recount(rows);
    Ok(())
}

/// Why the reading of a column stopped.
enum Stop {
    Fault(String),
    Damage(ParquetError),
    Sink(crate::sink::SinkError),
}

/// Reads one row group's part of the column.
fn take<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: &mut u64,
    address: impl Fn(T::T) -> u64,
    events: &mut Emitter<'_>,
) -> Result<(), Stop> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (read, ..) = reader
            .read_records(BATCH_ROWS, Some(&mut levels), None, &mut values)
            .map_err(Stop::Damage)?;
        if read == 0 {
            return Ok(());
        }
        if values.len() < read {
            let null = levels
                .iter()
                .position(|level| *level == 0)
                .unwrap_or_default();
            *rows += null as u64;
            return Err(Stop::Fault("the address is null".to_owned()));
        }
        for value in values.drain(..) {
            events.load(address(value), 1);
        }
        *rows += read as u64;
        events.flush_if_full().map_err(Stop::Sink)?;
    }
}

/// The index of the column with the addresses.
fn choose(metadata: &ParquetMetaData, wanted: Option<&str>) -> Result<usize, Fault> {
    let file = metadata.file_metadata();
    let mut entries = file.key_value_metadata().into_iter().flatten();
    if wanted.is_none() && entries.any(|entry| entry.key == SEAL_KEY) {
        return Err(Fault::new(
            "this is a trace of memwalk's already; `memwalk replay` takes it as it is",
        ));
    }
    let schema = file.schema_descr();
    let names: Vec<String> = schema
        .columns()
        .iter()
        .map(|column| column.path().string())
        .collect();
    let index = csv::choose(&names, wanted)?;
    match schema.column(index).max_rep_level() {
        0 => Ok(index),
        _ => Err(Fault::new(format!("column `{}` holds lists", names[index]))),
    }
}
