"""Configuration files found by name among ours, or by path."""

from collections.abc import Iterable
from pathlib import Path

from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import nearest


class ConfigNotFoundError(UserError):
    """No file of the kind has that name or path."""


def names_in(ours: Path) -> list[str]:
    """List the files of a kind that come with memwalk, by name."""
    return sorted(path.stem for path in ours.glob("*.yaml"))


def is_path(name_or_path: str) -> bool:
    """Tell a path from a name."""
    return "/" in name_or_path or name_or_path.endswith((".yaml", ".yml"))


def from_here(name_or_path: str) -> str:
    """Return what names the same file from any folder: a name as it is, and the absolute path of one that begins in the current folder."""
    return str(Path(name_or_path).absolute()) if is_path(name_or_path) else name_or_path


def find_config(kind: str, name_or_path: str, ours: Path, folder: Path | None = None) -> Path:
    """Find a file: a name of those in ``ours``, or a path (with ``/`` or ``.yaml``), relative to ``folder``.

    ``kind`` says what it is of, for messages. Raises ConfigNotFoundError naming the nearest of ours if there is none.
    """
    names: Iterable[str] = names_in(ours)
    if is_path(name_or_path):
        path = (folder or Path()) / name_or_path
        if not path.exists():
            known = ", ".join(names)
            place = "" if Path(name_or_path).is_absolute() else f" ({path})"
            raise ConfigNotFoundError(f"{kind} {name_or_path}: no such file{place}; name a {kind} file or one of {known}")
        return path
    path = ours / f"{name_or_path}.yaml"
    if not path.is_file():
        raise ConfigNotFoundError(f"{kind} `{name_or_path}`: not in {ours}; {nearest(name_or_path, names)}")
    return path
