"""Page layouts in closed form (Ailamaki et al. 2002, "Data page layouts for relational databases on deep memory hierarchies").

Layouts are ``nsm`` and ``pax``; another name raises ValueError. What the formats keep per record comes from the kernels that write the
pages.
"""

from fractions import Fraction

from memwalk.simcore.engines import native
from memwalk.simcore.validation import nearest

LAYOUTS = ("nsm", "pax")


def aligned_lines_per_record(page_layout: str, attribute_bytes: int, line_bytes: int) -> Fraction:
    """Lines read per record to test one attribute, if records are a multiple of a line long and begin at one (section 2.1).

    A record that is no shorter than a line brings a line of its own in NSM; in PAX a line holds values of one attribute only.
    """
    return Fraction(1) if _is_nsm(page_layout) else Fraction(attribute_bytes, line_bytes)


def record_overhead(page_layout: str) -> int:
    """Bytes kept per record besides its values (section 4.1): tag and slot in NSM, nothing in PAX."""
    formats = native.page_formats()
    return formats["nsm"]["tag_bytes"] + formats["nsm"]["slot_bytes"] if _is_nsm(page_layout) else 0


def tag_excess(header_bytes: int) -> int:
    """Bytes by which NSM's tag is longer than the record header of a system that takes ``header_bytes`` (section 4.1)."""
    return int(native.page_formats()["nsm"]["tag_bytes"]) - header_bytes


def offsets_per_record(page_layout: str, variable: int) -> int:
    """Offsets kept per record with so many variable-length attributes (section 3.2); PAX has one more per minipage."""
    return variable + (1 if _is_nsm(page_layout) else 0)


def _is_nsm(page_layout: str) -> bool:
    if page_layout not in LAYOUTS:
        raise ValueError(f"page_layout {page_layout!r}; {nearest(page_layout, LAYOUTS)}")
    return page_layout == "nsm"
