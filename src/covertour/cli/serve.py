"""serve: a page for planners and an HTTP API for developers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from covertour.cli import show
from covertour.cli.options import at_least, whole
from covertour.problem.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; by default only this machine.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole(0), metavar="P", help="The port; 0 for any free one.")
    ] = 8000,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep jobs in this SQLite file, so that a restart loses none.",
            show_default=False,
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            envvar="COVERTOUR_TOKEN",
            help="Answer only who sends this as `Authorization: Bearer TOKEN`.",
            show_default=False,
        ),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="Let pages of this origin use the API (CORS). May be given several times.",
            show_default=False,
        ),
    ] = None,
    places: Annotated[
        int, typer.Option(parser=whole(1), metavar="N", help="Most places of a job.")
    ] = 100_000,
    seconds: Annotated[
        float, typer.Option(parser=at_least(0.001), metavar="S", help="Longest search or proof.")
    ] = 600.0,
    body: Annotated[
        int, typer.Option(parser=whole(1), metavar="MB", help="Largest request, in megabytes.")
    ] = 32,
    jobs: Annotated[
        int | None,
        typer.Option(
            parser=whole(1),
            metavar="N",
            help="Jobs that run at a time; by default as many as there are cores, at most 8.",
            show_default=False,
        ),
    ] = None,
    waiting: Annotated[
        int, typer.Option(parser=whole(1), metavar="N", help="Jobs that may wait.")
    ] = 200,
    keep: Annotated[
        float,
        typer.Option(parser=at_least(0.001), metavar="HOURS", help="How long results are kept."),
    ] = 168.0,
    memory: Annotated[
        int,
        typer.Option(parser=whole(50), metavar="MB", help="Memory of each process that solves."),
    ] = 2_000,
    log: Annotated[
        bool, typer.Option("--log", help="Write a line per request, without its content.")
    ] = False,
) -> None:
    """Serve a page for planners and an HTTP API for developers.

    covertour serve
    """
    try:
        from covertour.web.guard import Access
        from covertour.web.limits import MEGABYTE, Limits
        from covertour.web.serving import serve as run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in ("starlette", "uvicorn", "h11"):
            raise
        raise InputError("serve: needs the extra web: pip install 'covertour[web]'") from None
    if port > 65_535:
        raise InputError(f"--port: expected 0 to 65535, got {port}")
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise InputError("--token: expected plain letters and digits")
    limits = Limits(
        places=places,
        seconds=seconds,
        body=body * MEGABYTE,
        jobs=jobs or 0,
        waiting=waiting,
        kept_hours=keep,
        memory=memory,
    )
    on_loopback = host in LOOPBACK

    def on_start(port: int) -> None:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/"
        show.say(f"covertour is at {address}  (API: {address}docs; Ctrl-C ends it)")
        if not on_loopback:
            who = "whoever has the token" if token else "everyone who reaches this machine"
            show.note(
                f"covertour: {host} is not this machine alone: {who} can use it, unencrypted; "
                "put a web server with TLS before it"
            )
        if store is None:
            show.note("covertour: jobs are kept until it ends; --store FILE keeps them")

    run(
        host,
        port,
        limits,
        Access(token, tuple(origin or ()), on_loopback),
        None if store is None else Path(os.path.expanduser(store)),
        on_start,
        log,
    )
