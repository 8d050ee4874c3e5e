//! Queries 1 and 6 (PAX appendix B), written as a plan would have them, and what all queries share.
//!
//! Sums of money are exact: prices, discounts and taxes are hundredths, so that a product of two is in
//! ten-thousandths and one of three in millionths.

use super::Table;
use super::calendar::day;
use super::phase::Phase;
use crate::page::{Loaded, Schema, Value};
use crate::query::{Groups, Predicate, Scan, Site};
use crate::tracer::Trace;
use traces::{OpClass, Segment};

/// Results by name.
pub(super) type Answer = Vec<(String, i64)>;

/// One, in hundredths.
pub(super) const ONE: i64 = 100;

/// The place of an attribute of a table.
pub(super) fn at(table: Table, name: &str) -> usize {
    table
        .schema()
        .position(name)
        .expect("attributes are those of the table")
}

/// The places of attributes of Lineitem.
pub(super) fn items<const N: usize>(names: [&str; N]) -> [usize; N] {
    names.map(|name| at(Table::Lineitem, name))
}

/// Schema of a table's records cut down to some attributes.
pub(super) fn projection(table: Table, places: &[usize]) -> Schema {
    let schema = table.schema();
    let attribute = |&place: &usize| schema.attributes()[place].clone();
    Schema::new(places.iter().map(attribute).collect())
}

/// Sums by group, as results of these names.
pub(super) fn named(groups: Groups, names: &[&str]) -> Answer {
    let mut answer = Answer::new();
    for (group, sums) in groups.finish() {
        for (name, sum) in names.iter().zip(sums) {
            let dot = if group.is_empty() { "" } else { "." };
            answer.push((format!("{group}{dot}{name}"), sum));
        }
    }
    answer
}

/// What an addition makes of a number, which it waits for.
fn sum<T: Trace>(trace: &mut T, number: Loaded<i64>, make: impl FnOnce(i64) -> i64) -> Loaded<i64> {
    Loaded {
        value: make(number.value),
        token: trace.op(Site::Sum, OpClass::Add, number.token.after(0)),
    }
}

/// A product of two numbers. An event names one that it waits for: the left one, as what came before has waited for the right one,
/// an addition that made it or the predicate that tested it.
fn product<T: Trace>(trace: &mut T, left: Loaded<i64>, right: Loaded<i64>) -> Loaded<i64> {
    Loaded {
        value: left.value * right.value,
        token: trace.op(Site::Product, OpClass::Multiply, left.token.after(0)),
    }
}

/// `price * (1 - discount)`.
pub(super) fn discounted<T: Trace>(
    trace: &mut T,
    price: Loaded<i64>,
    discount: Loaded<i64>,
) -> Loaded<i64> {
    let rest = sum(trace, discount, |discount| ONE - discount);
    product(trace, price, rest)
}

/// The eight aggregates of Query 1 (PAX section 7.1). Each has an accumulator of its own; that of an average is a sum, which
/// the count divides.
pub(super) const PRICING: [&str; 8] = [
    "sum_qty",
    "sum_base_price",
    "sum_disc_price",
    "sum_charge",
    "avg_qty_sum",
    "avg_price_sum",
    "avg_disc_sum",
    "count_order",
];

/// Query 1, the pricing summary, with its accumulators in a segment.
pub(super) fn q1<'f, T: Trace>(trace: &mut T, lineitem: impl Scan<'f>, groups: &Segment) -> Answer {
    let mut groups = Groups::new(groups, PRICING.len());
    trace.mark(Phase::Scan as u16);
    let [shipdate] = items(["l_shipdate"]);
    let project = items([
        "l_returnflag",
        "l_linestatus",
        "l_quantity",
        "l_extendedprice",
        "l_discount",
        "l_tax",
    ]);
    let until = Predicate::up_to(shipdate, day(1998, 12, 1) - 116);
    lineitem.scan(trace, &[until], &project, |trace, row| {
        let [quantity, price, discount, tax] = [2, 3, 4, 5].map(|place| row[place].map(Value::int));
        let discounted = discounted(trace, price, discount);
        let taxed = sum(trace, tax, |tax| ONE + tax);
        let charge = product(trace, discounted, taxed);
        let one = quantity.map(|_| 1);
        let terms = [
            quantity, price, discounted, charge, quantity, price, discount, one,
        ];
        groups.add(trace, &row[..2], &terms);
    });
    named(groups, &PRICING)
}

/// Query 6, the forecast of a change in revenue, with its accumulator in a segment.
pub(super) fn q6<'f, T: Trace>(trace: &mut T, lineitem: impl Scan<'f>, groups: &Segment) -> Answer {
    let mut groups = Groups::new(groups, 1);
    trace.mark(Phase::Scan as u16);
    let [shipdate, discount, quantity, price] =
        items(["l_shipdate", "l_discount", "l_quantity", "l_extendedprice"]);
    let predicates = [
        Predicate::within(shipdate, day(1997, 1, 1), day(1998, 1, 1) - 1),
        Predicate::within(discount, 4, 6),
        Predicate::up_to(quantity, 24 * ONE - 1),
    ];
    lineitem.scan(trace, &predicates, &[price, discount], |trace, row| {
        let [price, discount] = [0, 1].map(|place| row[place].map(Value::int));
        let revenue = product(trace, price, discount);
        groups.add(trace, &[], &[revenue]);
    });
    named(groups, &["revenue"])
}
