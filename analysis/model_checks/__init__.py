"""Cost models against simulation: the figures that are run for it, and what is compared on them."""

from memwalk.analysis.model_checks import filters, fractal_trees, hash_joins, table_scans, trees
from memwalk.analysis.model_checks.comparison import Check, ModelStudy

__all__ = ["STUDIES", "Check", "ModelStudy"]

STUDIES: tuple[ModelStudy, ...] = (*trees.STUDIES, *fractal_trees.STUDIES, *table_scans.STUDIES, *hash_joins.STUDIES, *filters.STUDIES)
"""All of them."""
