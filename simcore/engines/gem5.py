"""gem5 as an engine: a trace is exported, replayed by gem5's TraceCPU on the same machine, and its statistics read."""

import os
import re
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memwalk.simcore.engines import native
from memwalk.simcore.engines.gem5_script import gem5_script
from memwalk.simcore.engines.gem5_stats import read_stats, to_statistics
from memwalk.simcore.errors import UserError

OLDEST = 24
"""The oldest version of gem5 that is known to read what memwalk writes."""

_HOW = f"build gem5 v{OLDEST} or later from its source (scons build/NULL/gem5.opt, with protobuf) and give the program; see docs/gem5.md"
_COMMITTED = re.compile(r"(\d+) insts committed")
_ENDED = "memwalk: end: "
"""What begins the line in which the script says why the simulation ended."""
_WHOLE = "end of all traces reached"
"""Why it ends when TraceCPU has replayed all."""
_REFUSED = {
    "measure": (0, "begins with a warm-up, which gem5 would measure too; record it with --set workload.caches=empty"),
    "flush": (1, "empties the caches {count:,} times, which gem5 does not do; record it with --set workload.caches=empty"),
    "call": (0, "calls a host DBMS {count:,} times, whose instructions are no part of a trace, so that gem5 would leave them out"),
}
"""Events without which gem5 would replay another program: how many of them change nothing (caches are empty at the beginning), and why."""
_KEPT_LINES = 20
"""Last lines of gem5's output, of which an error shows the telling one."""


def replay(
    trace: Path, machine: dict[str, Any], gem5: Path, folder: Path | None = None, progress: native.Progress = None
) -> dict[str, Any]:
    """Replay a trace file in gem5; returns its numbers under the names of memwalk's statistics, and ``gem5_version``.

    Beside them stands what gem5 does not get of the trace, as `native.export_trace` says it: ``left_out`` and ``lost``.
    The exported trace, the script and gem5's own output go to ``folder``, or to a temporary one. ``progress`` is told the
    instructions so far. Raises UserError if gem5 is missing, too old, fails or ends early, if it would replay another program, and
    for a ``folder`` that holds anything.
    """
    version = gem5_version(gem5)
    with _work_folder(folder) as work:
        data = work / "trace.elastic.gz"
        exported = native.export_trace(trace, "gem5-elastic", data, machine)
        _refuse_another_program(trace, exported["left_out"])
        files = [Path(file) for file in exported["files"]]
        script = work / "machine.py"
        script.write_text(gem5_script(machine, data=files[-1], fetches=files[0]), encoding="utf-8")
        _run(gem5, script, work, progress)
        stats = work / "stats.txt"
        unsaid = {key: exported[key] for key in ("left_out", "lost")}
        return to_statistics(read_stats(stats), machine, stats) | {"gem5_version": version} | unsaid


def _refuse_another_program(trace: Path, left_out: list[dict[str, Any]]) -> None:
    """Raise UserError if events that an export leaves out decide what the trace does."""
    for events in left_out:
        harmless, reason = _REFUSED.get(events["kind"], (events["events"], ""))
        if events["events"] > harmless:
            raise UserError(f"{trace}: {reason.format(count=events['events'])}")


def gem5_version(gem5: Path) -> str:
    """Return the version of the program ``gem5``. Raises UserError, saying how to build it, unless it is one that will do."""
    if not gem5.is_file():
        raise UserError(f"{gem5}: no such program; {_HOW}")
    if not os.access(gem5, os.X_OK):
        raise UserError(f"{gem5}: not executable; {_HOW}")
    with tempfile.TemporaryDirectory(prefix="memwalk-gem5-") as folder:
        nothing = Path(folder) / "nothing.py"
        nothing.touch()
        # Its banner, for `--build-info` fails in version 24.0.
        command = [str(gem5.absolute()), "--outdir", folder, str(nothing)]
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, text=True, errors="replace", check=False)
        except OSError as error:
            raise UserError(f"{gem5}: {error.strerror}; {_HOW}") from None
    found = re.search(r"^gem5 version \D*(\d+)\S*", done.stdout, re.MULTILINE)
    if found is None:
        raise UserError(f"{gem5}: not gem5: it starts without naming its version; {_HOW}")
    version = found[0].removeprefix("gem5 version ")
    if int(found[1]) < OLDEST:
        raise UserError(f"{gem5}: gem5 version {version} is too old; {_HOW}")
    return version


@contextmanager
def _work_folder(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="memwalk-gem5-") as temporary:
            yield Path(temporary)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # gem5 writes files of its own names; and statistics of a run before would be taken for this one's.
        found = next(folder.iterdir(), None)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}; choose another folder") from None
    if found is not None:
        raise UserError(f"{folder}: holds {found.name}, which is left alone; name a new or an empty folder")
    yield folder.absolute()


def _run(gem5: Path, script: Path, work: Path, progress: native.Progress) -> None:
    """Run gem5 to the end of the trace; on Ctrl-C it ends too. Raises UserError if it fails, or ends before."""
    command = [str(gem5.absolute()), "--outdir", str(work), str(script)]
    last: deque[str] = deque(maxlen=_KEPT_LINES)
    cause = "without a word"
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,  # without a terminal, gem5 listens on no port
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                last.append(line.strip())
                if line.startswith(_ENDED):
                    cause = f"with `{line.removeprefix(_ENDED).strip()}`"
                found = _COMMITTED.search(line)
                if found is not None and progress is not None:
                    progress(int(found[1]))
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise UserError(f"{gem5}: failed with exit code {process.returncode}: {_telling(last)}")
    if _WHOLE not in cause:
        raise UserError(f"{gem5}: ended {cause}, and not with `{_WHOLE}`: its numbers are not those of the whole trace")


def _telling(lines: deque[str]) -> str:
    """Return the line of gem5's last words that says most."""
    telling = [line for line in lines if line.startswith(("fatal:", "panic:")) or re.match(r"\w*(Error|Exception):", line)]
    return (telling or [line for line in lines if line] or ["it printed nothing"])[-1]
