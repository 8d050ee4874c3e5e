"""Published cost models as code.

The thesis's equations 2.1 to 2.11 with what its text derives from them, and the scans of row stores and column stores.
"""

from memwalk.analysis.cost_models.layout import NodeLayout, TreeKind
from memwalk.analysis.cost_models.memory import MissCosts
from memwalk.analysis.cost_models.registry import MODELS, Model, model

__all__ = ["MODELS", "MissCosts", "Model", "NodeLayout", "TreeKind", "model"]
