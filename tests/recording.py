"""Programs that are compiled with memwalk's recorder, what they record, and its import."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from files import ROOT, memwalk

EXAMPLES = ROOT / "docs" / "examples"
WRAPPED = "@memwalk_wrap.rsp"
NEEDS_COMPILER = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
NEEDS_RUST = pytest.mark.skipif(not shutil.which("rustc"), reason="needs rustc")


def compiled_recorder(folder: Path) -> Path:
    """Write the recorder into a folder, compile it there, and return the folder."""
    done = memwalk("trace", "recorder", ".", cwd=folder)
    assert done.stdout.split() == sorted(file.name for file in (ROOT / "traces" / "recorder").iterdir()), done.stderr
    compiler = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "memwalk_recorder.c"]
    subprocess.run(compiler, cwd=folder, check=True)
    return folder


ACCESSES_AND_BLOCKS = ("@memwalk_compile.rsp",)
ACCESSES = (*ACCESSES_AND_BLOCKS, "-fno-sanitize-coverage=trace-pc", "--param", "tsan-instrument-func-entry-exit=0")


def built(folder: Path, source: Path, calls: tuple[str, ...] = ACCESSES_AND_BLOCKS, options: tuple[str, ...] = ()) -> Path:
    """Return the program of a source, instrumented and linked with the recorder; `options` are for compiler and linker."""
    name = source.stem
    compiler = ["g++", "-std=c++17", "-O2", "-g", *options]
    subprocess.run([*compiler, "-I.", *calls, "-c", source, "-o", f"{name}.o"], cwd=folder, check=True)
    subprocess.run([*compiler, f"{name}.o", "memwalk_recorder.o", WRAPPED, "-pthread", "-o", name], cwd=folder, check=True)
    return folder / name


def recorded(program: Path, *arguments: str, threads: str = "") -> Path:
    """Run a program, and return what its first thread recorded."""
    recording = program.with_suffix(".recording")
    environment = {"PATH": os.defpath, "MEMWALK_TRACE": str(recording)} | ({"MEMWALK_THREADS": threads} if threads else {})
    subprocess.run([program, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
    return recording


def imported(*recordings: Path) -> tuple[Path, dict[str, Any]]:
    """Return the trace of recordings, one for each thread, and what its import says."""
    trace = recordings[0].with_suffix(".parquet")
    trace.unlink(missing_ok=True)
    done = memwalk("trace", "import", *recordings, "-o", trace, "--json")
    assert done.returncode == 0, done.stderr
    return trace, json.loads(done.stdout)


def cycles(trace: Path) -> int:
    """Return the cycles of a replay in which each load waits for the one before."""
    done = memwalk("replay", trace, "--machine", "zen4-server", "--dependences", "chain", "--json")
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["cycles"])


def imported_threads(first: Path, threads: int) -> tuple[Path, dict[str, Any]]:
    """As `imported`, of so many threads, the first of which has written there."""
    return imported(first, *(first.with_name(f"{first.name}.{thread}") for thread in range(1, threads)))


def rust_options(recorder: Path) -> list[str]:
    """Return what instruments a program in Rust and links it with the recorder of a folder."""
    calls = ("level=3", "prune-blocks=0", "trace-pc-guard", "pc-table", "trace-loads", "trace-stores")
    asked = [f"-Cllvm-args=-sanitizer-coverage-{call}" for call in calls]
    links = [f"-Clink-arg={recorder / 'memwalk_recorder.o'}", f"-Clink-arg=@{recorder / 'memwalk_wrap.rsp'}"]
    return ["-g", "-Cpasses=sancov-module", *asked, *links]


def built_in_rust(folder: Path, source: Path) -> Path:
    """Return the program of a source in Rust, instrumented and linked with the recorder."""
    program = folder / f"{source.stem}_in_rust"
    subprocess.run(["rustc", "--edition", "2021", "-O", *rust_options(folder), source, "-o", program], cwd=folder, check=True)
    return program
