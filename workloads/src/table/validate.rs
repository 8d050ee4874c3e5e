//! Which workloads on a relation can run.

use super::build::check_pages;
use super::limits::{ATTRIBUTES, BLOCK_BYTES, MOST_BYTES, PAGE_BYTES, RECORDS, STRING_BYTES};
use super::spec::{PageLayout, TableOperation, TableWorkload};
use crate::bounds::{OPERATIONS, SHARE, WORD_BYTES};
use crate::query::{IndexPages, Reconstruction};
use crate::validate::{WorkloadError, within};
use crate::warm_up::{CacheState, WarmUp};

impl TableWorkload {
    /// Checks every parameter, last whether a record fits its page.
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        ATTRIBUTES.check("attributes", self.attributes)?;
        WORD_BYTES.check("attribute_bytes", self.attribute_bytes)?;
        PAGE_BYTES.check("page_bytes", self.page_bytes)?;
        STRING_BYTES.check("string_bytes", self.string_bytes)?;
        STRING_BYTES.check("updated_string_bytes", self.updated_string_bytes)?;
        let record = self.value_bytes();
        within("records", self.records, RECORDS.least, MOST_BYTES / record)?;
        if self.layout.is_store() && self.operation != TableOperation::Scan {
            let message = "stores for reading are for `scan` only";
            return Err(WorkloadError::new("operation", message));
        }
        self.reconstruction
            .validate(self.layout == PageLayout::Dsm)?;
        let scans_minipages =
            self.layout == PageLayout::Pax && self.operation == TableOperation::Scan;
        self.scan_order.validate(scans_minipages)?;
        if self.layout == PageLayout::Dsm
            && self.operation == TableOperation::Delete
            && self.reconstruction != Reconstruction::Index
        {
            let message = "places of records follow from their numbers, and a deletion would move all behind it; it must be `index`";
            return Err(WorkloadError::new("reconstruction", message));
        }
        if self.index_pages != IndexPages::default() && !self.has_index() {
            let message = "there is an index for point queries of `nsm` and `pax`, and where `dsm` puts records together through it; it must be `in-memory`";
            return Err(WorkloadError::new("index_pages", message));
        }
        self.index_nodes().check_frames()?;
        self.nulls_have_a_place()?;
        SHARE.check("selectivity", self.selectivity)?;
        OPERATIONS.check("point_queries", self.point_queries)?;
        WarmUp::validate(self.caches, self.warm_up)?;
        if self.caches == CacheState::Cold && self.operation != TableOperation::Point {
            let message = "`cold` empties caches before every operation, and a scan, an update or a deletion is one; it must be `empty`";
            return Err(WorkloadError::new("caches", message));
        }
        self.blocks_have_a_place()?;
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
        self.strings_have_a_place()?;
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

    fn blocks_have_a_place(&self) -> Result<(), WorkloadError> {
        BLOCK_BYTES.check("block_bytes", self.block_bytes)?;
        if self.operation != TableOperation::Scatter {
            return Ok(());
        }
        if self.layout != PageLayout::Pax {
            let message = "the blocks of minipages are scattered; it must be `pax`";
            return Err(WorkloadError::new("layout", message));
        }
        if self.attributes.saturating_mul(self.block_bytes) > self.page_bytes {
            let message = format!(
                "{} bytes; a page of {} has no room for a block of each of {} attributes",
                self.block_bytes, self.page_bytes, self.attributes
            );
            return Err(WorkloadError::new("block_bytes", message));
        }
        Ok(())
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

    fn strings_have_a_place(&self) -> Result<(), WorkloadError> {
        let default = Self::default();
        let without_effect = |path: &str, bytes: u32, default: u32, why: &str| {
            if bytes == default {
                return Ok(());
            }
            let message = format!("{bytes} bytes; {why}; it must be {default}");
            Err(WorkloadError::new(path, message))
        };
        if !self.changes_strings() {
            let (given, default) = (self.updated_string_bytes, default.updated_string_bytes);
            without_effect(
                "updated_string_bytes",
                given,
                default,
                "no string is updated",
            )?;
        }
        let has_minipages = self.changes_strings() && self.layout == PageLayout::Pax;
        if self.full_minipage != default.full_minipage && !has_minipages {
            let message = "no string of `pax` is updated; it must be `reorganize`";
            return Err(WorkloadError::new("full_minipage", message));
        }
        if self.strings.is_empty() {
            let why = "there is no string unless `strings` names attributes";
            return without_effect("string_bytes", self.string_bytes, default.string_bytes, why);
        }
        if self.layout.is_store() {
            let message = "stores for reading index their values; it must be empty";
            return Err(WorkloadError::new("strings", message));
        }
        numbers_of_attributes("strings", &self.strings, self.attributes)?;
        let find = |attributes: Vec<usize>, string: bool| {
            let mut attributes = attributes.into_iter();
            let found = attributes.find(|&each| self.is_string(each) == string);
            found.map(|attribute| attribute + 1)
        };
        if self.operation != TableOperation::Point
            && let Some(number) = find(self.tested(), true)
        {
            let message = format!(
                "attribute {number} has a predicate, which is a range of numbers; it must not be among them"
            );
            return Err(WorkloadError::new("strings", message));
        }
        if self.operation == TableOperation::Scan
            && self.aggregate
            && let Some(number) = find(self.wanted(), true)
        {
            let message =
                format!("attribute {number} is a string and has no sum; it must be false");
            return Err(WorkloadError::new("aggregate", message));
        }
        if !self.changes_strings() {
            return Ok(());
        }
        if let Some(number) = find(self.wanted(), false) {
            let message = format!(
                "attribute {number} is a number, others are strings; an update must be of one kind"
            );
            return Err(WorkloadError::new("projected", message));
        }
        if self.layout == PageLayout::Dsm && self.reconstruction != Reconstruction::Index {
            let message = "places of values follow from the numbers of their records, and a string that its page has no room for would move all behind it; it must be `index`";
            return Err(WorkloadError::new("reconstruction", message));
        }
        Ok(())
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
