"""YAML 1.2 in which every value still knows its file, line and column.

The reading has safe semantics: maps, lists and plain scalars only. Duplicate keys, custom tags and recursive
aliases are refused, because each of them hides a mistake.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from memwalk.simcore.errors import UserError

Route = tuple[str | int, ...]
"""The way from the root of a document to a value: keys and list indices."""

_TAG = "tag:yaml.org,2002:"
_CONSTRUCTED = {f"{_TAG}{name}" for name in ("null", "bool", "int", "float", "str")}
_KEPT_AS_TEXT = {f"{_TAG}timestamp"}
_NULLS = {"", "~", "null", "Null", "NULL"}
_NUMBERS = {f"{_TAG}int", f"{_TAG}float"}
_LONGEST_NUMBER = 64
"""Characters; a number with more is no number that anyone means, and takes long to read."""
_LARGEST_FILE = 8 << 20
"""Bytes."""
_LARGEST_KEPT = 1 << 16
"""Characters of a text that is read once only; machines and figures have fewer."""
_LARGEST_DOCUMENT = 200_000
"""Values per document; aliases of aliases would otherwise multiply without end."""


_KINDS = {"memory": "model", "branch_predictor": "kind"}
"""Keys that say which other keys a map has, by the map's name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written: a file with line and column (from 1), or a command-line option."""

    file: str
    line: int = 0
    column: int = 0
    names_value: bool = False
    """Whether it names what it has, as an option does that is for one value."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands and where its key stands (in a list, both are the value's place)."""

    key: Place
    value: Place


def dotted(route: Route) -> str:
    """Give a route as users write it, such as ``caches.0.ways``."""
    return ".".join(str(step) for step in route)


@dataclass(frozen=True)
class Sourced:
    """Plain data (dict, list, str, int, float, bool, None) with the spot of every value in it."""

    data: Any
    spots: Mapping[Route, Spot] = field(repr=False)

    @classmethod
    def uniform(cls, data: Any, place: Place) -> "Sourced":
        """Wrap data that all comes from one place, such as a ``--set`` option."""
        return cls(data, {route: Spot(place, place) for route in _routes(data)})

    def spot(self, route: Route) -> Spot:
        """Return the spot of the value at ``route``, or of the nearest value around it."""
        while route not in self.spots:
            route = route[:-1]
        return self.spots[route]

    def error(self, route: Route, message: str, *, at_key: bool = False) -> UserError:
        """Build the error for the value (or its key) at ``route``."""
        spot = self.spot(route)
        return UserError(f"{spot.key if at_key else spot.value}: {message}")

    def named(self, route: Route) -> str:
        """Return how a message on the value at ``route`` begins: with the way there, unless its place names it."""
        return f"{dotted(route)}: " if route and not self.spot(route).value.names_value else ""

    def get(self, route: Route) -> Any:
        """Return the plain value at ``route``. Raises KeyError or IndexError if there is none."""
        return reduce(lambda container, step: container[step], route, self.data)

    def below(self, route: Route) -> "Sourced":
        """Cuts out the value at ``route`` as a document of its own."""
        depth = len(route)
        spots = {key[depth:]: self.spots[key] for key in self._around.get(route, ())}
        return Sourced(self.get(route), spots)

    def without(self, keys: Iterable[str]) -> "Sourced":
        """Return a copy of a map without some of its keys; what is no map stays as it is."""
        left_out = set(keys)
        if not left_out:
            return self
        spots = {route: spot for route, spot in self.spots.items() if not route or route[0] not in left_out}
        return Sourced({key: value for key, value in self.data.items() if key not in left_out}, spots)

    def removed(self, route: Route) -> "Sourced":
        """Return a copy of maps within maps without the value at ``route``, a way of keys."""
        around, key = route[:-1], str(route[-1])
        return self.replaced(around, self.below(around).without([key])) if around else self.without([key])

    def leaves(self) -> list[Route]:
        """Return the ways through maps to all that is no map, as it stands in the file."""
        return [route for route in self.spots if all(isinstance(step, str) for step in route) and not isinstance(self.get(route), dict)]

    @cached_property
    def _around(self) -> dict[Route, list[Route]]:
        """The routes of each value and of all within it: a grid of thousands of values is cut up value by value."""
        around: dict[Route, list[Route]] = {}
        for route in self.spots:
            for end in range(len(route) + 1):
                around.setdefault(route[:end], []).append(route)
        return around

    def replaced(self, route: Route, new: "Sourced") -> "Sourced":
        """Return a copy in which ``new`` stands at ``route``; missing maps on the way are made.

        A list is entered by index, or by the ``name`` of one of its maps (``caches.L1.ways``).

        Raises UserError if the route runs through something that is neither map nor list.
        """
        route = self._resolved(route, new)
        depth = len(route)
        spots = {key: spot for key, spot in self.spots.items() if key[:depth] != route}
        for end in range(depth):
            spots.setdefault(route[:end], new.spot(()))
        spots.update({(*route, *key): spot for key, spot in new.spots.items()})
        return Sourced(_with(self.data, route, new.data), spots)

    def merged(self, child: "Sourced") -> "Sourced":
        """Return this with ``child`` laid over it: maps are merged key by key, everything else is replaced.

        A map that is of another kind has other keys: it is replaced too. A map of maps, laid over a list, changes items of it, each told
        by its index or its ``name``.

        Raises UserError if the list has no such item, or null stands for one.
        """
        return self._merged(child, "")

    def _merged(self, child: "Sourced", name: str) -> "Sourced":
        if isinstance(self.data, list) and _is_map_of_maps(child.data):
            return self._with_items(child, name)
        if isinstance(self.data, list) and (gone := _taken_away(self.data, child.data)) is not None:
            message = f"{name}: `{gone}` cannot be taken away by null; write {name} as a list of all that there are"
            raise child.error((gone,), message, at_key=True)
        if not (isinstance(self.data, dict) and isinstance(child.data, dict)):
            return child
        kind = _KINDS.get(name)
        if kind in child.data and child.data[kind] != self.data.get(kind):
            return child
        result = self
        for key in child.data:
            part = child.below((key,))
            if key in self.data:
                part = self.below((key,))._merged(part, str(key))
            result = result.replaced((key,), part)
        return Sourced(result.data, {**result.spots, (): child.spot(())})

    def _with_items(self, child: "Sourced", name: str) -> "Sourced":
        result = self
        for key in child.data:
            index = _index_in(self.data, key)
            if index is None:
                raise child.error((key,), f"{name} has no item `{key}`; it has {_items(self.data)}", at_key=True)
            result = result.replaced((index,), self.below((index,))._merged(child.below((key,)), key))
        return result

    def _resolved(self, route: Route, new: "Sourced") -> Route:
        resolved: list[str | int] = []
        container = self.data
        for step in route:
            if isinstance(container, list):
                index = _index_in(container, step)
                if index is None:
                    where = dotted(tuple(resolved))
                    raise new.error((), f"{dotted(route)}: {where} has no item {step}; it has {_items(container)}")
                resolved.append(index)
                container = container[index]
            elif isinstance(container, dict):
                resolved.append(step)
                container = container.get(str(step), {})
            else:
                raise new.error((), f"{dotted(route)}: {dotted(tuple(resolved))} is {container!r}, which has no `{step}` in it")
        return tuple(resolved)


def lookup(data: Any, path: str) -> Any:
    """Return the value at a dotted path of plain data; list items by index or ``name``. None if there is none."""
    for step in path.split("."):
        if isinstance(data, list):
            index = _index_in(data, step)
            data = None if index is None else data[index]
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


def load(path: Path) -> Sourced:
    """Read a YAML file. Raises UserError if it cannot be read or is not the YAML described above."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)  # a device may have no end
        if len(content) > _LARGEST_FILE:
            raise UserError(f"{path}: more than {_LARGEST_FILE >> 20} MiB; name a YAML file, or split it")
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file (byte {error.start} is not UTF-8); a YAML file is expected") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; name a YAML file in it") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; name a YAML file that exists and can be read") from None
    return parse(text, str(path))


def parse(text: str, file: str) -> Sourced:
    """Read YAML text; ``file`` is the name used for places. Who reads the same text again is given the same, which nobody may change."""
    return _kept(text, file) if len(text) <= _LARGEST_KEPT else _parsed(text, file)


@lru_cache(maxsize=256)
def _kept(text: str, file: str) -> Sourced:
    """Read a text once: figures of a paper and rows of a sweep name the same few machines again and again."""
    return _parsed(text, file)


def _parsed(text: str, file: str) -> Sourced:
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise UserError(f"{place}: {_plain_words(error)}") from None
    except YAMLError as error:
        raise UserError(f"{file}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UserError(f"{file}: nested too deeply to be meant; use fewer levels") from None
    if node is None:
        raise UserError(f"{file}:1:1: the file is empty; a map of `key: value` lines is expected")
    reader = _Reader(file)
    data = reader.read(node, (), None)
    return Sourced(data, reader.spots)


def parse_value(text: str, place: Place) -> Sourced:
    """Read a value as given on the command line (``--set a.b=VALUE``); an empty text is null."""
    if not text.strip():
        return Sourced.uniform(None, place)
    return Sourced.uniform(parse(text, str(place)).data, place)


def _plain_words(error: MarkedYAMLError) -> str:
    problem = error.problem or "not YAML"
    if "'\\t'" in problem:
        return "a tab where YAML needs spaces; indent with spaces"
    if "mapping values are not allowed" in problem:
        return "a second `:` on the line; quote the value if the colon belongs to it"
    return f"not YAML: {problem}"


class _Reader:
    """Builds plain data from ruamel's nodes and notes where each value stands."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.spots: dict[Route, Spot] = {}
        self.constructor = YAML(typ="safe", pure=True).constructor
        self.open_nodes: set[int] = set()

    def place(self, node: Node) -> Place:
        return Place(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def read(self, node: Node, route: Route, key: Place | None) -> Any:
        place = self.place(node)
        if key and place.line > key.line and isinstance(node, ScalarNode) and not node.value:
            place = key  # an empty value stands where the next one begins, which may be lines behind
        if id(node) in self.open_nodes:
            raise UserError(f"{place}: the anchor `&{node.anchor}` contains itself; write the value out")
        if len(self.spots) >= _LARGEST_DOCUMENT:
            raise UserError(f"{place}: more than {_LARGEST_DOCUMENT} values; split the file")
        self.spots[route] = Spot(key or place, place)
        if isinstance(node, ScalarNode):
            return self.scalar(node, place)
        self.open_nodes.add(id(node))
        try:
            if isinstance(node, SequenceNode):
                return [self.read(item, (*route, index), None) for index, item in enumerate(node.value)]
            assert isinstance(node, MappingNode)
            return self.map(node, route)
        finally:
            self.open_nodes.discard(id(node))

    def map(self, node: MappingNode, route: Route) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            place = self.place(key_node)
            if not isinstance(key_node, ScalarNode):
                raise UserError(f"{place}: a key must be plain text, not a list or map")
            name = key_node.value
            if name in result:
                first = self.spots[(*route, name)].key.line
                raise UserError(f"{place}: `{name}` is given twice in the same map (first on line {first}); remove one")
            result[name] = self.read(value_node, (*route, name), place)
        return result

    def scalar(self, node: ScalarNode, place: Place) -> Any:
        if any("\ud800" <= character <= "\udfff" for character in node.value):
            raise UserError(f"{place}: half a character (a lone surrogate) in the text; write the whole one")
        tag = str(node.tag)
        if tag in _KEPT_AS_TEXT:
            return node.value
        if tag not in _CONSTRUCTED:
            raise UserError(f"{place}: the tag `{tag.replace(_TAG, '!!')}` is not allowed; write plain values")
        if tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise UserError(f"{place}: `{node.value[:40]}...` has {len(node.value)} characters; a number has at most {_LONGEST_NUMBER}")
        try:
            if tag == f"{_TAG}null" and node.value not in _NULLS:
                raise ValueError
            return self.constructor.construct_object(node)
        except (YAMLError, ValueError, KeyError):
            raise UserError(f"{place}: `{node.value[:40]}` is not a value of its tag; write a plain value") from None


def _routes(data: Any, route: Route = ()) -> Iterator[Route]:
    yield route
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _routes(value, (*route, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _routes(value, (*route, index))


def _index_in(items: list[Any], step: str | int) -> int | None:
    """Find the index that ``step`` names: a number, or the ``name`` of a map in the list."""
    if str(step).isdecimal() and len(str(step)) < _LONGEST_NUMBER:
        return int(step) if int(step) < len(items) else None
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    return names.index(step) if step in names else None


def _items(items: list[Any]) -> str:
    """Say how the items of a list may be told."""
    known = [item["name"] for item in items if isinstance(item, dict) and "name" in item]
    names = f" or {', '.join(known)}" if known else ""
    return f"0 to {len(items) - 1}{names}"


def _is_map_of_maps(data: Any) -> bool:
    return isinstance(data, dict) and bool(data) and all(isinstance(value, dict) for value in data.values())


def _taken_away(items: list[Any], changes: Any) -> str | None:
    """Name an item of a list for which a map of changes has nothing; None if that is no map of changes, or has something for each."""
    if not isinstance(changes, dict) or not all(change is None or isinstance(change, dict) for change in changes.values()):
        return None
    return next((key for key, change in changes.items() if change is None and _index_in(items, key) is not None), None)


def _with(container: Any, route: Route, value: Any) -> Any:
    if not route:
        return value
    step, rest = route[0], route[1:]
    if isinstance(container, list):
        return [_with(item, rest, value) if index == step else item for index, item in enumerate(container)]
    return {**container, step: _with(container.get(step, {}), rest, value)}
