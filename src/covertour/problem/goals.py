"""Goals beyond covering everyone with one tour: a quota of the weight, and a fleet with limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

from covertour.problem.errors import InputError, shown

OBJECTIVES = ("cost", "fewest", "balance")
"""What a fleet is to do: cost least; have the fewest routes, then cost least; have the shortest
longest route, then cost least."""


@dataclass(frozen=True)
class Quota:
    """How much of the weight must be served: a ``share`` of the total, or a total ``weight``.

    >>> Quota(share=0.95)
    Quota(share=0.95, weight=None)
    """

    share: float | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        if (self.share is None) == (self.weight is None):
            raise InputError("quota: give a share or a weight, and not both")
        if self.share is not None:
            _check_number("quota: share", self.share)
            if not 0 < self.share <= 1:
                raise InputError(f"quota: share {self.share:g} is not above 0 and at most 1")
        if self.weight is not None:
            _check_number("quota: weight", self.weight)
            if self.weight <= 0:
                raise InputError(f"quota: weight {self.weight:g} is not above 0")

    def of(self, total: float) -> float:
        """The weight that must be served where there is so much in total."""
        if self.weight is not None:
            return float(self.weight)
        assert self.share is not None
        return float(self.share) * total


@dataclass(frozen=True)
class Fleet:
    """Several routes from one depot, which share the work of covering.

    ``vehicles``: at most so many routes; None for as many as it takes. ``max_length``: what a route
    may cost at most, its length and the visit costs of its stops. ``max_stops``: how many stops it
    may have, the depot not counted. ``objective``: one of OBJECTIVES.

    >>> Fleet(vehicles=3, max_length=300)
    Fleet(vehicles=3, max_length=300.0, max_stops=None, objective='cost')
    """

    vehicles: int | None = None
    max_length: float | None = None
    max_stops: int | None = None
    objective: str = "cost"

    def __post_init__(self) -> None:
        for field in ("vehicles", "max_stops"):
            value = getattr(self, field)
            if value is None:
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise InputError(
                    f"fleet: {field}: expected a whole number >= 1, got {shown(value)}"
                )
            object.__setattr__(self, field, int(value))
        if self.max_length is not None:
            _check_number("fleet: max_length", self.max_length)
            if self.max_length < 0:
                raise InputError(f"fleet: max_length {self.max_length:g} is negative")
            object.__setattr__(self, "max_length", float(self.max_length))
        if self.objective not in OBJECTIVES:
            raise InputError(
                f"fleet: objective: expected one of {', '.join(OBJECTIVES)}, "
                f"got {shown(self.objective)}"
            )


def make_quota(value: Any) -> Quota | None:
    """A quota from itself, a share, or a mapping such as ``{"share": 0.95}``; None for none."""
    if value is None or isinstance(value, Quota):
        return value
    if isinstance(value, Mapping):
        return Quota(**_known("quota", value, ("share", "weight")))
    if isinstance(value, Real) and not isinstance(value, bool):
        return Quota(share=float(value))
    raise InputError(f"quota: expected a share such as 0.95, or a Quota, got {shown(value)}")


def make_fleet(value: Any) -> Fleet | None:
    """A fleet from itself or from a mapping such as ``{"vehicles": 3}``; None for none."""
    if value is None or isinstance(value, Fleet):
        return value
    if isinstance(value, Mapping):
        fields = ("vehicles", "max_length", "max_stops", "objective")
        return Fleet(**_known("fleet", value, fields))
    raise InputError(f"fleet: expected a Fleet, got {shown(value)}")


def _known(what: str, value: Mapping[Any, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    for field in value:
        if field not in fields:
            raise InputError(f"{what}: no {shown(field)}; there are {', '.join(fields)}")
    return {field: item for field, item in value.items() if item is not None}


def _check_number(what: str, value: Any) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
        raise InputError(f"{what}: expected a number, got {shown(value)}")
