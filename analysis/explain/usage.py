"""Bytes fetched against bytes used: how much of what each place in the kernel brings into the last cache is wanted."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class SiteUsage:
    """What one site fetched in one phase. All numbers are per operation."""

    phase: str
    site: str
    lines: float
    """Lines of the last cache that the site fetched."""
    fetched_bytes: float
    used_bytes: float
    """Bytes of those lines that anybody touched before they left."""

    @property
    def used_share(self) -> float:
        """The share of the fetched bytes that was used."""
        return self.used_bytes / self.fetched_bytes


def site_usage(usage: pd.DataFrame, operations: int) -> Iterator[SiteUsage]:
    """Yield the rows of a usage table that belong to one point, in its order."""
    for row in usage.to_dict("records"):
        numbers = (row[name] / operations for name in ("lines", "fetched_bytes", "used_bytes"))
        yield SiteUsage(str(row["phase"]), str(row["site"]), *numbers)
