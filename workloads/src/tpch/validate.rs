//! Which workloads on TPC-H's tables can run.

use super::Table;
use super::spec::{Query, TableLayout, TpchWorkload};
use crate::bounds::{Between, PowersOfTwo, SHARE};
use crate::page::{MOST_PAGE_BYTES, Type};
use crate::validate::{WorkloadError, within};

/// Databases. In the smallest every table has records. The largest is 4 GB of text, which take 11 GB of memory when they are
/// decomposed. Sums of charges, in millionths, fit their 64 bits up to twenty times as much.
pub(super) const SCALE: Between<f64> = Between {
    least: 0.001,
    most: 4.0,
};
/// Largest buffer pool and heap.
const MOST_BYTES: u64 = 1 << 36;
/// Pages: every table's longest record fits the smallest in every layout.
pub(super) const PAGE_BYTES: PowersOfTwo = PowersOfTwo {
    least: 512,
    most: MOST_PAGE_BYTES,
};
/// Fewest frames of the buffer pool: one for each attribute of a table, and more.
const LEAST_FRAMES: u64 = 64;
/// Buffer pools.
pub(super) const POOL_BYTES: Between<u64> = Between {
    least: LEAST_FRAMES * PAGE_BYTES.least as u64,
    most: MOST_BYTES,
};
/// Heaps: the smallest has two chunks.
pub(super) const HEAP_BYTES: Between<u64> = Between {
    least: 1 << 14,
    most: MOST_BYTES,
};

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
        match self.query {
            Query::Q1 | Query::Q6 | Query::Q12 | Query::Q14 => {}
            Query::Load if self.tables.is_empty() => {
                return Err(WorkloadError::new(
                    "tables",
                    "none; there must be at least one to load",
                ));
            }
            Query::Load => {}
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

/// Names of the attributes of Lineitem.
pub(super) fn of_lineitem() -> Vec<String> {
    fitting(|_| true)
}

/// Names of the attributes of Lineitem that are numbers.
pub(super) fn numbers_of_lineitem() -> Vec<String> {
    fitting(|kind| matches!(kind, Type::Int32 | Type::Int64 | Type::Date))
}

fn fitting(fit: impl Fn(Type) -> bool) -> Vec<String> {
    let schema = Table::Lineitem.schema();
    let attributes = schema.attributes().iter();
    attributes
        .filter(|attribute| fit(attribute.kind))
        .map(|attribute| attribute.name.to_string())
        .collect()
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
    Ok(())
}
