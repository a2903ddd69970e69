"""The benchmark files (.txt) of the generalized covering travelling salesman problem.

Shaelaie, Salari and Naji-Azimi (2014): a depot, facilities that may be visited, customers that are
only covered; find the shortest cycle through the depot that covers at least P customers. A file is
a row of numbers: a flag, how many places there are, how many facilities and customers, and P; then
the depot, the facilities and the customers, each as ``number x y``; then for each facility its
number, how many customers it covers, and which. What stands after that, the customers that nobody
covers, follows from the rest and is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.formats.source import Given, Source, build
from covertour.problem.coverage import Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

NOT_THIS = "expected a benchmark file of the generalized covering salesman, rows of numbers"


@dataclass(frozen=True, eq=False)
class Content:
    """What a file says. Place 0 is the depot, then the facilities, then the customers.

    ``coordinates``: float64[n, 2]. ``covers``: for each place the customers that it covers, int64
    arrays, empty for the depot and the customers. ``enough``: so many customers must be covered.
    """

    coordinates: FloatArray
    covers: tuple[IntArray, ...]
    facilities: int
    enough: int


def read(source: Source, given: Given) -> Instance:
    """An instance: customers weigh 1 and are no stops, the others weigh nothing and need no cover.

    The caller's coverage rule and metric replace the file's.
    """
    content = parse(source)
    n = len(content.coordinates)
    customer = np.arange(n) > content.facilities
    return build(
        source,
        metric=given.metric or "euclidean",
        rule=given.rule(source, Sets(content.covers)),
        coordinates=content.coordinates,
        name=source.stem,
        depot=0,
        forbidden=np.flatnonzero(customer).tolist(),
        demand=customer.astype(np.int64),
        weight=customer.astype(np.float64),
        quota={"weight": float(content.enough)},
    )


def parse(source: Source) -> Content:
    """What a file says, checked."""
    numbers = _Numbers(source)
    numbers.whole("a flag")
    n = numbers.whole("the number of places", least=1)
    facilities = numbers.whole("the number of facilities", most=n - 1)
    customers = numbers.whole("the number of customers")
    if n != 1 + facilities + customers:
        raise numbers.error(
            f"{n} places are not a depot, {facilities} facilities and {customers} customers"
        )
    enough = numbers.whole("how many customers to cover", least=1, most=customers)
    coordinates = np.empty((n, 2))
    for place in range(n):
        numbers.exactly(place, "the number of the place")
        coordinates[place] = numbers.real("x"), numbers.real("y")
    covers = [np.empty(0, dtype=np.int64)] * n
    for facility in range(1, facilities + 1):
        numbers.exactly(facility, "the number of the facility")
        count = numbers.whole("how many customers it covers", most=customers)
        which = f"a customer that facility {facility} covers"
        covered = [numbers.whole(which, facilities + 1, n - 1) for _ in range(count)]
        covers[facility] = np.array(covered, dtype=np.int64)
    return Content(coordinates, tuple(covers), facilities, enough)


class _Numbers:
    """The numbers of a file one after another; what is wrong is told with its line."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.line = 1
        lines = enumerate(source.text().splitlines(), start=1)
        self._words = ((number, word) for number, line in lines for word in line.split())

    def error(self, message: str) -> InputError:
        return InputError(f"{self.source}, line {self.line}: {message}")

    def _next(self, what: str, kind: Any) -> Any:
        found = next(self._words, None)
        if found is None:
            raise self.error(f"the file ends, expected {what}; {NOT_THIS}")
        self.line, word = found
        try:
            return kind(word)
        except ValueError:
            raise self.error(f"{what}: got {shown(word)}; {NOT_THIS}") from None

    def whole(self, what: str, least: int = 0, most: int | None = None) -> int:
        value: int = self._next(what, int)
        if value < least or (most is not None and value > most):
            limits = f"from {least} to {most}" if most is not None else f">= {least}"
            raise self.error(f"{what}: expected a whole number {limits}, got {value}")
        return value

    def exactly(self, value: int, what: str) -> None:
        found = self.whole(what)
        if found != value:
            raise self.error(f"{what}: expected {value}, got {found}")

    def real(self, what: str) -> float:
        return float(self._next(what, float))
