"""Links of the documents lead somewhere, and paths that they name are there."""

from pathlib import Path

import pytest
from files import ROOT
from markdown_pages import anchor, is_there, leads_somewhere, links, paths

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


def test_a_path_to_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "page.md"
    page.write_text("`docs/page.md` `docs/<page>.md` `docs/*.md` `docs/` `page.md` `docs/none.md` `docs/page.md/` Write `docs/new.md`:\n")
    named = paths(page)
    assert named == ["docs/page.md", "docs/<page>.md", "docs/*.md", "docs/", "docs/none.md", "docs/page.md/"]
    assert [is_there(tmp_path, path) for path in named] == [True, True, True, True, False, False]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_are_there(page: Path) -> None:
    assert not [path for path in paths(page) if not is_there(ROOT, path)]
