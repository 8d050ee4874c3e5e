"""How records of DSM are put together, as a workload declares it (docs/decisions/017-clotho-readings.md)."""

from typing import Annotated, TypeAlias

from pydantic import Field

from memwalk.analysis.storage_workloads.of_layout import only_for
from memwalk.workloads.clotho import layouts

Reconstruction: TypeAlias = Annotated[
    layouts.Reconstruction,
    only_for("dsm", layouts.DEFAULT_RECONSTRUCTION, "which keeps records together"),
    Field(description="dsm: values found through an index on record numbers, or stored alone and scanned together or read by position"),
]
"""Stands behind ``layout`` in a model."""
