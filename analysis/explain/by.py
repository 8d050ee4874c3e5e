"""What the parts of a breakdown are."""

from enum import StrEnum


class By(StrEnum):
    """Data structures, phases, or the places in the code that made the last access, by address or line."""

    SEGMENT = "segment"
    PHASE = "phase"
    PC = "pc"
    LINE = "line"


OF_CODE = (By.PC, By.LINE)
"""Those that are places in the code."""
