//! Which TLBs and page tables can exist.

use super::{at_most_cycles, power_of_two, require};
use crate::spec::{
    CacheSpec, HugePages, MOST_WALKERS, MachineSpec, PageTableSpec, SpecError, TlbLevelSpec,
    TlbSpec, Walker,
};
use std::ops::RangeInclusive;

/// Nodes of a table that can be walked: they have room for many entries, and addresses have bits left to translate.
const NODES: RangeInclusive<u64> = 4096..=1 << 30;
const ADDRESS_BITS: u32 = 64;
const MOST_ENTRIES: u32 = 65_535;

impl PageTableSpec {
    pub(super) fn validate(&self, machine: &MachineSpec) -> Result<(), SpecError> {
        let at = |key: &str| format!("dtlb.page_table.{key}");
        let dtlb = &machine.dtlb;
        let node_bytes = self.node_bytes(dtlb);
        power_of_two(&at("entry_bytes"), u64::from(self.entry_bytes))?;
        power_of_two(&at("node_bytes"), node_bytes)?;
        require(
            (4..=16).contains(&self.entry_bytes) && NODES.contains(&node_bytes),
            &at("entry_bytes"),
            || {
                format!(
                    "entries of {} bytes in nodes of {node_bytes} bytes; entries of 4 to 16 bytes and nodes of 4 KiB to 1 GiB can be walked",
                    self.entry_bytes
                )
            },
        )?;
        self.validate_depth(dtlb)?;
        require(
            self.walk_cache_entries <= 4096,
            &at("walk_cache_entries"),
            || format!("{} is more than 4096", self.walk_cache_entries),
        )?;
        let names: Vec<&str> = machine
            .caches
            .iter()
            .map(|cache| cache.name.as_str())
            .collect();
        require(
            names.contains(&self.first_cache.as_str()),
            &at("first_cache"),
            || {
                format!(
                    "no cache `{}`; one of {}",
                    self.first_cache,
                    names.join(", ")
                )
            },
        )
    }

    /// Every level translates something of a 64-bit address, and every page is an entry of some level.
    fn validate_depth(&self, dtlb: &TlbSpec) -> Result<(), SpecError> {
        let node_bytes = self.node_bytes(dtlb);
        let (node_shift, index_bits) = (node_bytes.trailing_zeros(), self.index_bits(dtlb));
        let most = (ADDRESS_BITS - node_shift).div_ceil(index_bits);
        require(
            (1..=most).contains(&self.levels),
            "dtlb.page_table.levels",
            || {
                format!(
                    "{} levels; behind nodes of {node_bytes} bytes, which are the smallest pages, each level translates {index_bits} of {ADDRESS_BITS} bits, so that 1 to {most} can be (if pages are larger than nodes, give node_bytes)",
                    self.levels
                )
            },
        )?;
        let sizes = [
            ("dtlb.page_bytes", Some(dtlb.page_bytes)),
            ("dtlb.huge_page_bytes", dtlb.huge_page_bytes),
        ];
        for (path, bytes) in sizes {
            let Some(bytes) = bytes else { continue };
            let levels = (0..self.levels).map(|level| 1 << (node_shift + index_bits * level));
            let possible: Vec<u64> = levels.collect();
            require(possible.contains(&bytes), path, || {
                let possible: Vec<String> = possible.iter().map(u64::to_string).collect();
                format!(
                    "{bytes} bytes are no entry of the page table (nodes of {node_bytes} bytes, {} levels); its pages have {} bytes",
                    self.levels,
                    possible.join(" or ")
                )
            })?;
        }
        Ok(())
    }
}

impl TlbSpec {
    /// Whether such a TLB can be beside these valid caches.
    pub(super) fn validate(&self, caches: &[CacheSpec]) -> Result<(), SpecError> {
        power_of_two("dtlb.page_bytes", self.page_bytes)?;
        // Numbers of pages leave two bits for marks.
        let longest = caches.iter().map(|cache| cache.line_bytes).max();
        let least = longest.unwrap_or(0).max(4);
        require(self.page_bytes >= least, "dtlb.page_bytes", || {
            format!(
                "{} bytes; a page has at least {least}, so that it holds the longest line of the caches",
                self.page_bytes
            )
        })?;
        require(!self.levels.is_empty(), "dtlb.levels", || {
            "empty; give at least one level".to_owned()
        })?;
        self.validate_huge_pages()?;
        at_most_cycles("dtlb.walk_latency_cycles", self.walk_latency_cycles)?;
        self.validate_walkers()?;
        for (number, level) in self.levels.iter().enumerate() {
            let path = format!("dtlb.levels.{number}");
            level.validate(&path)?;
            let nearer = number.checked_sub(1).map(|nearer| &self.levels[nearer]);
            let least = nearer.map_or(0, |nearer| nearer.latency_cycles);
            require(
                level.latency_cycles >= least,
                &format!("{path}.latency_cycles"),
                || {
                    format!(
                        "{} is faster than the level before ({least} cycles), which is missed first; give what a hit here adds in all",
                        level.latency_cycles
                    )
                },
            )?;
        }
        Ok(())
    }

    fn validate_walkers(&self) -> Result<(), SpecError> {
        let Some(walkers) = self.walkers else {
            return Ok(());
        };
        require(self.walker == Walker::Parallel, "dtlb.walkers", || {
            "without effect, as a blocking walker walks once at a time; leave this out, or say walker: parallel"
                .to_owned()
        })?;
        require(
            (1..=MOST_WALKERS).contains(&walkers),
            "dtlb.walkers",
            || {
                format!(
                    "{walkers} is not between 1 and {MOST_WALKERS}; leave it out if any number of walks may be under way"
                )
            },
        )
    }

    fn validate_huge_pages(&self) -> Result<(), SpecError> {
        if let HugePages::Segments(patterns) = &self.huge_pages {
            require(!patterns.is_empty(), "dtlb.huge_pages", || {
                "empty; say none, all, or name segments".to_owned()
            })?;
        }
        let Some(bytes) = self.huge_page_bytes else {
            require(
                self.huge_pages == HugePages::None,
                "dtlb.huge_pages",
                || "this machine has no huge pages; give dtlb.huge_page_bytes too".to_owned(),
            )?;
            let mut levels = self.levels.iter();
            let odd =
                levels.position(|level| level.huge_entries.is_some() || level.huge_ways.is_some());
            let path = format!("dtlb.levels.{}.huge_entries", odd.unwrap_or(0));
            return require(odd.is_none(), &path, || {
                "without effect, because this machine has no huge pages; give dtlb.huge_page_bytes too"
                    .to_owned()
            });
        };
        power_of_two("dtlb.huge_page_bytes", bytes)?;
        require(bytes > self.page_bytes, "dtlb.huge_page_bytes", || {
            format!(
                "{bytes} is not more than page_bytes ({}); for pages of one size, leave huge_page_bytes out or say huge_pages: all",
                self.page_bytes
            )
        })
    }
}

impl TlbLevelSpec {
    fn validate(&self, path: &str) -> Result<(), SpecError> {
        let entries = format!("{path}.entries");
        require((1..=MOST_ENTRIES).contains(&self.entries), &entries, || {
            format!("{} is not between 1 and {MOST_ENTRIES}", self.entries)
        })?;
        validate_ways(path, "ways", self.entries, self.ways)?;
        at_most_cycles(&format!("{path}.latency_cycles"), self.latency_cycles)?;
        let Some(huge) = self.huge_entries else {
            return require(
                self.huge_ways.is_none(),
                &format!("{path}.huge_ways"),
                || {
                    "without effect, because huge pages share the other entries; give huge_entries too"
                        .to_owned()
                },
            );
        };
        require(
            huge <= MOST_ENTRIES,
            &format!("{path}.huge_entries"),
            || format!("{huge} is more than {MOST_ENTRIES}"),
        )?;
        validate_ways(path, "huge_ways", huge, self.huge_ways)
    }
}

/// Sets have the same number of entries each.
fn validate_ways(path: &str, key: &str, entries: u32, ways: Option<u32>) -> Result<(), SpecError> {
    let fits = |ways: u32| ways >= 1 && ways <= entries && entries.is_multiple_of(ways);
    require(ways.is_none_or(fits), &format!("{path}.{key}"), || {
        format!(
            "{} ways; {entries} entries are no whole number of such sets (leave the key out for full associativity)",
            ways.unwrap_or(0)
        )
    })
}
