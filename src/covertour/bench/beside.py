"""Results that others published, put beside one's own on the same cases of the literature."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from covertour.bench.listed import read_listed
from covertour.bench.tables import Column, Table, time_text
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from covertour.bench.published import LiteratureRow

PARTS = ("best", "avg", "sec")


class Published(NamedTuple):
    """What somebody reported of a method on a case: lengths over some runs, seconds of a run."""

    best: float
    avg: float
    sec: float


Results = dict[str, dict[tuple[str, int], Published]]
"""By method, then by instance and nearest."""


def read_published(path: str | Path) -> Results:
    """The results in a CSV file: instance, nearest, and X_best, X_avg, X_sec for each method X."""
    names, rows = read_listed(path, ("instance", "nearest"))
    methods = [
        name.removesuffix("_avg")
        for name in names
        if name.endswith("_avg") and all(f"{name[:-4]}_{part}" in names for part in PARTS)
    ]
    if not methods:
        raise InputError(
            f"{path}, line 1: expected the columns X_best, X_avg and X_sec for each method X"
        )
    results: Results = {method: {} for method in methods}
    for row in rows:
        for method in methods:
            try:
                case = row.text("instance"), int(row.text("nearest"))
                found = Published(*(float(row.text(f"{method}_{part}")) for part in PARTS))
            except ValueError:
                raise InputError(f"{row.where}: expected a name and numbers for {method}") from None
            results[method][case] = found
    return results


def beside(rows: Sequence[LiteratureRow], results: Results) -> tuple[Table, Table]:
    """One's own rows and published results: the means over all cases, and the cases themselves."""
    cases = {(row.instance, row.nearest): row.best_known for row in rows}
    ours = list(dict.fromkeys(row.method for row in rows))
    found = {(row.method, row.instance, row.nearest): row for row in rows}
    means = []
    for method in ours:
        own = [row for row in rows if row.method == method]
        means.append(
            (
                method,
                fmean(row.best for row in own),
                fmean(row.mean for row in own),
                fmean(row.mean_seconds for row in own),
            )
        )
    for method, by_case in results.items():
        best, mean, seconds = (
            fmean(by_case[case][part] for case in cases) for part in range(len(PARTS))
        )
        means.append((f"{method} (published)", best, mean, seconds))
    all_cases = Table(
        "Beside published results",
        (
            Column("method", "method", "s"),
            Column("best", "mean of best lengths", ",.2f"),
            Column("mean", "mean length", ",.2f"),
            Column("seconds", "mean time of a run", time_text),
        ),
        tuple(means),
    )
    each_case = Table(
        "Mean lengths by case",
        (
            Column("instance", "instance", "s"),
            Column("nearest", "nearest", "d"),
            Column("best_known", "best known", ",g"),
            *(Column(method, method, ",.10g") for method in ours),
            *(Column(f"{method}_avg", f"{method} (published)", ",.10g") for method in results),
        ),
        tuple(
            (
                *case,
                best_known,
                *(found[method, *case].mean for method in ours),
                *(by_method[case].avg for by_method in results.values()),
            )
            for case, best_known in cases.items()
        ),
    )
    return all_cases, each_case
