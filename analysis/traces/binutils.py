"""What GNU binutils say of a program that a user has compiled."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from memwalk.simcore.errors import UserError


def told_by(tool: str, program: Path, *options: str, asked: str = "") -> Iterator[str]:
    """Yield the lines that a tool writes about a program, which is its last argument, when it is ``asked`` on its standard input.

    Raises UserError if the tool is missing, or cannot read the program.
    """
    if shutil.which(tool) is None:
        raise UserError(f"--program: needs {tool}, which is not installed; it comes with GNU binutils")
    if not program.is_file():
        raise UserError(f"--program {program}: no such file")
    # In files, neither can fill a pipe that nobody reads.
    with TemporaryFile("w+") as questions, TemporaryFile("w+", errors="replace") as complaints:
        questions.write(asked)
        questions.seek(0)
        command = [tool, *options, str(program)]
        with subprocess.Popen(command, stdin=questions, stdout=subprocess.PIPE, stderr=complaints, text=True, errors="replace") as process:
            assert process.stdout is not None
            yield from process.stdout
        complaints.seek(0)
        if process.returncode:
            raise UserError(f"--program {program}: no program that {tool} can read ({complaints.read().strip()})")
