"""Maps of files whose keys Rust declares, as pydantic models: machines, DBMS profiles, workloads.

Rust says which keys there are, of what type, and what they mean, as JSON Schema (`simcore/src/spec.rs`, `workloads/src/schema.rs`). Files
have units besides. A number that declares one (``x-unit``) is of bytes, and a bare number of them will do; otherwise the end of its name
tells the unit, which has to be written.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, StrictBool, Tag, TypeAdapter, WithJsonSchema, create_model

from memwalk.simcore.units import MOST_32_BITS, Bytes, Hertz, Real, counted, cycles_in_parts, cycles_up_to, to_bytes, to_count
from memwalk.simcore.validation import StrictModel

Schema = Mapping[str, Any]

_UNITS: dict[str, Callable[[int | None], Any]] = {"bytes": lambda _: Bytes, "cycles": cycles_up_to, "hz": lambda _: Hertz}
"""Types by the last word of a number's name, and the most that it may be. Other numbers are counts."""


class Maker:
    """Makes the models of one kind of files. A key that may be left out, and is, is None: whoever takes the map has the default."""

    def __init__(self, base: type[StrictModel], definitions: Mapping[str, Schema], known: Mapping[str, Any]) -> None:
        """Make maps of ``base``. Declarations refer by name to others in ``definitions``, or to types that are ``known``."""
        self._base = base
        self._definitions = definitions
        self._named = dict(known)

    def named(self, name: str) -> Any:
        """Return the type that is declared under a name: ``CacheSpec``."""
        if name not in self._named:
            self._named[name] = self._type("", self._definitions[name], name.removesuffix("Spec"))
        return self._named[name]

    def model(self, name: str, declaration: Schema) -> type[Any]:
        """Make the model of a map, in the order of its declaration if that is known, else with what has to be there first."""
        properties, required = declaration["properties"], declaration.get("required", ())
        order = dict.fromkeys((*declaration.get("x-order", ()), *required, *properties))
        fields: dict[str, Any] = {key: self._field(name, key, properties[key], optional=key not in required) for key in order}
        return create_model(name, __base__=self._base, __doc__=_sentence(declaration), **fields)

    def _field(self, model: str, name: str, schema: Schema, *, optional: bool) -> tuple[Any, Any]:
        """Return a key's type, and what else there is to say of it."""
        described, expected = _sentence(schema) or None, self._type(name, schema, model + title(name))
        if not optional:
            return expected, Field(description=described)
        default = {"default": schema.get("default")}
        return expected | None if _takes_null(schema) else expected, Field(None, description=described, json_schema_extra=default)

    def _type(self, name: str, schema: Schema, model: str) -> Any:
        """Return the type of what stands under a key of this name; ``model`` is for maps that have no name of their own."""
        if "$ref" in schema:
            return self.named(_referred(schema))
        alternatives = [one for one in (*schema.get("oneOf", ()), *schema.get("anyOf", ())) if one.get("type") != "null"]
        if alternatives and "properties" in schema:
            return self._tagged([_joined(schema, one) for one in alternatives])
        if alternatives:
            return self._either(name, alternatives, schema, model)
        return self._plain(name, schema, model)

    def _plain(self, name: str, schema: Schema, model: str) -> Any:
        """Return the type of what has one type in JSON, or may be null."""
        kind = schema["type"]
        match kind if isinstance(kind, str) else next(one for one in kind if one != "null"):
            case "integer":
                return _whole_number(name, schema)
            case "array":
                return list[self._type(name, schema["items"], model)]  # type: ignore[misc]
            case "object" if "properties" not in schema:
                return dict[str, self._type("", schema["additionalProperties"], model)]  # type: ignore[misc]
            case "object":
                return self.model(model, schema)
            case "string" if listed := listed_values(schema):
                return Literal[tuple(listed)]
            case simple:
                return {"boolean": StrictBool, "number": _number(name, schema), "string": str}[simple]

    def _either(self, name: str, alternatives: list[Schema], schema: Schema, model: str) -> Any:
        """Return the type of one of several: names, or maps of which one key says which they are, or anything."""
        listed = listed_values(schema)
        others = [one for one in alternatives if "enum" not in one and "const" not in one]
        if len(others) > 1 and _tag(others[0]):
            return self._tagged(others)
        types = [self._type(name, one, model) for one in others]
        kinds = [one.get("type") for one in others]
        if kinds.count("array") == 1 and len(types) > 1:
            return _listed_or_not(types, kinds)
        if listed and kinds == ["array"]:
            return _listed_or_not([Literal[tuple(listed)], Annotated[types[0], AfterValidator(_without(listed))]], ["string", "array"])
        if listed and kinds == ["integer"]:
            return _names_or_number(schema, listed, others[0])
        return Union[tuple([Literal[tuple(listed)], *types] if listed else types)]  # noqa: UP007

    def _tagged(self, alternatives: list[Schema]) -> Any:
        """Return the type of maps that a key's value tells from each other. They may have the keys of a type with a name."""
        tag, maps = _tag(alternatives[0]), []
        for one in alternatives:
            whole = _joined(one, self._definitions[_referred(one)]) if "$ref" in one else one
            name = title(whole["properties"][tag]["const"])
            maps.append(self.model(name, {**whole, "description": one.get("description", name)}))
        return Annotated[Union[tuple(maps)], Field(discriminator=tag)]  # noqa: UP007


def listed_values(schema: Schema) -> list[Any]:
    """Return the values that a schema lists."""
    alternatives = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())]
    return [value for one in alternatives for value in one.get("enum", [one["const"]] if "const" in one else [])]


def title(name: str) -> str:
    """Return a name as those of classes are: ``page-table`` as ``PageTable``."""
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def _takes_null(schema: Schema) -> bool:
    return "null" in schema.get("type", ()) or {"type": "null"} in schema.get("anyOf", ())


def _referred(schema: Schema) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _tag(schema: Schema) -> str:
    """Return the key whose value tells a map from others; empty if none does."""
    return next((key for key, value in schema.get("properties", {}).items() if "const" in value), "")


def _joined(first: Schema, second: Schema) -> Schema:
    """Return a map with the keys of both."""
    properties = {**first["properties"], **second["properties"]}
    return {"type": "object", **second, "properties": properties, "required": [*first.get("required", ()), *second.get("required", ())]}


def _listed_or_not(types: list[Any], kinds: list[Any]) -> Any:
    """Return the type of one thing or a list of such: what is wrong with a value is told of the one that was meant."""
    tagged = [Annotated[one, Tag(str(kind == "array"))] for one, kind in zip(types, kinds, strict=True)]
    return Annotated[Union[tuple(tagged)], Discriminator(lambda value: str(isinstance(value, list)))]  # noqa: UP007


def _without(names: list[Any]) -> Callable[[list[Any]], list[Any]]:
    """Return what refuses a list with a name in it that says something else alone."""

    def check(values: list[Any]) -> list[Any]:
        for name in names:
            if name in values:
                raise ValueError(f"`{name}` is a word that stands alone, not in a list; write `{name}`")
        return values

    return check


def _unit(name: str) -> str:
    """Return the last word of a number's name."""
    return name.rpartition("_")[2]


def _whole_number(name: str, schema: Schema) -> Any:
    bounds, described = _bounds(schema), counted(schema["minimum"], _most(schema))
    plain = Annotated[int, BeforeValidator(to_count), bounds, described]
    if "x-unit" in schema:
        either = WithJsonSchema({"anyOf": [described.json_schema, TypeAdapter(Bytes).json_schema()]})
        return Annotated[plain, BeforeValidator(lambda value: to_bytes(value) if isinstance(value, str) else value), either]
    unit = _UNITS.get(_unit(name))
    return plain if unit is None else Annotated[unit(_most(schema)), bounds]


def _number(name: str, schema: Schema) -> Any:
    """Return the type of a number that need not be whole."""
    if _unit(name) == "cycles" and "minimum" in schema:
        return cycles_in_parts(Fraction(schema["minimum"]))
    return Annotated[Real, _bounds(schema)]


def _bounds(schema: Schema) -> Any:
    return Field(ge=schema.get("minimum"), le=_most(schema))


def _most(schema: Schema) -> Any:
    return schema.get("maximum", MOST_32_BITS if schema.get("format") == "uint32" else None)


def _names_or_number(schema: Schema, listed: list[Any], number: Schema) -> Any:
    """Return the type of what is one of some names, or a number."""
    choice = f"{', '.join(f'`{name}`' for name in listed)} or {number.get('description', 'a whole number')}"
    return Annotated[int | Literal[tuple(listed)], BeforeValidator(_reader(schema.get("title", "value"), listed, number, choice))]


def _reader(what: str, listed: list[Any], number: Schema, choice: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, str) and value in listed:
            return value
        try:
            count = to_count(value)
        except ValueError:
            count = number["minimum"] - 1
        if count < number["minimum"]:
            raise ValueError(f"`{value}` is no {what}; write {choice}")
        if count > number["maximum"]:
            raise ValueError(f"`{value}` is too large; the most is {number['maximum']}")
        return count

    return read


def _sentence(schema: Schema) -> str:
    return " ".join(schema.get("description", "").split())
