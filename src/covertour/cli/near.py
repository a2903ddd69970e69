"""solve --near: the stops of an old plan are preferred to new ones."""

from __future__ import annotations

from dataclasses import dataclass

from covertour.cli import options, show
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.preferences import prefer, usual_leg
from covertour.problem.words import count, measure
from covertour.solving.result import Result


@dataclass(frozen=True)
class Old:
    """The stops of an old plan, and what each stop that is not among them costs."""

    file: str
    stops: tuple[int, ...]
    cost: float

    @classmethod
    def read(cls, file: str, instance: Instance, cost: float | None, quiet: bool) -> Old:
        """Read a plan; stops of it that are no places any more are told of."""
        from covertour import formats

        stops, missing = formats.read_stops(options.source_of(file), instance)
        if missing and not quiet:
            names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            show.note(f"{file}: {count(len(missing), 'stop')} of it not found: {names}")
        cost = usual_leg(instance, stops) if cost is None else cost
        return cls(file, tuple(stops), cost)

    def preferred(self, instance: Instance) -> Instance:
        """The instance in which other stops cost more."""
        try:
            return prefer(instance, self.stops, self.cost)
        except InputError as error:
            raise InputError(f"--{error}") from None

    def in_words(self, result: Result) -> str:
        """How many of the stops were kept."""
        stops = set(result.tour.places.tolist())
        kept, new = len(stops.intersection(self.stops)), len(stops.difference(self.stops))
        price = measure(result.instance, self.cost)
        proven = ", proven to be best so" if result.optimal else ""
        return (
            f"Keeps {kept} of {count(len(self.stops), 'stop')} of {self.file} and has {new} new; "
            f"each new one counts as {price} more{proven}"
        )
