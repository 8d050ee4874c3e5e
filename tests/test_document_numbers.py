"""README and STATUS say of claims what the committed verdicts say."""

import re
from collections import Counter
from typing import TypeAlias

from files import ROOT
from papers import every_paper

from memwalk.analysis.claims.committed import read
from memwalk.analysis.figures.load import Paper, papers_folder

README, STATUS = ((ROOT / name).read_text() for name in ("README.md", "docs/STATUS.md"))
COLUMNS = {
    "thesis, chapter 2": "thesis-ch2",
    "chapter 3": "thesis-ch3",
    "chapter 4": "thesis-ch4",
    "chapter 5": "thesis-ch5",
    "PAX": "pax",
    "C-Store": "cstore",
    "MBSM": "mbsm",
    "Clotho": "clotho",
}
"""Papers by their columns in the README."""
COUNTED = {"result", "order"}
NOT_SIMULATED = {"not simulated", "not readable"}

Tally: TypeAlias = Counter[tuple[str, str]]


def counts(paper: Paper) -> Tally:
    """Count a paper's claims by class, ``repeated`` if they say what another says, and verdict."""
    committed = read(papers_folder() / paper.id) or {}
    claims = [claim for figure in paper.figures for claim in figure.file.claims]
    return Counter((f"{'repeated ' if claim.repeated else ''}{claim.class_}", committed[claim.id]["verdict"]) for claim in claims)


COUNTS = {paper.id: counts(paper) for paper in every_paper()}
ALL: Tally = sum(COUNTS.values(), Counter())


def number(found: Tally, classes: set[str], verdicts: set[str] | None = None) -> int:
    """Count the claims of some classes, with some of the verdicts or with any."""
    return sum(count for (of, verdict), count in found.items() if of in classes and (verdicts is None or verdict in verdicts))


def agree(found: Tally, classes: set[str] = COUNTED) -> int:
    return number(found, classes, {"strict", "tolerant"})


def simulated(found: Tally, classes: set[str] = COUNTED) -> int:
    return number(found, classes) - number(found, classes, NOT_SIMULATED)


def row(name: str) -> list[str]:
    """Return the cells of the README's table of papers."""
    (line,) = re.findall(rf"^\| {re.escape(name)} \| (.*) \|$", README, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


def in_status(paper: str) -> str:
    """Return how many of a paper's results and orders agree, as its row in the status has it."""
    (cell,) = re.findall(rf"^\| [^|]+ \| `(?:memwalk reproduce )?{paper}` \| \d+ \| ([^|]+) \|$", STATUS, re.MULTILINE)
    return cell.partition(" (")[0]


def test_the_table_of_papers() -> None:
    (heads,) = re.findall(r"^\| \| (thesis, chapter 2 .*) \|$", README, re.MULTILINE)
    papers = [COUNTS[COLUMNS[head.strip()]] for head in heads.split("|")]
    assert row("agree / simulated") == [f"{agree(paper)} / {simulated(paper)}" for paper in papers]
    assert row("of which to the printed digits") == [str(number(paper, COUNTED, {"strict"})) for paper in papers]


def test_the_totals() -> None:
    text = " ".join(README.split())
    results, orders = (f"{agree(ALL, {of})} of {simulated(ALL, {of})} {of}s" for of in ("result", "order"))
    assert f"Of {simulated(ALL)} results and orders that are simulated, {agree(ALL)}: {results}, and {orders}." in text
    assert f"Another {number(ALL, COUNTED, NOT_SIMULATED)} need what is not simulated" in text
    assert f"and {number(ALL, {f'repeated {of}' for of in COUNTED})} repeat others" in text
    arithmetic = f"{number(ALL, {'arithmetic'})} claims of arithmetic ({number(ALL, {'arithmetic'}, {'strict'})} come out exactly)"
    assert f"{arithmetic}, {number(ALL, {'input'})} inputs and {number(ALL, {'calibration'})} calibrations" in text


def test_the_status() -> None:
    text = " ".join(STATUS.split())
    assert f"{agree(ALL)} of {simulated(ALL)} results and orders agree" in text
    for name in COLUMNS.values():
        assert in_status(name) == f"{agree(COUNTS[name])} of {simulated(COUNTS[name])}", name
