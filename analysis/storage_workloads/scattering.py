"""How blocks come to their places in C-pages, as a workload declares it (docs/decisions/017-clotho-readings.md)."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo

from memwalk.workloads.clotho import layouts


def _of_csm(value: layouts.Scattering, info: ValidationInfo) -> layouts.Scattering:
    layout = info.data.get("layout", "csm")
    if value != layouts.DEFAULT_SCATTERING and layout != "csm":
        raise ValueError(f"scattering is for layout csm, and layout is {layout}, whose pages are read in one piece; remove it")
    return value


Scattering: TypeAlias = Annotated[
    layouts.Scattering,
    AfterValidator(_of_csm),
    Field(description="csm: whether the processor copies blocks that a scan reads to their places in pages, or devices bring them there"),
]
"""Stands behind ``layout`` in a model."""
