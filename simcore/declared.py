"""Files whose keys the simulator declares (`simcore/src/spec.rs`, `simcore/src/profile.rs`), as pydantic models.

The simulator says which keys there are, of what type, and what they mean. Added here is what files have that the simulator does not: units,
which the end of a number's name tells, files named in files, and sources of numbers.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, StrictBool, Tag, create_model

from memwalk.simcore.dram import DramConfig
from memwalk.simcore.engines import native
from memwalk.simcore.section import Section
from memwalk.simcore.units import MOST_32_BITS, Bytes, Count, Cycles, Hertz, counted

Schema = Mapping[str, Any]

_UNITS: dict[str, Any] = {"bytes": Bytes, "cycles": Cycles, "hz": Hertz}
"""By the last word of a number's name. Other numbers are counts."""

_FILES: dict[str, Any] = {"DramFile": DramConfig}
"""Types of the simulator's that are what another file holds."""


@cache
def declared(name: str) -> type[Section]:
    """Return the model of a type that the simulator declares, by its name there: ``CacheSpec``."""
    return _model(name.removesuffix("Spec"), _definitions()[name])


@cache
def _definitions() -> dict[str, Schema]:
    """Return the schemas of all types, by name."""
    schema = native.machine_schema()
    return {**schema.pop("$defs"), schema["title"]: schema}


def _model(name: str, schema: Schema) -> type[Section]:
    """Make the model of a map of known keys: those that have to be there come first."""
    properties, required = schema["properties"], schema.get("required", [])
    names = [*required, *(key for key in properties if key not in required)]
    fields: dict[str, Any] = {key: _field(name, key, properties[key], optional=key not in required) for key in names}
    return create_model(name, __base__=Section, __doc__=_sentence(schema), **fields)


def _field(model: str, name: str, schema: Schema, *, optional: bool) -> tuple[Any, Any]:
    """Return a key's type, and what else there is to say of it. One that may be left out is None then: the simulator has the default."""
    described, expected = _sentence(schema), _type(name, schema, f"{model}{_title(name)}")
    if not optional:
        return expected, Field(description=described)
    default = schema.get("default")
    if default not in (None, []):
        described += f" Default: {str(default).lower() if isinstance(default, bool) else default}."
    return expected | None, Field(None, description=described)


def _type(name: str, schema: Schema, model: str) -> Any:
    """Return the type of what stands under a key of this name; ``model`` is for maps that have no name of their own."""
    if "$ref" in schema:
        return _named(name, schema["$ref"].rpartition("/")[2])
    if alternatives := [one for one in (*schema.get("oneOf", ()), *schema.get("anyOf", ())) if one.get("type") != "null"]:
        return _either(name, alternatives, model)
    if "enum" in schema or "const" in schema:
        return Literal[tuple(schema.get("enum", [schema.get("const")]))]
    return _plain(name, schema, model)


def _plain(name: str, schema: Schema, model: str) -> Any:
    """Return the type of what has one type in JSON, or may be left out."""
    kind = schema["type"]
    match kind if isinstance(kind, str) else next(one for one in kind if one != "null"):
        case "integer":
            return _number(name, schema)
        case "array":
            return list[_type(name, schema["items"], model)]  # type: ignore[misc]
        case "object" if "properties" not in schema:
            return dict[str, _type("", schema["additionalProperties"], model)]  # type: ignore[misc]
        case "object":
            return _model(model, schema)
        case simple:
            return {"boolean": StrictBool, "string": str}[simple]


def _named(name: str, known: str) -> Any:
    """Return the type that has a name among the simulator's, for a key called ``name``."""
    definition = _definitions()[known]
    if known in _FILES:
        return _FILES[known]
    if "properties" in definition and "oneOf" in definition:
        return _either(name, [_with_common(definition, one) for one in definition["oneOf"]], known.removesuffix("Spec"))
    is_map = "properties" in definition
    return declared(known) if is_map else _type(name, definition, known.removesuffix("Spec"))


def _either(name: str, alternatives: list[Schema], model: str) -> Any:
    """Return the type of one of several: names, or maps of which one key says which they are, or anything."""
    listed = [value for one in alternatives for value in one.get("enum", [one["const"]] if "const" in one else [])]
    others = [one for one in alternatives if "enum" not in one and "const" not in one]
    tags = [key for key, value in (others[0].get("properties", {}) if others else {}).items() if "const" in value]
    if len(others) > 1 and tags:
        (tag,) = tags
        maps = [_tagged(tag, one) for one in others]
        return Annotated[Union[tuple(maps)], Field(discriminator=tag)]  # noqa: UP007
    types = [_type(name, one, model) for one in others]
    if [one.get("type") for one in others].count("array") == 1 and len(types) > 1:
        return _listed_or_not(types, others)
    return Union[tuple([Literal[tuple(listed)], *types] if listed else types)]  # noqa: UP007


def _with_common(common: Schema, schema: Schema) -> Schema:
    """Return a map of one kind with the keys that all kinds have, those first."""
    properties = {**common["properties"], **schema["properties"]}
    return {**schema, "properties": properties, "required": [*common.get("required", []), *schema["required"]]}


def _listed_or_not(types: list[Any], schemas: list[Schema]) -> Any:
    """Return the type of one thing or a list of such: what is wrong with a value is told of the one that was meant."""
    kinds = ["list" if schema.get("type") == "array" else "single" for schema in schemas]
    tagged = [Annotated[one, Tag(kind)] for one, kind in zip(types, kinds, strict=True)]
    return Annotated[Union[tuple(tagged)], Discriminator(lambda value: "list" if isinstance(value, list) else "single")]  # noqa: UP007


def _tagged(tag: str, schema: Schema) -> type[Section]:
    """Return the model of a map that a key's value tells from others. It may have the keys of a type with a name."""
    named = _definitions()[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else {}
    properties = {**schema["properties"], **named.get("properties", {})}
    required = list(dict.fromkeys([*schema["required"], *named.get("required", [])]))
    name = _title(properties[tag]["const"])
    return _model(name, {"description": schema.get("description", name), "properties": properties, "required": required})


def _number(name: str, schema: Schema) -> Any:
    """Return the type of a number, as its name and its range tell."""
    least = schema.get("minimum", 0)
    most = MOST_32_BITS if schema.get("format") == "uint32" else None
    unit = _UNITS.get(name.rpartition("_")[2])
    if unit is None:
        return Annotated[Count, Field(ge=least, le=most), counted(least, most)]
    return Annotated[unit, Field(le=most)]


def _sentence(schema: Schema) -> str:
    return " ".join(schema.get("description", "").split())


def _title(name: str) -> str:
    return name.replace("_", "-").title().replace("-", "")
