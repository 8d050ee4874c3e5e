//! What one level asks of the next: a line, and why.

/// Bits of an operation below its line.
const REASON_BITS: u32 = 3;

/// Smallest line whose numbers, with a reason beside them, fit 64 bits.
pub(super) const SMALLEST_LINE: u64 = 1 << REASON_BITS;

/// Why a line is wanted. The discriminants are the low bits of an [`Operation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Reason {
    /// To be read, or prefetched: a level that lacks the line is filled.
    Read = 0,
    /// To be written by the program; first level only.
    Store = 1,
    /// To be streamed: only the first level is filled, and only in the way that leaves next.
    Stream = 2,
    /// It left the level before and was dirty.
    WriteBack = 3,
    /// It left a level before and was dirty, and the one between, of longer lines, had lost what it is a part of.
    PartialWriteBack = 4,
}

impl Reason {
    /// Why a level that lacks the line asks the next one for it, if it does: a line that is written back is whole.
    pub(super) fn below(self) -> Option<Self> {
        match self {
            Self::Read | Self::Store => Some(Self::Read),
            Self::Stream => Some(Self::Stream),
            Self::WriteBack | Self::PartialWriteBack => None,
        }
    }

    /// Whether the program asks for the line, and no level for its own sake.
    pub(super) fn is_the_programs(self) -> bool {
        !matches!(self, Self::WriteBack | Self::PartialWriteBack)
    }
}

/// One look-up: a line of the first level's size, and a [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation(u64);

impl Operation {
    /// No operation that a program can ask for.
    pub(super) const NONE: Self = Self(u64::MAX);

    #[inline(always)]
    pub(super) fn new(line: u64, reason: Reason) -> Self {
        Self(line << REASON_BITS | reason as u64)
    }

    #[inline(always)]
    pub(super) fn line(self) -> u64 {
        self.0 >> REASON_BITS
    }

    #[inline(always)]
    pub(super) fn reason(self) -> Reason {
        match self.0 % SMALLEST_LINE {
            0 => Reason::Read,
            1 => Reason::Store,
            2 => Reason::Stream,
            3 => Reason::WriteBack,
            _ => Reason::PartialWriteBack,
        }
    }
}
