"""Lines of a program's source, by the addresses of its instructions."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePath

from memwalk.analysis.traces.binutils import told_by
from memwalk.simcore.errors import UserError

_TEXT = 60
"""Letters of a line that are shown, the dots behind longer ones included."""


def source_lines(program: Path, places: Iterable[str]) -> dict[str, str]:
    """Return ``file:line: text`` for each of ``places``, addresses in hexadecimal, whose line the program tells.

    The text is there if the source is, and a line that the source does not have is told of no place. A file has its name alone where no
    other has the same. The program has to be compiled with ``-g``. Raises UserError if it is no program, tells no line of any
    place, or addr2line cannot be asked.
    """
    addresses = [place for place in places if place.startswith("0x")]
    if not addresses:
        raise UserError("--by line: places in memwalk's own kernels have names, and no lines; use --by pc")
    told = [_place(line) for line in told_by("addr2line", program, "-e", asked="\n".join(addresses))]
    known = {address: place for address, place in zip(addresses, told, strict=True) if place is not None}
    if not known:
        raise UserError(
            f"{program}: tells no line of any of the {len(addresses)} addresses; compile it with -g, and name the program that was recorded"
        )
    named: dict[str, set[str]] = defaultdict(set)
    for file, _ in known.values():
        named[PurePath(file).name].add(file)
    texts = {file: _lines(file) for files in named.values() for file in files}
    lines = {}
    for address, (file, number) in known.items():
        if texts[file] and number > len(texts[file]):
            continue  # addr2line (binutils 2.40) gives some functions of a header the file that includes it
        name = PurePath(file).name
        text = texts[file][number - 1].strip() if number <= len(texts[file]) else ""
        shown = text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}..."
        lines[address] = f"{name if len(named[name]) == 1 else file}:{number}" + (f": {shown}" if shown else "")
    return lines


def _place(told: str) -> tuple[str, int] | None:
    """Return file and line of what addr2line says, such as ``/src/a.cpp:12 (discriminator 3)``; None if it knows none."""
    file, _, number = told.split(" (discriminator", maxsplit=1)[0].strip().rpartition(":")
    return (file, int(number)) if number.isdecimal() and int(number) > 0 else None


def _lines(file: str) -> list[str]:
    """Return the lines of a source; none if it cannot be read."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
