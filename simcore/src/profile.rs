//! A host DBMS as data: what each call into it runs on the processor. Part of a [`MachineSpec`](crate::MachineSpec).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a database system adds to a kernel: the routines behind its calls, and the clock of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DbmsSpec {
    /// Name of the profile.
    pub name: String,
    /// The routine behind each call, by the call's name.
    pub calls: BTreeMap<String, RoutineSpec>,
    /// The interrupt of the system clock; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_tick: Option<ClockTickSpec>,
}

/// Code that runs from its beginning to its end whenever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutineSpec {
    /// Instructions of one run.
    #[schemars(range(min = 1))]
    pub instructions: u32,
    /// Code that a run fetches, line after line, each line once.
    pub code_bytes: u64,
    /// Branches predicted wrongly in a thousand instructions.
    pub mispredicts_per_1000: u32,
    /// Of a thousand instructions, those that cannot run in the cycle of the instruction before them.
    pub dependent_per_1000: u32,
    /// Private data that a run reads, a line at a time, always the same.
    #[serde(default)]
    pub data_bytes: u64,
}

/// The interrupt of the system clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockTickSpec {
    /// Cycles from one interrupt to the next. The routine runs before the first call after each, once if several are late.
    pub period_cycles: u64,
    /// What an interrupt runs.
    pub routine: RoutineSpec,
}
