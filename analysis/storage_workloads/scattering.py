"""How blocks come to their places in C-pages, as a workload declares it (docs/decisions/017-clotho-readings.md)."""

from typing import Annotated, TypeAlias

from pydantic import Field

from memwalk.analysis.storage_workloads.of_layout import only_for
from memwalk.workloads.clotho import layouts

Scattering: TypeAlias = Annotated[
    layouts.Scattering,
    only_for("csm", layouts.DEFAULT_SCATTERING, "whose pages are read in one piece"),
    Field(description="csm: whether the processor copies blocks that a scan reads to their places in pages, or devices bring them there"),
]
"""Stands behind ``layout`` in a model."""
