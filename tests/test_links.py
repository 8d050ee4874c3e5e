"""Links of the documents lead somewhere."""

from pathlib import Path

import pytest
from files import ROOT
from markdown_pages import anchor, leads_somewhere, links

PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")})


def test_anchors_are_formed_as_markdown_viewers_form_them() -> None:
    assert anchor("Wide B+-trees on Itanium 2") == "wide-b-trees-on-itanium-2"


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# One `word`\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md#one-word) [b](other.md) [c](#here) [d](none.md) [e](other.md#two) [f](https://x.y/z)\n```\n[g](no)\n```\n"
    )
    assert links(page) == ["other.md#one-word", "other.md", "#here", "none.md", "other.md#two"]
    assert [leads_somewhere(page, link) for link in links(page)] == [True, True, True, False, False]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not [link for link in links(page) if not leads_somewhere(page, link)]
