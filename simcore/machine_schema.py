"""The machine file and the DBMS profile as pydantic models: what the simulator declares, and what only files say."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, create_model

from memwalk.simcore.declared import Maker
from memwalk.simcore.dram import DramConfig
from memwalk.simcore.engines import native
from memwalk.simcore.section import Section
from memwalk.simcore.yaml_source import Route

_SCHEMA = native.machine_schema()
_MAKER = Maker(Section, {**_SCHEMA["$defs"], _SCHEMA["title"]: _SCHEMA}, {"DramFile": DramConfig})
_NAME = (str, Field("", description="The file's name without .yaml (and nothing else)"))
_VERSION: Any = (Literal[1], Field(exclude=True))

MachineFile: type[Section] = create_model(
    "MachineFile",
    __base__=_MAKER.named("MachineSpec"),
    __doc__="A machine file. Every number in it needs a source.",
    schema_version=_VERSION,
    description=(str, Field("", exclude=True)),
    extends=(str | None, Field(None, exclude=True, description="A machine that this one is laid over")),
    name=_NAME,
)
"""A machine."""

DbmsFile: type[Section] = create_model(
    "DbmsFile",
    __base__=_MAKER.named("DbmsSpec"),
    __doc__="A DBMS profile in a file of its own. Every number in it needs a source.",
    schema_version=_VERSION,
    description=(str, Field(exclude=True)),
    name=_NAME,
)
"""A DBMS profile, mostly laid over a machine (``--dbms``)."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of machine files. One that extends another may leave anything out but has no other keys."""
    whole = MachineFile.model_json_schema()
    definitions = whole.pop("$defs")
    part = {"properties": dict.fromkeys(whole["properties"], True), "additionalProperties": False}
    return {"$defs": definitions, "title": whole["title"], "if": {"required": ["extends"]}, "then": part, "else": whole}


def numbers(data: Any, route: Route = ()) -> Iterator[Route]:
    """Yield the route of every number in a native machine."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from numbers(value, (*route, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from numbers(value, (*route, index))
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield route
