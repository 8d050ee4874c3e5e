"""Plain data as JSON that every reader takes: JSON has no infinities, and no numbers that are none."""

import json
import math
from typing import Any


def json_text(value: Any, *, indent: int | None = None, ensure_ascii: bool = True) -> str:
    """Write plain data as JSON; an infinity, or what is no number, becomes null."""
    try:
        return json.dumps(value, indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
