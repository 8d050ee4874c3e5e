"""Data page layouts for relational databases on deep memory hierarchies (Ailamaki, DeWitt, Hill; VLDB Journal 2002)."""

from memwalk.analysis.papers.pax import loading, relation, space, summary, tpch
from memwalk.analysis.papers.pax.layouts import measure

__all__ = ["loading", "measure", "relation", "space", "summary", "tpch"]
