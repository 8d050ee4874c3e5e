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

Scattering: TypeAlias = Literal["copied", "direct"]
"""How blocks of long reads come to their places in C-pages: copied there by the processor, or brought there by the devices."""

DEFAULT_SCATTERING: Scattering = "copied"
"""A read of the prototype's Linux goes to 16 places at most, so that blocks come to one place and are copied (section 7.2.1)."""

C_PAGES: Mapping[str, str] = {"layout": "pax"}
"""What the kernels `table` and `tpch` call C-pages, which are PAX pages in memory."""


def kernel_pages(layout: Layout, reconstruction: Reconstruction) -> dict[str, str]:
    """Return what the kernels `table` and `tpch` call the pages of a layout when they scan them.

    C-pages are scanned as pages of NSM are, record by record (section 6.1); PAX's one attribute after the other.
    """
    if layout == "dsm":
        return {"layout": layout, "reconstruction": reconstruction}
    return {**C_PAGES, "scan_order": "records"} if layout == "csm" else {"layout": layout}
