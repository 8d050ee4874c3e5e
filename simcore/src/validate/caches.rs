//! Which caches can exist, alone and behind each other.

use super::{at_most_cycles, positive, power_of_two, require};
use crate::ledger::MAX_CACHES;
use crate::prefetcher::MOST_LINES;
use crate::spec::{
    CacheSpec, Inclusion, InstructionCacheSpec, PrefetcherSpec, Replacement, SpecError, WritePolicy,
};

impl CacheSpec {
    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size_bytes / (self.line_bytes * u64::from(self.ways))
    }

    /// Number of lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        (self.size_bytes / self.line_bytes) as usize
    }
}

impl InstructionCacheSpec {
    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size_bytes / (self.line_bytes * u64::from(self.ways))
    }
}

pub(super) fn validate_caches(caches: &[CacheSpec]) -> Result<(), SpecError> {
    require(!caches.is_empty(), "caches", || {
        "empty; give at least one level".to_owned()
    })?;
    require(caches.len() <= MAX_CACHES, "caches", || {
        format!("{} levels are more than {MAX_CACHES}", caches.len())
    })?;
    for (level, cache) in caches.iter().enumerate() {
        validate_cache(cache, level)?;
        let Some(nearer) = level.checked_sub(1).map(|nearer| &caches[nearer]) else {
            continue;
        };
        require(
            cache.line_bytes >= nearer.line_bytes,
            &format!("caches.{level}.line_bytes"),
            || {
                format!(
                    "{} is smaller than the line of {} ({} bytes)",
                    cache.line_bytes, nearer.name, nearer.line_bytes
                )
            },
        )?;
        validate_inclusion(nearer, cache, level)?;
        require(
            cache.latency_cycles > nearer.latency_cycles,
            &format!("caches.{level}.latency_cycles"),
            || {
                format!(
                    "{} is not slower than {} ({} cycles); give the full load-to-use latency",
                    cache.latency_cycles, nearer.name, nearer.latency_cycles
                )
            },
        )?;
    }
    Ok(())
}

/// What any cache's geometry has to keep; `at` gives the path of a key.
fn validate_geometry(
    at: impl Fn(&str) -> String,
    size_bytes: u64,
    line_bytes: u64,
    ways: u32,
    replacement: Replacement,
) -> Result<(), SpecError> {
    positive(&at("ways"), u64::from(ways))?;
    power_of_two(&at("line_bytes"), line_bytes)?;
    require(line_bytes >= 2, &at("line_bytes"), || {
        "must be at least 2 bytes".to_owned()
    })?;
    let way_set = line_bytes.saturating_mul(u64::from(ways));
    require(
        size_bytes >= way_set && size_bytes.is_multiple_of(way_set),
        &at("size_bytes"),
        || {
            format!(
                "{size_bytes} bytes are no whole number of sets of {ways} ways x {line_bytes} bytes = {way_set} bytes"
            )
        },
    )?;
    let sets = size_bytes / way_set;
    require(sets <= u64::from(u32::MAX), &at("size_bytes"), || {
        format!(
            "{size_bytes} bytes of {ways} ways x {line_bytes} bytes make {sets} sets, which are more than 2^32 - 1"
        )
    })?;
    match replacement {
        Replacement::TreePlru => require(ways.is_power_of_two() && ways <= 64, &at("ways"), || {
            format!("{ways} ways make no tree; tree-plru needs a power of two up to 64")
        }),
        Replacement::Nru => require(ways <= 64, &at("ways"), || {
            format!("{ways} ways are more than the 64 that nru has bits for")
        }),
        _ => Ok(()),
    }
}

fn validate_cache(cache: &CacheSpec, level: usize) -> Result<(), SpecError> {
    let at = |key: &str| format!("caches.{level}.{key}");
    require(!cache.name.is_empty(), &at("name"), || {
        "must not be empty".to_owned()
    })?;
    validate_geometry(
        at,
        cache.size_bytes,
        cache.line_bytes,
        cache.ways,
        cache.replacement,
    )?;
    require(
        level > 0 || cache.inclusion == Inclusion::NonInclusive,
        &at("inclusion"),
        || "the first level has none nearer to include or exclude; leave the key out".to_owned(),
    )?;
    for (number, prefetcher) in cache.prefetchers.iter().enumerate() {
        prefetcher.validate(&at(&format!("prefetchers.{number}")))?;
    }
    require(cache.latency_cycles >= 1, &at("latency_cycles"), || {
        "must be at least 1".to_owned()
    })?;
    at_most_cycles(&at("latency_cycles"), cache.latency_cycles)?;
    match (level, cache.mshrs) {
        (0, None) => require(false, &at("mshrs"), || {
            "missing; the first level needs its number of miss handlers".to_owned()
        }),
        (0, Some(mshrs)) => require((1..=4096).contains(&mshrs), &at("mshrs"), || {
            format!("{mshrs} is not between 1 and 4096")
        }),
        (_, Some(_)) => require(false, &at("mshrs"), || {
            "only the first level has them; leave the key out".to_owned()
        }),
        (_, None) => Ok(()),
    }
}

/// Inclusion relates neighbours: what each level is filled with must fit it.
fn validate_inclusion(
    nearer: &CacheSpec,
    cache: &CacheSpec,
    level: usize,
) -> Result<(), SpecError> {
    if cache.inclusion != Inclusion::Exclusive {
        return Ok(());
    }
    let path = format!("caches.{level}.inclusion");
    require(cache.line_bytes == nearer.line_bytes, &path, || {
        format!(
            "an exclusive level takes the lines of the level before; {} has lines of {} bytes, not {}",
            nearer.name, nearer.line_bytes, cache.line_bytes
        )
    })?;
    require(
        nearer.write_policy == WritePolicy::WriteBack && nearer.write_allocate,
        &path,
        || {
            format!(
                "an exclusive level takes what {} evicts, which therefore must write back and allocate",
                nearer.name
            )
        },
    )
}

pub(super) fn validate_instruction_cache(
    cache: &InstructionCacheSpec,
    data: &[CacheSpec],
) -> Result<(), SpecError> {
    let at = |key: &str| format!("instruction_cache.{key}");
    validate_geometry(
        at,
        cache.size_bytes,
        cache.line_bytes,
        cache.ways,
        cache.replacement,
    )?;
    let Some(second) = data.get(1) else {
        return Ok(());
    };
    require(
        cache.line_bytes <= second.line_bytes,
        &at("line_bytes"),
        || {
            format!(
                "{} is larger than the line of {} ({} bytes), which code comes through",
                cache.line_bytes, second.name, second.line_bytes
            )
        },
    )?;
    require(
        !cache.next_line_prefetch || second.inclusion != Inclusion::Exclusive,
        &at("next_line_prefetch"),
        || {
            format!(
                "prefetches read {}, which is exclusive and would lose the line; leave the key out",
                second.name
            )
        },
    )
}

impl PrefetcherSpec {
    fn validate(&self, path: &str) -> Result<(), SpecError> {
        let within = |key: &str, value: u32, most: u32| {
            require(
                (1..=most).contains(&value),
                &format!("{path}.{key}"),
                || format!("{value} is not between 1 and {most}"),
            )
        };
        let most_lines = MOST_LINES as u32;
        match *self {
            Self::NextLine { degree } => within("degree", degree, most_lines),
            Self::Stride {
                table_entries,
                degree,
            } => {
                power_of_two(&format!("{path}.table_entries"), u64::from(table_entries))?;
                within("table_entries", table_entries, 1 << 16)?;
                within("degree", degree, most_lines)
            }
            Self::Stream {
                streams,
                degree,
                distance_lines,
            } => {
                within("streams", streams, 1024)?;
                within("degree", degree, most_lines)?;
                within("distance_lines", distance_lines, 1024)?;
                require(degree <= distance_lines, &format!("{path}.degree"), || {
                    format!(
                        "{degree} lines at each use are more than the {distance_lines} that the stream may run ahead (distance_lines)"
                    )
                })?;
                // Each use takes a line, so that a stream gains on its use only with the others.
                require(
                    degree > 1 || distance_lines == 1,
                    &format!("{path}.distance_lines"),
                    || {
                        format!(
                            "with one line at each use (degree: 1) the stream never runs {distance_lines} lines ahead; a stream that is filled when it starts has degree: {}, one that stays one line ahead distance_lines: 1",
                            distance_lines.min(most_lines)
                        )
                    },
                )
            }
        }
    }
}
