"""Range scans through simulations: Figures 3.17, 3.18(d) and 3.19(d)."""

from __future__ import annotations

import pandas as pd

from memwalk.analysis.claims import Study, speedup
from memwalk.analysis.papers.thesis_ch3.indexes import ARRAYS, FRACTAL, SLOTTED, everywhere
from memwalk.analysis.papers.thesis_ch3.register import measure


@measure("bt-fig3.17-slot-vs-array")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["range"], study["fill"]], ARRAYS, over=SLOTTED)


@measure("bt-fig3.17-scan")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["range"], study["fill"]], FRACTAL, over=SLOTTED)


@measure("bt-fig3.18d-mature-scan", "bt-fig3.19d-scan-20b")
def _(study: Study) -> pd.Series[float]:
    return speedup(study["scan"], FRACTAL, over=SLOTTED)


@measure("bt-sum3-scan")
def _(study: Study) -> pd.Series[float]:
    return everywhere([study["range"], study["scan-fill"]], FRACTAL, over=SLOTTED)
