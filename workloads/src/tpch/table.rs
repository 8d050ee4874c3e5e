//! The eight tables as schemas (TPC Benchmark H, clause 1.4).

use crate::page::{Attribute, Schema, Type};
use Type::{Date, Fixed, Int32, Int64, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tpchgen::generators::OrderGenerator;

/// A table of TPC-H.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Items of orders.
    Lineitem,
    /// Orders.
    Orders,
    /// Parts that suppliers have.
    Partsupp,
    /// Parts.
    Part,
    /// Customers.
    Customer,
    /// Suppliers.
    Supplier,
    /// Nations.
    Nation,
    /// Regions.
    Region,
}

impl Table {
    /// Every table, the largest first.
    pub const ALL: [Self; 8] = [
        Self::Lineitem,
        Self::Orders,
        Self::Partsupp,
        Self::Part,
        Self::Customer,
        Self::Supplier,
        Self::Nation,
        Self::Region,
    ];

    /// Its name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lineitem => "lineitem",
            Self::Orders => "orders",
            Self::Partsupp => "partsupp",
            Self::Part => "part",
            Self::Customer => "customer",
            Self::Supplier => "supplier",
            Self::Nation => "nation",
            Self::Region => "region",
        }
    }

    /// Records that no table has more of: seven line items for each order.
    pub(super) fn most_records(scale_factor: f64) -> u64 {
        let orders = OrderGenerator::calculate_row_count(scale_factor, 1, 1);
        orders as u64 * OrderGenerator::LINE_COUNT_MAX as u64
    }

    /// Bytes of the values of the longest record of any table.
    pub(super) fn longest_record() -> u64 {
        let bytes = Self::ALL.map(|table| table.schema().most_bytes() as u64);
        bytes.into_iter().max().unwrap_or(0)
    }

    /// Its attributes.
    #[must_use]
    pub fn schema(self) -> Schema {
        let attributes = match self {
            Self::Lineitem => LINEITEM,
            Self::Orders => ORDERS,
            Self::Partsupp => PARTSUPP,
            Self::Part => PART,
            Self::Customer => CUSTOMER,
            Self::Supplier => SUPPLIER,
            Self::Nation => NATION,
            Self::Region => REGION,
        };
        let attribute = |&(name, kind): &(&str, Type)| Attribute::new(name, kind);
        Schema::new(attributes.iter().map(attribute).collect())
    }
}

/// Identifiers and sizes are integers of four bytes; decimals are hundredths in eight. `CHAR(n)` is fixed and
/// `VARCHAR(n)` variable, but for `l_shipinstruct` and `l_shipmode`: the PAX paper's Lineitem has three attributes of
/// variable length (section 7.1), and these two are the ones whose values are shorter than their `CHAR`.
const LINEITEM: &[(&str, Type)] = &[
    ("l_orderkey", Int32),
    ("l_partkey", Int32),
    ("l_suppkey", Int32),
    ("l_linenumber", Int32),
    ("l_quantity", Int64),
    ("l_extendedprice", Int64),
    ("l_discount", Int64),
    ("l_tax", Int64),
    ("l_returnflag", Fixed(1)),
    ("l_linestatus", Fixed(1)),
    ("l_shipdate", Date),
    ("l_commitdate", Date),
    ("l_receiptdate", Date),
    ("l_shipinstruct", Variable(25)),
    ("l_shipmode", Variable(10)),
    ("l_comment", Variable(44)),
];

const ORDERS: &[(&str, Type)] = &[
    ("o_orderkey", Int32),
    ("o_custkey", Int32),
    ("o_orderstatus", Fixed(1)),
    ("o_totalprice", Int64),
    ("o_orderdate", Date),
    ("o_orderpriority", Fixed(15)),
    ("o_clerk", Fixed(15)),
    ("o_shippriority", Int32),
    ("o_comment", Variable(79)),
];

const PARTSUPP: &[(&str, Type)] = &[
    ("ps_partkey", Int32),
    ("ps_suppkey", Int32),
    ("ps_availqty", Int32),
    ("ps_supplycost", Int64),
    ("ps_comment", Variable(199)),
];

const PART: &[(&str, Type)] = &[
    ("p_partkey", Int32),
    ("p_name", Variable(55)),
    ("p_mfgr", Fixed(25)),
    ("p_brand", Fixed(10)),
    ("p_type", Variable(25)),
    ("p_size", Int32),
    ("p_container", Fixed(10)),
    ("p_retailprice", Int64),
    ("p_comment", Variable(23)),
];

const CUSTOMER: &[(&str, Type)] = &[
    ("c_custkey", Int32),
    ("c_name", Variable(25)),
    ("c_address", Variable(40)),
    ("c_nationkey", Int32),
    ("c_phone", Fixed(15)),
    ("c_acctbal", Int64),
    ("c_mktsegment", Fixed(10)),
    ("c_comment", Variable(117)),
];

const SUPPLIER: &[(&str, Type)] = &[
    ("s_suppkey", Int32),
    ("s_name", Fixed(25)),
    ("s_address", Variable(40)),
    ("s_nationkey", Int32),
    ("s_phone", Fixed(15)),
    ("s_acctbal", Int64),
    ("s_comment", Variable(101)),
];

const NATION: &[(&str, Type)] = &[
    ("n_nationkey", Int32),
    ("n_name", Fixed(25)),
    ("n_regionkey", Int32),
    ("n_comment", Variable(152)),
];

const REGION: &[(&str, Type)] = &[
    ("r_regionkey", Int32),
    ("r_name", Fixed(25)),
    ("r_comment", Variable(152)),
];
