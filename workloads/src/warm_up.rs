//! Operations before the measurement, which are not counted.
//!
//! They leave data as they are: where the measured operations change some, those of the warm-up look at it only. So what is
//! measured is done to the tree or the relation that the workload describes, however long the warm-up is; and the measured
//! operations are the same ones.

use crate::bounds::OPERATIONS;
use crate::schema::takes;
use crate::tracer::Trace;
use crate::validate::WorkloadError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Phase that opens with every operation of a warm-up: the one before that of the measured operations.
const WARM_UP_PHASE: u16 = 0;

/// What the operations find in the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// What the operations before left, those of a warm-up before the first.
    Warm,
    /// What the operations before left; nothing before the first.
    Empty,
    /// Nothing: caches and TLBs are emptied before every operation.
    Cold,
}

/// How many operations come before the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmUp {
    /// As many as it takes on the machine until misses are steady.
    #[default]
    Auto,
    /// So many.
    Operations(u64),
}

const AUTO: &str = "auto";

impl WarmUp {
    /// More than any machine needs: for finding out how many it needs.
    pub const ENDLESS: u64 = OPERATIONS.most;

    /// The warm-up of a workload that says `given` about it, if it has one.
    pub(crate) fn of(caches: CacheState, given: Option<Self>) -> Option<Self> {
        (caches == CacheState::Warm).then(|| given.unwrap_or_default())
    }

    /// Checks what a workload says about its warm-up.
    pub(crate) fn validate(caches: CacheState, given: Option<Self>) -> Result<(), WorkloadError> {
        match given {
            Some(_) if caches != CacheState::Warm => {
                let message = "has no effect where caches are `empty` or `cold`; remove it, or say `caches: warm`";
                Err(WorkloadError::new("warm_up", message))
            }
            Some(Self::Operations(0)) => {
                let message = "0 operations warm nothing up; say `caches: empty` instead";
                Err(WorkloadError::new("warm_up", message))
            }
            Some(Self::Operations(operations)) => OPERATIONS.check("warm_up", operations),
            Some(Self::Auto) | None => Ok(()),
        }
    }

    /// How many operations there are. A warm-up whose length has to be found is refused when a workload is prepared.
    pub(crate) fn operations(warm_up: Option<Self>) -> u64 {
        match warm_up {
            Some(Self::Operations(operations)) => operations,
            Some(Self::Auto) => Self::ENDLESS,
            None => 0,
        }
    }
}

/// Runs a warm-up, operation by operation, and begins the measurement; stops early if the trace failed.
pub(crate) fn run<T: Trace>(
    warm_up: Option<WarmUp>,
    trace: &mut T,
    mut operation: impl FnMut(&mut T, u64),
) {
    let operations = WarmUp::operations(warm_up);
    for number in 0..operations {
        if trace.failed() {
            return;
        }
        trace.mark(WARM_UP_PHASE);
        operation(trace, number);
    }
    if operations > 0 {
        trace.measure();
    }
}

impl JsonSchema for WarmUp {
    fn schema_name() -> Cow<'static, str> {
        "warm-up".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut operations = json_schema!({
            "type": "integer",
            "description": "how many operations, 1 or more (or `caches: empty` for none)",
        });
        takes(OPERATIONS)(&mut operations);
        json_schema!({
            "title": Self::schema_name(),
            "anyOf": [{"type": "string", "const": AUTO}, operations],
            "default": Self::default(),
        })
    }
}

impl Serialize for WarmUp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Operations(operations) => serializer.serialize_u64(*operations),
        }
    }
}

impl<'de> Deserialize<'de> for WarmUp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Given;

        impl Visitor<'_> for Given {
            type Value = WarmUp;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                write!(formatter, "a number of operations, or `{AUTO}`")
            }

            fn visit_u64<E: Error>(self, operations: u64) -> Result<WarmUp, E> {
                Ok(WarmUp::Operations(operations))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<WarmUp, E> {
                if text == AUTO {
                    return Ok(WarmUp::Auto);
                }
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Given)
    }
}
