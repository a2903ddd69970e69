"""Distance matrices, as .npy files and as the square in a CSV file."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from covertour.formats.source import Given, Source, build
from covertour.formats.table import Where, is_number, not_negative, numbers
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance


def read_npy(source: Source, given: Given) -> Instance:
    """An instance from a square array of numbers; pickled objects are refused."""
    file = io.BytesIO(source.raw())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found: Any = np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # numpy has many ways to say that a file is damaged
        raise InputError(f"{source}: not a .npy file of numbers: {_first_line(error)}") from None
    if found.dtype.kind not in "iuf":
        raise InputError(f"{source}: expected an array of numbers, got dtype {found.dtype}")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise InputError(f"{source}: expected a square distance matrix, got shape {found.shape}")
    must_be_matrix(source, given)
    return build(
        source,
        metric="matrix",
        matrix=found,
        name=source.stem,
        rule=given.rule(source, None),
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def must_be_matrix(source: Source, given: Given) -> None:
    """An error where the caller wants a metric that a file of distances does not have."""
    if given.metric not in (None, "matrix"):
        raise InputError(
            f"{source}: holds a distance matrix, so the metric cannot be {given.metric!r}"
        )


def encode_npy(instance: Instance) -> bytes:
    """The distance matrix of an instance, float64[n, n]; its coverage rule is left out."""
    must_fit(instance)
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(instance.matrix), allow_pickle=False)
    return file.getvalue()


def must_fit(instance: Instance) -> None:
    """An error where a bare matrix would be another problem, even with the rule given anew."""
    from covertour.problem.coverage import Sets

    advice = "write a .json file instead"
    if instance.matrix is None:
        raise InputError(
            "the file holds a distance matrix, but the places have coordinates "
            f"(metric {instance.metric!r}); {advice}"
        )
    for what, there in (
        ("a depot", instance.depot is not None),
        ("required places", bool(instance.required)),
        ("forbidden places", bool(instance.forbidden)),
        ("sets of covered places", isinstance(instance.rule, Sets) and instance.roads is None),
    ):
        if there:
            raise InputError(f"a distance matrix cannot hold {what}; {advice}")


def is_labelled(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows of cells have the same labels along the top and down the side, below a corner.

    The corner is empty or text, so a plain symmetric matrix is not taken for one with labels.
    """
    return (
        len(rows) == len(rows[0])
        and len(rows) > 1
        and not is_number(rows[0][0])
        and list(rows[0][1:]) == [row[0] for row in rows[1:]]
    )


def from_rows(rows: Sequence[Sequence[str]], where: Where) -> dict[str, Any] | None:
    """The fields ``matrix`` and ``labels`` from the cells of a CSV file; None if it is no square.

    The numbers must form a square with zeros on its diagonal. Labels may stand in a row above it,
    in a column before it, or both: which of these follows from the number of rows and columns.
    Labels on one side only must not all be numbers.
    """
    high, wide = len(rows), len(rows[0])
    if high == wide:
        top = left = 0 if high == 1 or is_number(rows[0][0]) else 1
    elif high == wide + 1:
        top, left = 1, 0
    elif wide == high + 1:
        top, left = 0, 1
    else:
        return None
    beside = [row[0] for row in rows[top:]] if left else None
    above = list(rows[0][left:]) if top else None
    # Numbers for labels are told from distances only where they stand on both sides.
    if (above is None or beside is None) and all(map(is_number, above or beside or ("",))):
        return None
    if not all(map(is_number, rows[top][left:])):
        return None

    def cell_where(cell: int) -> str:
        return f"{where(top + cell // n)}, column {left + cell % n + 1}"

    n = high - top
    cells = [cell for row in rows[top:] for cell in row[left:]]
    square = not_negative(numbers(cells, "distance", cell_where), "distance", cell_where)
    square = square.reshape(n, n)
    off = np.flatnonzero(square.diagonal())
    if len(off):
        place = int(off[0])
        raise InputError(
            f"{cell_where(place * n + place)}: expected the columns x,y or lat,lon, or a distance "
            f"matrix with 0 on its diagonal, got {square[place, place]:g}"
        )
    fields: dict[str, Any] = {"matrix": square}
    if beside and above and beside != above:
        row = next(row for row in range(n) if beside[row] != above[row])
        raise InputError(
            f"{where(top + row)}: the row is labelled {shown(beside[row])} "
            f"but the column {shown(above[row])}"
        )
    if above or beside:
        fields["labels"] = tuple(above or beside or ())
    return fields
