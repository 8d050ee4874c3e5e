//! How much of the host's memory a machine and the tables of its statistics take: known before they are made.

use crate::directory::Directory;
use crate::hierarchy::own_lines;
use crate::ledger::{Accounts, bytes_of_accounts};
use crate::spec::{MachineSpec, SpecError};
use traces::Layout;
use traces::host_memory::size;

/// Bytes of a line in a cache: its number and state, and what a policy keeps of it.
const LINE_BYTES: u64 = 17;
/// Bytes of a set: that it is occupied, and what a policy or an observer keeps of it.
const SET_BYTES: u64 = 24;

/// What is run at once.
#[derive(Clone, Debug)]
pub struct Footprint<'l> {
    /// What statistics have accounts of, once for each run: on one core, or on each of several that share levels.
    pub accounts: Vec<(&'l Layout, Accounts)>,
    /// Whether the runs are cores of one machine.
    pub share: bool,
}

impl<'l> Footprint<'l> {
    /// Runs of one trace, each on a machine of its own.
    #[must_use]
    pub fn of(layout: &'l Layout, accounts: &[Accounts]) -> Self {
        Self {
            accounts: accounts.iter().map(|&of| (layout, of)).collect(),
            share: false,
        }
    }
}

impl MachineSpec {
    /// Checks that `free` bytes of the host's memory hold runs on the machine, which has been validated.
    ///
    /// # Errors
    /// They do not: the cache that takes most, or the trace, with what that takes and what is free.
    pub fn check_memory(&self, runs: &Footprint<'_>, free: u64) -> Result<(), SpecError> {
        let copies = runs.accounts.len() as u64;
        let caches = self.caches.iter().enumerate().map(|(level, cache)| {
            let lines = cache.sets().saturating_mul(u64::from(cache.ways));
            let lines = lines.saturating_mul(LINE_BYTES);
            let one = lines.saturating_add(cache.sets().saturating_mul(SET_BYTES));
            let copies = if runs.share && cache.shared {
                1
            } else {
                copies
            };
            (
                format!("caches.{level}.size_bytes"),
                format!("the tags of {}", cache.name),
                one.saturating_mul(copies),
                "make it smaller",
            )
        });
        let tables = runs.accounts.iter().fold(0_u64, |sum, (layout, of)| {
            sum.saturating_add(bytes_of_accounts(layout, *of))
        });
        let tables = (
            "trace".to_owned(),
            "the statistics of all phases times segments".to_owned(),
            tables,
            "name fewer of them",
        );
        let cores = if runs.share { runs.accounts.len() } else { 1 };
        let coherence = self.coherence.as_ref().filter(|_| cores > 1);
        let directory = coherence.map(|_| {
            (
                "coherence".to_owned(),
                "the directory of lines in cores' own caches".to_owned(),
                Directory::full_bytes(own_lines(self, cores)),
                "take fewer cores, or smaller caches",
            )
        });
        let parts: Vec<_> = caches.chain([tables]).chain(directory).collect();
        let sum = |sum: u64, part: &(_, _, u64, _)| sum.saturating_add(part.2);
        let largest = parts.iter().max_by_key(|part| part.2);
        match largest {
            Some((path, what, bytes, remedy)) if parts.iter().fold(0, sum) > free => {
                Err(SpecError {
                    path: path.clone(),
                    message: format!(
                        "{what} would take {}; {} of memory are free; {remedy}",
                        size(*bytes),
                        size(free)
                    ),
                })
            }
            _ => Ok(()),
        }
    }
}
