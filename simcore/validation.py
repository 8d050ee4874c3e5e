"""Data checked against pydantic models, with mistakes told at the file, line and column where they were written."""

import difflib
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from memwalk.simcore.errors import UserError
from memwalk.simcore.yaml_source import Route, Sourced, dotted

T = TypeVar("T")

_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
"""What checks a type, built once: there are hundreds of files of some models."""


DEFERRED = ConfigDict(defer_build=True)
"""Of an adapter that is built when it is first used: that of all workloads takes as long as reading an experiment."""


class StrictModel(BaseModel):
    """A map of known keys: an unknown one is refused, with the nearest valid name."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        if isinstance(data, dict):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for key in data:
                if key not in known:
                    raise wrong_key(key, f"unknown key `{key}`; {nearest(key, known)}")
        return data


def wrong_key(key: str, message: str) -> PydanticCustomError:
    """Build what a validator of a map raises for a key that cannot be there."""
    return PydanticCustomError("wrong_key", "{message}", {"message": message, "key": key})


def mistake_at(route: Route, message: str) -> ValidationError:
    """Build what a model's validator raises for a mistake at one place below the model, such as ``zones.3.cylinders``."""
    mistake = PydanticCustomError("mistake", "{message}", {"message": message})
    return ValidationError.from_exception_data("", [InitErrorDetails(type=mistake, loc=route, input=None)])


def nearest(name: str, known: Iterable[str]) -> str:
    """Says which of the known names was probably meant, or lists them all."""
    names = list(known)
    close = _closest(name, names)
    return f"did you mean `{close}`?" if close else f"known here: {', '.join(names) or 'nothing'}"


def validate(model: type[T] | TypeAdapter[T], source: Sourced, context: dict[str, Any] | None = None) -> T:
    """Check ``source`` against ``model`` (a type that pydantic takes, or its adapter) and returns the instance.

    Raises UserError with one line per mistake, each with file, line and column.
    """
    try:
        adapter: TypeAdapter[T] = model if isinstance(model, TypeAdapter) else _adapter(model)
        return adapter.validate_python(source.data, context=context)
    except ValidationError as error:
        lines = [_line(details, source) for details in error.errors()]
        raise UserError("\n".join(dict.fromkeys(lines))) from None


def _line(details: ErrorDetails, source: Sourced) -> str:
    route = _route(details["loc"], source.data)
    context = details.get("ctx", {})
    if details["type"] == "wrong_key":
        return str(source.error((*route, context["key"]), details["msg"], at_key=True))
    if details["type"] == "missing":
        name = dotted((*route, str(details["loc"][-1])))
        return str(source.error(route, f"`{name}` is missing", at_key=True))
    prefix = source.named(route)
    if details["type"] == _WRONG_KIND:
        route = (*route, context["discriminator"].strip("'"))  # pydantic complains of the map whose kind it is
    return str(source.error(route, prefix + in_words(details)))


def _route(location: tuple[str | int, ...], data: Any) -> Route:
    """Keep of pydantic's location what is in the data: it also names union members and missing keys."""
    route: list[str | int] = []
    for step in location:
        inside_map = isinstance(data, dict) and step in data
        inside_list = isinstance(data, list) and isinstance(step, int) and step < len(data)
        if inside_map or inside_list:
            route.append(step)
            data = data[step]
    return tuple(route)


_CONTAINERS = {dict: "a map", list: "a list", str: "text", bool: "true or false", type(None): "nothing"}


def in_words(details: ErrorDetails) -> str:
    """Put pydantic's complaint about a value in the words of who wrote it: the value, and what would be right."""
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    found = _CONTAINERS.get(type(value), "a number")
    fields = {key: str(text).strip("'") for key, text in context.items()} | {"value": "null" if value is None else value, "found": found}
    if kind == "literal_error":
        names = str(context["expected"]).replace(" or ", ", ").split(",")
        known = [name.strip(" '") for name in names]
        fields["expected"] = ", ".join(known) + _meant(str(value), known)
    if kind == _WRONG_KIND:
        tags = str(context["expected_tags"]).replace("'", "")
        fields["expected_tags"] = tags + _meant(str(context["tag"]), tags.split(", "))
        if value[fields["discriminator"]] is None:
            fields["tag"] = "null"
    if kind in _BOUNDS and str(value).strip(" +-").lower() == "nan":
        kind = "finite_number"  # it is compared first, and fails every comparison
    words = _WORDS.get(kind)
    return words.format(**fields) if words else details["msg"].removeprefix("Value error, ")


def _meant(name: str, known: list[str]) -> str:
    """Return the known name that was probably meant, to go behind a list of them all."""
    if name in known:
        return "; remove the quotes"
    close = _closest(name, known)
    return f"; did you mean `{close}`?" if close else ""


def _closest(name: str, known: list[str]) -> str | None:
    """Return the only known name of which it is a part, as `plru` is of `tree-plru`, or else the one that is spelt most alike."""
    whole = [one for one in known if name in re.split("[-_]", one)]
    return whole[0] if len(whole) == 1 else next(iter(difflib.get_close_matches(name, known, n=1)), None)


_WRONG_KIND = "union_tag_invalid"
_NO_MAP = "{found} stands where a map of `key: value` belongs"
_NO_LIST = "{found} stands where a list belongs; write [ ... ]"
_NO_FLAG = "`{value}` is neither true nor false"
_NO_NUMBER = "`{value}` is not a number"
_NO_WHOLE_NUMBER = "`{value}` is not a whole number"
_BOUNDS = ("greater_than_equal", "greater_than", "less_than_equal", "less_than")
_WORDS = {
    "model_type": _NO_MAP,
    "model_attributes_type": _NO_MAP,
    "dict_type": _NO_MAP,
    "list_type": _NO_LIST,
    "tuple_type": _NO_LIST,
    "string_type": "{found} stands where text belongs; quote it",
    "bool_type": _NO_FLAG,
    "float_type": _NO_NUMBER,
    "float_parsing": _NO_NUMBER,
    "finite_number": _NO_NUMBER,
    "int_type": _NO_WHOLE_NUMBER,
    "int_parsing": _NO_WHOLE_NUMBER,
    "int_parsing_size": _NO_WHOLE_NUMBER,
    "int_from_float": _NO_WHOLE_NUMBER,
    "too_short": "{found} of {actual_length}; it must have {min_length} or more",
    "too_long": "{found} of {actual_length}; it must have {max_length} or fewer",
    "literal_error": "`{value}` is not one of {expected}",
    _WRONG_KIND: "{discriminator} `{tag}` is not one of {expected_tags}",
    "union_tag_not_found": "`{discriminator}` is missing",
    "greater_than_equal": "`{value}` is too small; the least is {ge}",
    "greater_than": "`{value}` is too small; it must be more than {gt}",
    "less_than_equal": "`{value}` is too large; the most is {le}",
    "less_than": "`{value}` is too large; it must be less than {lt}",
}
"""What is said for each kind of pydantic error; the others say it well enough themselves."""
