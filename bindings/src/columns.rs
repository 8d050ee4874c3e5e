//! Events as columns of numbers, and as text for people.

use crate::errors::TraceError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use traces::{Event, Kind};

/// Events from equally long columns named like the fields of [`Event`].
pub(crate) fn events(columns: &Bound<'_, PyDict>) -> PyResult<Vec<Event>> {
    let column = |name: &str| -> PyResult<Vec<u64>> {
        columns
            .get_item(name)?
            .ok_or_else(|| TraceError::new_err(format!("column {name} is missing")))?
            .extract()
    };
    let kinds = column("kind")?;
    let addresses = column("address")?;
    let others = ["size", "words", "instructions", "dep", "chain", "site"].map(column);
    let [sizes, words, instructions, deps, chains, sites] = others;
    let (sizes, words, instructions) = (sizes?, words?, instructions?);
    let (deps, chains, sites) = (deps?, chains?, sites?);
    for other in [
        &addresses,
        &sizes,
        &words,
        &instructions,
        &deps,
        &chains,
        &sites,
    ] {
        if other.len() != kinds.len() {
            return Err(TraceError::new_err("columns differ in length"));
        }
    }
    (0..kinds.len())
        .map(|row| {
            Ok(Event {
                address: addresses[row],
                dep: narrow(deps[row], "dep", row)?,
                size: narrow(sizes[row], "size", row)?,
                words: narrow(words[row], "words", row)?,
                instructions: narrow(instructions[row], "instructions", row)?,
                site: narrow(sites[row], "site", row)?,
                kind: u8::try_from(kinds[row])
                    .ok()
                    .and_then(Kind::from_number)
                    .ok_or_else(|| misfit("kind", row, kinds[row]))?,
                chain: narrow(chains[row], "chain", row)?,
            })
        })
        .collect()
}

fn narrow<T: TryFrom<u64>>(value: u64, column: &str, row: usize) -> PyResult<T> {
    T::try_from(value).map_err(|_| misfit(column, row, value))
}

fn misfit(column: &str, row: usize, value: u64) -> PyErr {
    TraceError::new_err(format!("row {row}: {column} cannot be {value}"))
}

/// One event in words. What is no instruction has no place in the code.
pub(crate) fn describe(event: &Event, sites: &[String]) -> Value {
    let site = sites
        .get(usize::from(event.site))
        .filter(|_| event.kind.is_instruction());
    json!({
        "kind": event.kind,
        "address": event.address,
        "size": event.size,
        "words": event.words,
        "instructions": event.instructions,
        "dep": event.dep,
        "chain": event.chain,
        "site": site.map_or("", String::as_str),
    })
}
