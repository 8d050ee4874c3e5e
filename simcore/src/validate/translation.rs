//! Which TLBs and page tables can exist.

use super::{power_of_two, require};
use crate::spec::{MachineSpec, PageTableSpec, SpecError, TlbSpec};
use std::ops::RangeInclusive;

/// Pages whose table can be walked: a node has room for many entries, and addresses have bits left to translate.
const WALKED_PAGES: RangeInclusive<u64> = 4096..=1 << 30;

impl PageTableSpec {
    pub(super) fn validate(&self, machine: &MachineSpec) -> Result<(), SpecError> {
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
    pub(super) fn validate(&self) -> Result<(), SpecError> {
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
