//! What is behind the last cache: one memory, or several of which each holds structures of its own.

use super::Interval;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What is behind the last cache. A list is several memories: what no other holds lies in the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MemoriesSpec {
    /// One memory for everything.
    One(MemorySpec),
    /// Several with names, the first for everything that no other holds.
    Several(Vec<NamedMemory>),
}

/// One of several memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedMemory {
    /// Name shown in results, such as `cxl`.
    pub name: String,
    /// Data structures that lie in this memory, by the names of their segments, such as `frames`, in which `*` stands for any text. None for the first memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// Its times. Behind the first memory only `fixed` is there.
    #[serde(flatten)]
    pub times: MemorySpec,
}

/// How long a memory takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MemorySpec {
    /// Every line takes the same time, and the bus starts one line per interval.
    Fixed {
        /// Load-to-use latency of a miss in every cache, all levels included (the thesis's T1).
        latency_cycles: u32,
        /// Time between the starts of two lines on the bus (the thesis's T_next).
        interval_cycles: Interval,
        /// Whether a line that is written takes an interval too: a dirty one that leaves the last cache, and what is stored past the caches.
        write_backs_use_bus: bool,
        /// Time between the starts of two writes on a way of their own, where they do not use the bus; absent if they never wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        write_interval_cycles: Option<Interval>,
    },
    /// Banks, rows and buses, simulated cycle by cycle by DRAMSim3.
    Dramsim3(Dramsim3Spec),
}

/// A memory simulated by DRAMSim3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dramsim3Spec {
    /// The DRAM and its controller.
    pub config: DramFile,
    /// Load-to-use time of a miss in every cache outside the DRAM: the caches, the way to the controller and back.
    pub path_latency_cycles: u32,
    /// Whether dirty lines leaving the last cache are written to the DRAM.
    pub write_backs: bool,
}

/// An ini file for DRAMSim3, read by whoever knows where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramFile {
    /// The file's name, for messages.
    pub path: String,
    /// What the file holds.
    pub text: String,
}

impl MemoriesSpec {
    /// The memory of everything that no other holds. The specification has been validated: there is one.
    #[must_use]
    pub fn first(&self) -> &MemorySpec {
        match self {
            Self::One(memory) => memory,
            Self::Several(memories) => &memories[0].times,
        }
    }

    /// All memories, if there are several.
    #[must_use]
    pub fn named(&self) -> &[NamedMemory] {
        match self {
            Self::One(_) => &[],
            Self::Several(memories) => memories,
        }
    }
}

impl From<MemorySpec> for MemoriesSpec {
    fn from(memory: MemorySpec) -> Self {
        Self::One(memory)
    }
}

/// Says what is wrong with the one that was meant, which an untagged type could not.
impl<'de> Deserialize<'de> for MemoriesSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let read = if value.is_array() {
            serde_json::from_value(value).map(Self::Several)
        } else {
            serde_json::from_value(value).map(Self::One)
        };
        read.map_err(D::Error::custom)
    }
}
