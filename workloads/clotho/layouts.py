"""The four layouts that Clotho compares, and how records of DSM are put together in its study (section 7.1)."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from memwalk.workloads.tables import ColumnFiles, Dsm

Layout: TypeAlias = Literal["nsm", "dsm", "pax", "csm"]

Reconstruction: TypeAlias = Literal["merge", "position", "index"]
"""Of records of DSM: values found through an index on record numbers, or stored alone and scanned together or read by position."""

DEFAULT_RECONSTRUCTION: Reconstruction = "merge"
"""The prototype joins tightly stored values one record after the other."""

DECOMPOSED: Mapping[Reconstruction, type[Dsm]] = {"merge": ColumnFiles, "position": ColumnFiles, "index": Dsm}
"""What the files of a table look like."""


def kernel_pages(layout: Layout, reconstruction: Reconstruction) -> dict[str, str]:
    """Return what the kernels `table` and `tpch` call the pages of a layout; C-pages are PAX pages in memory."""
    if layout == "dsm":
        return {"layout": layout, "reconstruction": reconstruction}
    return {"layout": "pax" if layout == "csm" else layout}
