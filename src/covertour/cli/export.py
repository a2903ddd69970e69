"""The verb export: from a training's directory to the files that `solve --weights` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from covertour.cli import show


def export(
    directory: Annotated[
        str,
        typer.Argument(
            metavar="TRAINING",
            help="The directory of `covertour train`, or a .safetensors file of weights.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="DIR", help="Where to write.", show_default=False),
    ],
    latest: Annotated[
        bool,
        typer.Option("--latest", help="Not the best weights, but those of the last checkpoint."),
    ] = False,
    half: Annotated[
        bool, typer.Option("--half", help="Half the digits, in half the space.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Write trained weights to a directory that `solve --weights` takes.

    Of a training's directory, a card that tells how the weights were made is written too.

    covertour export training --output weights

    covertour solve villages.csv --radius 10 --method am-gain --weights weights
    """
    from covertour.neural.training.export import export as write

    config = write(Path(directory), Path(output), latest=latest, half=half)
    if not quiet:
        show.say(
            f"wrote {config.name} to {output}; use it with: "
            f"covertour solve FILE --method {config.name} --weights {output}"
        )
