"""DSM in a tight form: a file for each column that holds values only, in the order of the records."""

from dataclasses import dataclass

from memwalk.workloads.tables.dsm import Dsm
from memwalk.workloads.tables.pax import Pax
from memwalk.workloads.tables.schema import Column, Table


@dataclass(frozen=True)
class ColumnFiles(Dsm):
    """As DSM, but a record's number says where its values are and is not stored: a page is a minipage of PAX."""

    def records_per_page(self, column: Column) -> int:
        """Return the values of average length that a page of a column's file holds."""
        return Pax(Table(self.table.name, (column,), self.table.records), page=self.page).records_per_page
