//! Which workloads on TPC-H's tables can run.

use super::limits::{
    HEAP_BYTES, LEAST_FRAMES, PAGE_BYTES, POOL_BYTES, SCALE, numbers_of_lineitem, of_lineitem,
};
use super::spec::{Query, TableLayout, TpchWorkload};
use crate::bounds::SHARE;
use crate::query::{IndexPages, Reconstruction};
use crate::validate::{WorkloadError, within};

impl TpchWorkload {
    /// Frames of the buffer pool for each table.
    pub(super) fn pool_frames(&self) -> u32 {
        (self.pool_bytes / u64::from(self.page_bytes)) as u32
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot be, with the values that can.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        SCALE.check("scale_factor", self.scale_factor)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        let least = LEAST_FRAMES * u64::from(self.page_bytes);
        within("pool_bytes", self.pool_bytes, least, POOL_BYTES.most)?;
        HEAP_BYTES.check("heap_bytes", self.heap_bytes)?;
        SHARE.check("threshold", self.threshold)?;
        self.reconstruction
            .validate(self.layout == TableLayout::Dsm)?;
        let scans_minipages = self.layout == TableLayout::Pax && Query::SCANS.contains(&self.query);
        self.scan_order.validate(scans_minipages)?;
        let has_index =
            self.layout == TableLayout::Dsm && self.reconstruction == Reconstruction::Index;
        if self.index_pages != IndexPages::default() && !has_index {
            let message = "there are indexes where `dsm` puts records together through them; it must be `in-memory`";
            return Err(WorkloadError::new("index_pages", message));
        }
        self.index_nodes().check_frames()?;
        match self.query {
            Query::Q1 | Query::Q6 | Query::Q12 | Query::Q14 => {}
            Query::Load if self.tables.is_empty() => {
                return Err(WorkloadError::new(
                    "tables",
                    "none; there must be at least one to load",
                ));
            }
            Query::Load => {
                let names: Vec<&str> = self.tables.iter().map(|table| table.name()).collect();
                once("tables", &names)?;
            }
            Query::Rs => {
                self.selects()?;
                attributes("project", &self.project, &of_lineitem())?;
            }
            Query::Update => {
                self.selects()?;
                attributes("change", &self.change, &numbers_of_lineitem())?;
                if self.layout == TableLayout::Dsm {
                    let message = "`dsm` has no updates here; it must be `nsm` or `pax`";
                    return Err(WorkloadError::new("layout", message));
                }
            }
        }
        Ok(())
    }

    /// Checks the range of a selection or an update.
    fn selects(&self) -> Result<(), WorkloadError> {
        SHARE.check("selectivity", self.selectivity)?;
        attributes("predicates", &self.predicates, &numbers_of_lineitem())
    }
}

/// Checks that there are names, and that they are among those that are `fitting`.
fn attributes(path: &str, names: &[String], fitting: &[String]) -> Result<(), WorkloadError> {
    let choices = || fitting.join(", ");
    if names.is_empty() {
        let message = format!("none; there must be at least one of {}", choices());
        return Err(WorkloadError::new(path, message));
    }
    for (place, name) in names.iter().enumerate() {
        if !fitting.contains(name) {
            let message = format!("`{name}`; it must be one of {}", choices());
            return Err(WorkloadError::new(&format!("{path}.{place}"), message));
        }
    }
    once(path, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Checks that no name stands twice.
fn once(path: &str, names: &[&str]) -> Result<(), WorkloadError> {
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            let message = format!("`{name}` is there already; each must be there once");
            return Err(WorkloadError::new(&format!("{path}.{place}"), message));
        }
    }
    Ok(())
}
