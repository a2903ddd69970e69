"""The command line: one command per verb, each a thin layer over the public API.

Whatever goes wrong becomes one line on standard error, a JSON object where --json is given: exit
code 2 for bad input, 1 for a solve that could not finish, 130 after Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from covertour.cli import bench, export, files, frontier, info, serve, show, solving, train
from covertour.problem.errors import InputError, SolveError
from covertour.version import __version__

FEW_COLLECTIONS = 200_000
"""New objects between two collections of garbage: loading a search makes many, and no garbage."""


def _without_types(parameters: list[Any]) -> list[Any]:
    """The parameters of a command, where flags say no type in the help: they take no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """Verbs under one name."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options before the verb."""
        return _without_types(super().get_params(ctx))


app = typer.Typer(
    cls=Group,
    help="Solve the Covering Salesman Problem: the shortest round trip that passes near every "
    "place.",
    epilog="Start with: covertour demo",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(solving.solve)
app.command()(files.check)
app.command()(files.plot)
app.command()(files.convert)
app.command()(info.info)
app.command()(frontier.frontier)
app.command()(files.generate)
app.command()(solving.methods)
app.command()(solving.demo)
app.command()(solving.warmup)
app.command()(serve.serve)
app.add_typer(bench.app, name="bench", cls=Group)
app.command()(train.train)
app.command()(export.export)
for verbs in (app, bench.app):
    for verb in verbs.registered_commands:
        verb.cls = Command


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"covertour {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on the arguments, by default the program's own, and exit."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    gc.set_threshold(FEW_COLLECTIONS)
    warnings.showwarning = _tell_warning
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def _tell_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning is a line for the user, not a place in the code."""
    show.note(f"covertour: {' '.join(str(message).split())}")


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors are printed, never raised."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a name the terminal cannot show is no error
    debug = bool(os.environ.get("COVERTOUR_DEBUG"))
    try:
        command = typer.main.get_command(app)
        code = command.main(list(arguments) or ["--help"], "covertour", standalone_mode=False)
        sys.stdout.flush()
        if code == solving.INTERRUPTED:  # typer's own answer to Ctrl-C, too
            print("covertour: interrupted", file=sys.stderr)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        print("covertour: interrupted", file=sys.stderr)
        return solving.INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; without this the interpreter would complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if debug:
            raise
        message, code = explain(error)
        message = " ".join(message.split())
        as_json = "--json" in arguments
        told = json.dumps({"error": message, "code": code}) if as_json else f"covertour: {message}"
        print(told, file=sys.stderr)
        return code


def explain(error: Exception) -> tuple[str, int]:
    """What to tell the user about an error, and the exit code."""
    if isinstance(error, InputError):
        return str(error), 2
    if isinstance(error, SolveError):
        return str(error), 1
    if hasattr(error, "format_message"):  # typer's own: a wrong option, a missing argument
        return _usage(error), 2
    if isinstance(error, MemoryError):
        return "not enough memory for this instance", 1
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}", 2
    return (
        f"unexpected {type(error).__name__}: {error} "
        "(this is a bug; COVERTOUR_DEBUG=1 shows where it happened)",
        1,
    )


def _usage(error: Any) -> str:
    """Typer's message in the form of ours: the option first, then what was expected."""
    message = error.format_message()
    wrong_value = re.fullmatch(r"Invalid value for '?(.*?)'?: (.*)", message, re.DOTALL)
    if wrong_value:
        option = wrong_value[1].split("' / '")[0]  # the long name, without the short one
        return f"{option}: {wrong_value[2]}"
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "covertour"
    return f"{message[:1].lower()}{message[1:].rstrip('.')} (see {command} --help)"
