//! The register of families: the one place outside their folders that knows them.
//!
//! A new family is a folder with the type of its parameters (serde, `schemars`, defaults that can run), which implements [`Family`], and the
//! type of its kernel, which implements [`Kernel`]; its `mod` in `lib.rs`; and a line below. It builds on the foundations
//! (`tracer`, `arena`, `shared`, `board`, `buckets`, `random`, `watch`, `warm_up`, `outcome`, `validate`, `schema`, `bounds`, `work`, `memory`, `instructions`, `traffic`) and the libraries (`tree`, `page`,
//! `query`), never on another family. What is wanted of each:
//!
//! - The parameters declare everything that users need to know of them (`schema.rs`); nothing outside Rust repeats it.
//! - `instructions` and `traffic` say what its events have: settings of machines and storage for what none has are refused.
//! - `validate` refuses what cannot be built, by parameter; `memory` tells what will be taken before it is.
//! - Builders run untraced and say their steps to `watch`, so that progress moves and Ctrl-C acts.
//! - `layout` reserves every address that `run` will touch.
//! - `run` is plain sequential code over [`Trace`], the same for every sink: simulated, recorded, counted, native. A kernel of
//!   several threads shares its data in `&self`. What is measured begins with a mark of phase 1 or later.
//! - Its workloads are in the tables of `tests/suite/event_streams.rs` and `common/every_workload.rs`: both fail while one is missing.

use crate::family::{Family, Kernel, KernelInfo};
use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::register::register;
use crate::tracer::Trace;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use crate::{disk_index, index, join, parallel_join, pointers, probe, string_index, table, tpch};
use serde::{Deserialize, Serialize};
use traces::Layout;

register! {
    DiskIndex(disk_index::DiskIndexWorkload) = "disk-index",
    Index(index::IndexWorkload) = "index",
    Join(join::JoinWorkload) = "hash-join",
    ParallelJoin(parallel_join::ParallelJoinWorkload) = "parallel-join",
    Partition(join::PartitionWorkload) = "hash-partition",
    PointerArray(pointers::PointerArrayWorkload) = "pointer-array",
    PointerChase(pointers::PointerChaseWorkload) = "pointer-chase",
    Probe(probe::ProbeWorkload) = "hash-probe",
    StringIndex(string_index::StringIndexWorkload) = "string-index",
    Table(table::TableWorkload) = "table",
    Tpch(tpch::TpchWorkload) = "tpch",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_workloads() {
        for kernel in kernels() {
            let mut workload = kernel.defaults.clone();
            workload["kernel"] = kernel.name.into();
            serde_json::from_value::<Workload>(workload)
                .unwrap()
                .validate()
                .unwrap();
        }
    }
}
