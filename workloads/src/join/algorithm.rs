//! The algorithms, and what they need besides stages: orders, and how far ahead pages are prefetched.

use super::ahead::{Ahead, Reuse};
use super::relation::Relation;
use super::scan::{Inputs, Scan};
use super::visit::Stages;
use super::{group, one_by_one, pipeline};
use crate::tracer::Trace;
use crate::traffic::Traffic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In which order the tuples of a pass over a relation are worked on, and what is prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PassAlgorithm {
    /// One after the other, without prefetches (GRACE).
    Grace,
    /// The same, with prefetches of input and output pages.
    Simple,
    /// In groups, stage by stage: each stage prefetches what the next visits (section 4.4).
    Group,
    /// Each stage for another tuple, a distance apart (section 4.5).
    Pipelined,
}

impl PassAlgorithm {
    /// Those that prefetch anything.
    pub(super) const PREFETCHING: [Self; 3] = [Self::Simple, Self::Group, Self::Pipelined];

    fn prefetches_pages(self) -> bool {
        Self::PREFETCHING.contains(&self)
    }

    /// Whether the tuples of several visits are under way at once.
    pub(super) fn interleaves(self) -> bool {
        matches!(self, Self::Group | Self::Pipelined)
    }
}

/// What becomes of pages full of output tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputPages {
    /// Each is a new one.
    Fresh,
    /// Whoever reads them gives them back at once: one is used again and again.
    Reused,
    /// Each is a new one, and is written to storage when it is full.
    Stored,
}

impl OutputPages {
    /// What storage is asked for, if so many pages of relations are asked for ahead; those of no relation are if none is.
    pub(super) fn traffic(self, pages_asked_ahead: u32) -> Traffic {
        let is_stored = pages_asked_ahead > 0;
        Traffic {
            reads: is_stored,
            writes: self == Self::Stored,
            asks_ahead: is_stored,
        }
    }
}

/// The order in which the stages of many tuples run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) algorithm: PassAlgorithm,
    pub(super) group_size: u32,
    pub(super) prefetch_distance: u32,
    pub(super) page_ahead: u32,
    pub(super) line_bytes: u32,
}

impl Order {
    /// States of tuples under way that a thread has, whose stages go up to number `last`.
    pub(super) fn states(self, last: usize) -> u64 {
        match self.algorithm {
            PassAlgorithm::Grace | PassAlgorithm::Simple => 0,
            PassAlgorithm::Group => self.group_size.into(),
            PassAlgorithm::Pipelined => {
                pipeline::states(last, self.prefetch_distance as usize) as u64
            }
        }
    }

    /// What is prefetched of pages, if any are: of tuples and slots, or of slots alone.
    pub(super) fn ahead(self, of_tuples: bool) -> Option<Ahead> {
        self.algorithm.prefetches_pages().then_some(Ahead {
            tuples: self.page_ahead,
            line_bytes: self.line_bytes,
            of_tuples,
            reuse: Reuse::Likely,
        })
    }

    /// Takes the tuples of a relation through stages; the states of those under way lie at an address.
    pub(super) fn go_through<S: Stages, T: Trace>(
        self,
        stages: &mut S,
        trace: &mut T,
        from: &mut Relation,
        states: u64,
    ) {
        let mut scan = Scan::new(self.ahead(true));
        self.go_through_inputs(stages, trace, (from, &mut scan), states);
    }

    /// The same of tuples that somebody else finds in a relation.
    pub(super) fn go_through_inputs<S: Stages, T: Trace, I: Inputs>(
        self,
        stages: &mut S,
        trace: &mut T,
        (from, inputs): (&mut Relation, &mut I),
        states: u64,
    ) {
        match self.algorithm {
            PassAlgorithm::Grace | PassAlgorithm::Simple => {
                one_by_one::run(stages, trace, inputs, from);
            }
            PassAlgorithm::Group => {
                let group = (states, self.group_size as usize);
                group::run(stages, trace, inputs, from, group);
            }
            PassAlgorithm::Pipelined => {
                let pipeline = (states, self.prefetch_distance as usize);
                pipeline::run(stages, trace, inputs, from, pipeline);
            }
        }
    }
}
