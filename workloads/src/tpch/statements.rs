//! Statements that write: joins, which may destage partitions, range selections, loads and updates.

use super::Table;
use super::data_file;
use super::files::Create;
use super::intake::Intake;
use super::joins::JoinPlan;
use super::phase::Phase;
use super::queries::Answer;
use super::relation::Relation;
use super::run::TpchRun;
use super::spec::{TableLayout, TpchWorkload};
use crate::outcome::{Checksum, Outcome};
use crate::page::Loading;
use crate::query::{HashJoin, LogBuffer, OutputFile, OutputSpace, PARTITIONS, Scan, Side, update};
use crate::tracer::{Trace, Untraced};

/// Numbers of a load that are summed over its tables.
const TOTALS: [&str; 7] = [
    "records",
    "pages",
    "bytes",
    "slot_bytes",
    "reorganizations",
    "reorganizations_for_last_record",
    "reorganized_pages",
];

/// What an update adds.
const SUMMAND: i64 = 1;

impl TpchRun {
    /// Joins the line items with the other table.
    pub(super) fn join<F: Create, T: Trace>(
        &self,
        trace: &mut T,
        plan: &JoinPlan,
        outcome: &mut Outcome,
    ) -> Answer {
        let places = self.places.join(self.workload.heap_bytes);
        let space = OutputSpace::new(self.first_page(self.tables.len()));
        let create = |side: Side, partition: usize| {
            let frame = side as usize * PARTITIONS + partition;
            self.file::<F>(side as usize, frame as u32)
                .expect("the pages were checked")
        };
        let join = HashJoin::new(&plan.schema(Side::Build), places, space, create);
        let (lineitem, other) = (self.stored(0), self.stored(1));
        let (answer, written) = plan.run(trace, lineitem, other, join, self.places.groups());
        outcome.set("pages_written", written);
        answer
    }

    /// Writes the projection of the selected line items to an output relation.
    pub(super) fn select<F: Create, T: Trace>(
        &self,
        trace: &mut T,
        outcome: &mut Outcome,
    ) -> Answer {
        let project = TpchWorkload::attributes(&self.workload.project);
        let mut space = OutputSpace::new(self.first_page(self.tables.len()));
        trace.mark(Phase::Scan as u16);
        let file = self.file::<F>(0, 0).expect("the pages were checked");
        let mut output = OutputFile::new(file);
        let mut checksum = Checksum::default();
        let mut selected = 0;
        self.stored(0)
            .scan(trace, &self.predicates, &project, |trace, row| {
                selected += 1;
                row.iter()
                    .for_each(|loaded| checksum.add(loaded.value.summed()));
                output.add(trace, &mut space, row);
            });
        output.finish(trace, &mut space);
        outcome.set("pages_written", space.pages());
        outcome.set("checksum", checksum.value());
        outcome.set("returned", selected);
        Answer::new()
    }

    /// Fills tables from their data files, and writes their pages, and those of the log, as they are full.
    pub(super) fn load<T: Trace>(&self, trace: &mut T, outcome: &mut Outcome) {
        let (workload, tables) = (&self.workload, &self.workload.tables);
        trace.pause();
        let data_pages: Vec<u64> = tables
            .iter()
            .map(|&table| data_file::pages(table, workload.scale_factor, workload.page_bytes))
            .collect();
        trace.resume();
        let mut intake = Intake::new(workload, data_pages.iter().sum());
        let (mut first_data_page, mut first_page) = (0, intake.end());
        let mut loading = Loading::default();
        for (&table, pages) in tables.iter().zip(&data_pages) {
            trace.mark(Phase::Load as u16);
            intake.open(first_data_page);
            first_data_page += pages;
            let relation = Relation::load(workload, table, first_page, &mut intake, trace)
                .expect("records fit the smallest page");
            first_page = relation.end(first_page, workload.index_nodes());
            relation.describe(table, outcome);
            if let Some(of_table) = relation.loading() {
                loading.add(of_table);
            }
        }
        if workload.layout == TableLayout::Pax {
            outcome.set("fill_at_first_percent", loading.fill_at_first_percent());
        }
        outcome.set("data_file_pages", first_data_page);
        outcome.set("log_pages", intake.finish(trace));
        for name in TOTALS {
            let of = |table: &Table| format!("{}_{name}", table.name());
            let known: Vec<u64> = tables
                .iter()
                .filter_map(|table| outcome.metrics.get(&of(table)).copied())
                .collect();
            if !known.is_empty() {
                outcome.set(name, known.into_iter().sum());
            }
        }
    }

    /// Changes the selected line items, in a copy of the table.
    pub(super) fn update<T: Trace>(&self, trace: &mut T, outcome: &mut Outcome) {
        let change = TpchWorkload::attributes(&self.workload.change);
        let mut log = LogBuffer::new(self.places.log());
        let mut table = Relation::clone(&self.tables[0]);
        trace.mark(Phase::Update as u16);
        let (predicates, log) = (&self.predicates[..], &mut log);
        let changed = match &mut table {
            Relation::Nsm(file) => update(file, 0, trace, predicates, &change, SUMMAND, log),
            Relation::Pax(file) => update(file, 0, trace, predicates, &change, SUMMAND, log),
            Relation::Dsm(_) | Relation::Columns(..) => {
                unreachable!("validation asks for another layout")
            }
        };
        trace.end();
        outcome.set("changed", changed);
        let mut checksum = Checksum::default();
        table.stored(0, 0, self.workload.index_nodes()).scan(
            &mut Untraced,
            &[],
            &change,
            |_, row| {
                row.iter()
                    .for_each(|loaded| checksum.add(loaded.value.summed()));
            },
        );
        outcome.set("checksum", checksum.value());
    }
}
