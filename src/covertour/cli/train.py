"""The verb train: read what is asked for, start the training, show how it goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covertour.cli import show
from covertour.cli.options import at_least, whole
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray

if TYPE_CHECKING:
    from covertour.neural.config import Config
    from covertour.neural.training.train import Report

TEACHER_ITERATIONS = 10
"""Iterations of the search for a tour to imitate: so many per place."""


def train(
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="A TOML file, - for standard input, or one of the presets paper-20, paper-50, "
            "cpu-20, cpu-50, mixed.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="am-dynamic, am, pn-dynamic, pn or am-gain.",
            show_default=False,
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change the config, for example train.seed=2 or stage.steps=500. May be given "
            "several times.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Where weights and logs go.")
    ] = "training",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last checkpoint in the directory.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            parser=whole(1), metavar="N", help="Threads of torch.", show_default="all cores"
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            "-s",
            parser=at_least(0),
            metavar="S",
            help="Stop after S seconds with a checkpoint, to be resumed later.",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Train a learned method; needs the extra `train`.

    covertour train --config cpu-20 --model am-gain --output run

    Several processes: torchrun --standalone --nproc-per-node 2 --no-python covertour train ...
    """
    directory = Path(output)
    chosen = _config(config, model, changes or [], directory, resume)
    try:
        from covertour.neural.training.train import train as run
    except ModuleNotFoundError as error:
        raise InputError(
            f"training needs {error.name}, which is not installed: pip install 'covertour[train]'"
        ) from None

    told = int(os.environ.get("RANK", "0")) == 0 and not quiet
    with _live_line(told and show.on_terminal()) as on_step:
        report = run(
            chosen,
            directory,
            resume=resume,
            teach=_teach,
            threads=threads,
            seconds=float("inf") if seconds is None else seconds,
            on_step=on_step,
        )
    if told:
        show.say(_summary(chosen, report, directory))
    if report.interrupted:
        raise KeyboardInterrupt


def _config(
    file: str | None, model: str | None, changes: Sequence[str], directory: Path, resume: bool
) -> Config:
    """The config: of the file or, resumed, of the checkpoint; then changed by the options."""
    from covertour.neural.config import config_from, read_config
    from covertour.neural.training.runs import CHECKPOINT, checkpoint_config

    changed = [*changes, *([] if model is None else [f"model.name={model}"])]
    if not resume:
        return read_config(file, changed)
    if file is not None:
        raise InputError("--config and --resume: give one of them, the checkpoint has its config")
    return config_from(checkpoint_config(directory), changed, str(directory / CHECKPOINT))


def _teach(instances: Sequence[Instance]) -> list[IntArray]:
    """Good tours: those of the search, after a number of iterations that grows with the places."""
    from covertour.solving.solve import solve
    from covertour.solving.stop import MaxIterations

    tours = []
    for instance in instances:
        stop = MaxIterations(TEACHER_ITERATIONS * (20 + instance.n))
        tours.append(solve(instance, stop=stop).tour.places)
    return tours


def _summary(config: Config, report: Report, directory: Path) -> str:
    name = config.model.name
    made = f"{name}: {report.step:,} of {report.steps:,} steps, {report.seconds:,.0f} s"
    if report.validation is not None:
        made += f", greedy tours {report.validation:.4f}"
    if report.gap is not None:
        made += f" ({report.gap:.2%} over the search's)"
    if report.interrupted:
        return f"{made}; interrupted, to be gone on with: covertour train --resume -o {directory}"
    return f"{made}; see {directory}"


@contextmanager
def _live_line(shown: bool) -> Iterator[Callable[[Report], None] | None]:
    """A function that shows on one line how the training goes; None where nobody watches."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    first: list[Report] = []
    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def step(report: Report) -> None:
            if not first:
                first.append(report)
            made, took = report.step - first[0].step, report.seconds - first[0].seconds
            rate = made / took if took > 0 else 0.0
            parts: list[Any] = [ProgressBar(total=report.steps, completed=report.step, width=16)]
            parts.append(f"step {report.step:,} of {report.steps:,}")
            parts.append(f"cost {report.cost:.3f}")
            if report.validation is not None:
                parts.append(f"[bold]greedy {report.validation:.4f}[/bold]")
            if report.gap is not None:
                parts.append(f"gap {report.gap:.2%}")
            if rate > 0:
                left = round((report.steps - report.step) / rate)
                parts.append(f"{rate:.2f} steps/s")
                parts.append(f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left")
            grid = Table.grid(padding=(0, 2, 0, 0))
            grid.add_row(*parts)
            live.update(grid, refresh=True)

        yield step
