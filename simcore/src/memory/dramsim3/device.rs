//! DRAMSim3 itself: its clock, its callbacks, its reports.

use serde::Deserialize;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::{fs, io};
use tempfile::TempDir;
use traces::SinkError;

/// DRAM cycles between two reports. Long enough to cost nothing, short enough to wait for at the end of a run.
pub(super) const EPOCH_CYCLES: u64 = 10_000;

/// Held while an instance is made: DRAMSim3 counts its channels in a variable that all its instances share.
pub static CREATION: Mutex<()> = Mutex::new(());

/// Commands that DRAMSim3 reports, of one channel in one epoch.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Commands {
    #[serde(rename = "num_read_cmds")]
    pub(super) reads: u64,
    #[serde(rename = "num_write_cmds")]
    pub(super) writes: u64,
    #[serde(rename = "num_read_row_hits")]
    pub(super) read_row_hits: u64,
    #[serde(rename = "num_write_row_hits")]
    pub(super) write_row_hits: u64,
    #[serde(rename = "num_act_cmds")]
    pub(super) activates: u64,
    #[serde(rename = "num_ref_cmds")]
    pub(super) refreshes: u64,
    #[serde(rename = "num_refb_cmds")]
    pub(super) bank_refreshes: u64,
}

/// One instance of DRAMSim3, in a folder of its own for the file that it reads and those that it writes.
pub(super) struct Device {
    system: ::dramsim3::MemorySystem,
    /// The DRAM cycle that comes next.
    clock: u64,
    commands: Commands,
    report: PathBuf,
    /// Why a report is missing, if one is.
    lost: Option<io::Error>,
    /// Removed with the device.
    _folder: TempDir,
}

impl Device {
    /// A device in its first cycle, described by a checked ini file.
    pub(super) fn new(ini: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("memwalk-dram-").tempdir()?;
        let file = folder.path().join("dram.ini");
        fs::write(&file, ini)?;
        let one_at_a_time = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
        let system = ::dramsim3::MemorySystem::new(&file, folder.path())
            .map_err(|error| io::Error::other(format!("{error:?}")))?;
        drop(one_at_a_time);
        Ok(Self {
            system,
            clock: 0,
            commands: Commands::default(),
            report: folder.path().join("dramsim3epoch.json"),
            lost: None,
            _folder: folder,
        })
    }

    pub(super) fn clock(&self) -> u64 {
        self.clock
    }

    /// Hands over a request unless the controller's queue is full.
    pub(super) fn submit(&mut self, address: u64, is_write: bool) -> bool {
        self.system.can_add(address, is_write) && self.system.add(address, is_write)
    }

    /// Simulates a cycle and adds the addresses of the reads that end at its beginning to `ended`.
    pub(super) fn tick(&mut self, ended: &mut Vec<u64>) {
        self.system.tick(|address, is_write| {
            if !is_write {
                ended.push(address);
            }
        });
        self.clock += 1;
        if self.clock.is_multiple_of(EPOCH_CYCLES) {
            self.collect();
        }
    }

    /// Simulates on to the next report.
    pub(super) fn run_to_report(&mut self) {
        let mut ended = Vec::new();
        while !self.clock.is_multiple_of(EPOCH_CYCLES) {
            self.tick(&mut ended);
        }
    }

    /// The commands up to the latest report.
    pub(super) fn commands(&self) -> Commands {
        self.commands
    }

    /// Whether all reports were read.
    ///
    /// # Errors
    /// One could not be written or read.
    pub(super) fn check(&self) -> Result<(), SinkError> {
        match &self.lost {
            None => Ok(()),
            Some(error) => Err(SinkError::Unsupported(format!(
                "{}: DRAMSim3's report is lost ({error}); give it room for temporary files",
                self.report.display()
            ))),
        }
    }

    /// Takes the report that DRAMSim3 has just written, unless one is lost already.
    fn collect(&mut self) {
        if self.lost.is_none() {
            self.lost = self.add_report().err();
        }
    }

    /// Adds up the report that DRAMSim3 has just written, and removes it before it grows: a list with one line per
    /// channel, without its end.
    fn add_report(&mut self) -> io::Result<()> {
        let report = fs::read_to_string(&self.report)?;
        for line in report.lines() {
            let channel = line.trim_start_matches('[').trim_end_matches(',');
            let epoch: Commands = serde_json::from_str(channel)?;
            let sum = &mut self.commands;
            sum.reads += epoch.reads;
            sum.writes += epoch.writes;
            sum.read_row_hits += epoch.read_row_hits;
            sum.write_row_hits += epoch.write_row_hits;
            sum.activates += epoch.activates;
            sum.refreshes += epoch.refreshes;
            sum.bank_refreshes += epoch.bank_refreshes;
        }
        fs::remove_file(&self.report)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Device in cycle {}", self.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::DramConfig;

    #[test]
    fn a_report_that_is_lost_is_told_of() {
        let text = include_str!("../../../../configs/dram/ddr4-3200.ini");
        let (config, _) = DramConfig::parse("dram.ini", text).expect("a preset");
        let mut device = Device::new(&config.rendered(EPOCH_CYCLES)).expect("room");
        device.tick(&mut Vec::new());
        device.run_to_report();
        device.check().expect("the folder is there");
        fs::remove_dir_all(device.report.parent().expect("a folder")).expect("ours");
        device.tick(&mut Vec::new());
        device.run_to_report();
        let error = device.check().unwrap_err().to_string();
        assert!(
            error.contains("dramsim3epoch.json: DRAMSim3's report is lost (No such file"),
            "{error}"
        );
    }
}
