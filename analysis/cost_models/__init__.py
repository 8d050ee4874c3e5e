"""The thesis's cost models as code: equations 2.1 to 2.11 and what the text derives from them."""

from analysis.cost_models.layout import NodeLayout, TreeKind
from analysis.cost_models.memory import MissCosts
from analysis.cost_models.registry import MODELS, Model, model

__all__ = ["MODELS", "MissCosts", "Model", "NodeLayout", "TreeKind", "model"]
