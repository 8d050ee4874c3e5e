//! Names of caches, which columns of results are made of.

use super::require;
use crate::spec::{CacheSpec, SpecError};

/// What columns of results begin with, and levels are called, that are no caches.
const TAKEN: [&str; 14] = [
    "branches",
    "bus",
    "calls",
    "coherence",
    "dram",
    "dtlb",
    "instruction_cache",
    "io",
    "memory",
    "other_cores",
    "prefetches",
    "retired",
    "slots",
    "storage",
];

/// What a cache's own columns go on with before they say what they count.
const PARTS: [&str; 2] = ["code", "data"];

/// Whether `name` is `whole`, or begins with it as a column's name does.
fn begins_with(name: &str, whole: &str) -> bool {
    let rest = name.strip_prefix(whole);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// No two columns of results have one name.
pub(super) fn validate(caches: &[CacheSpec]) -> Result<(), SpecError> {
    for (level, cache) in caches.iter().enumerate() {
        let name = cache.name.as_str();
        let unless = |problem: Option<String>| {
            require(problem.is_none(), &format!("caches.{level}.name"), || {
                let problem = problem.unwrap_or_default();
                format!("{problem}; choose another name, such as L{}", level + 1)
            })
        };
        let taken = TAKEN.iter().find(|taken| begins_with(name, taken));
        unless(taken.map(|taken| {
            format!("`{name}` would stand in results where `{taken}` stands, which is no cache")
        }))?;
        let same = caches[..level].iter().any(|other| other.name == name);
        unless(same.then(|| {
            format!("`{name}` is the name of two caches, and results would have both under it")
        }))?;
        let of = |other: &&CacheSpec| {
            let parts = PARTS.map(|part| format!("{}_{part}", other.name));
            parts.iter().any(|part| part == name)
        };
        unless(caches.iter().find(of).map(|other| {
            format!(
                "`{name}` is what results call a part of cache `{}`",
                other.name
            )
        }))?;
    }
    Ok(())
}
