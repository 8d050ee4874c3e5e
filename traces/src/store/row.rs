//! One row of the columns beside the address, as the event it holds.

use crate::event::{Event, Kind};

/// The columns beside the address, in the order of the schema.
pub(super) const COLUMNS: [&str; 7] = [
    "kind",
    "size",
    "words",
    "instructions",
    "dep",
    "chain",
    "site",
];

/// A value of each of the [`COLUMNS`], as Parquet holds it.
pub(super) type Row = [i32; COLUMNS.len()];

/// The event at `address` with the values of `row`, or why one of them does not fit.
pub(super) fn event(row: Row, address: u64) -> Result<Event, String> {
    let [kind, size, words, instructions, dep, chain, site] = row;
    let known = u8::try_from(kind).ok().and_then(Kind::from_number);
    let kind = known.ok_or_else(|| {
        let last = Kind::ALL.len() - 1;
        format!("unknown kind {kind}; the kinds are 0 to {last}")
    })?;
    Ok(Event {
        address,
        dep: dep.cast_unsigned(),
        size: narrow("size", size, u16::MAX)?,
        words: narrow("words", words, u16::MAX)?,
        instructions: narrow("instructions", instructions, u16::MAX)?,
        chain: narrow("chain", chain, u8::MAX)?,
        site: narrow("site", site, u16::MAX)?,
        kind,
    })
}

fn narrow<T: TryFrom<i32> + std::fmt::Display>(
    name: &str,
    value: i32,
    max: T,
) -> Result<T, String> {
    T::try_from(value).map_err(|_| format!("{name} = {value}; it is 0 to {max}"))
}
