//! Time from one transfer to the next.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Time from the start of one transfer to that of the next, in parts of a cycle: a bus has a clock of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    parts: u64,
}

impl Interval {
    /// Parts of a cycle. A power of two, so that a number of them is exact in binary floating point.
    pub const PARTS: u64 = 1024;

    /// So many whole cycles.
    #[must_use]
    pub const fn of_cycles(cycles: u64) -> Self {
        Self {
            parts: cycles * Self::PARTS,
        }
    }

    /// So many cycles, to the nearest part.
    #[must_use]
    pub fn nearest(cycles: f64) -> Self {
        Self {
            parts: (cycles * Self::PARTS as f64).round() as u64,
        }
    }

    /// In cycles.
    #[must_use]
    pub fn cycles(self) -> f64 {
        self.parts as f64 / Self::PARTS as f64
    }

    /// In parts of a cycle.
    #[must_use]
    pub fn parts(self) -> u64 {
        self.parts
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cycles().fmt(formatter)
    }
}

/// As a whole number if it is one: so cycles stand in most machines.
impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.parts.is_multiple_of(Self::PARTS) {
            serializer.serialize_u64(self.parts / Self::PARTS)
        } else {
            serializer.serialize_f64(self.cycles())
        }
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cycles = f64::deserialize(deserializer)?;
        if cycles < 0. {
            return Err(D::Error::custom(format_args!(
                "{cycles} cycles are negative"
            )));
        }
        Ok(Self::nearest(cycles))
    }
}

impl JsonSchema for Interval {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Interval".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let least = Self { parts: 1 };
        json_schema!({"type": "number", "minimum": least.cycles()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_cycles_are_whole_numbers_and_others_keep_their_fractions() {
        let texts = ["15", "4.5", "0.0009765625"];
        for text in texts {
            let interval: Interval = serde_json::from_str(text).expect("an interval");
            assert_eq!(serde_json::to_string(&interval).expect("JSON"), text);
        }
        assert_eq!(Interval::of_cycles(15), Interval::nearest(15.));
        assert_eq!(Interval::nearest(4.1).parts(), 4198, "4.0996");
        let error = serde_json::from_str::<Interval>("-1").unwrap_err();
        assert!(error.to_string().contains("negative"), "{error}");
    }
}
