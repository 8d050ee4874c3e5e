"""Where the files that come with memwalk are."""

import os
from pathlib import Path

from memwalk.simcore.errors import UserError

_VARIABLE = "MEMWALK_CONFIGS"


def configs() -> Path:
    """Return the folder of machines, experiments and papers: ``$MEMWALK_CONFIGS``, or the one beside the packages.

    Raises UserError if there are no machines in it.
    """
    chosen = os.environ.get(_VARIABLE)
    folder = Path(chosen) if chosen else Path(__file__).resolve().parents[1] / "configs"
    if not (folder / "machines").is_dir():
        where = f"${_VARIABLE}" if chosen else "the installation"
        raise UserError(f"{folder}: {where} has no folder `machines` here; install memwalk again, or point ${_VARIABLE} to its configs")
    return folder


def expect_path(name: str, path: object) -> None:
    """Raise UserError for an argument that is no path, as a text is none; ``name`` is what the argument is called."""
    if not isinstance(path, Path):
        raise UserError(f"{name}={path!r}: a {type(path).__name__}; give a pathlib.Path")


def recorder_files() -> list[Path]:
    """Return what records programs of users: a header for what they say, what their compiler calls, options of compiler and linker."""
    folder = Path(__file__).resolve().parents[1] / "traces" / "recorder"
    headers = ("memwalk.h", "memwalk_lives.h", "memwalk_openmp.h", "memwalk_tasks.h", "memwalk_threads.h", "memwalk_wide.h")
    return sorted(folder / name for name in (*headers, "memwalk_compile.rsp", "memwalk_recorder.c", "memwalk_wrap.rsp"))
