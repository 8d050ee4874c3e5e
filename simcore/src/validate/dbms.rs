//! Which DBMS profiles can exist.

use super::{positive, require};
use crate::profile::{DbmsSpec, RoutineSpec};
use crate::spec::SpecError;

/// Most bytes of code or data of one routine, and most instructions: many times what any routine of a DBMS has, and few enough for
/// one call to be over in a moment.
const MOST_BYTES: u64 = 64 << 20;
const MOST_INSTRUCTIONS: u32 = 10_000_000;

impl DbmsSpec {
    pub(super) fn validate(&self) -> Result<(), SpecError> {
        for (name, routine) in &self.calls {
            routine.validate(&format!("dbms.calls.{name}"))?;
        }
        let Some(tick) = &self.clock_tick else {
            return Ok(());
        };
        positive("dbms.clock_tick.period_cycles", tick.period_cycles)?;
        tick.routine.validate("dbms.clock_tick.routine")
    }
}

impl RoutineSpec {
    fn validate(&self, path: &str) -> Result<(), SpecError> {
        positive(
            &format!("{path}.instructions"),
            u64::from(self.instructions),
        )?;
        require(
            self.instructions <= MOST_INSTRUCTIONS,
            &format!("{path}.instructions"),
            || {
                format!(
                    "{} are more than {MOST_INSTRUCTIONS}, the most for one call; make several calls",
                    self.instructions
                )
            },
        )?;
        for (key, value) in [
            ("mispredicts_per_1000", self.mispredicts_per_1000),
            ("dependent_per_1000", self.dependent_per_1000),
        ] {
            require(value <= 1000, &format!("{path}.{key}"), || {
                format!("{value} is more than all of a thousand instructions")
            })?;
        }
        for (key, value) in [
            ("code_bytes", self.code_bytes),
            ("data_bytes", self.data_bytes),
        ] {
            require(value <= MOST_BYTES, &format!("{path}.{key}"), || {
                format!("{value} is more than {MOST_BYTES}, the most for one routine")
            })?;
        }
        Ok(())
    }
}
