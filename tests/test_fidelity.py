"""docs/fidelity.md has a paragraph for every miss and every modelling choice that names one."""

import re
from pathlib import Path

import pytest
from markdown_pages import sections
from papers import every_paper

from memwalk.simcore.paths import configs

PAGE = configs().parent / "docs" / "fidelity.md"
MACHINES = sorted((configs() / "machines").glob("*.yaml"))
CITED = re.compile(r"docs/fidelity\.md#([a-z0-9-]+)")


def paragraphs() -> dict[str, str]:
    return sections(PAGE)


def deviations() -> list[tuple[str, str]]:
    claims = [claim for paper in every_paper() for figure in paper.figures for claim in figure.file.claims]
    return [(claim.id, claim.deviation) for claim in claims if claim.deviation]


@pytest.mark.parametrize(("claim", "named"), deviations())
def test_a_missed_claim_has_its_paragraph_which_names_it(claim: str, named: str) -> None:
    assert f"`{claim}`" in paragraphs().get(named, "")


@pytest.mark.parametrize("machine", MACHINES, ids=lambda path: path.stem)
def test_what_machine_files_cite_is_there(machine: Path) -> None:
    cited = CITED.findall(re.sub(r"\s+", " ", machine.read_text()))
    assert not [named for named in cited if named not in paragraphs()]


def test_machine_files_cite_the_page() -> None:
    assert {name for path in MACHINES for name in CITED.findall(path.read_text())} >= {"branch-prediction", "caches", "dtlb"}


def test_links_within_the_page_lead_somewhere() -> None:
    links = re.findall(r"\]\(#([a-z0-9-]+)\)", PAGE.read_text())
    assert links
    assert not [named for named in links if named not in paragraphs()]
