"""Worked examples and arithmetic of sections 3.1, 3.3 and 3.6.2: no simulation."""

from __future__ import annotations

from itertools import groupby

import pandas as pd

from memwalk.analysis.claims import Study
from memwalk.analysis.cost_models import search
from memwalk.analysis.cost_models.fractal_tree import Placement, chosen_width
from memwalk.analysis.cost_models.layout import NodeLayout
from memwalk.analysis.papers.thesis_ch3.register import measure
from memwalk.analysis.papers.thesis_ch3.widths import PAGES, SIMULATOR

ENTRIES, WANTED = 1023, 71
"""The example of section 3.3.1: a page with entries 1 to 1023 is searched for entry 71, whose line has 65 to 72."""
PAGE = PAGES[8]
LINE_ENTRIES = PAGE.line_bytes // (PAGE.key_bytes + PAGE.id_bytes)
TREE_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
TENS = range(10, 100)
"""Fan-outs on the order of 10s."""


def probes(keys: range, wanted: int) -> list[int]:
    """Return the indices of the keys with which a binary search compares the wanted one."""
    low, high, seen = 0, len(keys), []
    while low < high:
        seen.append((low + high) // 2)
        low, high = (low, seen[-1]) if wanted < keys[seen[-1]] else (seen[-1] + 1, high)
    return seen


def lines_missed(indices: list[int], per_line: int) -> int:
    """Count the lines that probes bring, one after the other: probes of one line follow each other."""
    return len(list(groupby(index // per_line for index in indices)))


def array_levels(page_entries: int, keys: int) -> int:
    """Return the levels of a full tree of pages."""
    levels, capacity = 1, page_entries
    while capacity < keys:
        levels, capacity = levels + 1, capacity * page_entries
    return levels


@measure("bt-ch3-io-ratio-scan")
def _(_: Study) -> float:
    return PAGES[32].page_bytes / PAGES[32].line_bytes


@measure("bt-ch3-depth-ratio")
def _(_: Study) -> float:
    entries = (PAGES[16].page_bytes - PAGES[16].line_bytes) // (PAGES[16].key_bytes + PAGES[16].id_bytes)
    return max(search.levels(NodeLayout("b+", 8), keys) / array_levels(entries, keys) for keys in TREE_SIZES)


@measure("bt-ch3-binsearch-probes")
def _(_: Study) -> float:
    return len(probes(range(1, ENTRIES + 1), WANTED))


@measure("bt-ch3-binsearch-misses")
def _(_: Study) -> float:
    return lines_missed(probes(range(1, ENTRIES + 1), WANTED), LINE_ENTRIES)


@measure("bt-ch3-8kb-entries")
def _(_: Study) -> float:
    return (PAGE.page_bytes - PAGE.line_bytes) // (PAGE.key_bytes + PAGE.id_bytes)


@measure("bt-ch3-line-entries")
def _(_: Study) -> float:
    return LINE_ENTRIES


@measure("bt-ch3-micro-keys")
def _(_: Study) -> float:
    return len(range(1, ENTRIES + 1, LINE_ENTRIES))


@measure("bt-ch3-micro-misses")
def _(_: Study) -> float:
    first_keys = range(1, ENTRIES + 1, LINE_ENTRIES)
    return lines_missed(probes(first_keys, WANTED), PAGE.line_bytes // PAGE.key_bytes) + 1


@measure("bt-ch3-offset-reach")
def _(_: Study) -> float:
    return PAGES[4].offset_reach / 2**20


@measure("bt-ch3-underflow-unused")
def _(_: Study) -> pd.Series[float]:
    # The largest page that a third level still overflows, of one line less than a full tree of three; two levels have 1 + f nodes.
    return pd.Series([100 * (1 - (1 + f) / (f + f**2)) for f in TENS], index=pd.Index(TENS, name="fan_out"))


@measure("bt-ch3-cachefirst-bulk-example")
def _(_: Study) -> float:
    return Placement(nodes=23, children=69).underflow


@measure("bt-fig3.26a-cf-fanout-4kb")
def _(study: Study) -> float:
    return PAGES[4].cache_first_children(chosen_width("cache-first", PAGES[4], study.costs(SIMULATOR)).leaf_lines)


@measure("bt-fig3.26a-cf-children-in-page")
def _(study: Study) -> float:
    return _placement(study).underflow


@measure("bt-fig3.26a-cf-overflow")
def _(study: Study) -> float:
    return float(1 - _placement(study).share)


def _placement(study: Study) -> Placement:
    lines = chosen_width("cache-first", PAGES[4], study.costs(SIMULATOR)).leaf_lines
    return Placement(PAGES[4].node_lines // lines, PAGES[4].cache_first_children(lines))
