"""The parameters of kernels on storage, as their models declare them."""

from collections.abc import Iterator, Mapping
from typing import Any

from memwalk.analysis.experiments.parameters import either, range_in_words
from memwalk.analysis.storage_workloads import model_of
from memwalk.simcore.declared import listed_values
from memwalk.simcore.units import PS_PER_SECOND, in_units

Listed = dict[str, Any]
"""A parameter: ``name`` (dotted in maps), whether it is ``required``, ``default``, ``values``, what it ``applies`` to, and ``meaning``."""


def list_parameters(kernel: str) -> list[Listed]:
    """List the parameters of a kernel on storage, in the order of their declaration. Raises KeyError if there is no such kernel."""
    schema = model_of(kernel).model_json_schema()
    definitions = schema.get("$defs", {})
    return [one for one in _of_map(schema, definitions, "", None) if one["name"] != "kernel"]


def _of_map(schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str, applies: str | None) -> Iterator[Listed]:
    for name, declared in schema["properties"].items():
        one = _resolved(declared, definitions)
        if "discriminator" in one:
            yield from _of_kinds(one, definitions, path + name)
        elif "properties" in one:
            yield from _of_map(one, definitions, f"{path}{name}.", applies)
        else:
            is_required = name in schema.get("required", ())
            yield _listed(path + name, _in_words(one), applies, one, is_required=is_required)


def _of_kinds(one: Mapping[str, Any], definitions: Mapping[str, Any], path: str) -> Iterator[Listed]:
    """List those of a map that is one of several, told by one of its keys."""
    key, kinds = one["discriminator"]["propertyName"], one["discriminator"]["mapping"]
    tells = f"{path}.{key}"
    yield _listed(tells, either(list(kinds)), None, one, is_required="default" not in one)
    for kind, reference in kinds.items():
        below = _of_map(_resolved({"$ref": reference}, definitions), definitions, f"{path}.", f"{tells}: {kind}")
        yield from (row for row in below if row["name"] != tells)


def _listed(name: str, values: str, applies: str | None, one: Mapping[str, Any], *, is_required: bool) -> Listed:
    default = None if is_required else _default(one)
    said = {"values": values, "applies": applies, "meaning": one.get("description", "")}
    return {"name": name, "required": is_required, "default": default, **said}


def _resolved(declared: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in declared:
        return declared
    return {**definitions[declared["$ref"].rpartition("/")[2]], **declared}


def _in_words(schema: Mapping[str, Any]) -> str:
    values = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    return either([word for one in values for word in listed_values(dict(one)) or [_kind(one)]])


def _kind(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"examples": [example, *_]}:
            said = f"such as {example}"
        case {"minimum": _}:
            said = range_in_words(schema)
        case {"type": str(kind)}:
            said = {"boolean": "true or false", "array": "a list", "object": "a map", "number": "a number"}.get(kind, "text")
        case _:
            said = "text"
    return said


def _default(schema: Mapping[str, Any]) -> Any:
    """Return it as a file would have it: with its unit."""
    default, example = schema.get("default"), str(next(iter(schema.get("examples", ())), ""))
    if isinstance(default, bool):
        return str(default).lower()
    if not isinstance(default, int) or not example:
        return default
    return f"{default / PS_PER_SECOND:g}s" if example.endswith("s") else in_units(default)
