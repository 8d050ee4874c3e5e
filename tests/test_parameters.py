"""Parameters are declared once, by the kernels: Python's checks, rules and lists are made of what they declare."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from files import memwalk
from pydantic import TypeAdapter, ValidationError

from memwalk.analysis.experiments.parameters import Kernel, Parameter, dotted_parameters, in_words, kernels
from memwalk.analysis.experiments.resolve import ADAPTER, resolve_workload
from memwalk.analysis.experiments.rules import RULES
from memwalk.analysis.experiments.run_facts import Run
from memwalk.analysis.experiments.storage_parameters import list_parameters
from memwalk.analysis.experiments.workload import Parameters, Workload, workload_model
from memwalk.analysis.storage_workloads import list_kernels, model_of
from memwalk.simcore.engines import native
from memwalk.simcore.errors import UserError
from memwalk.simcore.machine import Setting
from memwalk.simcore.yaml_source import Place, parse

WORKLOAD: TypeAdapter[Parameters] = TypeAdapter(Workload)
EVERY_PARAMETER = [(kernel, path, one) for kernel in kernels().values() for path, one in dotted_parameters(kernel.parameters)]
CONDITIONAL = [(kernel, path, one) for kernel, path, one in EVERY_PARAMETER if one.applies or one.effect]
SOURCES = [
    Path(__file__).parents[1] / name
    for name in ("analysis/experiments/workload.py", "analysis/experiments/parameters.py", "simcore/declared.py")
]


def named(value: object) -> str | None:
    return value.name if isinstance(value, Kernel) else value if isinstance(value, str) else ""


def at(values: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """Find the map that a parameter stands in, and its name there."""
    *maps, name = path.split(".")
    for step in maps:
        values = values[step]
    return values, name


def least(kernel: Kernel, path: str = "", conditions: dict[str, list[Any]] | None = None) -> dict[str, Any]:
    """Give a workload of a kernel: what is required, and what a parameter's conditions ask for."""
    (defaults,) = [one["defaults"] for one in native.list_workloads() if one["name"] == kernel.name]

    def required(declared: list[Parameter], values: dict[str, Any]) -> dict[str, Any]:
        return {
            one.name: required(one.below, values[one.name]) if one.below else values[one.name]
            for one in declared
            if one.is_required and not one.applies
        }

    workload = {"kernel": kernel.name} | required(kernel.parameters, defaults)
    if path:
        inner, _ = at(workload, path)
        inner |= {name: wanted[0] for name, wanted in (conditions or {}).items()}
        for declared in [one for _, one in dotted_parameters(kernel.parameters)]:
            if declared.is_required and declared.applies and all(workload.get(name) in wanted for name, wanted in declared.applies.items()):
                workload[declared.name] = defaults[declared.name]
    return workload


def others(kernel: Kernel, path: str, conditions: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Give conditions that do not hold, one of them at a time."""
    folder = path.rpartition(".")[0]
    declared = {name.removeprefix(f"{folder}."): one for name, one in dotted_parameters(kernel.parameters)}
    for name, wanted in conditions.items():
        beside = declared[name]
        for other in beside.facts()["names"]:
            if other not in wanted:
                changed = conditions | {name: [other]}
                yield {one: values for one, values in changed.items() if _met(declared[one].applies, changed)}


def _met(applies: Mapping[str, list[Any]], conditions: Mapping[str, list[Any]]) -> bool:
    """Whether conditions of a parameter, as far as they are among these, hold in their first values."""
    return all(conditions[name][0] in wanted for name, wanted in applies.items() if name in conditions)


def some_value(one: Parameter) -> Any:
    if one.schema.get("type") == "boolean":
        return True
    facts = one.facts()
    value = (facts["names"] or [facts["maximum"] or 4096])[0]
    return [value] if "items" in one.schema else value


@pytest.mark.parametrize("kernel", kernels().values(), ids=named)
def test_the_models_have_the_parameters_that_the_kernels_take(kernel: Kernel) -> None:
    with pytest.raises(native.SpecError) as unknown:
        native.check_workload({"kernel": kernel.name, "no such": 1})
    taken = unknown.value.args[1].partition("expected one of ")[2].replace("`", "").split(", ")
    assert taken == [one.name for one in kernel.parameters]
    assert set(workload_model(kernel).model_fields) == {"kernel", *taken}


def test_a_parameter_that_is_new_to_a_family_is_checked_without_a_change_here() -> None:
    schema = {
        "properties": {
            "threads": {"type": "integer", "minimum": 1, "maximum": 64, "default": 2, "description": "Threads of the run."},
            "copy_bytes": {"type": "integer", "minimum": 8, "maximum": 64, "x-unit": "bytes", "description": "Size of a copy."},
        },
        "required": ["copy_bytes"],
        "x-order": ["threads", "copy_bytes"],
    }
    facts = dict.fromkeys(("calls_dbms", "asks_for_pages"), False)
    model = workload_model(Kernel("new-join", "joins anew", **facts, schema=schema))
    assert model(kernel="new-join", copy_bytes="32B").native() == {"kernel": "new-join", "threads": 2, "copy_bytes": 32}
    for wrong, says in (
        ({"threads": 65}, "less than or equal to 64"),
        ({"copy_bytes": "7B"}, "greater than or equal"),
        ({"thread": 1}, "did you"),
    ):
        with pytest.raises(ValidationError, match=says):
            model(**{"kernel": "new-join", "copy_bytes": 8} | wrong)


@pytest.mark.parametrize(("kernel", "path", "one"), EVERY_PARAMETER, ids=named)
def test_bounds_are_told_where_the_number_stands(kernel: Kernel, path: str, one: Parameter) -> None:
    conditions = {**one.applies, **one.effect}
    facts = one.facts()
    if facts["maximum"] is None or "items" in one.schema:
        return
    below, beyond = facts["minimum"] - 1, facts["maximum"] + 1
    for value in (below, beyond):
        workload = least(kernel, path, conditions)
        inner, name = at(workload, path)
        inner[name] = value
        with pytest.raises(UserError) as error:
            resolve_workload([Setting(("workload",), parse(json.dumps(workload), "here"))], Place("here", 1, 1))
        assert f"{path}: `{value}` is " in str(error.value)


@pytest.mark.parametrize(("kernel", "path", "one"), CONDITIONAL, ids=named)
def test_what_applies_to_some_workloads_is_refused_in_others(kernel: Kernel, path: str, one: Parameter) -> None:
    if not one.applies:
        return
    workload = least(kernel, path, dict(one.applies))
    inner, name = at(workload, path)
    inner[name] = one.default if one.default is not None else some_value(one)
    accepted, _ = at(WORKLOAD.validate_python(workload).native(), path)
    assert accepted[name] == inner[name]
    if not one.is_required:
        del inner[name]
        assert at(WORKLOAD.validate_python(workload).native(), path)[0][name] == one.default
    for conditions in others(kernel, path, dict(one.applies)):
        workload = least(kernel, path, conditions)
        assert name not in at(WORKLOAD.validate_python(workload).native(), path)[0]
        at(workload, path)[0][name] = some_value(one)
        with pytest.raises(ValidationError, match=r"it is for .*; remove it"):
            WORKLOAD.validate_python(workload)


@pytest.mark.parametrize(("kernel", "path", "one"), CONDITIONAL, ids=named)
def test_what_makes_a_difference_to_some_workloads_has_a_rule(kernel: Kernel, path: str, one: Parameter) -> None:
    if not one.effect:
        return
    wanted = (kernel.name, f"workload.{path}", in_words(one.effect))
    (rule,) = [rule for rule in RULES if (rule.kernel, rule.path, rule.is_for) == wanted]
    workload = WORKLOAD.validate_python(least(kernel, path, dict(one.effect))).native()
    assert workload[one.name] == one.default
    assert rule.holds(Run(workload))
    for conditions in others(kernel, path, dict(one.effect)):
        assert not rule.holds(Run(workload | {name: wanted[0] for name, wanted in conditions.items()}))


def test_what_has_to_be_given_where_it_applies_is_asked_for() -> None:
    for kernel, path, one in CONDITIONAL:
        if one.is_required and one.applies:
            workload = least(kernel, path, dict(one.applies))
            at(workload, path)[0].pop(one.name)
            with pytest.raises(ValidationError, match=f"`{one.name}` is missing; .* needs it"):
                WORKLOAD.validate_python(workload)


def test_no_kernel_or_parameter_of_one_is_named_in_the_checks() -> None:
    text = "".join(source.read_text() for source in SOURCES)
    words = set(text.replace("`", " ").replace('"', " ").replace("'", " ").replace(".", " ").split())
    told = {path.rpartition(".")[2] for _, path, _ in EVERY_PARAMETER} | set(kernels())
    # Words that mean something else in Python, or in any text.
    assert {name for name in words & told if "_" in name or "-" in name} == set()


def test_the_schema_for_editors_has_every_parameter_and_its_default() -> None:
    definitions = ADAPTER.json_schema()["$defs"]
    for kernel in kernels().values():
        (definition,) = [one for one in definitions.values() if one["properties"].get("kernel", {}).get("const") == kernel.name]
        assert list(definition["properties"]) == ["kernel", *(one.name for one in kernel.parameters)]
        assert {one.name: definition["properties"][one.name].get("default") for one in kernel.parameters} == {
            one.name: one.default for one in kernel.parameters
        }


def test_parameters_are_listed() -> None:
    shown = memwalk("list", "parameters", "index")
    assert shown.returncode == 0, shown.stderr
    first, head, *lines = shown.stdout.splitlines()
    assert first == "26 parameters of index"
    assert head.split() == ["name", "unit", "default", "values", "applies", "meaning"]
    texts = {line.split()[0]: " ".join(line.split()) for line in lines}
    assert texts["keys"] == "keys required 1 to 200,000,000 Index entries before the operations."
    assert texts["line_bytes"] == "line_bytes bytes 64 a power of two, 16 to 1,024 Size of a cache line."
    assert texts["tree.distance_nodes"] == (
        "tree.distance_nodes 3 1 to 64 jump_pointers: external or internal d, leaves that scans prefetch ahead."
    )
    listed = json.loads(memwalk("list", "parameters", "index", "--json").stdout)
    assert [one["name"] for one in listed] == list(texts)
    (buffer,) = [one for one in listed if one["name"] == "buffer_bytes"]
    assert (buffer["default"], buffer["minimum"], buffer["maximum"]) == (4096, 16, 1 << 28)
    assert buffer["applies"] == {"operation": ["scan", "scan-and-insert"]}


def test_parameters_of_kernels_on_storage_are_listed() -> None:
    shown = memwalk("list", "parameters", "layout-scan").stdout.splitlines()
    texts = [" ".join(line.split()) for line in shown]
    assert texts[1] == "name default values applies meaning"
    assert "data.kind required given, tpch or uniform Tables, and the queries that read them" in texts
    assert "data.date_bytes 10 B such as 64B data.kind: tpch What a date takes: 10 as text (MBSM, Table 4)" in texts
    assert "mbsm.run_pages 30 1 or more Pages in a run, r" in texts
    listed = json.loads(memwalk("list", "parameters", "tpcc", "--json").stdout)
    by_name = {one["name"]: one for one in listed}
    assert "kernel" not in by_name
    assert (by_name["page_access"]["required"], by_name["page_access"]["default"]) == (True, None)
    assert (by_name["measured"]["required"], by_name["measured"]["default"]) == (False, "120s")
    assert by_name["share_schemas"]["default"] == "true"


@pytest.mark.parametrize("kernel", [name for name, _ in list_kernels()])
def test_every_parameter_of_a_kernel_on_storage_is_listed_once(kernel: str) -> None:
    listed = list_parameters(kernel)
    fields = set(model_of(kernel).model_fields) - {"kernel"}
    assert {one["name"].partition(".")[0] for one in listed} == fields
    assert len({(one["name"], one["applies"]) for one in listed}) == len(listed)
    assert all(one["values"] and one["meaning"] for one in listed)


def test_kernels_with_parameters_are_listed() -> None:
    listed = json.loads(memwalk("list", "parameters", "--json").stdout)
    assert [one["kernel"] for one in listed] == [*kernels(), *(name for name, _ in list_kernels())]
    assert memwalk("list", "parameters").stdout.startswith(f"{len(listed)} kernels with parameters")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("parameters", "indx"), "`indx` is no kernel; did you mean `index`?"),
        (("parameters", "reqests"), "`reqests` is no kernel; did you mean `requests`?"),
        (("machines", "index"), "`index`: only parameters are of something; `memwalk list machines` lists them all"),
    ],
)
def test_parameters_of_nothing_are_a_mistake(arguments: tuple[str, ...], says: str) -> None:
    done = memwalk("list", *arguments)
    assert done.returncode == 2
    assert done.stderr == f"memwalk: error: {says}\n"
