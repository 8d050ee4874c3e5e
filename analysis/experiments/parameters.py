"""What kernels declare of their parameters (`workloads/src/schema.rs`), which all that Python knows of them comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from memwalk.simcore.declared import listed_values
from memwalk.simcore.engines import native

Conditions = Mapping[str, list[Any]]
"""Values of other parameters of the same map, by name; all of them are wanted."""


@dataclass(frozen=True)
class Parameter:
    """A parameter, as its kernel declares it."""

    name: str
    schema: dict[str, Any]
    """What JSON Schema, and the kernels' additions to it, say about its values."""

    @property
    def meaning(self) -> str:
        """A sentence."""
        return str(self.schema.get("description", ""))

    @property
    def unit(self) -> str:
        """The unit of its numbers; empty for counts and shares."""
        return str(self.schema.get("x-unit", ""))

    @property
    def is_required(self) -> bool:
        """Whether the user has to give it, where it applies."""
        return "default" not in self.schema

    @property
    def default(self) -> Any:
        """What holds if nothing is said, where it applies; None if something has to be."""
        return self.schema.get("default")

    @property
    def applies(self) -> Conditions:
        """What is true of the workloads that it is part of; it is refused in others."""
        return dict(self.schema.get("x-applies", {}))

    @property
    def is_file(self) -> bool:
        """Whether it names a page file, which decides about other parameters."""
        return bool(self.schema.get("x-file", False))

    @property
    def effect(self) -> Conditions:
        """What is true of the workloads to which it makes a difference; the others have it, too."""
        return dict(self.schema.get("x-effect", {}))

    @property
    def below(self) -> list["Parameter"]:
        """The parameters in it, if it is a map."""
        return parameters(self.schema)

    def facts(self) -> dict[str, Any]:
        """Return what there is to say, as plain data."""
        number = number_beside(self.schema.get("items", self.schema))
        return {
            "unit": self.unit or None,
            "required": self.is_required,
            "default": self.default,
            "values": _in_words(self.schema),
            "names": listed_values(self.schema.get("items", self.schema)),
            "minimum": number.get("minimum"),
            "maximum": number.get("maximum"),
            "applies": dict(self.applies),
            "effect": dict(self.effect),
            "meaning": self.meaning,
        }

    def summary(self) -> dict[str, Any]:
        """Return the same, put in a few words."""
        default = str(self.default).lower() if isinstance(self.default, bool) else self.default
        return {
            "unit": self.unit or None,
            "default": "required" if self.is_required else default,
            "values": _in_words(self.schema),
            "applies": in_words({**self.applies, **self.effect}) or None,
            "meaning": self.meaning,
        }


@dataclass(frozen=True)
class Kernel:
    """A kernel that runs on machines."""

    name: str
    description: str
    calls_dbms: bool
    """Whether it calls a host DBMS."""
    asks_for_pages: bool
    """Whether it asks storage for pages."""
    schema: dict[str, Any]
    """What it declares of its parameters."""

    @property
    def parameters(self) -> list[Parameter]:
        """Its parameters, in the order of their declaration."""
        return parameters(self.schema)

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of a name, which it has."""
        return next(one for one in self.parameters if one.name == name)


def _kernel(listed: dict[str, Any]) -> Kernel:
    return Kernel(**{field.name: listed[field.name] for field in fields(Kernel)})


@cache
def kernels() -> dict[str, Kernel]:
    """Return the kernels that run on machines, by name."""
    return {one["name"]: _kernel(one) for one in native.list_workloads()}


def parameters(schema: Mapping[str, Any]) -> list[Parameter]:
    """Return the parameters of a map, in the order of their declaration."""
    return [Parameter(name, schema["properties"][name]) for name in schema.get("x-order", ())]


def dotted_parameters(declared: list[Parameter], path: str = "") -> Iterator[tuple[str, Parameter]]:
    """List parameters with those in them, by dotted path; maps themselves are none."""
    for one in declared:
        if one.below:
            yield from dotted_parameters(one.below, f"{path}{one.name}.")
        else:
            yield path + one.name, one


def are_met(conditions: Conditions, values: Mapping[str, Any]) -> bool:
    """Tell whether conditions hold for the values of a map."""
    return all(values.get(name) in wanted for name, wanted in conditions.items())


def in_words(conditions: Conditions) -> str:
    """Put conditions as an experiment would: ``operation: scan or update, and layout: pax``."""
    return ", and ".join(f"{name}: {either(wanted)}" for name, wanted in conditions.items())


def either(values: list[Any]) -> str:
    """List alternatives: ``a, b or c``."""
    *before, last = map(str, values)
    return f"{', '.join(before)} or {last}" if before else last


def _in_words(schema: dict[str, Any]) -> str:
    if "items" in schema:
        return f"a list of {_in_words(schema['items'])}"
    number = number_beside(schema)
    listed = [str(name) for name in listed_values(schema)]
    if "minimum" in number and "enum" not in number:
        powers = "a power of two, " if number.get("x-power-of-two") else ""
        listed.append(f"{powers}{range_in_words(number)}")
    if schema.get("type") == "boolean":
        listed = ["true", "false"]
    return either(listed) if listed else "text"


def range_in_words(number: Mapping[str, Any]) -> str:
    """Put the least and the most of a number, as its schema has them, in words: ``1 to 64``."""
    least = _digits(number["minimum"])
    return f"{least} to {_digits(number['maximum'])}" if "maximum" in number else f"{least} or more"


def number_beside(schema: dict[str, Any]) -> dict[str, Any]:
    """Return what a schema says of numbers, beside names or alone."""
    return next((one for one in schema.get("anyOf", ()) if "const" not in one), schema)


def _digits(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
