"""Forks a process for each command line that it is asked to run: what commands import is imported once, not in a second for each.

A line of JSON on standard input asks for one: ``arguments``, the folder ``cwd``, and the files ``stdout`` and ``stderr`` for its output. A
line on standard output answers with its exit code, negative for a signal, as `subprocess` has it.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import NoReturn

from memwalk.analysis.cli import entry
from memwalk.analysis.cli import main as cli


def become(asked: dict[str, str]) -> NoReturn:
    """Turn this process into one that was started with the command line; ends with it."""
    os.chdir(asked["cwd"])
    for number, name in ((0, os.devnull), (1, asked["stdout"]), (2, asked["stderr"])):
        opened = os.open(name, os.O_WRONLY if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["memwalk", *asked["arguments"]]
    entry.main()
    raise AssertionError("a command line exits, and never comes back to serve")


def serve() -> None:
    """Run commands until nobody asks for more."""
    for module in ("pandas", "pyarrow.parquet", *cli.COMMANDS.values()):
        importlib.import_module(module)
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
