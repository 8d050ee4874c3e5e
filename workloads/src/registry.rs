//! The kernels there are, with their parameters and defaults.

use crate::spec::{IndexWorkload, PointerArrayWorkload, PointerChaseWorkload};
use crate::table::TableWorkload;
use crate::tpch::TpchWorkload;
use serde::Serialize;
use serde_json::Value;

/// A kernel that a workload can name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelInfo {
    /// Value of the workload's `kernel`.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Parameters with their defaults, as a JSON object.
    pub defaults: Value,
}

/// Every kernel.
///
/// # Panics
/// Never: the defaults are plain data.
#[must_use]
pub fn kernels() -> Vec<KernelInfo> {
    vec![
        KernelInfo {
            name: "index",
            description: "searches, insertions, deletions or scans on a B+-tree or CSB+-tree, with and without prefetching",
            defaults: defaults::<IndexWorkload>(),
        },
        KernelInfo {
            name: "pointer-array",
            description: "visits lines through an array of pointers, prefetching ahead: measures the time of the next line",
            defaults: defaults::<PointerArrayWorkload>(),
        },
        KernelInfo {
            name: "pointer-chase",
            description: "follows a chain of pointers from line to line: measures the time of a miss, and of a TLB miss",
            defaults: defaults::<PointerChaseWorkload>(),
        },
        KernelInfo {
            name: "table",
            description: "scans, point queries or updates of one relation, in pages of any layout or in a row or column store",
            defaults: defaults::<TableWorkload>(),
        },
        KernelInfo {
            name: "tpch",
            description: "queries of TPC-H, range selections, loads and updates on its generated tables in NSM, PAX or DSM pages",
            defaults: defaults::<TpchWorkload>(),
        },
    ]
}

fn defaults<P: Default + Serialize>() -> Value {
    serde_json::to_value(P::default()).expect("defaults are plain data")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Workload;

    /// The registry names what a workload can name, and its defaults can run.
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
