"""Plain data in the one form that is hashed."""

import hashlib
import json
from typing import Any


def canonical(value: Any) -> str:
    """Write plain data as JSON in the one form that is hashed: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of plain data, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
