"""Names of trace formats that import and export call differently: each command takes the other's, unless it calls another format so."""

from collections.abc import Container, Iterable

_AT_EXPORT = {"dramsim": "dramsim3", "ramulator": "ramulator1", "ramulator2": "ramulator"}
"""What export calls formats, by their names at import. (`dinero` is no name of export's `din`: import has both.)"""
_AT_IMPORT = {name: other for other, name in _AT_EXPORT.items()}


def told_at_export(known: Iterable[str]) -> list[str]:
    """Return what export calls its formats when it lists them: no name that means another format at import."""
    return [_AT_IMPORT[name] if name in _AT_EXPORT else name for name in known]


def at_import(name: str, known: Container[str]) -> str:
    """Return import's name of a format that may be called as at export; ``known`` are import's names."""
    return name if name in known else _AT_IMPORT.get(name, name)


def at_export(name: str, known: Container[str]) -> str:
    """Return export's name of a format that may be called as at import; ``known`` are export's names."""
    return name if name in known else _AT_EXPORT.get(name, name)
