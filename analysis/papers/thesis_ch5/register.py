"""The register of chapter 5's measures."""

from memwalk.analysis.claims import Measures

measure = Measures()
