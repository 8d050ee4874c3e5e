//! Sargable predicates: tests that a scan makes on the values it reads.

use super::sites::Site;
use crate::page::{Loaded, Value};
use crate::tracer::Trace;

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// A number from the first to the second.
    Within(i64, i64),
    /// A number up to this one.
    UpTo(i64),
    /// One of these strings.
    OneOf(Vec<Vec<u8>>),
    /// A number below that of another attribute.
    Below(usize),
}

/// A test of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Which attribute.
    pub attribute: usize,
    /// What is asked of its value.
    pub test: Test,
}

impl Predicate {
    /// A number from `low` to `high`.
    #[must_use]
    pub fn within(attribute: usize, low: i64, high: i64) -> Self {
        Self {
            attribute,
            test: Test::Within(low, high),
        }
    }

    /// A number up to `high`.
    #[must_use]
    pub fn up_to(attribute: usize, high: i64) -> Self {
        Self {
            attribute,
            test: Test::UpTo(high),
        }
    }

    /// A string of a list.
    #[must_use]
    pub fn one_of(attribute: usize, strings: &[&str]) -> Self {
        let strings = strings.iter().map(|string| string.as_bytes().to_vec());
        Self {
            attribute,
            test: Test::OneOf(strings.collect()),
        }
    }

    /// A number below that of the attribute `other`.
    #[must_use]
    pub fn below(attribute: usize, other: usize) -> Self {
        Self {
            attribute,
            test: Test::Below(other),
        }
    }

    /// The attributes whose values it is about.
    pub(super) fn attributes(&self) -> impl Iterator<Item = usize> {
        let other = match self.test {
            Test::Below(other) => Some(other),
            Test::Within(..) | Test::UpTo(_) | Test::OneOf(_) => None,
        };
        std::iter::once(self.attribute).chain(other)
    }

    /// Tests a record, whose values `read` brings. None passes that lacks a value.
    #[inline]
    pub(super) fn holds<'a, T: Trace>(
        &self,
        trace: &mut T,
        mut read: impl FnMut(&mut T, usize) -> Loaded<Value<'a>>,
    ) -> bool {
        let found = read(trace, self.attribute);
        if !found.value.is_present() {
            // Whoever reads a null has branched on that.
            return false;
        }
        match &self.test {
            Test::Within(low, high) => {
                let value = found.value.int();
                // A comparison and its branch for each bound; the second is reached if the first holds.
                decide(trace, Site::LowerBound, value >= *low, found)
                    && decide(trace, Site::UpperBound, value <= *high, found)
            }
            Test::UpTo(high) => {
                let is_up_to = found.value.int() <= *high;
                decide(trace, Site::UpperBound, is_up_to, found)
            }
            Test::OneOf(strings) => {
                // Strings of fixed length end in blanks.
                let string = found.value.bytes().trim_ascii_end();
                strings
                    .iter()
                    .any(|wanted| decide(trace, Site::String, string == wanted, found))
            }
            Test::Below(other) => {
                // The comparison waits for both values; the second is named, whose load comes later.
                let other = read(trace, *other);
                other.value.is_present()
                    && decide(
                        trace,
                        Site::OtherAttribute,
                        found.value.int() < other.value.int(),
                        other,
                    )
            }
        }
    }
}

/// Branches on the outcome of a comparison, in the place of the code that makes it.
#[inline]
fn decide<T: Trace>(trace: &mut T, place: Site, holds: bool, found: Loaded<Value>) -> bool {
    trace.work(1);
    trace.branch(place, holds, found.token.after(1));
    holds
}
