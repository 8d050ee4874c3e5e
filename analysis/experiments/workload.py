"""Workloads as experiments write them: what the kernels declare, and which parameters apply to which workloads."""

import copy
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeAlias

from pydantic import Field, model_validator

from memwalk.analysis.experiments.parameters import Conditions, Kernel, Parameter, are_met, either, kernels, parameters
from memwalk.analysis.storage_workloads.program_mix import KERNEL
from memwalk.simcore.declared import Maker, Schema, title
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


class _Maker(Maker):
    """Makes maps of parameters; descriptions say what each applies to."""

    def model(self, name: str, declaration: Schema) -> type[Parameters]:
        declared = {one.name: one for one in parameters(declaration)}
        told = {**declaration, "properties": {key: _told(one) for key, one in declared.items()}}
        made: type[Parameters] = super().model(name, told)
        made.declared = declared
        return made


def _told(parameter: Parameter) -> Schema:
    """Say of a parameter that applies to some workloads which these are; in others it may be null, which is how a variant takes it away.

    So may a file, without which everything is built.
    """
    schema = parameter.schema
    or_nothing = {**schema, "anyOf": [*schema.get("anyOf", ()), {"type": "null"}]}
    if not parameter.applies:
        return or_nothing if parameter.is_file else schema
    only = " and ".join(f"{other}: {either(wanted)}" for other, wanted in parameter.applies.items())
    told = f"{parameter.meaning.rstrip('.')}; {only} only"
    return or_nothing | {"description": told}


_MAKER = _Maker(Parameters, {}, {})


def workload_model(kernel: Kernel) -> type[Parameters]:
    """Make the model of a kernel's workloads: its parameters, and first of all the kernel."""
    schema = kernel.schema
    return _MAKER.model(
        title(kernel.name),
        {
            "description": f"{kernel.description[:1].upper()}{kernel.description[1:]}.",
            "properties": {KERNEL: {"const": kernel.name, "type": "string"}, **schema["properties"]},
            "required": [KERNEL, *schema["required"]],
            "x-order": [KERNEL, *schema["x-order"]],
        },
    )


if TYPE_CHECKING:
    Workload: TypeAlias = Parameters
else:
    Workload = Annotated[reduce(or_, map(workload_model, kernels().values())), Field(discriminator=KERNEL)]
    """Any workload that runs on a machine; ``kernel`` says which."""
