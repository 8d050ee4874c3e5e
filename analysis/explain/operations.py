"""How many operations a run consists of: what numbers "per operation" are divided by."""

from collections.abc import Mapping
from typing import Any

import pandas as pd


def counted_operations(row: Mapping[Any, Any]) -> int | None:
    """Return the operations of a row of a result table; None if it counts none, so that the run is told as a whole.

    Another tool's trace does not say how many there are, and a join that only builds has 0.
    """
    operations = row.get("operations")
    return None if pd.isna(operations) or not operations else int(operations)
