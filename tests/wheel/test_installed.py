"""What an installed memwalk can do where there is no checkout."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Installed

COMMANDS = ("run", "reproduce", "replay", "curve", "trace", "disk", "explain", "check", "native", "advise", "machine", "list", "schema")
CODE_BLOCK = re.compile(r"`(perf/[a-z_-]+\.(?:yaml|py))`[^`]*\n```(?:yaml|python)\n(.*?)```", re.DOTALL)


def test_only_memwalk_is_put_on_the_import_path(installed: Installed, tmp_path: Path) -> None:
    code = """
import importlib.metadata, json
files = importlib.metadata.files("memwalk")
print(json.dumps(sorted({file.parts[0] for file in files if file.parts[0] != ".."})))
"""
    done = installed.run(tmp_path, "python", "-c", code)
    top = [name for name in json.loads(done.stdout) if not name.endswith(".dist-info")]
    assert top == ["memwalk"]


def test_native_module_asks_no_more_of_a_processor_than_x86_64_v2(installed: Installed, tmp_path: Path) -> None:
    code = "import json; from memwalk.simcore.engines.native import build_info; print(json.dumps(build_info()))"
    done = installed.run(tmp_path, "python", "-c", code)
    build: dict[str, Any] = json.loads(done.stdout)
    assert build["profile"] == "release"
    assert not {"avx", "avx2", "bmi2", "fma"} & set(build["target_features"])


def test_every_machine_is_listed(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "memwalk", "list", "machines")
    assert done.returncode == 0, done.stderr
    for path in (ROOT / "configs" / "machines").glob("*.yaml"):
        assert path.stem in done.stdout


@pytest.mark.parametrize(
    "command", ["run", "reproduce", "replay", "curve", "trace", "disk", "explain", "check", "native", "advise", "machine", "list"]
)
def test_every_command_loads(command: str, installed: Installed, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "memwalk", command, "--help")
    assert done.returncode == 0, done.stderr


def test_the_recorder_comes_along(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "memwalk", "trace", "recorder", "here")
    names = sorted(path.name for path in (ROOT / "traces" / "recorder").iterdir())
    assert done.stdout.split() == [f"here/{name}" for name in names], done.stderr
    assert "memwalk_message" in (tmp_path / "here" / "memwalk_recorder.c").read_text()


def test_a_figure_is_reproduced(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "memwalk", "reproduce", "fig-2.13", "--scale", "quick", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out").rglob("figure.png"))


def test_the_recipe_for_cost_models_works_as_written(installed: Installed, tmp_path: Path) -> None:
    """The files of docs/cost-model-ci.md, in an empty folder: a sweep, the formula against it."""
    text = (ROOT / "docs" / "cost-model-ci.md").read_text()
    files = dict(CODE_BLOCK.findall(text))
    assert set(files) == {"perf/search-cost.yaml", "perf/test_cost_model.py"}
    (tmp_path / "perf").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    done = installed.run(tmp_path, "memwalk", "run", "perf/search-cost.yaml", "--out", "out/search-cost")
    assert done.returncode == 0, done.stderr
    done = installed.run(tmp_path, "python", "-m", "pytest", "-q", "perf")
    assert done.returncode == 0, done.stdout


def test_a_missing_folder_of_configurations_is_said(installed: Installed, tmp_path: Path) -> None:
    code = """
import os, sys
os.environ["MEMWALK_CONFIGS"] = "nowhere"
sys.argv = ["memwalk", "list", "machines"]
from memwalk.analysis.cli.entry import main
main()
"""
    done = installed.run(tmp_path, "python", "-c", code)
    assert done.returncode == 2
    assert "nowhere: $MEMWALK_CONFIGS has no folder `machines`" in done.stderr
