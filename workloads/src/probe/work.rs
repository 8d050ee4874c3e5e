//! How much work probes are, and how much memory they take.

use super::spec::{Interleaving, ProbeWorkload, Results};
use crate::buckets::Keys;
use crate::memory::Memory;
use crate::work::Work;

/// Events of a probe: of its own, of its states if it is one of several, and of frames.
const PER_PROBE: f64 = 11.0;
const PER_STATE: f64 = 6.0;
const PER_FRAME: f64 = 12.0;
/// Events of a result that is stored.
const PER_RESULT: f64 = 4.0;
/// What is left of them where no key is hashed, and the first bucket has it.
const DENSE: f64 = 0.5;
/// Bytes of a key while the table is built.
const KEY_BYTES: u64 = 8;

impl ProbeWorkload {
    pub(super) fn estimated_work(&self) -> Work {
        let more = match self.interleaving {
            Interleaving::OneByOne => 0.0,
            Interleaving::Group | Interleaving::Amac => PER_STATE,
            Interleaving::Coroutine => PER_FRAME,
        };
        let share = match self.keys {
            Keys::Dense => DENSE,
            Keys::Scattered => 1.0,
        };
        let stored = match self.results {
            Results::Counted => 0.0,
            Results::Stored => PER_RESULT,
        };
        let events = self.probe_tuples as f64 * (share * (PER_PROBE + more) + stored);
        Work::estimate(self.build_tuples as f64, events, 0.0)
    }

    pub(super) fn estimated_memory(&self) -> Memory {
        let table = self.table().most_bytes();
        Memory {
            building: table + self.build_tuples * KEY_BYTES,
            running: 0,
            piece: table,
            parameter: "build_tuples",
            remedy: "take fewer build tuples",
        }
    }
}
