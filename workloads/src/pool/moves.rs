//! How a program moves bytes within a page or to another, as C's library functions do it.
//!
//! Section 3.5.1 of the thesis tells three moves apart. `memcpy` serves those to other pages and those towards lower addresses. Those
//! towards higher addresses overlap what they read, and are done in one of two ways: [`UpwardMoves`].

use super::{Fixed, Pool};
use crate::sorted::{MoveSites, moved};
use crate::tracer::Trace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of `memcpy`'s words.
const COPY_WORD: u32 = 8;
/// Bytes of the smallest elements that are moved.
const SMALLEST: u32 = 2;

/// What moves bytes towards higher addresses, where source and target overlap and `memcpy` cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UpwardMoves {
    /// Byte by byte from the last on, as a plain `memmove`.
    #[default]
    Bytes,
    /// `memcpy` to a buffer and back, as on the thesis's Itanium 2 (section 3.5.1).
    ThroughBuffer,
}

impl Pool {
    /// Copies so many bytes to where they do not overlap.
    #[inline]
    pub(crate) fn copy_bytes<T: Trace, S: Into<u16> + Copy>(
        &mut self,
        trace: &mut T,
        sites: MoveSites<S>,
        (from, first): (&Fixed, u32),
        (to, target): (&Fixed, u32),
        bytes: u32,
    ) {
        self.copy((from, first), (to, target), bytes);
        let source = from.address + u64::from(first);
        self.copied(
            trace,
            sites,
            (source, to.address + u64::from(target)),
            bytes,
        );
    }

    /// Moves so many bytes within a page or to another.
    #[inline]
    pub(crate) fn move_bytes<T: Trace, S: Into<u16> + Copy>(
        &mut self,
        trace: &mut T,
        sites: MoveSites<S>,
        (from, first): (&Fixed, u32),
        (to, target): (&Fixed, u32),
        bytes: u32,
    ) {
        self.copy((from, first), (to, target), bytes);
        let source = from.address + u64::from(first);
        let target_address = to.address + u64::from(target);
        if from.page != to.page || target <= first {
            return self.copied(trace, sites, (source, target_address), bytes);
        }
        match self.program.upward_moves {
            UpwardMoves::Bytes => moved(trace, sites, (source, target_address), bytes as usize, 1),
            UpwardMoves::ThroughBuffer => {
                self.copied(trace, sites, (source, self.buffer()), bytes);
                self.copied(trace, sites, (self.buffer(), target_address), bytes);
            }
        }
    }

    /// Says that bytes are copied as by `memcpy`: in words, and by the smallest elements what is left.
    #[inline]
    pub(crate) fn copied<T: Trace, S: Into<u16> + Copy>(
        &self,
        trace: &mut T,
        sites: MoveSites<S>,
        (from, to): (u64, u64),
        bytes: u32,
    ) {
        debug_assert!(bytes.is_multiple_of(SMALLEST), "{bytes} bytes");
        trace.work(self.program.copy_call);
        let words = bytes / COPY_WORD;
        moved(trace, sites, (from, to), words as usize, COPY_WORD as u16);
        let rest = bytes % COPY_WORD / SMALLEST;
        if rest > 0 {
            let done = u64::from(words * COPY_WORD);
            let behind = (from + done, to + done);
            moved(trace, sites, behind, rest as usize, SMALLEST as u16);
        }
    }
}
