//! Tables built for one workload and kept for the next.

use super::Table;
use super::relation::Relation;
use super::spec::{TableLayout, TpchWorkload};
use crate::query::Reconstruction;
use crate::tracer::Untraced;
use crate::validate::WorkloadError;
use std::sync::Arc;

/// Tables kept: those of a query in two layouts.
const RELATIONS_KEPT: usize = 4;

/// What determines a table's pages, and where they are.
#[derive(Clone, Debug, PartialEq)]
struct RelationKey {
    table: Table,
    layout: TableLayout,
    reconstruction: Reconstruction,
    scale_factor: f64,
    page_bytes: u32,
    pool_bytes: u64,
    threshold: f64,
    seed: u64,
}

impl RelationKey {
    fn new(workload: &TpchWorkload, table: Table) -> Self {
        let pax = workload.layout == TableLayout::Pax;
        Self {
            table,
            layout: workload.layout,
            reconstruction: workload.reconstruction,
            scale_factor: workload.scale_factor,
            page_bytes: workload.page_bytes,
            pool_bytes: workload.pool_bytes,
            threshold: if pax { workload.threshold } else { 0.0 },
            seed: workload.seed,
        }
    }
}

/// The most recently used tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relations {
    /// Least recently used first.
    kept: Vec<(RelationKey, Arc<Relation>)>,
}

impl Relations {
    /// Whether all tables of a workload are kept.
    pub(super) fn holds(&self, workload: &TpchWorkload) -> bool {
        workload.needs().into_iter().all(|table| {
            let key = RelationKey::new(workload, table);
            self.kept.iter().any(|(kept, _)| *kept == key)
        })
    }

    /// The tables of a workload, kept or built.
    ///
    /// # Errors
    /// If a page has no room for the longest record of a table.
    pub(super) fn get(
        &mut self,
        workload: &TpchWorkload,
        tables: &[Table],
    ) -> Result<Vec<Arc<Relation>>, WorkloadError> {
        tables
            .iter()
            .map(|&table| self.one(workload, table))
            .collect()
    }

    fn one(
        &mut self,
        workload: &TpchWorkload,
        table: Table,
    ) -> Result<Arc<Relation>, WorkloadError> {
        let key = RelationKey::new(workload, table);
        let entry = match self.kept.iter().position(|(kept, _)| *kept == key) {
            Some(place) => self.kept.remove(place),
            None => {
                // Make room first: a table may take a large part of the host's memory.
                if self.kept.len() == RELATIONS_KEPT {
                    self.kept.remove(0);
                }
                let relation = Relation::load(workload, table, 0, &mut Untraced)?;
                (key, Arc::new(relation))
            }
        };
        let relation = Arc::clone(&entry.1);
        self.kept.push(entry);
        Ok(relation)
    }
}
