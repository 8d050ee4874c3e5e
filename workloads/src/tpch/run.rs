//! Runs a workload on TPC-H's tables.

use super::files::Create;
use super::joins::JoinPlan;
use super::kept::{Relations, tables};
use super::phase::Phase;
use super::places::{Places, site_names};
use super::queries::{at, projection, q1, q6};
use super::relation::{Relation, StoredRelation};
use super::spec::{Query, TableLayout, TpchWorkload};
use super::{Table, range};
use crate::family::Kernel;
use crate::outcome::Outcome;
use crate::page::{Nsm, PageSites, Pax, Schema};
use crate::query::{Call, Predicate, Side};
use crate::random::Random;
use crate::tracer::Trace;
use crate::validate::WorkloadError;
use std::sync::Arc;
use traces::Layout;

/// A workload with its tables.
#[derive(Clone, Debug)]
pub(crate) struct TpchRun {
    pub(super) workload: TpchWorkload,
    pub(super) places: Places,
    /// Lineitem, and what it is joined with; none for a load.
    pub(super) tables: Vec<Arc<Relation>>,
    /// Of a range selection or an update.
    pub(super) predicates: Vec<Predicate>,
    /// What temporary files and results are made of, checked to fit their pages.
    results: Vec<Schema>,
}

impl TpchWorkload {
    /// The tables that must be there, Lineitem first.
    pub(super) fn needs(&self) -> Vec<Table> {
        match self.query {
            Query::Q1 | Query::Q6 | Query::Rs | Query::Update => vec![Table::Lineitem],
            Query::Q12 => vec![Table::Lineitem, Table::Orders],
            Query::Q14 => vec![Table::Lineitem, Table::Part],
            Query::Load => Vec::new(),
        }
    }

    /// Places of attributes of Lineitem.
    pub(super) fn attributes(names: &[String]) -> Vec<usize> {
        names.iter().map(|name| at(Table::Lineitem, name)).collect()
    }
}

/// Schemas of the files that a workload writes: both sides of a join, or the output of a range selection.
fn results(workload: &TpchWorkload) -> Vec<Schema> {
    let both = |plan: JoinPlan| {
        [Side::Build, Side::Probe]
            .map(|side| plan.schema(side))
            .to_vec()
    };
    match workload.query {
        Query::Q12 => both(JoinPlan::q12()),
        Query::Q14 => both(JoinPlan::q14()),
        Query::Rs => {
            let project = TpchWorkload::attributes(&workload.project);
            vec![projection(Table::Lineitem, &project)]
        }
        Query::Q1 | Query::Q6 | Query::Load | Query::Update => Vec::new(),
    }
}

impl Kernel for TpchRun {
    fn layout(&self) -> Layout {
        let mut segments = self.places.segments.clone();
        for (table, relation) in self.workload.needs().into_iter().zip(&self.tables) {
            segments.extend(relation.index_segments(table));
        }
        let mut sites = site_names(&self.workload);
        for schema in &self.results {
            sites.extend(PageSites::names("output ", schema));
        }
        if self.workload.query == Query::Load {
            sites.extend(["data file", "record that was read"].map(String::from));
        }
        Layout {
            segments,
            sites,
            phases: Phase::NAMES.map(String::from).to_vec(),
            calls: Call::NAMES.iter().map(ToString::to_string).collect(),
        }
    }

    fn run<T: Trace>(&self, _thread: u32, trace: &mut T) -> Outcome {
        let mut outcome = Outcome::default();
        // A statement is one operation.
        outcome.set("operations", 1);
        trace.flush();
        for (table, relation) in self.workload.needs().into_iter().zip(&self.tables) {
            relation.describe(table, &mut outcome);
        }
        match (self.workload.query, self.workload.layout) {
            (Query::Load, _) => self.load(trace, &mut outcome),
            (Query::Update, _) => self.update(trace, &mut outcome),
            (_, TableLayout::Pax) => self.query::<Pax, T>(trace, &mut outcome),
            (_, TableLayout::Nsm | TableLayout::Dsm) => self.query::<Nsm, T>(trace, &mut outcome),
        }
        trace.end();
        outcome
    }
}

impl TpchRun {
    /// A run on the tables that the workload needs, kept or built.
    ///
    /// # Errors
    /// If a page has no room for a record of a temporary file or of the result.
    pub(super) fn new(
        workload: &TpchWorkload,
        kept: &mut Relations,
    ) -> Result<Self, WorkloadError> {
        let tables = tables(workload, kept)?;
        let ranged = matches!(workload.query, Query::Rs | Query::Update);
        let run = Self {
            places: Places::new(workload),
            predicates: match tables.first() {
                Some(lineitem) if ranged => {
                    let lineitem = lineitem.stored(0, 0, workload.index_nodes());
                    range::predicates(workload, lineitem)
                }
                _ => Vec::new(),
            },
            results: results(workload),
            workload: workload.clone(),
            tables,
        };
        for result in 0..run.results.len() {
            match workload.layout {
                TableLayout::Pax => drop(run.file::<Pax>(result, 0)?),
                TableLayout::Nsm | TableLayout::Dsm => drop(run.file::<Nsm>(result, 0)?),
            }
        }
        Ok(run)
    }

    /// Number in storage of the first page of table number `number`, or of the first page behind the tables.
    pub(super) fn first_page(&self, number: usize) -> u64 {
        let index_nodes = self.workload.index_nodes();
        let before = self.tables[..number].iter();
        before.fold(0, |first_page, table| table.end(first_page, index_nodes))
    }

    /// Table number `number`, to be scanned.
    pub(super) fn stored(&self, number: usize) -> StoredRelation<'_> {
        let (first_page, list) = (self.first_page(number), self.places.list(number));
        self.tables[number]
            .stored(first_page, list, self.workload.index_nodes())
            .in_order(self.workload.scan_order)
    }

    /// An empty file of records of schema number `result`, whose pages take frame `frame` of those set aside for output.
    pub(super) fn file<F: Create>(&self, result: usize, frame: u32) -> Result<F, WorkloadError> {
        let before = self.results[..result].iter();
        let sites: usize = before
            .map(|schema| PageSites::names("", schema).len())
            .sum();
        let sites = PageSites::from((site_names(&self.workload).len() + sites) as u16);
        let mut file = F::create(&self.workload, self.results[result].clone(), sites)?;
        let pool = self.places.output(frame);
        file.frames_mut().scatter(pool, &mut Random::new(0, 0));
        Ok(file)
    }

    /// Runs a query whose results are in files `F`.
    fn query<F: Create, T: Trace>(&self, trace: &mut T, outcome: &mut Outcome) {
        let (lineitem, groups) = (self.stored(0), self.places.groups());
        let answer = match self.workload.query {
            Query::Q1 => q1(trace, lineitem, groups),
            Query::Q6 => q6(trace, lineitem, groups),
            Query::Q12 => self.join::<F, T>(trace, &JoinPlan::q12(), outcome),
            Query::Q14 => self.join::<F, T>(trace, &JoinPlan::q14(), outcome),
            Query::Rs | Query::Load | Query::Update => self.select::<F, T>(trace, outcome),
        };
        for (name, value) in answer {
            outcome.set(&format!("answer.{name}"), value as u64);
        }
    }
}
