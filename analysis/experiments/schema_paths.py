"""What schemas say of the parameters at dotted paths: which are lists, which words they take, and which are none at all."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from memwalk.analysis.experiments import beside, resolve
from memwalk.analysis.experiments.storage import StorageSetting
from memwalk.analysis.storage_workloads.program_mix import KERNEL
from memwalk.simcore.declared import listed_values
from memwalk.simcore.machine_schema import MachineFile
from memwalk.simcore.validation import nearest
from memwalk.simcore.yaml_source import Route


def takes_list(route: Route, kernels: Iterable[str] = ()) -> bool:
    """Tell whether the value at a route below a part of an experiment is a list, and never a map.

    For such a parameter a list is one value, and a list of lists, or of words in their place, is several.
    Kernels have parameters of one name and several types: ``kernels`` are those in question, all if there are none.
    """
    kinds = {node.get("type") for node in _nodes(route, kernels)}
    return "array" in kinds and "object" not in kinds


def words(route: Route, kernels: Iterable[str] = ()) -> list[str]:
    """List the words that may be the value at a route, in place of a list or beside numbers; ``kernels`` as in `takes_list`."""
    return list(dict.fromkeys(word for node in _nodes(route, kernels) for word in listed_values(node) if isinstance(word, str)))


def unknown(route: Route, kernels: Iterable[str] = ()) -> str | None:
    """Say which step of a route is a key that nothing has, and what was probably meant; None if none is. ``kernels`` as in `takes_list`."""
    nodes = _parts(route[0], kernels)
    for step in route[1:]:
        if any(node.get("additionalProperties") is True for node in nodes):
            return None
        known = dict.fromkeys(name for node in nodes for name in node.get("properties", {}))
        nodes = _below(nodes, step, route[0])
        if not nodes:
            return f"unknown key `{step}`; {nearest(str(step), known)}"
    return None


def _nodes(route: Route, kernels: Iterable[str]) -> list[dict[str, Any]]:
    """List what the schema says of the value at a route: one for each type that it may have."""
    nodes = _parts(route[0], kernels)
    for step in route[1:]:
        nodes = _below(nodes, step, route[0])
    return nodes


def _parts(part: str | int, kernels: Iterable[str]) -> list[dict[str, Any]]:
    """List what a part of an experiment may be, of a workload what it is with the kernels in question, as far as there are such."""
    schema = _schemas().get(part, {})
    nodes = list(_alternatives(schema, schema))
    return [node for node in nodes if _kernel(node) in (None, *kernels)] or nodes


def _below(nodes: Iterable[dict[str, Any]], step: str | int, part: str | int) -> list[dict[str, Any]]:
    schema = _schemas().get(part, {})
    return [inner for node in nodes for child in _children(node, str(step)) for inner in _alternatives(child, schema)]


@cache
def _schemas() -> dict[str | int, dict[str, Any]]:
    return {
        "machine": MachineFile.model_json_schema(),
        "storage": StorageSetting.model_json_schema(),
        "workload": resolve.ADAPTER.json_schema(),
        beside.BESIDE: beside.json_schema(),
    }


def _alternatives(node: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """List what may stand at a place, references followed."""
    if "$ref" in node:
        yield from _alternatives(schema["$defs"][node["$ref"].rpartition("/")[2]], schema)
        return
    inner = [one for key in ("anyOf", "oneOf", "allOf") for one in node.get(key, ())]
    if not inner:
        yield node
    for one in inner:
        yield from _alternatives(one, schema)


def _children(node: dict[str, Any], step: str) -> Iterator[dict[str, Any]]:
    """List what stands below a map's key or in a list, whose items are named by index or name."""
    if step in node.get("properties", {}):
        yield node["properties"][step]
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key]


def _kernel(node: dict[str, Any]) -> str | None:
    """Return the kernel whose workload a schema describes; None if it describes something else."""
    name: str | None = node.get("properties", {}).get(KERNEL, {}).get("const")
    return name
