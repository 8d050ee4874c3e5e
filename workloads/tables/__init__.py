"""Tables on storage: schemas, and which blocks a layout keeps which values in."""

from memwalk.workloads.tables.column_files import ColumnFiles
from memwalk.workloads.tables.dsm import Dsm
from memwalk.workloads.tables.extent import Extent, joined
from memwalk.workloads.tables.layout import Layout
from memwalk.workloads.tables.nsm import Nsm
from memwalk.workloads.tables.page import PageFormat
from memwalk.workloads.tables.pax import Pax
from memwalk.workloads.tables.schema import Column, Table
from memwalk.workloads.tables.whole_pages import WholePages

__all__ = ["Column", "ColumnFiles", "Dsm", "Extent", "Layout", "Nsm", "PageFormat", "Pax", "Table", "WholePages", "joined"]
