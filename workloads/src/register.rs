//! What is made of the list of families: one type of workloads, one of kernels, one of what is kept. Each dispatches once per call,
//! to code that is compiled for the family.

/// Takes a line per family: the variant's name, the type of the parameters, and the value of `kernel` in workloads.
macro_rules! register {
    ($($variant:ident($family:ty) = $name:literal,)+) => {
        /// What to run. The YAML experiments use the same names.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kernel", deny_unknown_fields)]
        pub enum Workload {
            $(
                #[doc = concat!("Of the kernel `", $name, "`.")]
                #[serde(rename = $name)]
                $variant($family),
            )+
        }

        impl Workload {
            /// Checks every parameter.
            ///
            /// # Errors
            /// The first parameter that cannot be, with the values that can.
            pub fn validate(&self) -> Result<(), WorkloadError> {
                match self { $(Self::$variant(family) => family.validate(),)+ }
            }

            /// Threads of a run.
            #[must_use]
            pub fn threads(&self) -> u32 {
                match self { $(Self::$variant(family) => family.threads(),)+ }
            }

            /// What a run has beside plain instructions, loads and branches.
            #[must_use]
            pub fn instructions(&self) -> Instructions {
                match self { $(Self::$variant(family) => family.instructions(),)+ }
            }

            /// What a run asks storage for.
            #[must_use]
            pub fn traffic(&self) -> Traffic {
                match self { $(Self::$variant(family) => family.traffic(),)+ }
            }

            /// The warm-up before the measurement, if there is one.
            #[must_use]
            pub fn warm_up(&self) -> Option<WarmUp> {
                match self { $(Self::$variant(family) => family.warm_up(),)+ }
            }

            /// The workload with a warm-up of so many operations; itself if it has none.
            #[must_use]
            pub fn warmed_up(mut self, operations: u64) -> Self {
                if self.warm_up().is_some() {
                    match &mut self { $(Self::$variant(family) => family.set_warm_up(operations),)+ }
                }
                self
            }

            /// Estimates the work of running this on a machine.
            #[must_use]
            pub fn work(&self) -> Work {
                match self { $(Self::$variant(family) => family.work(),)+ }
            }

            /// Estimates the memory of a run in simulated memory.
            #[must_use]
            pub fn memory(&self) -> Memory {
                match self { $(Self::$variant(family) => family.memory(),)+ }
            }
        }

        /// What each family keeps.
        #[derive(Clone, Debug, Default)]
        #[allow(non_snake_case, reason = "fields are named as the variants")]
        pub(crate) struct Kept {
            $($variant: <$family as Family>::Kept,)+
        }

        impl Kept {
            /// Whether what a workload runs on is kept.
            pub(crate) fn holds(&self, workload: &Workload) -> bool {
                match workload { $(Workload::$variant(family) => family.is_kept(&self.$variant),)+ }
            }

            /// The kernel of a valid workload.
            ///
            /// # Errors
            /// As [`Family::prepare`].
            pub(crate) fn prepare(&mut self, workload: &Workload) -> Result<AnyKernel, WorkloadError> {
                match workload {
                    $(Workload::$variant(family) => family.prepare(&mut self.$variant).map(AnyKernel::$variant),)+
                }
            }
        }

        /// A kernel of any family.
        #[derive(Clone, Debug)]
        pub(crate) enum AnyKernel {
            $($variant(<$family as Family>::Kernel),)+
        }

        impl Kernel for AnyKernel {
            fn layout(&self) -> Layout {
                match self { $(Self::$variant(kernel) => kernel.layout(),)+ }
            }

            fn renewed(&self) -> Option<Self> {
                match self { $(Self::$variant(kernel) => kernel.renewed().map(Self::$variant),)+ }
            }

            fn slice(&self) -> Option<u32> {
                match self { $(Self::$variant(kernel) => kernel.slice(),)+ }
            }

            fn check_native(&self) -> Result<(), WorkloadError> {
                match self { $(Self::$variant(kernel) => kernel.check_native(),)+ }
            }

            fn run<T: Trace>(&self, thread: u32, trace: &mut T) -> Outcome {
                match self { $(Self::$variant(kernel) => kernel.run(thread, trace),)+ }
            }
        }

        /// Every kernel.
        #[must_use]
        pub fn kernels() -> Vec<KernelInfo> {
            vec![$(KernelInfo::of::<$family>($name),)+]
        }
    };
}
pub(crate) use register;
