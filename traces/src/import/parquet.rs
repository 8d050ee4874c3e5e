//! A column of addresses in a Parquet file of any origin.

use crate::import::about::{About, Choice, Unit};
use crate::import::csv;
use crate::import::emitter::Emitter;
use crate::import::error::{Fault, ImportError};
use crate::import::input::Input;
use crate::store::SEAL_KEY;
use parquet::basic::{Compression, ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fmt::Display;
use std::fs::File;
use std::sync::Once;
use std::sync::mpsc::{self, SyncSender};
use std::{io, panic, thread};

pub(super) static ABOUT: About = About {
    name: "parquet",
    title: "Parquet column of addresses",
    grammar: "a Parquet file with a column of whole numbers without nulls",
    unit: Unit::Records,
    takes: &[Choice::Column],
    lost: csv::LOST,
};

pub(super) const MAGIC: &[u8] = b"PAR1";
/// Rows read at a time.
const BATCH_ROWS: usize = 4096;

/// Batches that may wait to be taken.
const BATCHES_AHEAD: usize = 4;
/// The thread that runs the Parquet library.
const THREAD: &str = "parquet import";

/// Reads the column called `wanted`, or the one that is likely to hold the addresses.
///
/// The Parquet library panics on some damaged files, so it has a thread of its own, whose panics are the file's fault and
/// are not shown.
pub(super) fn decode(
    wanted: Option<&str>,
    input: &mut Input,
    events: &mut Emitter<'_>,
) -> Result<(), ImportError> {
    let name = input.name().to_owned();
    // A Parquet file is read from its end: what comes as a stream goes through the disk.
    let mut file = tempfile::tempfile().map_err(|error| ImportError::io(&name, &error))?;
    io::copy(&mut input.take_rest(), &mut file).map_err(|error| ImportError::io(&name, &error))?;
    keep_panics_of_the_thread_quiet();
    let refused = |cause| ImportError::Io {
        file: name.clone(),
        cause,
    };
    let mut rows = 0;
    thread::scope(|scope| {
        let (send, batches) = mpsc::sync_channel::<Vec<u64>>(BATCHES_AHEAD);
        let reading = thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn_scoped(scope, move || read(file, wanted, &send))
            .map_err(|error| ImportError::io(&name, &error))?;
        for batch in batches {
            rows += batch.len() as u64;
            for address in batch {
                events.load(address, 1);
            }
            events.flush_if_full()?;
        }
        match reading.join() {
            Ok(read) => read.map_err(|wrong| match wrong {
                Wrong::File(cause) => refused(cause),
                Wrong::Row(cause) => refused(format!("row {rows}: {cause}")),
            }),
            Err(_) => Err(refused(damage("what it says of its pages is not so"))),
        }
    })?;
    input.recount(rows);
    Ok(())
}

/// What is wrong with the file, or with the row behind those that were read.
enum Wrong {
    File(String),
    Row(String),
}

fn damage(how: impl Display) -> String {
    format!("the Parquet file is damaged or cut short: {how}")
}

/// Installs, once, a hook that says nothing of panics in the thread of the Parquet library.
fn keep_panics_of_the_thread_quiet() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if thread::current().name() != Some(THREAD) {
                others(panic);
            }
        }));
    });
}

/// Sends the addresses in batches; gives up quietly if nobody takes them any more.
fn read(file: File, wanted: Option<&str>, send: &SyncSender<Vec<u64>>) -> Result<(), Wrong> {
    let damaged = |error| Wrong::File(damage(error));
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let column =
        choose(reader.metadata(), wanted).map_err(|fault| Wrong::File(fault.into_cause()))?;
    let is_signed = is_signed(reader.metadata(), column).map_err(Wrong::File)?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        check_codec(group.metadata().column(column).compression()).map_err(Wrong::File)?;
        match group.get_column_reader(column).map_err(damaged)? {
            ColumnReader::Int64ColumnReader(reader) => {
                let address = |value: i64| match is_signed {
                    true => not_negative(value),
                    false => Ok(value.cast_unsigned()),
                };
                take(reader, address, send).map_err(Wrong::Row)?;
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let address = |value: i32| match is_signed {
                    true => not_negative(value.into()),
                    false => Ok(value.cast_unsigned().into()),
                };
                take(reader, address, send).map_err(Wrong::Row)?;
            }
            _ => return Err(Wrong::File("the column holds no whole numbers".to_owned())),
        }
    }
    Ok(())
}

/// Refuses what the Parquet library has no codec for.
fn check_codec(codec: Compression) -> Result<(), String> {
    match codec {
        Compression::LZO => Err(
            "the column is compressed with LZO, which is not read; write the file again with snappy, gzip, brotli, lz4 or zstd, or without compression"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}

/// Whether the numbers of a column may be negative. Numbers that stand for something else, as a time, are no addresses.
fn is_signed(metadata: &ParquetMetaData, column: usize) -> Result<bool, String> {
    let column = metadata.file_metadata().schema_descr().column(column);
    let is_whole = matches!(
        column.logical_type_ref(),
        None | Some(LogicalType::Integer { .. })
    );
    match column.converted_type() {
        ConvertedType::UINT_8
        | ConvertedType::UINT_16
        | ConvertedType::UINT_32
        | ConvertedType::UINT_64
            if is_whole =>
        {
            Ok(false)
        }
        ConvertedType::NONE
        | ConvertedType::INT_8
        | ConvertedType::INT_16
        | ConvertedType::INT_32
        | ConvertedType::INT_64
            if is_whole =>
        {
            Ok(true)
        }
        other => {
            let kind = match column.logical_type_ref() {
                Some(LogicalType::Decimal { .. }) => "decimal numbers".to_owned(),
                Some(LogicalType::Timestamp { .. } | LogicalType::Time { .. }) => {
                    "times".to_owned()
                }
                Some(LogicalType::Date) => "dates".to_owned(),
                _ => format!("{other}, no whole numbers"),
            };
            let name = column.path().string();
            Err(format!(
                "column `{name}` holds {kind}; addresses are whole numbers, best uint64; name another with --column"
            ))
        }
    }
}

fn not_negative(value: i64) -> Result<u64, String> {
    u64::try_from(value).map_err(|_| {
        format!("`{value}` is no address: it is negative; store addresses beyond 2^63 as uint64")
    })
}

/// Sends one row group's part of the column.
fn take<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    address: impl Fn(T::T) -> Result<u64, String>,
    send: &SyncSender<Vec<u64>>,
) -> Result<(), String> {
    let mut levels = Vec::new();
    loop {
        let mut values = Vec::new();
        levels.clear();
        let (read, ..) = reader
            .read_records(BATCH_ROWS, Some(&mut levels), None, &mut values)
            .map_err(damage)?;
        if read == 0 {
            return Ok(());
        }
        let mut fault = None;
        if values.len() < read {
            let null = levels.iter().position(|level| *level == 0);
            values.truncate(null.unwrap_or(0));
            fault = Some("the address is null".to_owned());
        }
        let mut addresses = Vec::with_capacity(values.len());
        for value in values {
            match address(value) {
                Ok(address) => addresses.push(address),
                Err(cause) => {
                    fault = Some(cause);
                    break;
                }
            }
        }
        if send.send(addresses).is_err() {
            return Ok(());
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
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
