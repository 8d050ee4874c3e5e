"""Published claims, how each is measured, and whether it holds."""

from memwalk.analysis.claims.measures import Measure, Sources
from memwalk.analysis.claims.tables import MeasureError, Panel, Tables
from memwalk.analysis.claims.verdict import Claim, Outcome, Published, judge

__all__ = ["Claim", "Measure", "MeasureError", "Outcome", "Panel", "Published", "Sources", "Tables", "judge"]
