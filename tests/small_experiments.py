"""Experiments of one workload on the small machine of tests, and the rows that they have."""

from pathlib import Path

from files import write_experiment

from memwalk.analysis.experiments.expansion import expand
from memwalk.analysis.experiments.points import Row
from memwalk.analysis.experiments.schema import load_experiment
from memwalk.analysis.experiments.settings import parse_set

SCAN = "kernel: table, operation: scan, layout: nsm, records: 1000"
CHASE = "kernel: pointer-chase, lines: 100, tlb: cold"
NEXT = "{kind: next-line, degree: 1}"
"""A prefetcher."""


def rows(folder: Path, text: str, *sets: str) -> list[Row]:
    path = write_experiment(folder, text)
    return expand(load_experiment(path), "paper", [parse_set(one) for one in sets])


def experiment(workload: str, rest: str = "") -> str:
    return f"schema_version: 1\nid: e\nmachine: ./small.yaml\nworkload: {{{workload}}}\n{rest}"
