//! Emptying the caches and TLBs of the host.

use std::hint::black_box;

/// One read per line of any size in use, and several per page.
const STEP_BYTES: usize = 64;

/// Passes over the memory: caches that resist a single pass (their replacement takes lines used once for a stream)
/// yield to the second.
const PASSES: usize = 2;

/// Memory that takes the place of whatever is cached when it is read.
#[derive(Debug)]
pub(super) struct Eviction {
    bytes: Vec<u8>,
}

impl Eviction {
    /// Memory of `size_bytes`, with pages of its own (memory of zeros need not have them).
    pub(super) fn of(size_bytes: u64) -> Self {
        Self {
            bytes: vec![1; size_bytes as usize],
        }
    }

    /// Reads all of it.
    pub(super) fn run(&self) {
        for _ in 0..PASSES {
            let lines = self.bytes.iter().step_by(STEP_BYTES);
            black_box(lines.fold(0_u64, |sum, &byte| sum.wrapping_add(u64::from(byte))));
        }
    }
}
