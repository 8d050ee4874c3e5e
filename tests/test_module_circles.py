"""No modules import each other in a circle, in Rust and in Python: whoever reads one reads what it stands on, and never comes back."""

import graphlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from files import ROOT
from test_import_directions import imported

Module = tuple[str, ...]

KERNELS = ROOT / "workloads" / "src"
_PATH = re.compile(r"\b((?:crate|self|super)(?:::\w+)*)(?:::(\{))?")


def rust_modules(source: Path) -> dict[Module, str]:
    """Return the modules of a crate with their text, tests left out."""
    found = {}
    for path in source.rglob("*.rs"):
        way = path.relative_to(source).with_suffix("").parts
        if "tests" not in way[-1]:
            found[way[:-1] if way[-1] in ("mod", "lib") else way] = path.read_text().split("#[cfg(test)]")[0]
    return found


def named(text: str) -> Iterator[list[str]]:
    """List the paths that a text names, those in braces taken apart."""
    code = re.sub(r"//.*", "", text)
    for path in _PATH.finditer(code):
        steps = path[1].split("::")
        yield steps
        if path[2]:
            yield from ([*steps, *inner] for inner in _in_braces(code, path.end()))


def _in_braces(code: str, start: int) -> Iterator[list[str]]:
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    yield from (one.split("::") for one in re.findall(r"[\w:]*\w", code[start : end - 1]))


def rust_imports(modules: Mapping[Module, str]) -> dict[Module, set[Module]]:
    """Return for each module those that it names. A module around another hands its names on, and a module has what is inside it."""
    found: dict[Module, set[Module]] = {module: set() for module in modules}
    for module, text in modules.items():
        for steps in named(text):
            way = () if steps[0] == "crate" else module
            for step in steps if steps[0] != "crate" else steps[1:]:
                way = way[:-1] if step == "super" else way if step == "self" else (*way, step)
            while way and way not in modules:
                way = way[:-1]
            if way != module[: len(way)] and module != way[: len(module)]:
                found[module].add(way)
    return found


@cache
def python_imports() -> dict[str, set[str]]:
    """Return for each module of memwalk those that it imports."""
    paths = [path for part in ("traces", "workloads", "simcore", "analysis") for path in (ROOT / part).rglob("*.py")]
    modules = {f"memwalk.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}".removesuffix(".__init__"): path for path in paths}
    found = {}
    for module, path in modules.items():
        names = set(imported(path.read_text()))
        wanted = {name if name in modules else name.rpartition(".")[0] for name in names}
        found[module] = {one for one in wanted if one in modules and one != module}
    return found


@pytest.mark.parametrize("crate", ["traces", "simcore", "workloads", "bindings"])
def test_no_modules_of_a_crate_name_each_other_in_a_circle(crate: str) -> None:
    imports = rust_imports(rust_modules(ROOT / crate / "src"))
    assert sum(map(len, imports.values())) > 30
    graphlib.TopologicalSorter(imports).prepare()


def test_modules_of_kernels_know_no_later_tier() -> None:
    imports = rust_imports(rust_modules(KERNELS))
    tiers = _tiers((KERNELS / "lib.rs").read_text())
    (families,) = {tiers[module] for module in ("index", "join", "tpch")}
    known = {(module[0], other[0]) for module, others in imports.items() if module for other in others if other and module[0] != other[0]}
    assert len(known) > 100
    assert not {(module, other) for module, other in known if tiers[module] < tiers[other]}
    assert not {(module, other) for module, other in known if tiers[module] == tiers[other] == families}


def _tiers(library: str) -> dict[str, int]:
    """Return the tier of each module of the kernels, as the table of their library has them."""
    rows = re.findall(r"^//! \| (?!tier|---).+? \| (.+) \|$", library, re.MULTILINE)
    tiers = {module: tier for tier, row in enumerate(rows) for module in re.findall(r"`(\w+)`", re.sub(r"\(.*?\)", "", row))}
    assert tiers.keys() == set(re.findall(r"^(?:pub )?mod (\w+);", library, re.MULTILINE))
    return tiers


def test_no_modules_of_python_import_each_other_in_a_circle() -> None:
    imports = python_imports()
    assert sum(map(len, imports.values())) > 1000
    graphlib.TopologicalSorter(imports).prepare()


def test_no_folders_of_the_analysis_import_each_other_in_a_circle() -> None:
    def entry(module: str) -> str:
        return module.removeprefix("memwalk.analysis.").split(".")[0]

    imports: dict[str, set[str]] = {}
    for module, names in python_imports().items():
        if module.startswith("memwalk.analysis."):
            others = {entry(name) for name in names if name.startswith("memwalk.analysis.")}
            imports.setdefault(entry(module), set()).update(others - {entry(module)})
    assert len(imports) > 15
    graphlib.TopologicalSorter(imports).prepare()


@pytest.mark.parametrize("text", ["use super::b::C;", "use crate::{b, d::E};", "use crate::b::{self, C};", "fn f() -> super::b::C {}"])
def test_a_circle_is_found(text: str) -> None:
    modules = {("a",): text, ("b",): "use super::a::D;", ("d",): "// use super::a;"}
    with pytest.raises(graphlib.CycleError):
        graphlib.TopologicalSorter(rust_imports(modules)).prepare()
