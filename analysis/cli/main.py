"""Entry point of `memwalk`: the list of commands, and how mistakes and signals leave the program."""

import errno
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from memwalk.analysis.cli import console
from memwalk.analysis.cli.termination import exit_code
from memwalk.simcore.errors import UserError
from memwalk.simcore.validation import in_words, nearest

COMMANDS = {
    "run": "memwalk.analysis.cli.run",
    "reproduce": "memwalk.analysis.cli.reproduce",
    "replay": "memwalk.analysis.cli.replay",
    "curve": "memwalk.analysis.cli.curve",
    "trace": "memwalk.analysis.cli.trace",
    "disk": "memwalk.analysis.cli.disk",
    "index": "memwalk.analysis.cli.index",
    "explain": "memwalk.analysis.cli.explain",
    "check": "memwalk.analysis.cli.check",
    "native": "memwalk.analysis.cli.native",
    "advise": "memwalk.analysis.cli.advise",
    "machine": "memwalk.analysis.cli.machine",
    "list": "memwalk.analysis.cli.listing",
    "schema": "memwalk.analysis.cli.schema",
}
"""Every command and the module whose ``app`` it is; a module is imported when its command is called."""

MISTAKE = 2
"""Exit code for what the user can mend."""
NO_OUTPUT = 74
"""Exit code when standard output takes nothing (EX_IOERR of sysexits.h): not 1, which says that a claim failed."""
CUT_OFF = 141
"""Exit code when the reader of a pipe has enough, as a shell gives it for SIGPIPE."""

_UsageError: Any = typer.BadParameter.__bases__[0]
"""What Click raises for options and arguments it cannot use; Typer brings its own Click and does not name this class."""


@contextmanager
def _mistakes_in_one_line() -> Iterator[None]:
    """Turn a user's mistake into one line per mistake on stderr and the exit code for it."""
    try:
        yield
    except UserError as error:
        console.error(str(error))
        raise typer.Exit(MISTAKE) from None
    except OSError as error:
        if error.filename is not None:
            console.error(f"{error.filename}: {error.strerror}; name another place, or mend this one")
        else:
            console.error(f"the system refused: {error.strerror}; raise its limits (`ulimit -a`), or use fewer --jobs")
        raise typer.Exit(MISTAKE) from None
    except MemoryError:
        console.error("memory ran out; use a smaller workload, or fewer --jobs")
        raise typer.Exit(MISTAKE) from None
    except _UsageError as error:
        if isinstance(error.__cause__, ValidationError):
            error.message = "; ".join(in_words(details) for details in error.__cause__.errors())
        message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
        if error.ctx is None or not message:  # a group called without a command shows its help
            raise
        console.error(f"{message}; `{error.ctx.command_path} --help` says what is possible")
        raise typer.Exit(MISTAKE) from None
    except Exception as error:
        if not _refused_by_simulator(error):
            raise
        console.error(": ".join(filter(None, map(str, error.args))))
        raise typer.Exit(MISTAKE) from None


@contextmanager
def _signals_as_exit_codes() -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into the exit codes for them, and tell what the command has noted of what is left."""
    try:
        yield
    except KeyboardInterrupt as ended:
        console.note("; ".join(["stopped", *getattr(ended, "__notes__", ())]))
        raise typer.Exit(exit_code(ended)) from None


def _refused_by_simulator(error: Exception) -> bool:
    """Tell a machine or workload that cannot be, found by the simulator and by nobody before it; most commands do not load that."""
    native = sys.modules.get("memwalk.simcore._native")
    return native is not None and isinstance(error, native.SpecError)


@contextmanager
def _output_is_taken() -> Iterator[None]:
    """Bring what was printed to standard output, and end with a code of its own if that cannot take it."""
    if sys.stdout is None:
        console.error("standard output is closed; open it, or send it to a file")
        raise typer.Exit(NO_OUTPUT)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # Rich turns the one into the other
        _forget_output()
        raise typer.Exit(CUT_OFF) from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EBADF) or error.filename is not None:
            raise
        _forget_output()
        console.error(f"standard output: {error.strerror}; free the space, or send it elsewhere")
        raise typer.Exit(NO_OUTPUT) from None


def _forget_output() -> None:
    """Lets the end of the program write what is left to where it does not matter."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


class _Commands(TyperGroup):
    """Commands imported on demand; a user's mistake ends them with one line per mistake on stderr."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _signals_as_exit_codes(), _mistakes_in_one_line(), _output_is_taken():
            return super().make_context(*args, **kwargs)

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            raise UserError(f"no command `{cmd_name}`; {nearest(cmd_name, COMMANDS)}")
        command = typer.main.get_command(importlib.import_module(COMMANDS[cmd_name]).app)
        command.name = cmd_name
        _refuse_options_twice(command)
        return command

    def invoke(self, ctx: Any) -> Any:
        with _signals_as_exit_codes(), _mistakes_in_one_line(), _output_is_taken():
            return super().invoke(ctx)


def _refuse_options_twice(command: Any) -> None:
    """Have a command, or all of a group, refuse an option of one value that is given twice: only the last would count, silently."""
    for inner in getattr(command, "commands", {}).values():
        _refuse_options_twice(inner)
    make_parser = command.make_parser

    def made(ctx: Any) -> Any:
        parser = make_parser(ctx)
        parse_args = parser.parse_args

        def parsed(args: Sequence[str]) -> Any:
            given = list(args)
            _, _, order = found = parse_args(args=list(args))
            for option in {id(one): one for one in order}.values():
                if _has_one_value(option) and sum(one is option for one in order) > 1:
                    raise UserError(f"{option.opts[0]} is given twice, {' and '.join(_values(option, given))}; keep one of them")
            return found

        parser.parse_args = parsed
        return parser

    command.make_parser = made


def _has_one_value(parameter: Any) -> bool:
    is_option = parameter.param_type_name == "option"
    return is_option and not (parameter.multiple or parameter.count or parameter.is_flag)


def _values(option: Any, args: Sequence[str]) -> Iterator[str]:
    """Find each time that an option is given among arguments, as it is written."""
    for at, argument in enumerate(args):
        if argument in option.opts:
            yield " ".join(args[at : at + 2])
        elif argument.startswith(tuple(f"{name}=" for name in option.opts)):
            yield argument


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="Where in the memory hierarchy does a database data structure lose its time?",
    epilog="Example: memwalk run configs/experiments/search-tree-size.yaml --scale quick",
)


def _show_version(wanted: Any) -> None:
    if wanted:
        from memwalk.simcore.engines import native

        build = native.build_info()
        typer.echo(f"memwalk {build['version']} (commit {build['commit']}, {build['profile']} build)")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Version, commit and build profile."),
    ] = False,
) -> None:
    console.log_to_stderr()


def run() -> None:
    """Run the command line and exit: 0 ok, 1 a claim or check failed, 2 the user's mistake; the codes above for the rest."""
    app(prog_name="memwalk")
