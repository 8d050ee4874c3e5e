//! Numbers that parameters take. A parameter is checked and declared with the same value of these types.

use crate::validate::{WorkloadError, power_of_two, within};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Display;

/// Numbers that a parameter takes.
pub(crate) trait Numbers {
    /// Writes them into a schema.
    fn declare(&self, values: &mut Map<String, Value>);
}

/// Numbers from the least to the most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between<N> {
    /// The smallest.
    pub least: N,
    /// The largest.
    pub most: N,
}

impl<N: PartialOrd + Display + Copy> Between<N> {
    /// Refuses other numbers.
    pub(crate) fn check(&self, path: &str, value: N) -> Result<(), WorkloadError> {
        within(path, value, self.least, self.most)
    }
}

impl Between<u32> {
    /// Says which of the numbers fit, for an error about one that does not: the least and the most, which others lie between.
    pub(crate) fn those_that(&self, fit: impl Fn(u32) -> bool) -> String {
        let fitting = |number: &u32| fit(*number);
        let least = (self.least..=self.most).find(fitting);
        let most = (self.least..=self.most).rev().find(fitting);
        match least.zip(most) {
            None => "none does".into(),
            Some((least, most)) if least == most => format!("{least} does"),
            Some((least, most)) => format!("{least} to {most} do"),
        }
    }
}

impl<N: Serialize> Numbers for Between<N> {
    fn declare(&self, values: &mut Map<String, Value>) {
        values.insert("minimum".into(), json!(self.least));
        values.insert("maximum".into(), json!(self.most));
    }
}

/// Sizes in bytes that are powers of two, from the least to the most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowersOfTwo {
    /// The smallest.
    pub least: u32,
    /// The largest.
    pub most: u32,
}

impl PowersOfTwo {
    /// Refuses other numbers.
    pub(crate) fn check(&self, path: &str, value: u32) -> Result<(), WorkloadError> {
        power_of_two(path, value, self.least, self.most)
    }
}

impl Numbers for PowersOfTwo {
    fn declare(&self, values: &mut Map<String, Value>) {
        let Self { least, most } = *self;
        Between { least, most }.declare(values);
        values.insert("x-power-of-two".into(), true.into());
    }
}

/// Two sizes in bytes, the smaller first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice(pub u32, pub u32);

impl Choice {
    /// Refuses other numbers.
    pub(crate) fn check(&self, path: &str, value: u32) -> Result<(), WorkloadError> {
        let Self(small, large) = *self;
        if value == small || value == large {
            return Ok(());
        }
        let message = format!("{value} bytes; it must be {small} or {large}");
        Err(WorkloadError::new(path, message))
    }
}

impl Numbers for Choice {
    fn declare(&self, values: &mut Map<String, Value>) {
        let Self(least, most) = *self;
        Between { least, most }.declare(values);
        values.insert("enum".into(), json!([least, most]));
    }
}

/// One of several sizes in bytes, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneOf<const N: usize>(pub [u32; N]);

impl<const N: usize> OneOf<N> {
    /// Refuses other numbers.
    pub(crate) fn check(&self, path: &str, value: u32) -> Result<(), WorkloadError> {
        if self.0.contains(&value) {
            return Ok(());
        }
        let message = format!("{value} bytes; it must be one of {:?}", self.0);
        Err(WorkloadError::new(path, message))
    }
}

impl<const N: usize> Numbers for OneOf<N> {
    fn declare(&self, values: &mut Map<String, Value>) {
        let (least, most) = (self.0[0], self.0[N - 1]);
        Between { least, most }.declare(values);
        values.insert("enum".into(), json!(self.0.to_vec()));
    }
}

/// Bytes of a word: a key, a pointer, a number.
pub(crate) const WORD_BYTES: Choice = Choice(4, 8);
/// Bytes of a cache line.
pub(crate) const LINE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 16,
    most: 1024,
};
/// Operations of a run, measured or not: they take hours.
pub(crate) const OPERATIONS: Between<u64> = Between {
    least: 1,
    most: 100_000_000,
};
/// Threads of a kernel, each of which has a core of its own.
pub(crate) const THREADS: Between<u32> = Between {
    least: 1,
    most: 256,
};
/// Plain instructions of a call, or of what else a compiler makes of one step.
pub(crate) const CALL: Between<u32> = Between {
    least: 0,
    most: 10_000,
};
/// A share of the whole.
pub(crate) const SHARE: Between<f64> = Between {
    least: 0.0,
    most: 1.0,
};
/// A share of a node or a chunk that is filled: with less, one would hold nothing.
pub(crate) const FILL: Between<f64> = Between {
    least: 0.1,
    most: 1.0,
};
