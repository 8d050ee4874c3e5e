//! The list of formats: the one place that knows them all.

use crate::import::about::About;
use crate::import::{
    champsim, csv, din, dinero, dinero_binary, dramsim, drmemtrace, gem5_packet, lackey, npy,
    parquet, pinatrace, ramulator, ramulator_cpu, ramulator2, regex,
};

/// A trace format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Valgrind's Lackey tool.
    Lackey,
    /// Dinero III.
    Din,
    /// Dinero IV, text.
    Dinero,
    /// Dinero IV, binary.
    DineroBinary,
    /// ChampSim, 64-byte records.
    ChampSim,
    /// gem5's packet trace.
    Gem5Packet,
    /// DRAMSim3 and DRAMSim2.
    Dramsim,
    /// Ramulator 1, DRAM mode.
    Ramulator,
    /// Ramulator 1, CPU modes; Ramulator 2, SimpleO3.
    RamulatorCpu,
    /// Ramulator 2, LoadStoreTrace.
    Ramulator2,
    /// DynamoRIO's drmemtrace.
    Drmemtrace,
    /// Pin's pinatrace.
    Pinatrace,
    /// A NumPy array of addresses.
    Npy,
    /// A column of addresses in text.
    Csv,
    /// A column of addresses in a Parquet file.
    Parquet,
    /// Any text, read by the user's regular expression.
    Regex,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 16] = [
        Self::Lackey,
        Self::Din,
        Self::Dinero,
        Self::DineroBinary,
        Self::ChampSim,
        Self::Gem5Packet,
        Self::Dramsim,
        Self::Ramulator,
        Self::RamulatorCpu,
        Self::Ramulator2,
        Self::Drmemtrace,
        Self::Pinatrace,
        Self::Npy,
        Self::Csv,
        Self::Parquet,
        Self::Regex,
    ];

    /// What there is to know about the format.
    #[must_use]
    pub fn about(self) -> &'static About {
        match self {
            Self::Lackey => &lackey::ABOUT,
            Self::Din => &din::ABOUT,
            Self::Dinero => &dinero::ABOUT,
            Self::DineroBinary => &dinero_binary::ABOUT,
            Self::ChampSim => &champsim::ABOUT,
            Self::Gem5Packet => &gem5_packet::ABOUT,
            Self::Dramsim => &dramsim::ABOUT,
            Self::Ramulator => &ramulator::ABOUT,
            Self::RamulatorCpu => &ramulator_cpu::ABOUT,
            Self::Ramulator2 => &ramulator2::ABOUT,
            Self::Drmemtrace => &drmemtrace::ABOUT,
            Self::Pinatrace => &pinatrace::ABOUT,
            Self::Npy => &npy::ABOUT,
            Self::Csv => &csv::ABOUT,
            Self::Parquet => &parquet::ABOUT,
            Self::Regex => &regex::ABOUT,
        }
    }

    /// The format of that name, if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.about().name == name)
    }
}
