"""The options that several verbs share: how they are read, checked and turned into an instance."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covertour.cli import show
from covertour.formats.manner import Manner
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import METRICS, SPHERE_KM
from covertour.problem.oddities import oddities
from covertour.problem.preferences import drop_under
from covertour.problem.tour import Tour, same_length
from covertour.problem.units import in_kilometres
from covertour.problem.words import count, weight_word

if TYPE_CHECKING:
    from covertour.cli.asking import Asked
    from covertour.solving.result import Result

MOST_ODD = 5
"""How many places are warned of."""

STANDARD = "-"
"""The name of standard input and of standard output."""

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


@contextmanager
def on_cluster(address: str | None) -> Iterator[Executor | None]:
    """The workers of a scheduler, None without an address."""
    if address is None:
        yield None
        return
    from covertour.executors import cluster, slots_of

    with cluster(address) as executor:
        if show.on_terminal():
            show.note(f"{count(slots_of(executor), 'thread')} at {address}")
        yield executor


def at_least(least: float) -> Any:
    """A parser for a finite number that is no less than this."""

    def parse(text: str | float) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= least):
            raise typer.BadParameter(f"expected a number >= {least:g}, got {shown(str(text))}")
        return value

    return parse


def whole(least: int) -> Any:
    """A parser for a whole number that is no less than this."""

    def parse(text: str | int) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise typer.BadParameter(f"expected a whole number >= {least}, got {shown(str(text))}")
        return value

    return parse


def _range(text: str, number: Any) -> Any:
    """One value, or a pair of them written as low-high."""
    ends = re.fullmatch(f"({NUMBER})-({NUMBER})", text)
    if ends is None:
        return number(text)
    low, high = number(ends[1]), number(ends[2])
    if low > high:
        raise typer.BadParameter(f"expected the lower end first, got {text!r}")
    return low, high


def whole_range(text: str) -> int | tuple[int, int]:
    """A whole number, or low-high for one drawn per place."""
    return _range(str(text), whole(0))


def number_range(text: str) -> float | tuple[float, float]:
    """A number, or low-high for one drawn per place."""
    return _range(str(text), at_least(0))


def distance(text: str | float) -> str:
    """A number that is no less than 0, also with a unit such as 12mi; as text."""
    try:
        value = in_kilometres(str(text))
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    if value is None or value < 0:
        at_least(0)(text)
    return str(text)


InstanceFile = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help="The places: .csv, .xlsx, .xls, .kml, .kmz, .gpkg, .shp (also zipped), .geojson, "
        ".json, .tsp, or a distance matrix (.csv, .npy); - for standard input.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", parser=whole(0), metavar="N", help="The same seed gives the same result."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="ENDING",
        help="The format of what goes to standard output (-), such as csv; else json.",
        show_default=False,
    ),
]
ExcelOption = Annotated[
    bool,
    typer.Option("--excel", help="Begin .csv with a mark by which Excel knows its encoding."),
]
TilesOption = Annotated[
    str | None,
    typer.Option(
        "--tiles",
        metavar="URL",
        help="Let HTML maps ask this tile server, for example "
        "https://tile.openstreetmap.org/{z}/{x}/{y}.png; they ask nobody else.",
        show_default=False,
    ),
]


def complete_method(incomplete: str) -> list[str]:
    """The methods that begin like this, for the shell to complete."""
    from covertour.solving.methods import METHODS

    return beginning(incomplete, list(METHODS))


def one_of(words: Sequence[str]) -> Callable[[str], list[str]]:
    """A function for the shell to complete one of these words."""

    def complete(incomplete: str) -> list[str]:
        return beginning(incomplete, words)

    return complete


def beginning(incomplete: str, words: Sequence[str]) -> list[str]:
    """The words that begin like this."""
    return [word for word in words if word.startswith(incomplete)]


class StandardInput(io.BytesIO):
    """What came on standard input, to be read more than once."""

    name = "<stdin>"


def source_of(file: str) -> str | StandardInput:
    """What to read: the file, or standard input for ``-``."""
    return StandardInput(sys.stdin.buffer.read()) if file == STANDARD else file


def load_instance(file: str | StandardInput, asked: Asked, quiet: bool = False) -> Instance:
    """Read an instance; what the options say takes the place of what the file says.

    Columns that are not used are told of on standard error, unless all shall be ``quiet``.
    """
    from covertour import formats

    if asked.metric is not None and asked.metric not in METRICS:
        hint = did_you_mean(asked.metric, METRICS)
        raise InputError(f"--metric: {asked.metric!r} is unknown{hint}")
    instance = formats.read(
        source_of(file) if isinstance(file, str) else file,
        nearest=asked.nearest,
        radius=asked.radius,
        metric=asked.metric,
        stops=asked.stops,
        sheet=asked.sheet,
        skip_bad_rows=asked.skip_bad_rows,
        merge_duplicates=asked.merge_duplicates,
        on_note=_ignore if quiet else show.note,
    )
    times = asked.times
    instance = asked.by_road(instance, _ignore if quiet else show.note)
    changes = asked.changes(instance)
    instance = instance.with_changes(**changes) if changes else instance
    limits = {} if times is None else times.limits(instance)
    instance = instance.with_changes(**limits) if limits else instance
    if asked.drop_under is None:
        return instance
    return _without_small(instance, asked.drop_under, _ignore if quiet else show.note)


def _without_small(instance: Instance, least: float, note: Callable[[str], None]) -> Instance:
    """The instance in which places with fewer people need no cover, and a word about it."""
    try:
        changed = drop_under(instance, least)
    except InputError as error:
        raise InputError(f"--{str(error).replace('drop_under', 'drop-under', 1)}") from None
    small = int((instance.weights < least).sum())
    few = f"fewer than {least:g} {weight_word(instance)}"
    note(f"{instance.name}: {count(small, 'place')} with {few} may be left out")
    return changed


def tell_of_oddities(instance: Instance) -> None:
    """Warn of places whose coordinates look like mistakes."""
    found = oddities(instance)
    for odd in found[:MOST_ODD]:
        show.note(f"warning: {odd.message}")
    if len(found) > MOST_ODD:
        show.note(f"warning: and {len(found) - MOST_ODD:,} more places that look like mistakes")


def read_tour(file: str, instance: Instance) -> Tour:
    """Read a tour, whose stops must be there."""
    from covertour import formats

    return formats.read_tour(source_of(file), instance)


def load_tour(file: str, instance: Instance) -> Tour:
    """Read a tour that belongs to an instance: its stops are there, and its length is right."""
    tour = read_tour(file, instance)
    true = instance.length(tour.places)
    if not same_length(tour.length, true):
        raise InputError(
            f"{file}: the tour claims length {tour.length:.10g}, but through these places it is "
            f"{true:.10g}; was it made for others?"
        )
    return tour


def _ignore(message: str) -> None:
    pass


def places_called(instance: Instance, option: str, texts: Sequence[str]) -> tuple[int, ...]:
    """The places of all the texts, each a list separated by commas or a name with commas in it."""
    found: list[int] = []
    for text in texts:
        whole_text = instance.labels is not None and text in instance.labels
        parts = [text] if whole_text else [part.strip() for part in text.split(",")]
        found += [the_place_called(instance, option, part) for part in parts if part]
    return tuple(found)


def the_place_called(instance: Instance, option: str, text: str) -> int:
    """The place with this name, else the one with this number."""
    labels = instance.labels or ()
    times = labels.count(text)
    if times == 1:
        return labels.index(text)
    if times > 1:
        raise InputError(f"{option}: {times} places are called {text!r}; give a number instead")
    if re.fullmatch(r"[0-9]{1,18}", text) and int(text) < instance.n:
        return int(text)
    hint = did_you_mean(text, labels, list_all=False) if len(labels) <= 20_000 else ""
    raise InputError(
        f"{option}: no place is called {shown(text)}, and numbers go from 0 to "
        f"{instance.n - 1}{hint}"
    )


def check_method(method: str, known: Sequence[str]) -> None:
    """Refuse a method that does not exist, with those that sound like it."""
    if method not in known:
        raise InputError(f"--method: {method!r} is unknown{did_you_mean(method, known)}")


def check_outputs(
    outputs: Sequence[str],
    inputs: Sequence[str | None],
    outcome: bool,
    format: str | None = None,
) -> None:
    """Refuse, before any work is done, outputs that could not be written in the end.

    ``outcome``: whether tours will be written, not instances. ``format``: of standard output.
    """
    from covertour import formats

    if list(inputs).count(STANDARD) > 1:
        raise InputError("-: standard input can be read only once")
    if format is not None and STANDARD not in outputs:
        raise InputError("--format: is for standard output (-); in a file the ending decides")
    for index, output in enumerate(outputs):
        if output in outputs[:index]:
            raise InputError(f"{output}: given twice as output")
        if output == STANDARD:
            formats.check_format(format or "json", outcome)
            continue
        formats.check_output(output, outcome)
        if os.path.exists(output):
            for given in inputs:
                if given and os.path.exists(given) and os.path.samefile(given, output):
                    raise InputError(f"{output}: is an input too and would be overwritten")


def write_output(
    output: str,
    instance: Instance,
    outcome: Result | Tour | None,
    format: str | None = None,
    manner: Manner = Manner(),
) -> None:
    """Write to a file, or to standard output for ``-``; ``manner``: what is wished of writers."""
    from covertour import formats

    if output == STANDARD:
        formats.write(sys.stdout, instance, outcome, format=format or "json", **vars(manner))
    else:
        formats.write(output, instance, outcome, **vars(manner))


def write_outputs(
    outputs: Sequence[str],
    instance: Instance,
    result: Result,
    format: str | None = None,
    manner: Manner = Manner(),
) -> tuple[list[str], list[str]]:
    """Write all that can be written: the outputs that were, and why the others were not."""
    written, failures = [], []
    for output in outputs:
        try:
            write_output(output, instance, result, format, manner)
        except InputError as error:
            failures.append(str(error))
        else:
            written.append(output)
    return written, failures


def tell_written(outputs: Sequence[str]) -> None:
    """Say which files there are now."""
    for output in outputs:
        if output != STANDARD:
            show.say(f"wrote {output}")


def check_outputs_fit(
    instance: Instance, outputs: Sequence[str], format: str | None = None
) -> None:
    """Refuse, before a search, outputs that these places cannot be written to."""
    for output in outputs:
        ending = os.path.splitext(output)[1].lower()
        if output == STANDARD:
            ending = f".{format}"
        if (
            ending in (".gpx", ".geojson", ".kml", ".gpkg")
            and instance.drawn_metric not in SPHERE_KM
        ):
            raise InputError(
                f"{output}: the format needs latitudes and longitudes, but the places have the "
                f"metric {instance.metric!r} (--metric haversine if they are degrees)"
            )
        if ending in (".html", ".png", ".svg") and instance.coordinates is None:
            raise InputError(f"{output}: a distance matrix without coordinates cannot be drawn")
