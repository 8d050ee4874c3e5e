"""Tables in Markdown: how they are written, and where they stand in a document."""

import re
from collections.abc import Sequence
from pathlib import Path

MARKER = re.compile(r"^<!-- table (?P<name>[^ ]+) -->$")


def lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows, of which the first is the head."""
    head, *body = rows
    return [_line(head), "|" + "---|" * len(head), *map(_line, body)]


def _line(cells: Sequence[str]) -> str:
    # An empty cell is one space wide.
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def tables(page: Path) -> dict[str, list[str]]:
    """Return the tables of a document that have names. Raises ValueError if two have the same."""
    found: dict[str, list[str]] = {}
    text = page.read_text().splitlines()
    for number, line in enumerate(text):
        if marker := MARKER.match(line):
            if marker["name"] in found:
                raise ValueError(f"{page}:{number + 1}: there is a table {marker['name']} above")
            found[marker["name"]] = text[number + 1 : _end(text, number + 1)]
    return found


def replace(page: Path, made: dict[str, list[str]]) -> None:
    """Put tables into a document where their names stand."""
    text = page.read_text().splitlines()
    written = []
    number = 0
    while number < len(text):
        written.append(text[number])
        number += 1
        marker = MARKER.match(written[-1])
        if marker and marker["name"] in made:
            written += made[marker["name"]]
            number = _end(text, number)
    page.write_text("\n".join(written) + "\n")


def _end(text: list[str], begin: int) -> int:
    """Return where the table that begins there has ended."""
    return next((number for number in range(begin, len(text)) if not text[number].startswith("|")), len(text))
