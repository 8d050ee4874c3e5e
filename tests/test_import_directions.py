"""Data flows one way: workloads -> traces -> simcore -> analysis. Who imports whom is read from the sources."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from files import ROOT

FORBIDDEN = {
    "traces": ("simpy", "memwalk.workloads", "memwalk.simcore", "memwalk.analysis"),
    "workloads": ("simpy", "memwalk.simcore", "memwalk.analysis"),
    "simcore": ("memwalk.workloads", "memwalk.analysis"),
    "analysis": ("simpy",),
}
"""What no module of a part imports, with what is inside it."""

ALLOWED = {("workloads/tables/page.py", "memwalk.simcore.engines.native")}
"""Page formats are defined by the kernels, and the native module says what a page holds."""


def imported(source: str) -> Iterator[str]:
    """List the modules that a source imports, anywhere in it; of ``from a import b`` both a.b and, implied by it, a."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where they lead"
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant))


def against_the_stream(root: Path, part: str) -> list[tuple[str, str]]:
    """List what modules of a part import that they must not."""
    found = []
    for path in sorted((root / part).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for module in imported(path.read_text()):
            wrong = any(f"{module}.".startswith(f"{forbidden}.") for forbidden in FORBIDDEN[part])
            if wrong and (name, module) not in ALLOWED:
                found.append((name, module))
    return found


@pytest.mark.parametrize("part", FORBIDDEN)
def test_no_part_imports_against_the_stream(part: str) -> None:
    assert any((ROOT / part).rglob("*.py"))
    assert against_the_stream(ROOT, part) == []


@pytest.mark.parametrize(
    ("file", "source", "told"),
    [
        ("analysis/storage_workloads/new.py", "import simpy", "simpy"),
        ("analysis/new.py", "def f():\n    from simpy.events import Timeout", "simpy.events.Timeout"),
        ("analysis/new.py", "import importlib\nimportlib.import_module('simpy')", "simpy"),
        ("workloads/programs/new.py", "import simpy as s", "simpy"),
        ("workloads/programs/new.py", "from memwalk.simcore.storage import BLOCK_BYTES", "memwalk.simcore.storage.BLOCK_BYTES"),
        ("workloads/programs/new.py", "from memwalk import simcore", "memwalk.simcore"),
        ("workloads/tables/new.py", "from memwalk.simcore.engines import native", "memwalk.simcore.engines.native"),
        ("simcore/storage/new.py", "import memwalk.workloads.tables", "memwalk.workloads.tables"),
        ("traces/new.py", "from memwalk.simcore import units", "memwalk.simcore.units"),
    ],
)
def test_an_import_against_the_stream_is_found(tmp_path: Path, file: str, source: str, told: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert against_the_stream(tmp_path, file.partition("/")[0]) == [(file, told)]


def test_names_that_only_begin_alike_are_others(tmp_path: Path) -> None:
    (tmp_path / "analysis").mkdir()
    (tmp_path / "analysis" / "new.py").write_text("import simpython\nfrom memwalk.simcore.storage.run import run")
    assert against_the_stream(tmp_path, "analysis") == []
