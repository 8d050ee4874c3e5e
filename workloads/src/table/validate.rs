//! Which workloads on a relation can run.

use super::build::check_pages;
use super::limits::{ATTRIBUTES, MOST_BYTES, PAGE_BYTES, RECORDS};
use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::bounds::{OPERATIONS, SHARE, WORD_BYTES};
use crate::query::Reconstruction;
use crate::validate::{WorkloadError, within};
use crate::warm_up::{CacheState, WarmUp};

impl TableWorkload {
    /// Checks every parameter, last whether a record fits its page.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        ATTRIBUTES.check("attributes", self.attributes)?;
        WORD_BYTES.check("attribute_bytes", self.attribute_bytes)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        let record = u64::from(self.attributes) * u64::from(self.attribute_bytes);
        within("records", self.records, RECORDS.least, MOST_BYTES / record)?;
        if self.layout.is_store() && self.operation != TableOperation::Scan {
            let message = "stores for reading are for `scan` only";
            return Err(WorkloadError::new("operation", message));
        }
        self.reconstruction
            .validate(self.layout == PageLayout::Dsm)?;
        if self.layout == PageLayout::Dsm
            && self.operation == TableOperation::Delete
            && self.reconstruction != Reconstruction::Index
        {
            let message = "places of records follow from their numbers, and a deletion would move all behind it; it must be `index`";
            return Err(WorkloadError::new("reconstruction", message));
        }
        self.nulls_have_a_place()?;
        SHARE.check("selectivity", self.selectivity)?;
        OPERATIONS.check("point_queries", self.point_queries)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        if self.caches == CacheState::Cold && self.operation != TableOperation::Point {
            let message = "`cold` empties caches before every operation, and a scan, an update or a deletion is one; it must be `empty`";
            return Err(WorkloadError::new("caches", message));
        }
        self.attributes_exist(
            "predicates",
            self.predicates,
            "first_predicate",
            self.first_predicate,
        )?;
        self.attributes_exist(
            "projected",
            self.projected,
            "first_projected",
            self.first_projected,
        )?;
        self.levels_exist()?;
        check_pages(self)
    }

    fn attributes_exist(
        &self,
        count_name: &str,
        count: u32,
        first_name: &str,
        first: u32,
    ) -> Result<(), WorkloadError> {
        within(first_name, first, ATTRIBUTES.least, self.attributes)?;
        within(
            count_name,
            count,
            ATTRIBUTES.least,
            self.attributes - first + 1,
        )
    }

    fn nulls_have_a_place(&self) -> Result<(), WorkloadError> {
        let numbers = &self.nullable;
        SHARE.check("nulls", self.nulls)?;
        if numbers.is_empty() {
            if self.nulls > 0.0 {
                let message = format!(
                    "{}; every record has all values unless `nullable` names attributes; it must be 0",
                    self.nulls
                );
                return Err(WorkloadError::new("nulls", message));
            }
            return Ok(());
        }
        if self.layout.is_store() {
            let message = "stores for reading index their values; it must be empty";
            return Err(WorkloadError::new("nullable", message));
        }
        numbers_of_attributes("nullable", numbers, self.attributes)
    }

    fn levels_exist(&self) -> Result<(), WorkloadError> {
        let (tuples, attributes) = (&self.abstraction, &self.level_attributes);
        if tuples.is_empty() && attributes.is_empty() {
            return Ok(());
        }
        if !self.layout.is_store() {
            let message = "only `standard-row`, `super-row` and `super-column` abstract columns; it must be empty";
            return Err(WorkloadError::new("abstraction", message));
        }
        if tuples.len() != attributes.len() {
            let message = format!(
                "{} levels, but abstraction has {}; there must be as many",
                attributes.len(),
                tuples.len()
            );
            return Err(WorkloadError::new("level_attributes", message));
        }
        if tuples.contains(&0)
            || tuples
                .iter()
                .try_fold(1_u64, |rows, &level| rows.checked_mul(level))
                != Some(self.records)
        {
            let message = format!(
                "{tuples:?}; its product must be the {} records",
                self.records
            );
            return Err(WorkloadError::new("abstraction", message));
        }
        if attributes.contains(&0)
            || attributes
                .iter()
                .map(|&count| u64::from(count))
                .sum::<u64>()
                != u64::from(self.attributes)
        {
            let message = format!(
                "{attributes:?}; its sum must be the {} attributes, none of them 0",
                self.attributes
            );
            return Err(WorkloadError::new("level_attributes", message));
        }
        Ok(())
    }
}

/// Checks a list of attributes.
fn numbers_of_attributes(
    path: &str,
    numbers: &[u32],
    attributes: u32,
) -> Result<(), WorkloadError> {
    let exist = numbers
        .iter()
        .all(|number| (1..=attributes).contains(number));
    if exist && numbers.is_sorted_by(|before, number| before < number) {
        return Ok(());
    }
    let message =
        format!("{numbers:?}; it must be ascending numbers of attributes, from 1 to {attributes}");
    Err(WorkloadError::new(path, message))
}
