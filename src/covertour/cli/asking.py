"""What is asked of the places in a file: the options that all verbs with an instance share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, get_type_hints

import typer

from covertour.cli.options import (
    at_least,
    distance,
    one_of,
    places_called,
    the_place_called,
    whole,
)
from covertour.problem.errors import InputError, shown
from covertour.problem.goals import Fleet, Quota
from covertour.problem.instance import Instance
from covertour.problem.metric import METRICS
from covertour.problem.times import Times

MINUTES_PER_HOUR = 60.0
"""The "speed" of a tour that is measured in minutes."""

MORNING = 8 * 60
"""When a route starts unless it is said, in minutes after midnight."""

COVER, GOAL, FLEET = "Who covers whom", "What the tour must do", "Several vehicles or days"
FILE, ROADS = "How the file is read", "Real roads"
"""The headings of these options in the help."""


def quota(text: str) -> Quota:
    """A share such as 95% or 0.95, or a total such as 120000."""
    number = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", str(text))
    if number is None:
        raise typer.BadParameter(
            f"expected a share such as 95% or a total such as 120000, got {shown(str(text))}"
        )
    value = float(number[1])
    try:
        if number[2]:
            return Quota(share=value / 100)
        return Quota(share=value) if value <= 1 else Quota(weight=value)
    except InputError as error:
        raise typer.BadParameter(str(error).removeprefix("quota: ")) from None


def share(text: str | float) -> float:
    """A share above 0 and up to 1, such as 50% or 0.5."""
    wanted = quota(str(text)).share
    if wanted is None:
        raise typer.BadParameter(f"expected a share such as 50%, got {shown(str(text))}")
    return wanted


def more_than_nothing(text: str | float) -> float:
    """A number above 0."""
    value: float = at_least(0)(text)
    if value == 0:
        raise typer.BadParameter(f"expected a number above 0, got {shown(str(text))}")
    return value


def time_of_day(text: str | float) -> float:
    """Minutes after midnight, from a time such as 7:30."""
    found = re.fullmatch(r"\s*(\d{1,2})(?:[:h](\d{2}))?\s*", str(text))
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        raise typer.BadParameter(f"expected a time such as 07:30, got {shown(str(text))}")
    return int(found[1]) * 60 + int(found[2] or 0)


def _option(*names: str, parser: Any = None, metavar: str, help: str, panel: str) -> Any:
    return typer.Option(
        *names,
        parser=parser,
        metavar=metavar,
        help=help,
        rich_help_panel=panel,
        show_default=False,
    )


def _flag(name: str, help: str, panel: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel=panel)


@dataclass(frozen=True)
class Asked:
    """What the options say in place of the file; None, nothing or False where they do not."""

    nearest: Annotated[
        int | None,
        _option(
            "--nearest",
            "-k",
            parser=whole(0),
            metavar="K",
            help="Each place covers its K nearest others.",
            panel=COVER,
        ),
    ] = None
    radius: Annotated[
        str | None,
        _option(
            "--radius",
            "-r",
            parser=distance,
            metavar="R",
            help="Each place covers all within R: kilometres where places have latitudes, or with "
            "a unit, such as 500m or 12mi.",
            panel=COVER,
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            metavar="METRIC",
            help=f"How distances are measured: {', '.join(METRICS[:-1])}. Else as the file says.",
            rich_help_panel=COVER,
            show_default=False,
            autocompletion=one_of(METRICS[:-1]),
        ),
    ] = None
    roads: Annotated[
        str | None,
        _option(
            "--roads",
            metavar="FILE|URL",
            help="Measure along real roads: an OpenStreetMap extract (.osm.pbf), or a routing "
            "server: http://HOST:5000 for OSRM, valhalla+http://HOST:8002 for Valhalla.",
            panel=ROADS,
        ),
    ] = None
    roads_by: Annotated[
        str | None,
        typer.Option(
            "--roads-by",
            metavar="distance|time",
            help="Whether the tour by car shall be short, in kilometres (distance, unless said), "
            "or fast, in minutes (time).",
            rich_help_panel=ROADS,
            show_default=False,
            autocompletion=one_of(("distance", "time")),
        ),
    ] = None
    cover: Annotated[
        str | None,
        typer.Option(
            "--cover",
            metavar="car|foot|air",
            help="How a place reaches its stop: by car (unless said), on foot by road, or through "
            "the air in a straight line; or the address of another OSRM server.",
            rich_help_panel=ROADS,
            show_default=False,
            autocompletion=one_of(("car", "foot", "air")),
        ),
    ] = None
    stops: Annotated[
        str | None,
        _option(
            "--stops",
            metavar="FILE",
            help="The places that may be stops, in a file of their own; the others are served.",
            panel=COVER,
        ),
    ] = None
    depot: Annotated[
        str | None,
        _option(
            "--depot",
            metavar="ID",
            help="Where the tour starts: a name from the file, or a number counted from 0.",
            panel=GOAL,
        ),
    ] = None
    required: Annotated[
        list[str] | None,
        _option(
            "--required",
            metavar="IDS",
            help="Places that must be stops, separated by commas (instead of the file's).",
            panel=GOAL,
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        _option(
            "--keep",
            metavar="IDS",
            help="Places that must be stops, on top of those that must be already.",
            panel=GOAL,
        ),
    ] = None
    forbidden: Annotated[
        list[str] | None,
        _option(
            "--forbidden",
            metavar="IDS",
            help="Places that must not be stops (instead of the file's).",
            panel=GOAL,
        ),
    ] = None
    quota: Annotated[
        Any,
        _option(
            "--quota",
            parser=quota,
            metavar="95%",
            help="Serve this share of the people (column population or weight, else of the "
            "places), or this total of them.",
            panel=GOAL,
        ),
    ] = None
    budget: Annotated[
        float | None,
        _option(
            "--budget",
            parser=at_least(0),
            metavar="COST",
            help="Serve as many people as a tour of at most this cost can.",
            panel=GOAL,
        ),
    ] = None
    visit_cost: Annotated[
        float | None,
        _option(
            "--visit-cost",
            parser=at_least(0),
            metavar="COST",
            help="What each stop costs, in the unit of distances (instead of the file's).",
            panel=GOAL,
        ),
    ] = None
    demand: Annotated[
        int | None,
        _option(
            "--demand",
            parser=whole(0),
            metavar="K",
            help="So many stops must cover each place (instead of the file's).",
            panel=GOAL,
        ),
    ] = None
    drop_under: Annotated[
        float | None,
        _option(
            "--drop-under",
            parser=at_least(0),
            metavar="PEOPLE",
            help="Places with fewer people (column population or weight) need no cover and do not "
            "count; they stay on the map.",
            panel=GOAL,
        ),
    ] = None
    open: Annotated[bool, _flag("--open", "The tour need not return.", GOAL)] = False
    end: Annotated[
        str | None,
        _option("--end", metavar="ID", help="Where the tour ends; it is open then.", panel=GOAL),
    ] = None
    vehicles: Annotated[
        int | None,
        _option(
            "--vehicles",
            parser=whole(1),
            metavar="N",
            help="At most N routes from the depot.",
            panel=FLEET,
        ),
    ] = None
    max_length: Annotated[
        float | None,
        _option(
            "--max-length",
            parser=at_least(0),
            metavar="L",
            help="A route may be so long at most, visit costs included.",
            panel=FLEET,
        ),
    ] = None
    max_stops: Annotated[
        int | None,
        _option(
            "--max-stops",
            parser=whole(1),
            metavar="N",
            help="A route may have so many stops at most.",
            panel=FLEET,
        ),
    ] = None
    day_hours: Annotated[
        float | None,
        _option(
            "--day-hours",
            parser=more_than_nothing,
            metavar="H",
            help="A route may take so many hours at most, the stops included; goes with --speed.",
            panel=FLEET,
        ),
    ] = None
    speed: Annotated[
        float | None,
        _option(
            "--speed",
            parser=more_than_nothing,
            metavar="KM/H",
            help="How fast one travels, to tell when each stop is reached.",
            panel=FLEET,
        ),
    ] = None
    service_minutes: Annotated[
        float | None,
        _option(
            "--service-minutes",
            parser=at_least(0),
            metavar="M",
            help="How long each stop takes; goes with --speed.",
            panel=FLEET,
        ),
    ] = None
    departure: Annotated[
        float | None,
        _option(
            "--departure",
            parser=time_of_day,
            metavar="HH:MM",
            help="When a route starts, 08:00 unless said; goes with --speed.",
            panel=FLEET,
        ),
    ] = None
    fewest: Annotated[bool, _flag("--fewest", "As few routes as possible first.", FLEET)] = False
    balance: Annotated[bool, _flag("--balance", "The longest route short first.", FLEET)] = False
    sheet: Annotated[
        str | None,
        _option(
            "--sheet",
            metavar="NAME",
            help="The sheet of a workbook, or the layer of a file with several; else the first "
            "with coordinates.",
            panel=FILE,
        ),
    ] = None
    skip_bad_rows: Annotated[
        bool, _flag("--skip-bad-rows", "Go on without rows in which something is wrong.", FILE)
    ] = False
    merge_duplicates: Annotated[
        bool, _flag("--merge-duplicates", "Make one place of rows that are the same.", FILE)
    ] = False

    @property
    def times(self) -> Times | None:
        """How long things take; None where no speed is given and none is known from the roads."""
        if self.roads_by == "time":
            if self.speed is not None:
                raise InputError("--speed: is known from the roads (--roads-by time); leave it out")
            told = (self.day_hours, self.service_minutes, self.departure)
            if all(option is None for option in told):
                return None
            departure = MORNING if self.departure is None else self.departure
            return Times(MINUTES_PER_HOUR, self.service_minutes or 0.0, self.day_hours, departure)
        if self.speed is None:
            for option in ("day_hours", "service_minutes", "departure"):
                if getattr(self, option) is not None:
                    raise InputError(f"--{option.replace('_', '-')}: needs --speed too")
            return None
        departure = MORNING if self.departure is None else self.departure
        return Times(self.speed, self.service_minutes or 0.0, self.day_hours, departure)

    def by_road(self, instance: Instance, on_note: Callable[[str], None]) -> Instance:
        """The instance with the distances of its roads, if there shall be roads."""
        if self.roads is None:
            for option in ("roads_by", "cover"):
                if getattr(self, option) is not None:
                    raise InputError(f"--{option.replace('_', '-')}: goes with --roads")
            return instance
        from covertour.roads import with_roads

        by, cover = self.roads_by or "distance", self.cover or "car"
        return with_roads(instance, self.roads, by=by, cover=cover, on_note=on_note)

    def changes(self, instance: Instance) -> dict[str, Any]:
        """The fields of an instance that the options say."""
        changes: dict[str, Any] = {}
        for field in ("depot", "end"):
            if getattr(self, field) is not None:
                changes[field] = the_place_called(instance, f"--{field}", getattr(self, field))
        for field in ("required", "forbidden"):
            if getattr(self, field) is not None:
                changes[field] = places_called(instance, f"--{field}", getattr(self, field))
        if self.keep is not None:
            required = changes.get("required", instance.required)
            changes["required"] = (*required, *places_called(instance, "--keep", self.keep))
        for field in ("quota", "budget", "visit_cost", "demand"):
            if getattr(self, field) is not None:
                changes[field] = getattr(self, field)
        if self.quota is not None:
            changes.setdefault("budget", None)  # whichever the file has
        elif self.budget is not None:
            changes["quota"] = None
        if self.open:
            changes["open"] = True
        fleet = self._fleet(instance.fleet)
        if fleet is not None:
            changes["fleet"] = fleet
        return changes

    def _fleet(self, in_file: Fleet | None) -> Fleet | None:
        """The fleet that the options describe, on top of the file's."""
        if self.fewest and self.balance:
            raise InputError("--fewest and --balance: give only one of them")
        objective = "fewest" if self.fewest else "balance" if self.balance else None
        given = {
            "vehicles": self.vehicles,
            "max_length": self.max_length,
            "max_stops": self.max_stops,
            "objective": objective,
        }
        said = {field: value for field, value in given.items() if value is not None}
        if not said:
            return None
        known = {} if in_file is None else {f.name: getattr(in_file, f.name) for f in fields(Fleet)}
        return Fleet(**(known | said))


def asking(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of :class:`Asked` where it has the parameter ``asked``."""
    hints = get_type_hints(verb, include_extras=True)
    shared = get_type_hints(Asked, include_extras=True)
    parameters: list[Parameter] = []
    for parameter in signature(verb).parameters.values():
        if parameter.name == "asked":
            parameters += [
                parameter.replace(name=f.name, default=f.default, annotation=shared[f.name])
                for f in fields(Asked)
            ]
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))

    @wraps(verb)
    def with_options(**given: Any) -> None:
        asked = Asked(**{field.name: given.pop(field.name) for field in fields(Asked)})
        verb(asked=asked, **given)

    with_options.__signature__ = signature(verb).replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_options
