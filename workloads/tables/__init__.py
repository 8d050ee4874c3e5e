"""Tables on storage: schemas, and which blocks a layout keeps which values in."""

from workloads.tables.column_files import ColumnFiles
from workloads.tables.dsm import Dsm
from workloads.tables.extent import Extent, joined
from workloads.tables.layout import Layout
from workloads.tables.nsm import Nsm
from workloads.tables.page import PageFormat
from workloads.tables.pax import Pax
from workloads.tables.schema import Column, Table

__all__ = ["Column", "ColumnFiles", "Dsm", "Extent", "Layout", "Nsm", "PageFormat", "Pax", "Table", "joined"]
