"""Queries as the kernel takes them."""

from typing import Any

from memwalk.analysis.advice.layouts.files import Query, Task

PAGE_HEADER_BYTES = 32
"""Header of every page."""


def in_a_row(query: Query) -> list[str]:
    """Name a query's attributes as the kernel has them: predicates first, those that are projected too last among them."""
    tested_only = [name for name in query.predicates if name not in query.project]
    both = [name for name in query.predicates if name in query.project]
    return [*tested_only, *both, *(name for name in query.project if name not in both)]


def kernel_workload(layout: str | None, query: Query, task: Task, records: int, prefetch_bytes: int | None = None) -> dict[str, Any]:
    """Write a query as the kernel takes it: attributes in a row (`in_a_row`).

    ``prefetch_bytes`` are the table's if they are None.

    A layout for reading only returns the attributes of every row, those of the predicates too; without a predicate,
    the other layouts test one attribute that every record satisfies.
    """
    width = len(task.schema.attributes)
    reads_all = layout in ("standard-row", "super-row", "super-column")
    projected = len(query.attributes) if reads_all else len(query.project)
    tested_only = len(query.attributes) - len(query.project)
    return {
        "kernel": "table",
        "operation": "scan",
        "layout": layout,
        "page_bytes": task.workload.page_bytes,
        "header_bytes": PAGE_HEADER_BYTES,
        "attributes": width,
        "attribute_bytes": task.schema.attribute_bytes,
        "records": records,
        "predicates": max(1, len(query.predicates)),
        "first_predicate": 1,
        "selectivity": query.selectivity if query.predicates else 1.0,
        "projected": projected,
        "first_projected": 1 if reads_all else tested_only + 1,
        "aggregate": False,
        "prefetch_bytes": max(prefetch_bytes or task.workload.prefetch_bytes, task.workload.page_bytes * len(query.attributes)),
    }
