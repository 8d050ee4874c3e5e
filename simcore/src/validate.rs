//! Which machines can exist. Checked here, once, for everybody who makes a specification.

use crate::ledger::MAX_CACHES;
use crate::memory::{DramConfig, DramFacts, Geometry};
use crate::prefetcher::MOST_LINES;
use crate::spec::{
    CacheSpec, CoreKind, CoreSpec, Dramsim3Spec, Inclusion, InstructionCacheSpec, MachineSpec,
    MemorySpec, PageTableSpec, PredictorSpec, PrefetcherSpec, Replacement, SpecError, TlbSpec,
    WritePolicy,
};
use std::ops::RangeInclusive;

/// The widest reorder buffer: results are remembered for this many events.
const LARGEST_REORDER_BUFFER: u32 = 1000;
const WIDEST_ISSUE: u32 = 64;
/// Pages whose table can be walked: a node has room for many entries, and addresses have bits left to translate.
const WALKED_PAGES: RangeInclusive<u64> = 4096..=1 << 30;

impl CacheSpec {
    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size_bytes / (self.line_bytes * u64::from(self.ways))
    }
}

impl InstructionCacheSpec {
    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.size_bytes / (self.line_bytes * u64::from(self.ways))
    }
}

impl MachineSpec {
    /// Misses that may be outstanding at once. The specification has been validated.
    #[must_use]
    pub fn mshrs(&self) -> u32 {
        self.caches[0].mshrs.unwrap_or(1)
    }

    /// Whether some store may go on to memory: not every level writes back and allocates.
    #[must_use]
    pub fn writes_through(&self) -> bool {
        let keeps = |cache: &CacheSpec| {
            cache.write_policy == WritePolicy::WriteBack && cache.write_allocate
        };
        !self.caches.iter().all(keeps)
    }

    /// Checks that such a machine can exist.
    ///
    /// # Errors
    /// Names the first number that cannot be, and what would be right.
    pub fn validate(&self) -> Result<(), SpecError> {
        positive("clock_hz", self.clock_hz)?;
        self.core.validate()?;
        validate_caches(&self.caches)?;
        validate_sharing(self)?;
        if let Some(cache) = &self.instruction_cache {
            validate_instruction_cache(cache, &self.caches)?;
        }
        self.dtlb.validate()?;
        if let Some(table) = &self.dtlb.page_table {
            table.validate(self)?;
        }
        let nearest = self.caches.last().map_or(0, |cache| cache.latency_cycles);
        match &self.memory {
            MemorySpec::Fixed {
                latency_cycles,
                interval_cycles,
                ..
            } => {
                positive("memory.interval_cycles", u64::from(*interval_cycles))?;
                require(*latency_cycles > nearest, "memory.latency_cycles", || {
                    format!(
                        "{latency_cycles} is not slower than the last cache ({nearest} cycles); give the full load-to-use latency"
                    )
                })
            }
            MemorySpec::Dramsim3(dram) => {
                dram.geometry()?;
                let path = dram.path_latency_cycles;
                require(path >= nearest, "memory.path_latency_cycles", || {
                    format!(
                        "{path} is less than the last cache takes ({nearest} cycles); give the load-to-use time of a miss without the DRAM's part"
                    )
                })
            }
        }
    }
}

impl Dramsim3Spec {
    fn geometry(&self) -> Result<Geometry, SpecError> {
        let parsed = DramConfig::parse(&self.config.path, &self.config.text);
        let (_, geometry) = parsed.map_err(|message| SpecError {
            path: "memory.config".to_owned(),
            message,
        })?;
        Ok(geometry)
    }

    /// What the DRAM can do.
    ///
    /// # Errors
    /// Its ini file has a mistake.
    pub fn facts(&self) -> Result<DramFacts, SpecError> {
        Ok(self.geometry()?.facts())
    }
}

fn require(holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<(), SpecError> {
    if holds {
        return Ok(());
    }
    Err(SpecError {
        path: path.to_owned(),
        message: message(),
    })
}

fn positive(path: &str, value: u64) -> Result<(), SpecError> {
    require(value > 0, path, || "must be at least 1".to_owned())
}

fn power_of_two(path: &str, value: u64) -> Result<(), SpecError> {
    require(value.is_power_of_two(), path, || {
        let below = value.checked_ilog2().map_or(1, |log| 1_u64 << log);
        format!(
            "{value} is no power of two; the nearest are {below} and {}",
            below.saturating_mul(2)
        )
    })
}

impl CoreSpec {
    fn validate(&self) -> Result<(), SpecError> {
        for (path, value) in [
            ("core.issue_width", self.issue_width),
            ("core.integer_units", self.integer_units),
            ("core.memory_ports", self.memory_ports),
            ("core.branch_units", self.branch_units),
        ] {
            require((1..=WIDEST_ISSUE).contains(&value), path, || {
                format!("{value} is not between 1 and {WIDEST_ISSUE}")
            })?;
        }
        for (path, value) in [
            ("core.multiply_latency_cycles", self.multiply_latency_cycles),
            ("core.divide_latency_cycles", self.divide_latency_cycles),
            ("core.store_buffer_entries", self.store_buffer_entries),
        ] {
            positive(path, u64::from(value))?;
        }
        self.validate_reorder_buffer()?;
        self.branch_predictor.validate()
    }

    fn validate_reorder_buffer(&self) -> Result<(), SpecError> {
        let path = "core.reorder_buffer";
        match (self.kind, self.reorder_buffer) {
            (CoreKind::InOrder, None) => Ok(()),
            (CoreKind::InOrder, Some(_)) => require(false, path, || {
                "an in-order core has none; leave the key out".to_owned()
            }),
            (CoreKind::OutOfOrder, None) => require(false, path, || {
                "missing; an out-of-order core needs its number of entries".to_owned()
            }),
            (CoreKind::OutOfOrder, Some(entries)) => require(
                (self.issue_width..=LARGEST_REORDER_BUFFER).contains(&entries),
                path,
                || {
                    format!(
                        "{entries} is not between the issue width ({}) and {LARGEST_REORDER_BUFFER}",
                        self.issue_width
                    )
                },
            ),
        }
    }
}

impl PredictorSpec {
    fn validate(&self) -> Result<(), SpecError> {
        let path = "core.branch_predictor.counters";
        match *self {
            Self::Gshare {
                history_bits,
                counters,
            } => {
                power_of_two(path, u64::from(counters))?;
                require(
                    history_bits <= counters.trailing_zeros(),
                    "core.branch_predictor.history_bits",
                    || {
                        format!(
                            "{history_bits} bits of history do not fit the index of {counters} counters ({} bits)",
                            counters.trailing_zeros()
                        )
                    },
                )
            }
            Self::Bimodal { counters } => power_of_two(path, u64::from(counters)),
            Self::Perfect => Ok(()),
        }
    }
}

fn validate_caches(caches: &[CacheSpec]) -> Result<(), SpecError> {
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
    require(
        sets.is_power_of_two() && sets <= u64::from(u32::MAX),
        &at("size_bytes"),
        || {
            format!(
                "{size_bytes} bytes of {ways} ways x {line_bytes} bytes make {sets} sets, which is no power of two below 2^32"
            )
        },
    )?;
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

/// Shared levels lie behind private ones, and every core has a first level of its own.
fn validate_sharing(machine: &MachineSpec) -> Result<(), SpecError> {
    require((1..=256).contains(&machine.cores), "cores", || {
        format!("{} is not between 1 and 256", machine.cores)
    })?;
    for (level, cache) in machine.caches.iter().enumerate() {
        let path = format!("caches.{level}.shared");
        require(level > 0 || !cache.shared, &path, || {
            "the first level belongs to one core; share a level behind it".to_owned()
        })?;
        let nearer = level.checked_sub(1).map(|nearer| &machine.caches[nearer]);
        require(
            cache.shared || !nearer.is_some_and(|nearer| nearer.shared),
            &path,
            || "the level before is shared, so this one must be shared too".to_owned(),
        )?;
        require(
            machine.cores == 1 || !cache.shared || cache.inclusion != Inclusion::Inclusive,
            &format!("caches.{level}.inclusion"),
            || {
                "an inclusive level shared by several cores is not modelled; choose non-inclusive or exclusive"
                    .to_owned()
            },
        )?;
    }
    Ok(())
}

fn validate_instruction_cache(
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
                within("distance_lines", distance_lines, 1024)
            }
        }
    }
}

impl PageTableSpec {
    fn validate(&self, machine: &MachineSpec) -> Result<(), SpecError> {
        let path = "dtlb.page_table";
        let dtlb = &machine.dtlb;
        power_of_two(&format!("{path}.entry_bytes"), u64::from(self.entry_bytes))?;
        require(
            (4..=16).contains(&self.entry_bytes) && WALKED_PAGES.contains(&dtlb.page_bytes),
            &format!("{path}.entry_bytes"),
            || {
                format!(
                    "entries of {} bytes in pages of {} bytes; entries of 4 to 16 bytes and pages of 4 KiB to 1 GiB can be walked",
                    self.entry_bytes, dtlb.page_bytes
                )
            },
        )?;
        let translated = self.levels.saturating_mul(self.index_bits(dtlb));
        require(
            self.levels >= 1 && translated < 64,
            &format!("{path}.levels"),
            || {
                format!(
                    "{} levels translate {translated} bits of the page number; between 1 level and 63 bits can be",
                    self.levels
                )
            },
        )?;
        require(
            self.walk_cache_entries <= 4096,
            &format!("{path}.walk_cache_entries"),
            || format!("{} is more than 4096", self.walk_cache_entries),
        )?;
        let names: Vec<&str> = machine
            .caches
            .iter()
            .map(|cache| cache.name.as_str())
            .collect();
        require(
            names.contains(&self.first_cache.as_str()),
            &format!("{path}.first_cache"),
            || {
                format!(
                    "no cache `{}`; one of {}",
                    self.first_cache,
                    names.join(", ")
                )
            },
        )
    }
}

impl TlbSpec {
    fn validate(&self) -> Result<(), SpecError> {
        power_of_two("dtlb.page_bytes", self.page_bytes)?;
        // Then no page has the number that marks an empty entry.
        require(self.page_bytes >= 2, "dtlb.page_bytes", || {
            "must be at least 2 bytes".to_owned()
        })?;
        require(!self.levels.is_empty(), "dtlb.levels", || {
            "empty; give at least one level".to_owned()
        })?;
        for (number, level) in self.levels.iter().enumerate() {
            require(
                (1..=65_535).contains(&level.entries),
                &format!("dtlb.levels.{number}.entries"),
                || format!("{} is not between 1 and 65535", level.entries),
            )?;
        }
        Ok(())
    }
}
