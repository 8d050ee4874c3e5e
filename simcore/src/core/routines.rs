//! The routines of a DBMS profile in their places: behind the data that the trace touches, one after the other.

use super::Pace;
use crate::profile::RoutineSpec;
use crate::spec::{MachineSpec, SpecError};
use std::ops::Range;
use traces::Layout;

/// A routine in its place.
#[derive(Clone, Debug)]
pub(super) struct Routine {
    pub(super) instructions: u64,
    pub(super) mispredicts_per_1000: u64,
    pub(super) pace: Pace,
    /// Addresses of its code, and of its private data.
    pub(super) code: Range<u64>,
    pub(super) data: Range<u64>,
    /// How often it ran.
    pub(super) runs: u64,
}

/// Hands out addresses behind a trace's segments.
pub(super) struct Places {
    free: u64,
    /// Everything begins at a multiple of it: the largest line.
    align: u64,
}

impl Places {
    /// The addresses after the last segment, from the next page on.
    pub(super) fn behind(layout: &Layout, spec: &MachineSpec) -> Result<Self, SpecError> {
        let end = layout.segments.last();
        let end = end.map_or(0, |last| last.base.saturating_add(last.size_bytes));
        let lines = spec.caches.iter().map(|cache| cache.line_bytes);
        let align = lines.max().unwrap_or(1);
        let free = end.checked_next_multiple_of(spec.dtlb.page_bytes);
        Ok(Self {
            free: free.ok_or_else(no_room)?,
            align,
        })
    }

    fn take(&mut self, bytes: u64) -> Result<Range<u64>, SpecError> {
        let start = self.free;
        let end = start.checked_add(bytes).ok_or_else(no_room)?;
        self.free = end
            .checked_next_multiple_of(self.align)
            .ok_or_else(no_room)?;
        Ok(start..end)
    }

    /// Gives a routine its place.
    pub(super) fn put(
        &mut self,
        routine: &RoutineSpec,
        spec: &MachineSpec,
    ) -> Result<Routine, SpecError> {
        Ok(Routine {
            instructions: u64::from(routine.instructions),
            mispredicts_per_1000: u64::from(routine.mispredicts_per_1000),
            pace: Pace::new(routine, &spec.core),
            code: self.take(routine.code_bytes)?,
            data: self.take(routine.data_bytes)?,
            runs: 0,
        })
    }
}

fn no_room() -> SpecError {
    SpecError {
        path: "dbms.calls".to_owned(),
        message:
            "the code does not fit between the trace's last segment and the end of the address space"
                .to_owned(),
    }
}
