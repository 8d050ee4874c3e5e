"""What tests read in Markdown."""

import re
from pathlib import Path

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FOLDERS = ("analysis", "benches", "bindings", "configs", "docs", "fuzz", "memwalk", "notebooks", "simcore", "tests", "traces", "workloads")
"""The folders at the top."""
_PATH = re.compile(rf"(Write )?`((?:{'|'.join(_FOLDERS)})/[^`\s]*)`")
_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """Form the anchor of a heading as Markdown viewers do."""
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def sections(page: Path) -> dict[str, str]:
    """Give the text below each heading of a page, by anchor."""
    parts = _HEADING.split(page.read_text())
    return {anchor(heading): text for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def links(page: Path) -> list[str]:
    """List where a page's links lead, those to other sites left out."""
    return [link for link in _LINK.findall(_CODE.sub("", page.read_text())) if "://" not in link]


def paths(page: Path) -> list[str]:
    """List the paths from the top that a page names, those left out that it asks readers to write."""
    return [path for new, path in _PATH.findall(_CODE.sub("", page.read_text())) if not new]


def is_there(root: Path, path: str) -> bool:
    """Tell whether a path is to something; what is in ``<>`` stands for any name, as ``*`` does."""
    return any(root.glob(re.sub("<[^>]*>", "*", path)))


def leads_somewhere(page: Path, link: str) -> bool:
    """Tell whether a link of a page is to a file that is there, and to a heading that it has, if it names one."""
    name, _, place = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not place or place in sections(target))
