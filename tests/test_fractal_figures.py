"""Figures of chapter 3: their widths are what the cost model chooses and nothing else, and their claims can be told from each other."""

from __future__ import annotations

from typing import Any

import pytest

from memwalk.analysis.cost_models import MissCosts, fractal_tree
from memwalk.analysis.cost_models.fractal_tree import Width
from memwalk.analysis.cost_models.index_page import IndexPage
from memwalk.analysis.figures.load import load_papers
from memwalk.analysis.papers.thesis_ch3.widths import width_name
from memwalk.analysis.reproduce import machine_facts

PLATFORMS = {"": ("thesis-simulator", 64, 4), "itanium2-": ("itanium2-900", 128, 8)}
LINES = {"disk-first": ("nonleaf_lines", "leaf_lines"), "cache-first": ("node_lines",), "micro-indexing": ("subarray_lines",)}
EVERY = [(prefix, kib) for prefix in PLATFORMS for kib in (4, 8, 16, 32)]


def bases() -> dict[str, dict[str, Any]]:
    (paper,) = [paper for paper in load_papers() if paper.id == "thesis-ch3"]
    return paper.file.bases


def costs(machine: str) -> MissCosts:
    facts = machine_facts(machine)
    return MissCosts(facts["memory"]["latency_cycles"], facts["memory"]["interval_cycles"], facts["dtlb"]["walk_latency_cycles"])


def parameters(scheme: str, width: Width) -> dict[str, int]:
    lines = (width.nonleaf_lines, width.leaf_lines) if scheme == "disk-first" else (width.leaf_lines,)
    return {f"workload.{name}": number for name, number in zip(LINES[scheme], lines, strict=True)}


@pytest.mark.parametrize(("prefix", "kib"), EVERY)
def test_pages_have_the_widths_that_goal_g_chooses(prefix: str, kib: int) -> None:
    machine, line, key = PLATFORMS[prefix]
    base = bases()[f"{prefix}pages-{kib}k"]
    assert base["grid"] == {"workload.page_bytes": [f"{kib}KiB"]}
    page = IndexPage(kib << 10, line, key)
    for scheme, written in base["variants"].items():
        assert written == parameters(scheme, fractal_tree.chosen_width(scheme, page, costs(machine))), scheme
    assert set(base["variants"]) == {scheme for scheme in LINES if not prefix or scheme != "cache-first"}


@pytest.mark.parametrize(("prefix", "kib"), EVERY)
def test_widths_that_are_compared_are_all_within_a_tenth_of_the_cheapest(prefix: str, kib: int) -> None:
    machine, line, key = PLATFORMS[prefix]
    base, page = bases()[f"{prefix}widths-{kib}k"], IndexPage(kib << 10, line, key)
    assert base["machine"] == machine
    assert base["workload"]["page_bytes"] == f"{kib}KiB"
    expected = {}
    for scheme in LINES:
        if not prefix or scheme != "cache-first":
            structure = {"workload.structure": {"micro-indexing": "micro-index"}.get(scheme, scheme)}
            for width in fractal_tree.within_slack(list(fractal_tree.WIDTHS[scheme](page, costs(machine)))):
                expected[width_name(scheme, width)] = structure | parameters(scheme, width)
    assert base["variants"] == expected
