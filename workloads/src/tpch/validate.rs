//! Which workloads on TPC-H's tables can run.

use super::Table;
use super::spec::{Query, TableLayout, TpchWorkload};
use crate::page::Type;
use crate::validate::{WorkloadError, power_of_two, within};

/// Largest database: 4 GB of text, which take 11 GB of memory when they are decomposed. Sums of charges, in millionths,
/// fit their 64 bits up to twenty times as much.
const MOST_SCALE: f64 = 4.0;
/// Smallest: every table has records.
const LEAST_SCALE: f64 = 0.001;
/// Largest buffer pool and heap.
const MOST_BYTES: u64 = 1 << 36;
/// Smallest page: every table's longest record fits it in every layout.
const LEAST_PAGE_BYTES: u32 = 512;
/// Fewest frames of the buffer pool: one for each attribute of a table, and more.
const LEAST_FRAMES: u64 = 64;
/// Smallest heap: two chunks.
const LEAST_HEAP_BYTES: u64 = 1 << 14;

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
        within("scale_factor", self.scale_factor, LEAST_SCALE, MOST_SCALE)?;
        power_of_two(
            "page_bytes",
            self.page_bytes,
            LEAST_PAGE_BYTES,
            crate::page::MOST_PAGE_BYTES,
        )?;
        let least = LEAST_FRAMES * u64::from(self.page_bytes);
        within("pool_bytes", self.pool_bytes, least, MOST_BYTES)?;
        within("heap_bytes", self.heap_bytes, LEAST_HEAP_BYTES, MOST_BYTES)?;
        within("threshold", self.threshold, 0.0, 1.0)?;
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
                attributes("project", &self.project, |_| true)?;
            }
            Query::Update => {
                self.selects()?;
                attributes("change", &self.change, is_number)?;
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
        within("selectivity", self.selectivity, 0.0, 1.0)?;
        attributes("predicates", &self.predicates, is_number)
    }
}

fn is_number(kind: Type) -> bool {
    matches!(kind, Type::Int32 | Type::Int64 | Type::Date)
}

/// Checks that there are names, and that they are of attributes of Lineitem that `fit`.
fn attributes(
    path: &str,
    names: &[String],
    fit: impl Fn(Type) -> bool,
) -> Result<(), WorkloadError> {
    let schema = Table::Lineitem.schema();
    let fitting: Vec<&str> = schema
        .attributes()
        .iter()
        .filter(|attribute| fit(attribute.kind))
        .map(|attribute| attribute.name.as_str())
        .collect();
    let choices = || fitting.join(", ");
    if names.is_empty() {
        let message = format!("none; there must be at least one of {}", choices());
        return Err(WorkloadError::new(path, message));
    }
    for (place, name) in names.iter().enumerate() {
        if !fitting.contains(&name.as_str()) {
            let message = format!("`{name}`; it must be one of {}", choices());
            return Err(WorkloadError::new(&format!("{path}.{place}"), message));
        }
    }
    Ok(())
}
