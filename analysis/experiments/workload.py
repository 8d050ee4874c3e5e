"""Workloads as experiments write them: what the kernels declare, with units, mistakes told where they stand, and nearest names."""

import copy
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, StrictBool, TypeAdapter, WithJsonSchema, create_model, model_validator

from memwalk.analysis.experiments.parameters import Conditions, Kernel, Parameter, are_met, either, kernels, names, number_beside
from memwalk.simcore.units import MOST_32_BITS, Bytes, Real, to_bytes, to_count
from memwalk.simcore.validation import StrictModel, mistake_at


class Parameters(StrictModel):
    """A map of parameters that a kernel declares."""

    declared: ClassVar[dict[str, Parameter]]

    @model_validator(mode="after")
    def _applicable(self) -> Self:
        for name, parameter in self.declared.items():
            given = getattr(self, name) is not None
            for other, wanted in parameter.applies.items():
                found = self._value(other)
                if given and found not in wanted:
                    raise mistake_at((name,), f"it is for {other}: {either(wanted)}, and {other} is {found}; remove it")
            if not given and parameter.is_required and self._has(parameter.applies):
                needs = ", and ".join(f"{other}: {self._value(other)}" for other in parameter.applies)
                raise ValueError(f"`{name}` is missing; {needs} needs it")
        return self

    def native(self) -> dict[str, Any]:
        """Return the parameters as the kernel takes them: all those that apply, and nothing else; nothing where nothing is the default."""
        values = {name: self._value(name) for name, parameter in self.declared.items() if self._has(parameter.applies)}
        said = {name: value for name, value in values.items() if value is not None}
        return {name: value.native() if isinstance(value, Parameters) else value for name, value in said.items()}

    def _value(self, name: str) -> Any:
        given, parameter = getattr(self, name), self.declared[name]
        if given is None and self._has(parameter.applies):
            return copy.deepcopy(parameter.default)
        return given

    def _has(self, conditions: Conditions) -> bool:
        return are_met(conditions, {other: self._value(other) for other in conditions})


class KernelWorkload(Parameters):
    """A workload of a kernel that runs on machines."""

    kernel: str

    def native(self) -> dict[str, Any]:
        """Return the workload as the kernels take it."""
        return {"kernel": self.kernel} | super().native()


def workload_model(kernel: Kernel) -> type[KernelWorkload]:
    """Make the model of a kernel's workloads."""
    name = _class_name(kernel.name)
    model = _model(name, kernel.parameters, KernelWorkload, kernel=(Literal[kernel.name], ...))
    model.__doc__ = f"{kernel.description[:1].upper()}{kernel.description[1:]}."
    return model


def _model(name: str, parameters: list[Parameter], base: type[Any], **fields: Any) -> type[Any]:
    fields |= {one.name: _field(name, one) for one in parameters}
    model: type[Any] = create_model(name, __base__=base, __module__=__name__, __doc__=None, **fields)
    model.declared = {one.name: one for one in parameters}
    return model


def _class_name(name: str) -> str:
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def _field(model: str, parameter: Parameter) -> tuple[Any, Any]:
    if parameter.below:
        name = model + _class_name(parameter.name)
        kind: Any = _model(name, parameter.below, Parameters)
    else:
        kind = _kind(parameter.schema)
    if parameter.applies:
        absent = "" if parameter.is_required else f"; {parameter.default} if absent"
        only = " and ".join(f"{other}: {either(wanted)}" for other, wanted in parameter.applies.items())
        return kind | None, Field(None, description=f"{parameter.meaning.rstrip('.')}; {only} only{absent}")
    default = ... if parameter.is_required else parameter.default
    return kind, Field(default, description=parameter.meaning)


def _kind(schema: dict[str, Any]) -> Any:
    """Return the type of what a schema describes."""
    if "items" in schema:
        return list[_kind(schema["items"])]  # type: ignore[misc]
    if "anyOf" in schema:
        return _names_or_number(schema)
    listed = names(schema)
    match schema.get("type"):
        case "boolean":
            return StrictBool
        case "integer":
            return _whole_number(schema)
        case "number":
            return Annotated[Real, Field(**_bounds(schema))]
        case _:
            return Literal[tuple(listed)] if listed else str


def _whole_number(schema: dict[str, Any]) -> Any:
    bounds = {key: schema[key] for key in ("type", "minimum", "maximum") if key in schema}
    plain = Annotated[int, BeforeValidator(to_count), Field(**_bounds(schema)), WithJsonSchema(bounds)]
    if schema.get("x-unit") != "bytes":
        return plain
    described = WithJsonSchema({"anyOf": [bounds, TypeAdapter(Bytes).json_schema()]})
    return Annotated[plain, BeforeValidator(_size), described]


def _size(value: Any) -> Any:
    return to_bytes(value) if isinstance(value, str) else value


def _bounds(schema: dict[str, Any]) -> dict[str, Any]:
    most = schema.get("maximum", MOST_32_BITS if schema.get("format") == "uint32" else None)
    return {"ge": schema.get("minimum"), "le": most}


def _names_or_number(schema: dict[str, Any]) -> Any:
    """Return the type of what is one of some names, or a number."""
    listed = names(schema)
    number = number_beside(schema)
    choice = f"{', '.join(f'`{name}`' for name in listed)} or {number.get('description', 'a whole number')}"
    return Annotated[int | Literal[tuple(listed)], BeforeValidator(_reader(schema.get("title", "value"), listed, number, choice))]


def _reader(title: str, listed: list[Any], number: dict[str, Any], choice: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, str) and value in listed:
            return value
        try:
            count = to_count(value)
        except ValueError:
            count = number["minimum"] - 1
        if count < number["minimum"]:
            raise ValueError(f"`{value}` is no {title}; write {choice}")
        if count > number["maximum"]:
            raise ValueError(f"`{value}` is too large; the most is {number['maximum']}")
        return count

    return read


if TYPE_CHECKING:
    Workload: TypeAlias = KernelWorkload
else:
    Workload = Annotated[reduce(or_, map(workload_model, kernels().values())), Field(discriminator="kernel")]
    """Any workload that runs on a machine; ``kernel`` says which."""
