"""How records of DSM are put together in the study of Clotho (section 7.1; docs/decisions/017-clotho-readings.md)."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo

from memwalk.workloads.tables import ColumnFiles, Dsm


def _of_dsm(value: str, info: ValidationInfo) -> str:
    layout = info.data.get("layout", "dsm")
    if value != DEFAULT_RECONSTRUCTION and layout != "dsm":
        raise ValueError(f"reconstruction is for layout dsm, and layout is {layout}, which keeps records together; remove it")
    return value


Reconstruction: TypeAlias = Annotated[
    Literal["merge", "position", "index"],
    AfterValidator(_of_dsm),
    Field(description="dsm: values found through an index on record numbers, or stored alone and scanned together or read by position"),
]
"""Stands behind ``layout`` in a model."""

DEFAULT_RECONSTRUCTION: Reconstruction = "merge"
"""The prototype joins tightly stored values one record after the other."""
DECOMPOSED: Mapping[Reconstruction, type[Dsm]] = {"merge": ColumnFiles, "position": ColumnFiles, "index": Dsm}
"""What the files of a table look like."""


def kernel_pages(layout: Literal["nsm", "dsm", "pax", "csm"], reconstruction: Reconstruction) -> dict[str, str]:
    """Return what the kernels `table` and `tpch` call the pages of a layout; C-pages are PAX pages in memory."""
    if layout == "dsm":
        return {"layout": layout, "reconstruction": reconstruction}
    return {"layout": "pax" if layout == "csm" else layout}
