//! Tables built for one workload and kept for the next.

use super::Table;
use super::intake::Intake;
use super::relation::Relation;
use super::spec::{TableLayout, TpchWorkload};
use crate::kept::Kept;
use crate::query::Reconstruction;
use crate::tracer::Untraced;
use crate::validate::WorkloadError;
use std::sync::Arc;

/// What determines a table's pages, and where they are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RelationKey {
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

/// The tables of the latest workloads: those of a query in two layouts.
pub(crate) type Relations = Kept<RelationKey, Arc<Relation>, 4>;

/// Whether all tables of a workload are kept.
pub(super) fn holds(workload: &TpchWorkload, relations: &Relations) -> bool {
    let needs = workload.needs();
    let mut keys = needs
        .into_iter()
        .map(|table| RelationKey::new(workload, table));
    keys.all(|key| relations.holds(&key))
}

/// The tables of a workload, kept or built.
///
/// # Errors
/// If a page has no room for the longest record of a table.
pub(super) fn tables(
    workload: &TpchWorkload,
    relations: &mut Relations,
) -> Result<Vec<Arc<Relation>>, WorkloadError> {
    let load = |table| {
        relations.get(RelationKey::new(workload, table), |_| {
            let mut intake = Intake::new(workload, 0);
            Relation::load(workload, table, 0, &mut intake, &mut Untraced).map(Arc::new)
        })
    };
    workload.needs().into_iter().map(load).collect()
}
