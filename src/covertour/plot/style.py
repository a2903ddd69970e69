"""The look of the pictures: colours that colour-blind readers can tell apart, markers, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito (2008), as far as it is needed, and greys.
TOUR = "#0072B2"
DEPOT = "#D55E00"
END = "#333333"
REQUIRED = "#009E73"
REACH = "#56B4E9"
FORBIDDEN = "#A0387A"
UNCOVERED = "#E69F00"
COVERED = "#444444"
SERVICE = "#777777"

SERIES = (TOUR, DEPOT, REQUIRED, UNCOVERED, "#CC79A7", REACH, "#000000")
"""Colours of lines that are compared in one picture."""

ROUTES = (
    "#0072B2",
    "#B5379B",
    "#00805D",
    "#D1495B",
    "#5B4BB7",
    "#9A6700",
    "#00838F",
    "#7B4F3A",
    "#4D7C0F",
    "#4A5568",
)
"""Colours of the routes of a fleet, which come again after the last; the HTML map has the same."""

DASHES = ("-", "--", "-.", ":")
"""Line styles, so that the lines differ without colour too."""


def route_colour(number: int, routes: int) -> str:
    """The colour of a route, counted from 1, of so many; one alone has that of a tour."""
    return TOUR if routes == 1 else ROUTES[(number - 1) % len(ROUTES)]


def new_axes(width: float = 8.0, height: float = 6.0) -> Axes:
    """Axes on a new figure of this size in inches that belongs to no window and no pyplot state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from covertour.plot.picture import Picture

    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot(axes_class=Picture)
