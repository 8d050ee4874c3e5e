"""Data checked against pydantic models, with mistakes told at the file, line and column where they were written."""

import difflib
from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from simcore.errors import UserError
from simcore.yaml_source import Route, Sourced, dotted

T = TypeVar("T")


class StrictModel(BaseModel):
    """A map of known keys: an unknown one is refused, with the nearest valid name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            for key in data:
                if key not in cls.model_fields:
                    message = f"unknown key `{key}`; {nearest(key, cls.model_fields)}"
                    raise PydanticCustomError("unknown_key", "{message}", {"message": message, "key": key})
        return data


def nearest(name: str, known: Iterable[str]) -> str:
    """Says which of the known names was probably meant, or lists them all."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(names) or 'nothing'}"


def validate(model: type[T] | TypeAdapter[T], source: Sourced, context: dict[str, Any] | None = None) -> T:
    """Checks ``source`` against ``model`` (a type that pydantic takes, or its adapter) and returns the instance.

    Raises UserError with one line per mistake, each with file, line and column.
    """
    try:
        adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
        return adapter.validate_python(source.data, context=context)
    except ValidationError as error:
        lines = [_line(details, source) for details in error.errors()]
        raise UserError("\n".join(dict.fromkeys(lines))) from None


def _line(details: ErrorDetails, source: Sourced) -> str:
    route = _route(details["loc"], source.data)
    context = details.get("ctx", {})
    if details["type"] == "unknown_key":
        return str(source.error((*route, context["key"]), details["msg"], at_key=True))
    if details["type"] == "missing":
        name = dotted((*route, str(details["loc"][-1])))
        return str(source.error(route, f"`{name}` is missing", at_key=True))
    prefix = f"{dotted(route)}: " if route else ""
    return str(source.error(route, prefix + _message(details, context)))


def _route(location: tuple[str | int, ...], data: Any) -> Route:
    """Keeps of pydantic's location what is in the data: it also names union members and missing keys."""
    route: list[str | int] = []
    for step in location:
        inside_map = isinstance(data, dict) and step in data
        inside_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if inside_map or inside_list:
            route.append(step)
            data = data[step]
    return tuple(route)


_CONTAINERS = {dict: "a map", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}


def _message(details: ErrorDetails, context: dict[str, Any]) -> str:
    value = details["input"]
    found = _CONTAINERS.get(type(value), "a number")
    match details["type"]:
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"{found} stands where a map of `key: value` belongs"
        case "list_type" | "tuple_type":
            return f"{found} stands where a list belongs; write [ ... ]"
        case "string_type":
            return f"{found} stands where text belongs; quote it"
        case "bool_type" | "bool_parsing":
            return f"`{value}` is neither true nor false"
        case "float_type" | "float_parsing" | "finite_number":
            return f"`{value}` is not a number"
        case "literal_error" | "enum":
            names = [name.strip(" '") for name in str(context["expected"]).replace(" or ", ", ").split(",")]
            return f"`{value}` is not one of {', '.join(names)}"
        case "union_tag_invalid":
            key = str(context["discriminator"]).strip("'")
            return f"{key} `{context['tag']}` is not one of {context['expected_tags']}".replace("'", "")
        case "union_tag_not_found":
            return f"`{str(context['discriminator']).strip(chr(39))}` is missing"
        case "greater_than_equal":
            return f"`{value}` is too small; the least is {context['ge']}"
        case "greater_than":
            return f"`{value}` is too small; it must be more than {context['gt']}"
        case "less_than_equal":
            return f"`{value}` is too large; the most is {context['le']}"
        case _:
            return details["msg"].removeprefix("Value error, ")
