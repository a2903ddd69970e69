"""The verb export: from a training's directory to the files that `solve --weights` takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from covertour.cli import show
from covertour.problem.errors import InputError


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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Make trained weights ready for solving without torch; needs the extra `train`.

    Of a training's directory, a card that tells how the weights were made is written too.

    covertour export training --output weights

    covertour solve villages.csv --radius 10 --method am-gain --weights weights
    """
    from covertour.neural.training.card import write_card
    from covertour.neural.training.runs import BEST, has_checkpoint

    source = Path(directory)
    training = source if source.is_dir() else None
    if training is not None:
        source = training / BEST
        if not source.exists():
            raise InputError(f"{directory}: no {BEST} here, so no training of covertour")
    elif not source.exists():
        raise InputError(f"{directory}: no such file or directory")
    try:
        from covertour.neural.training.checkpoint import load_model
        from covertour.neural.training.export import export as write
    except ModuleNotFoundError as error:
        raise InputError(
            f"exporting needs {error.name}, which is not installed: pip install 'covertour[train]'"
        ) from None

    model, config = load_model(source)
    write(model, config, Path(output))
    if training is not None and has_checkpoint(training):
        write_card(training, Path(output))
    if not quiet:
        show.say(
            f"wrote {config.name} to {output}; use it with: "
            f"covertour solve FILE --method {config.name} --weights {output}"
        )
