"""Trace files: what a workload did, event by event, as Parquet. Rust writes and checks them (`traces/src/store`).

Any Parquet reader opens a trace; these two helpers save looking up where the description is.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

_CONTENTS = b"memwalk.contents"


def read_info(path: Path) -> dict[str, Any]:
    """Return a trace's description: workload, segments, sites, phases, counts. Raises ValueError for other files."""
    metadata = pq.read_metadata(path).metadata or {}
    if _CONTENTS not in metadata:
        raise ValueError(f"{path}: a Parquet file, but no memwalk trace; record one with `memwalk trace record`")
    info = json.loads(metadata[_CONTENTS])
    assert isinstance(info, dict)
    return info


def read_events(path: Path) -> pd.DataFrame:
    """Return a trace's events, one row each, in program order; the columns are those of `traces/src/event.rs`."""
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame
