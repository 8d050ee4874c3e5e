//! The list of formats: the one place that knows them all.

use crate::import::about::About;
use crate::import::{
    champsim, csv, din, dinero, dinero_binary, dramsim, drmemtrace, gem5_packet, lackey, npy,
    parquet, pinatrace, ramulator, ramulator_cpu, ramulator2, recording, regex,
};

/// Takes a line per format: its variant, and the module that reads it.
macro_rules! register {
    ($($(#[$doc:meta])+ $format:ident = $module:ident,)+) => {
        /// A trace format that can be imported.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])+ $format,)+
        }

        impl Format {
            /// Every format.
            pub const ALL: [Self; [$(stringify!($format)),+].len()] = [$(Self::$format),+];

            /// What there is to know about the format.
            #[must_use]
            pub fn about(self) -> &'static About {
                match self { $(Self::$format => &$module::ABOUT,)+ }
            }
        }
    };
}

register! {
    /// Valgrind's Lackey tool.
    Lackey = lackey,
    /// Dinero III.
    Din = din,
    /// Dinero IV, text.
    Dinero = dinero,
    /// Dinero IV, binary.
    DineroBinary = dinero_binary,
    /// ChampSim, 64-byte records.
    ChampSim = champsim,
    /// gem5's packet trace.
    Gem5Packet = gem5_packet,
    /// DRAMSim3 and DRAMSim2.
    Dramsim = dramsim,
    /// Ramulator 1, DRAM mode.
    Ramulator = ramulator,
    /// Ramulator 1, CPU modes; Ramulator 2, SimpleO3.
    RamulatorCpu = ramulator_cpu,
    /// Ramulator 2, LoadStoreTrace.
    Ramulator2 = ramulator2,
    /// DynamoRIO's drmemtrace.
    Drmemtrace = drmemtrace,
    /// Pin's pinatrace.
    Pinatrace = pinatrace,
    /// memwalk's own recorder.
    Recording = recording,
    /// A NumPy array of addresses.
    Npy = npy,
    /// A column of addresses in text.
    Csv = csv,
    /// A column of addresses in a Parquet file.
    Parquet = parquet,
    /// Any text, read by the user's regular expression.
    Regex = regex,
}

impl Format {
    /// The format of that name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.about().name == name)
    }
}
