"""DBMS profiles: found by name and made part of a machine."""

from pathlib import Path
from typing import Any

from memwalk.simcore.config_files import find_config, names_in
from memwalk.simcore.machine_schema import DbmsFile
from memwalk.simcore.paths import configs
from memwalk.simcore.validation import validate
from memwalk.simcore.yaml_source import Sourced, load

PART = "dbms"
"""The key of a machine under which its profile stands."""

_FILE_ONLY = ("schema_version", "description")


def dbms_folder() -> Path:
    """Return the folder of the profiles that come with memwalk."""
    return configs() / "dbms"


def dbms_names() -> list[str]:
    """List the profiles that come with memwalk, by name."""
    return names_in(dbms_folder())


def read_dbms(name_or_path: str, folder: Path | None = None) -> Sourced:
    """Read a profile as a layer to lay over a machine: its part ``dbms``, every value with its place in the file.

    Raises UserError if there is none of that name or path (relative to ``folder``), or one line per mistake in it.
    """
    file = find_config("DBMS profile", name_or_path, dbms_folder(), folder)
    source = _read(file).without(_FILE_ONLY)
    spots = {(PART, *route): spot for route, spot in source.spots.items()}
    return Sourced({PART: source.data | {"name": file.stem}}, {(): source.spot(()), **spots})


def describe_dbms() -> list[dict[str, Any]]:
    """List the profiles that come with memwalk: ``name``, ``description``, and the names of their ``calls``."""
    read = [(name, _read(dbms_folder() / f"{name}.yaml").data) for name in dbms_names()]
    return [{"name": name, "description": file["description"], "calls": ", ".join(file["calls"])} for name, file in read]


def _read(file: Path) -> Sourced:
    source = load(file)
    # Its times become cycles with the clock of a machine; whether they are times at all, any clock shows.
    validate(DbmsFile, source, {"clock_hz": 10**9})
    name = source.data.get("name", "")
    if name not in ("", file.stem):
        raise source.error(("name",), f"name `{name}` is not the file's name; write `{file.stem}` or leave it out")
    return source
