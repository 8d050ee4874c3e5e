//! What the program around the pages was made into: what its calls take, and how it moves bytes.

use super::UpwardMoves;

/// Plain instructions of calls, which depend on compiler and libraries, and how bytes move.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// How bytes move towards higher addresses.
    pub upward_moves: UpwardMoves,
    /// Calling the buffer manager, to pin a page or to unpin it, and coming back.
    pub buffer_call: u32,
    /// Asking a slotted page for the entry of a slot, or giving it one, and coming back: none if the compiler puts that in line.
    pub entry_call: u32,
    /// Calling `memcpy`, besides what it loads and stores.
    pub copy_call: u32,
    /// A prefetch, besides itself.
    pub prefetch_instructions: u32,
}

impl Program {
    /// Of the buffer manager, in code like MIPS: two arguments, jump, use of the result (4); the callee moves the stack pointer twice, saves
    /// and restores three registers (8), loads the addresses of table and descriptors (2), returns (2).
    pub const BUFFER_CALL: u32 = 16;
    /// Calibrated on what slotted pages cost range scans beside arrays (Figure 3.17, claim `bt-fig3.17-slot-vs-array`).
    pub const ENTRY_CALL: u32 = 20;
    /// Moves are loops in line.
    pub const COPY_CALL: u32 = 0;
    /// Addresses are offsets in the instructions.
    pub const PREFETCH_INSTRUCTIONS: u32 = 0;
}

impl Default for Program {
    fn default() -> Self {
        Self {
            upward_moves: UpwardMoves::default(),
            buffer_call: Self::BUFFER_CALL,
            entry_call: Self::ENTRY_CALL,
            copy_call: Self::COPY_CALL,
            prefetch_instructions: Self::PREFETCH_INSTRUCTIONS,
        }
    }
}
