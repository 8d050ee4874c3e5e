//! The generated tables as comma-separated text, for other database systems.

use super::Table;
use crate::watch;
use std::io::{self, Write};
use tpchgen::csv::{
    CustomerCsv, LineItemCsv, NationCsv, OrderCsv, PartCsv, PartSuppCsv, RegionCsv, SupplierCsv,
};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

/// Writes a header line and the rows of `table` as the generator gives them.
///
/// # Errors
/// What the writer gives.
pub fn export(table: Table, scale_factor: f64, output: &mut impl Write) -> io::Result<()> {
    macro_rules! rows {
        ($generator:ident, $csv:ident) => {{
            writeln!(output, "{}", $csv::header())?;
            for row in $generator::new(scale_factor, 1, 1).iter() {
                writeln!(output, "{}", $csv::new(row))?;
                watch::step(1);
            }
        }};
    }
    match table {
        Table::Lineitem => rows!(LineItemGenerator, LineItemCsv),
        Table::Orders => rows!(OrderGenerator, OrderCsv),
        Table::Partsupp => rows!(PartSuppGenerator, PartSuppCsv),
        Table::Part => rows!(PartGenerator, PartCsv),
        Table::Customer => rows!(CustomerGenerator, CustomerCsv),
        Table::Supplier => rows!(SupplierGenerator, SupplierCsv),
        Table::Nation => rows!(NationGenerator, NationCsv),
        Table::Region => rows!(RegionGenerator, RegionCsv),
    }
    Ok(())
}
