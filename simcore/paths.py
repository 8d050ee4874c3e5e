"""Where the files that come with memwalk are."""

import os
from pathlib import Path


def configs() -> Path:
    """Return the folder of machines, experiments and papers: ``$MEMWALK_CONFIGS``, or the one beside the packages."""
    return Path(os.environ.get("MEMWALK_CONFIGS") or Path(__file__).resolve().parents[1] / "configs")
