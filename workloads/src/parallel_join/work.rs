//! How much work these joins are, and how much memory they take.

use super::places::LINE_BYTES;
use super::spec::{Algorithm, ParallelJoinWorkload};
use crate::buckets::{BUCKET_TUPLES, Keys, bucket_bytes, heads};
use crate::memory::Memory;
use crate::work::Work;

/// Events of a tuple in the table: built, and probed with.
const BUILT: f64 = 10.0;
const PROBED: f64 = 12.0;
/// Events of a tuple that is counted, and of one that is scattered, in each pass.
const COUNTED: f64 = 4.0;
const SCATTERED: f64 = 5.0;
/// More of one that goes through a buffer.
const BUFFERED: f64 = 2.0;
/// Events of a tuple in chains: built, and probed with.
const CHAINED: f64 = 5.0;
const FOLLOWED: f64 = 8.0;
/// Events of a partition of a thread in the first pass, and of one more for each other thread; of any in the second, and of a join.
const OF_PARTITION: f64 = 6.0;
const OF_THREAD: f64 = 0.2;
const OF_TASK: f64 = 10.0;
/// Buckets behind each first one, where chance fills them.
const OVERFLOW: f64 = 0.38;
/// Bytes of what is known of how a build tuple comes in.
const ARRIVAL_BYTES: u64 = 8;

impl ParallelJoinWorkload {
    pub(super) fn estimated_work(&self) -> Work {
        let (build, probe) = (self.build_tuples as f64, self.probe_tuples as f64);
        let events = match self.algorithm {
            Algorithm::NoPartitioning => build * BUILT + probe * PROBED,
            Algorithm::Radix => {
                let buffered = if self.write_combining { BUFFERED } else { 0.0 };
                let scattered = COUNTED + SCATTERED + buffered;
                let passes = (build + probe) * scattered * f64::from(self.passes);
                let threads = f64::from(self.threads);
                let of_thread = OF_PARTITION + threads * OF_THREAD;
                let first = self.pass_list()[0].fan_out() as f64 * 2.0 * threads * of_thread;
                let partitions = (1_u64 << self.radix_bits) as f64;
                passes + build * CHAINED + probe * FOLLOWED + first + partitions * OF_TASK
            }
        };
        Work::estimate(0.0, events, 0.0)
    }

    pub(super) fn estimated_memory(&self) -> Memory {
        let tuple_bytes = u64::from(self.tuple_bytes);
        let inputs = (self.build_tuples + self.probe_tuples) * tuple_bytes;
        let running = match self.algorithm {
            Algorithm::NoPartitioning => {
                let heads = heads(self.build_tuples, BUCKET_TUPLES);
                let behind = match self.keys {
                    Keys::Dense => 0.0,
                    Keys::Scattered => heads as f64 * OVERFLOW,
                };
                (heads + behind as u64) * bucket_bytes(BUCKET_TUPLES, tuple_bytes)
                    + self.build_tuples * ARRIVAL_BYTES
            }
            Algorithm::Radix => {
                let room = self.room(self.build_tuples) + self.room(self.probe_tuples);
                let buffers = if self.write_combining {
                    self.most_fan_out() as u64
                } else {
                    0
                };
                let of_threads = u64::from(self.threads) * buffers * LINE_BYTES;
                room * tuple_bytes * u64::from(self.passes) + of_threads
            }
        };
        let (parameter, remedy) = if self.build_tuples > self.probe_tuples {
            ("build_tuples", "take fewer build tuples")
        } else {
            ("probe_tuples", "take fewer probe tuples")
        };
        Memory {
            building: inputs,
            running,
            piece: self.build_tuples.max(self.probe_tuples) * tuple_bytes,
            parameter,
            remedy,
        }
    }
}
