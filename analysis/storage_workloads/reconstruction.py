"""How records of DSM are put together, as a workload declares it (docs/decisions/017-clotho-readings.md)."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo

from memwalk.workloads.clotho import layouts


def _of_dsm(value: layouts.Reconstruction, info: ValidationInfo) -> layouts.Reconstruction:
    layout = info.data.get("layout", "dsm")
    if value != layouts.DEFAULT_RECONSTRUCTION and layout != "dsm":
        raise ValueError(f"reconstruction is for layout dsm, and layout is {layout}, which keeps records together; remove it")
    return value


Reconstruction: TypeAlias = Annotated[
    layouts.Reconstruction,
    AfterValidator(_of_dsm),
    Field(description="dsm: values found through an index on record numbers, or stored alone and scanned together or read by position"),
]
"""Stands behind ``layout`` in a model."""
