//! Which pipelines can exist.

use super::{LONGEST_CYCLES, at_most_cycles, power_of_two, require};
use crate::spec::{CoreKind, CoreSpec, PredictorSpec, SpecError};

/// The widest reorder buffer: results are remembered for this many events.
const LARGEST_REORDER_BUFFER: u32 = 1000;
const WIDEST_ISSUE: u32 = 64;
/// The longest store buffer: it is looked through for every load.
const LONGEST_STORE_BUFFER: u32 = 4096;
/// The largest predictor: its counters are indexed by 16 bits of the site and the history.
const MOST_COUNTERS: u32 = 1 << 24;
/// Of the site.
const SITE_BITS: u32 = 16;

impl CoreSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
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
        ] {
            require((1..=LONGEST_CYCLES).contains(&value), path, || {
                format!("{value} is not between 1 and {LONGEST_CYCLES}")
            })?;
        }
        let stores = self.store_buffer_entries;
        require(
            (1..=LONGEST_STORE_BUFFER).contains(&stores),
            "core.store_buffer_entries",
            || {
                format!(
                    "{stores} is not between 1 and {LONGEST_STORE_BUFFER}, far more than any processor's"
                )
            },
        )?;
        at_most_cycles(
            "core.mispredict_penalty_cycles",
            self.mispredict_penalty_cycles,
        )?;
        if let Some(exchange) = self.exchange {
            at_most_cycles("core.exchange.further_cycles", exchange.further_cycles)?;
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

fn counters_fit(path: &str, counters: u32) -> Result<(), SpecError> {
    power_of_two(path, u64::from(counters))?;
    require(counters <= MOST_COUNTERS, path, || {
        format!("{counters} are more than {MOST_COUNTERS}, far more than any predictor's")
    })
}

/// Those beyond would never be looked at.
fn all_are_used(path: &str, counters: u32, history_bits: u32) -> Result<(), SpecError> {
    let most = 1 << SITE_BITS.max(history_bits);
    require(counters <= most, path, || {
        format!(
            "{counters} are more than the {most} that places in the code and history tell apart"
        )
    })
}

impl PredictorSpec {
    fn validate(&self) -> Result<(), SpecError> {
        let path = "core.branch_predictor.counters";
        match *self {
            Self::Gshare {
                history_bits,
                counters,
            } => {
                counters_fit(path, counters)?;
                require(
                    history_bits <= counters.trailing_zeros(),
                    "core.branch_predictor.history_bits",
                    || {
                        format!(
                            "{history_bits} bits of history do not fit the index of {counters} counters ({} bits)",
                            counters.trailing_zeros()
                        )
                    },
                )?;
                all_are_used(path, counters, history_bits)
            }
            Self::Bimodal { counters } => {
                counters_fit(path, counters)?;
                all_are_used(path, counters, 0)
            }
            Self::Perfect => Ok(()),
        }
    }
}
