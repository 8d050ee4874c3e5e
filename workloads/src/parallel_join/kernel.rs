//! The join of tuples of 8 bytes and the one of tuples of 16.

use super::relations::{Inputs, Relations};
use super::run::JoinRun;
use super::spec::ParallelJoinWorkload;
use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::tracer::Trace;
use std::sync::Arc;
use traces::Layout;

/// Inputs.
#[derive(Clone, Debug)]
pub(crate) enum Drawn {
    /// Tuples of two words of four bytes.
    Bytes8(Arc<Relations<u32>>),
    /// Tuples of two words of eight.
    Bytes16(Arc<Relations<u64>>),
}

impl Drawn {
    /// Draws them.
    pub(super) fn of(inputs: &Inputs) -> Self {
        match inputs.tuple_bytes {
            8 => Self::Bytes8(Arc::new(Relations::draw(inputs))),
            _ => Self::Bytes16(Arc::new(Relations::draw(inputs))),
        }
    }
}

/// What runs.
#[derive(Clone, Debug)]
pub(crate) enum JoinKernel {
    Bytes8(JoinRun<u32>),
    Bytes16(JoinRun<u64>),
}

impl JoinKernel {
    /// A workload with its inputs.
    pub(super) fn of(workload: &ParallelJoinWorkload, drawn: Drawn) -> Self {
        match drawn {
            Drawn::Bytes8(relations) => Self::Bytes8(JoinRun::new(workload, relations)),
            Drawn::Bytes16(relations) => Self::Bytes16(JoinRun::new(workload, relations)),
        }
    }
}

impl Kernel for JoinKernel {
    fn layout(&self) -> Layout {
        match self {
            Self::Bytes8(join) => join.layout(),
            Self::Bytes16(join) => join.layout(),
        }
    }

    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
        match self {
            Self::Bytes8(join) => join.run(thread, trace),
            Self::Bytes16(join) => join.run(thread, trace),
        }
    }
}
