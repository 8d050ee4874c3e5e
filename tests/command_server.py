"""Forks a process for each command line that it is asked to run: what commands import is imported once, not in a second for each.

A line of JSON on standard input asks for one: ``arguments``, the folder ``cwd``, files ``stdout`` and ``stderr``, and maybe ``stdin``. A
line on standard output answers with its exit code, negative for a signal, as `subprocess` has it.
"""

import atexit
import gc
import importlib
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

from memwalk.analysis.cli import entry
from memwalk.analysis.cli import main as cli
from memwalk.analysis.experiments import schema_paths

IMPORTED_LATER = (
    "pandas",
    "pyarrow.parquet",
    "memwalk.analysis.cli.progress",
    "memwalk.analysis.cli.tables",
    "memwalk.analysis.experiments.session",
    "memwalk.analysis.explain.time_breakdown",
    "memwalk.analysis.explain.usage",
    "memwalk.analysis.traces.curves",
    "memwalk.analysis.traces.runs",
)
"""What commands import when they need it."""


def become(asked: dict[str, str]) -> NoReturn:
    """Turn this process into one that was started with the command line; ends with it."""
    os.chdir(asked["cwd"])
    for number, name in ((0, asked.get("stdin", os.devnull)), (1, asked["stdout"]), (2, asked["stderr"])):
        opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["memwalk", *asked["arguments"]]
    try:
        entry.main()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            _leave(ended.code)
        raise
    raise AssertionError("a command line exits, and never comes back to serve")


def _leave(code: int) -> NoReturn:
    """End without taking apart, object by object, what has been imported: that takes longer than most commands."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def serve() -> None:
    """Run commands until nobody asks for more."""
    for module in (*IMPORTED_LATER, *cli.COMMANDS.values()):
        importlib.import_module(module)
    schema_paths.takes_list(("workload", "keys"))  # reads schemas once for all commands that set something
    gc.freeze()  # a collection in a child would copy all of it
    while line := sys.stdin.buffer.raw.readline():
        child = os.fork()
        if child == 0:
            become(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # commands find nothing of the tests
    serve()
