"""The register of chapter 3's measures."""

from memwalk.analysis.claims import Measures

measure = Measures()
