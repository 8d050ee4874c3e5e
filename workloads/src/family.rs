//! What a family of kernels is: parameters from which a kernel is prepared, and the kernel's run. `families.rs` lists those there are.

use crate::instructions::Instructions;
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::schema;
use crate::tracer::Trace;
use crate::traffic::Traffic;
use crate::validate::WorkloadError;
use crate::warm_up::WarmUp;
use crate::work::Work;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use traces::Layout;

/// The parameters of a family: a value is one workload of it. Their defaults can run.
pub(crate) trait Family: Default + Serialize + JsonSchema {
    /// What kernels of the family do, in one line.
    const DESCRIPTION: &'static str;
    /// Whether its kernels call a host DBMS.
    const CALLS_DBMS: bool = false;
    /// Whether they ask storage for pages.
    const ASKS_FOR_PAGES: bool = Self::CALLS_DBMS;
    /// What workloads leave for later ones: trees, tables; `()` if nothing.
    type Kept: Default;
    /// What runs.
    type Kernel: Kernel;

    /// Checks every parameter, before anything is built.
    ///
    /// # Errors
    /// The first parameter that cannot be, with the values that can.
    fn validate(&self) -> Result<(), WorkloadError>;

    /// Threads of a run.
    fn threads(&self) -> u32 {
        1
    }

    /// What a run has beside plain instructions, loads and branches.
    fn instructions(&self) -> Instructions;

    /// What a run asks storage for: nothing, as a rule.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// The warm-up before the measurement, if there is one.
    fn warm_up(&self) -> Option<WarmUp> {
        None
    }

    /// Gives the warm-up so many operations; for workloads that have one.
    fn set_warm_up(&mut self, _operations: u64) {}

    /// Estimates the work of a run.
    fn work(&self) -> Work;

    /// Estimates the memory of a run in simulated memory.
    fn memory(&self) -> Memory;

    /// Whether what the workload runs on is kept from an earlier one.
    fn is_kept(&self, kept: &Self::Kept) -> bool;

    /// The kernel of a valid workload, on what is kept or built, and then kept.
    ///
    /// # Errors
    /// What cannot be, if only building shows it.
    fn prepare(&self, kept: &mut Self::Kept) -> Result<Self::Kernel, WorkloadError>;
}

/// A workload ready to run, as often as wanted: every run gives the same events, whoever takes them. Threads of a run share the
/// kernel, and with it the data that they work on.
pub(crate) trait Kernel: Send + Sync {
    /// The names that the events will refer to.
    fn layout(&self) -> Layout;

    /// The same kernel with new data for what the threads of a run share and change; none if they change nothing of the kernel's, or begin by
    /// making it as it was.
    fn renewed(&self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Events after which another thread goes on where one core has them all; none if each goes on up to its next barrier. Threads that take
    /// turns ([`Trace::wait_for_turn`]) need a bound: what others say in their turns is kept meanwhile.
    fn slice(&self) -> Option<u32> {
        None
    }

    /// Checks that its threads can run on this processor side by side.
    ///
    /// # Errors
    /// What they do to each other is done in turns, which only the simulated program takes.
    fn check_native(&self) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Runs thread number `thread`, counted from 0; stops early if the trace failed. The same code runs on the host's processor,
    /// where [`Trace::NATIVE`] says so.
    fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome;
}

/// A kernel that a workload can name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelInfo {
    /// Value of the workload's `kernel`.
    pub name: &'static str,
    /// What it does, in one line.
    pub description: &'static str,
    /// Whether it calls a host DBMS.
    pub calls_dbms: bool,
    /// Whether it asks storage for pages.
    pub asks_for_pages: bool,
    /// Parameters of a workload that can run, as a JSON object.
    pub defaults: Value,
    /// What there is to say of each parameter, as JSON Schema; `schema.rs` says what else is in it.
    pub schema: Value,
}

impl KernelInfo {
    /// What there is to say about a family.
    pub(crate) fn of<F: Family>(name: &'static str) -> Self {
        Self {
            name,
            description: F::DESCRIPTION,
            calls_dbms: F::CALLS_DBMS,
            asks_for_pages: F::ASKS_FOR_PAGES,
            defaults: serde_json::to_value(F::default()).expect("defaults are plain data"),
            schema: schema::of::<F>(),
        }
    }
}
