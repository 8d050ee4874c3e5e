//! Queries 12 and 14 (PAX appendix B): the hash tables are built of the line items selected, the smaller input, and
//! probed with all orders or parts.

use super::Table;
use super::calendar::day;
use super::phase::Phase;
use super::queries::{Answer, at, discounted, items, named, projection};
use crate::page::{Attribute, Loaded, Schema, Type, Value};
use crate::query::{Groups, HashJoin, Predicate, Scan, ScanOrder, Side, Site};
use crate::tracer::Trace;
use traces::Segment;

/// What the hash tables are made of and probed with: the join attributes first.
#[derive(Clone, Debug)]
pub(super) struct JoinPlan {
    pub(super) table: Table,
    predicates: Vec<Predicate>,
    build: Vec<usize>,
    probe: Vec<usize>,
    sums: [&'static str; 2],
}

impl JoinPlan {
    /// Query 12, shipping modes and order priorities.
    pub(super) fn q12() -> Self {
        let [orderkey, mode] = items(["l_orderkey", "l_shipmode"]);
        let [ship, commit, receipt] = items(["l_shipdate", "l_commitdate", "l_receiptdate"]);
        Self {
            table: Table::Orders,
            predicates: vec![
                Predicate::one_of(mode, &["SHIP", "RAIL"]),
                Predicate::below(commit, receipt),
                Predicate::below(ship, commit),
                Predicate::within(receipt, day(1994, 1, 1), day(1995, 1, 1) - 1),
            ],
            build: vec![orderkey, mode],
            probe: vec![
                at(Table::Orders, "o_orderkey"),
                at(Table::Orders, "o_orderpriority"),
            ],
            sums: ["high_line_count", "low_line_count"],
        }
    }

    /// Query 14, the effect of promotions.
    pub(super) fn q14() -> Self {
        let [ship] = items(["l_shipdate"]);
        Self {
            table: Table::Part,
            predicates: vec![Predicate::within(
                ship,
                day(1997, 9, 1),
                day(1997, 10, 1) - 1,
            )],
            build: items(["l_partkey", "l_extendedprice", "l_discount"]).to_vec(),
            probe: vec![at(Table::Part, "p_partkey"), at(Table::Part, "p_type")],
            sums: ["promo_revenue", "revenue"],
        }
    }

    /// Schema of the records that the join gets of one side, with every value at its full length.
    pub(super) fn schema(&self, side: Side) -> Schema {
        let (table, project) = match side {
            Side::Build => (Table::Lineitem, &self.build),
            Side::Probe => (self.table, &self.probe),
        };
        let schema = projection(table, project);
        let full = |attribute: &Attribute| match attribute.kind {
            Type::Variable(most) => Attribute::new(attribute.name.clone(), Type::Fixed(most)),
            _ => attribute.clone(),
        };
        Schema::new(schema.attributes().iter().map(full).collect())
    }

    /// Adds a pair of records to the sums.
    fn add<T: Trace>(
        &self,
        trace: &mut T,
        groups: &mut Groups,
        item: &[Loaded<Value>],
        other: &[Loaded<Value>],
    ) {
        let text = other[1].map(Value::bytes);
        if self.table == Table::Orders {
            // The second priority is tested where the first does not hold.
            let high = [&b"1-URGENT"[..], b"2-HIGH"]
                .into_iter()
                .any(|priority| tests(trace, text, |text| text.trim_ascii_end() == priority));
            let high = i64::from(high);
            let count = |value| Loaded {
                value,
                token: text.token,
            };
            groups.add(trace, &item[1..], &[count(high), count(1 - high)]);
            return;
        }
        let [price, discount] = [1, 2].map(|place| item[place].map(Value::int));
        let revenue = discounted(trace, price, discount);
        let promoted = tests(trace, text, |text| text.starts_with(b"PROMO"));
        let promotion = revenue.map(|revenue| if promoted { revenue } else { 0 });
        groups.add(trace, &[], &[promotion, revenue]);
    }

    /// Runs the query with its accumulators in a segment. Returns the answer and the pages written.
    pub(super) fn run<'f, F: ScanOrder, T: Trace>(
        &self,
        trace: &mut T,
        lineitem: impl Scan<'f>,
        other: impl Scan<'f>,
        mut join: HashJoin<F, impl Fn(Side, usize) -> F>,
        groups: &Segment,
    ) -> (Answer, u64) {
        let mut groups = Groups::new(groups, self.sums.len());
        trace.mark(Phase::Build as u16);
        lineitem.scan(trace, &self.predicates, &self.build, |trace, row| {
            join.build(trace, row)
        });
        trace.mark(Phase::Probe as u16);
        let mut take = |trace: &mut T, item: &[Loaded<Value>], other: &[Loaded<Value>]| {
            self.add(trace, &mut groups, item, other);
        };
        other.scan(trace, &[], &self.probe, |trace, row| {
            join.probe(trace, row, &mut take)
        });
        trace.mark(Phase::Destaged as u16);
        let written = join.finish(trace, &mut take);
        (named(groups, &self.sums), written)
    }
}

/// Compares a string.
fn tests<T: Trace>(trace: &mut T, text: Loaded<&[u8]>, test: impl FnOnce(&[u8]) -> bool) -> bool {
    let holds = test(text.value);
    trace.work(1);
    trace.branch(Site::Text, holds, text.token.after(1));
    holds
}
