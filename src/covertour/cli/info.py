"""info: what is in an instance file, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

import numpy as np
import typer

from covertour.cli import options, show
from covertour.cli.asking import Asked, asking
from covertour.cli.options import (
    InstanceFile,
    JsonOption,
)
from covertour.problem.coverage import Nearest, Radius
from covertour.problem.instance import Instance
from covertour.problem.neighbours import build_coverage
from covertour.problem.oddities import oddities
from covertour.problem.words import count, rule_in_words, unit

UNITS = {"km": "kilometres", "min": "minutes"}


@asking
def info(
    file: InstanceFile,
    asked: Asked = Asked(),
    places: Annotated[
        bool, typer.Option("--places", help="List the places with their numbers too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell what is in an instance file, and whether it can be solved.

    Exit code 2, and the same message, where `solve` would refuse it.
    """
    from covertour.formats.source import NoRule

    source = options.source_of(file)
    has_rule = True
    try:
        instance = options.load_instance(source, asked, quiet=as_json)
    except NoRule:
        has_rule = False
        if not isinstance(source, str):
            source.seek(0)
        instance = options.load_instance(source, replace(asked, radius="0"), quiet=True)
    found = _geometry(instance) | (_coverage(instance) if has_rule else {"coverage": None})
    odd = oddities(instance)
    if as_json:
        found["odd"] = [asdict(each) for each in odd]
        if places:
            found["list"] = _list(instance)
        show.say(json.dumps(found))
    else:
        options.tell_of_oddities(instance)
        show.facts(_rows(instance, found), title=instance.name)
        if places:
            show.say("")
            show.table(_list(instance))
    if found.get("uncoverable"):
        _ = instance.coverage  # says so, as it would to solve


def _list(instance: Instance) -> list[dict[str, Any]]:
    """The places by their numbers: names, coordinates and what is said of them."""
    columns: dict[str, Sequence[Any]] = {"place": range(instance.n)}
    if instance.labels is not None:
        columns["name"] = instance.labels
    if instance.coordinates is not None:
        pair = instance.coordinates.T.tolist()
        on_globe = instance.drawn_metric == "haversine"
        columns |= {"latitude": pair[1], "longitude": pair[0]} if on_globe else {}
        columns |= {} if on_globe else {"x": pair[0], "y": pair[1]}
    for what in ("weight", "demand", "visit_cost"):
        if getattr(instance, what) is not None:
            columns[what] = getattr(instance, what).tolist()
    depot = () if instance.depot is None else (instance.depot,)
    marks = {"depot": depot, "required": instance.required, "forbidden": instance.forbidden}
    for what, chosen in marks.items():
        if chosen:
            columns[what] = np.isin(np.arange(instance.n), chosen).tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _geometry(instance: Instance) -> dict[str, Any]:
    """What is known without a coverage rule, as plain values."""
    found: dict[str, Any] = {
        "name": instance.name,
        "places": instance.n,
        "metric": instance.metric,
        "unit": unit(instance),
        "symmetric": instance.symmetric,
        "extent": None,
        "distances": None,
        "duplicates": 0,
        "depot": instance.depot,
        "required": list(instance.required),
        "forbidden": list(instance.forbidden),
    }
    if instance.matrix is not None and instance.n > 1:
        apart = instance.matrix[~np.eye(instance.n, dtype=bool)]
        found["distances"] = [float(apart.min()), float(apart.max())]
    if instance.coordinates is not None:
        axes = {"haversine": ("longitude", "latitude"), "geo": ("latitude", "longitude")}
        found["extent"] = {
            axis: [float(column.min()), float(column.max())]
            for axis, column in zip(
                axes.get(instance.drawn_metric, ("x", "y")), instance.coordinates.T, strict=True
            )
        }
        spots = len(np.unique(instance.coordinates.view(np.complex128)))
        found["duplicates"] = instance.n - spots
    return found


def _coverage(instance: Instance) -> dict[str, Any]:
    """Who covers whom, in numbers."""
    table = build_coverage(
        instance.metric, instance.coordinates, instance.matrix, instance.rule, instance.forbidden
    )
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    sizes = np.diff(table.covers_start)[allowed] - 1
    covered = None
    if len(sizes):
        covered = {
            "least": int(sizes.min()),
            "most": int(sizes.max()),
            "mean": float(sizes.mean()),
        }
    alone = np.flatnonzero(np.diff(table.covered_by_start) == 0)
    return {
        "coverage": _rule(instance),
        "others_covered": covered,
        "uncoverable": alone.tolist(),
    }


def _rule(instance: Instance) -> dict[str, Any]:
    match instance.rule:
        case Nearest(k):
            return {"rule": "nearest", "least": int(np.min(k)), "most": int(np.max(k))}
        case Radius(r):
            return {"rule": "radius", "least": float(np.min(r)), "most": float(np.max(r))}
    return {"rule": "sets"}


def _rows(instance: Instance, found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people."""
    in_unit = f", in {UNITS.get(found['unit'], found['unit'])}"
    rows = [
        ("places", f"{instance.n:,}"),
        ("metric", instance.metric + (in_unit if found["unit"] else "")),
    ]
    if instance.roads is not None:
        rows.append(("roads", instance.roads.tour))
    if instance.matrix is not None:
        rows.append(("symmetric", "yes" if found["symmetric"] else "no"))
    if found["distances"]:
        rows.append(("distances", _range(*found["distances"])))
    rows += [(axis, _range(*ends)) for axis, ends in (found["extent"] or {}).items()]
    if found["duplicates"]:
        shared = count(found["duplicates"], "place shares", "places share")
        rows.append(("duplicates", f"{shared} a spot with another"))
    if found["coverage"] is None:
        rows.append(("coverage", "the file has no rule: give --nearest K or --radius R"))
    else:
        rows.append(("coverage", rule_in_words(instance)))
        if found["others_covered"]:
            least, most, mean = found["others_covered"].values()
            rows.append(("others covered", f"{least:,} to {most:,}, mean {mean:,.1f}"))
        alone = found["uncoverable"]
        verdict = f"no: nobody can cover {instance.describe(alone)}" if alone else "yes"
        rows.append(("coverable", verdict))
    for what, places in (("required", instance.required), ("forbidden", instance.forbidden)):
        if places:
            rows.append((what, f"{len(places):,}: {instance.describe(places)}"))
    if instance.depot is not None:
        rows.append(("depot", instance.label(instance.depot)))
    return rows


def _range(low: float, high: float) -> str:
    return f"{low:g} to {high:g}"
