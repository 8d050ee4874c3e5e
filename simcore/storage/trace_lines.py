"""The lines of a text trace, plain or compressed with gzip: read as a stream, and written whole or not at all."""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Self

from memwalk.simcore.errors import UserError
from memwalk.simcore.files import replacing

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 20
_LONGEST_LINE = 4096
"""Characters; no line of a trace is nearly as long, so more is not a trace."""
_SHOWN = 80
"""Characters of a line, or of a part of it, that a message shows."""


def shortened(text: str) -> str:
    """Return what a message shows of a text."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class TraceLines:
    """The lines of a file that are not blank, one after the other, in bounded memory; to be used in a ``with`` statement.

    Whoever parses them says `mistake` about the line that came last. Raises UserError where the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        """Open the file and read its beginning, so that `first` is known."""
        self.path = path
        self.number = 0
        self.line = ""
        try:
            self._raw = path.open("rb")
        except OSError as error:
            raise self._unreadable(error) from None
        self._size = path.stat().st_size
        lines = self._read()
        try:
            self.first = next(lines)
        except StopIteration:
            self._raw.close()
            raise UserError(f"{path}: holds no requests; a trace has one on each line") from None
        except UserError:
            self._raw.close()
            raise
        self._lines = chain([self.first], lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def __iter__(self) -> Iterator[str]:
        return self._lines

    @property
    def share(self) -> float:
        """Share of the file's bytes that have been read; 1 if its size is not known."""
        return self._raw.tell() / self._size if self._size else 1.0

    def mistake(self, what: str) -> UserError:
        """Say what is wrong with the line that came last."""
        return UserError(f"{self.path}:{self.number}: {what}; the line is {shortened(self.line)!a}")

    def _read(self) -> Iterator[str]:
        try:
            compressed = self._raw.peek(2)[:2] == _GZIP_MAGIC
            yield from self._split(gzip.GzipFile(fileobj=self._raw) if compressed else self._raw)
        except EOFError:
            raise UserError(f"{self.path}: compressed data end after line {self.number}: the file is not whole; copy it again") from None
        except (zlib.error, gzip.BadGzipFile) as error:
            raise UserError(f"{self.path}: damaged gzip data after line {self.number} ({error}); copy it again") from None
        except OSError as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: {error.strerror}; name a trace file that can be read")

    def _split(self, file: io.BufferedReader | gzip.GzipFile) -> Iterator[str]:
        rest = ""
        while data := file.read1(_CHUNK_BYTES):
            *lines, rest = (rest + data.decode("latin-1")).split("\n")
            yield from self._numbered(lines)
            if len(rest) > _LONGEST_LINE:
                raise self._too_long(rest)
        yield from self._numbered([rest])

    def _numbered(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if len(line) > _LONGEST_LINE:
                raise self._too_long(line)
            self.number += 1
            if line and not line.isspace():
                self.line = line
                yield line

    def _too_long(self, line: str) -> UserError:
        """Say that the next line is too long."""
        self.number, self.line = self.number + 1, line
        return self.mistake(f"more than {_LONGEST_LINE} characters, where one request stands on a line")


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a file, compressed if its name ends in ``.gz``, and return how many; it appears when it is whole.

    The same lines give the same bytes. Raises UserError if the system refuses.
    """
    with ExitStack() as stack:
        raw = stack.enter_context(replacing(path))
        packed = path.suffix == ".gz"
        file = stack.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)) if packed else raw
        number = 0
        for line in lines:
            file.write(f"{line}\n".encode("ascii"))
            number += 1
    return number
