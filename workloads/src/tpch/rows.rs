//! The generated rows as records of the schemas.

use super::Table;
use super::work::PER_RECORD;
use crate::page::Value;
use crate::watch;
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};

/// Hands every record of `table` to `take`, in the order of the generator.
pub fn for_each_record(table: Table, scale_factor: f64, mut take: impl FnMut(&[Value<'_>])) {
    macro_rules! records {
        ($generator:ident, $record:ident) => {
            for row in $generator::new(scale_factor, 1, 1).iter() {
                $record(&row, &mut take);
                watch::step(PER_RECORD);
            }
        };
    }
    match table {
        Table::Lineitem => records!(LineItemGenerator, lineitem),
        Table::Orders => records!(OrderGenerator, order),
        Table::Partsupp => records!(PartSuppGenerator, partsupp),
        Table::Part => records!(PartGenerator, part),
        Table::Customer => records!(CustomerGenerator, customer),
        Table::Supplier => records!(SupplierGenerator, supplier),
        Table::Nation => records!(NationGenerator, nation),
        Table::Region => records!(RegionGenerator, region),
    }
}

fn lineitem(row: &LineItem<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.l_orderkey),
        integer(row.l_partkey),
        integer(row.l_suppkey),
        integer(row.l_linenumber),
        // The generator gives whole numbers where the benchmark has a decimal.
        money(TPCHDecimal(row.l_quantity * 100)),
        money(row.l_extendedprice),
        money(row.l_discount),
        money(row.l_tax),
        text(row.l_returnflag),
        text(row.l_linestatus),
        date(row.l_shipdate),
        date(row.l_commitdate),
        date(row.l_receiptdate),
        text(row.l_shipinstruct),
        text(row.l_shipmode),
        text(row.l_comment),
    ]);
}

fn order(row: &Order<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.o_orderkey),
        integer(row.o_custkey),
        text(row.o_orderstatus.as_str()),
        money(row.o_totalprice),
        date(row.o_orderdate),
        text(row.o_orderpriority),
        text(&row.o_clerk.to_string()),
        integer(row.o_shippriority),
        text(row.o_comment),
    ]);
}

fn partsupp(row: &PartSupp<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.ps_partkey),
        integer(row.ps_suppkey),
        integer(row.ps_availqty),
        money(row.ps_supplycost),
        text(row.ps_comment),
    ]);
}

fn part(row: &Part<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.p_partkey),
        text(&row.p_name.to_string()),
        text(&row.p_mfgr.to_string()),
        text(&row.p_brand.to_string()),
        text(row.p_type),
        integer(row.p_size),
        text(row.p_container),
        money(row.p_retailprice),
        text(row.p_comment),
    ]);
}

fn customer(row: &Customer<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.c_custkey),
        text(&row.c_name.to_string()),
        text(&row.c_address.to_string()),
        integer(row.c_nationkey),
        text(&row.c_phone.to_string()),
        money(row.c_acctbal),
        text(row.c_mktsegment),
        text(row.c_comment),
    ]);
}

fn supplier(row: &Supplier, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.s_suppkey),
        text(&row.s_name.to_string()),
        text(&row.s_address.to_string()),
        integer(row.s_nationkey),
        text(&row.s_phone.to_string()),
        money(row.s_acctbal),
        text(&row.s_comment),
    ]);
}

fn nation(row: &Nation<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.n_nationkey),
        text(row.n_name),
        integer(row.n_regionkey),
        text(row.n_comment),
    ]);
}

fn region(row: &Region<'_>, take: &mut impl FnMut(&[Value<'_>])) {
    take(&[
        integer(row.r_regionkey),
        text(row.r_name),
        text(row.r_comment),
    ]);
}

/// A number of four or eight bytes.
fn integer<'a>(value: impl Into<i64>) -> Value<'a> {
    Value::Int(value.into())
}

/// A decimal, in hundredths.
fn money<'a>(value: TPCHDecimal) -> Value<'a> {
    Value::Int(value.0)
}

/// A day since 1970-01-01.
fn date<'a>(value: TPCHDate) -> Value<'a> {
    Value::Int(value.to_unix_epoch().into())
}

fn text(value: &str) -> Value<'_> {
    Value::Bytes(value.as_bytes())
}
