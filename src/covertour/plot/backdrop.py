"""The ground behind a picture of places on the globe: land and sea, coasts, borders, countries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from covertour.plot.ground import SMALLEST_VIEW, ground
from covertour.problem.metric import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEA, LAND, COAST, BORDER, COUNTRY = "#E4EEF3", "#FBFAF6", "#A9BCC6", "#B9B0A2", "#A39B8D"

MOST_COUNTRIES = 12
"""So many names are written, those of the largest countries in the picture."""


def draw_ground(ax: Axes, low: FloatArray, high: FloatArray) -> None:
    """Draw what lies between two corners, longitude and latitude in degrees, float64[2] each.

    Small views stay white, as the outlines are too coarse for them.
    """
    from matplotlib.collections import LineCollection, PolyCollection

    span = float(np.max(high - low))
    if span < SMALLEST_VIEW:
        return
    found = ground(low, high, finest=span / 700.0)
    ax.set_facecolor(SEA)
    ax.add_collection(
        PolyCollection(list(found.land), facecolors=LAND, linewidths=0, zorder=0.1), autolim=False
    )
    for lines, colour, dashes in ((found.coasts, COAST, "-"), (found.borders, BORDER, (0, (5, 2)))):
        look = {"colors": colour, "linewidths": 0.6, "linestyles": dashes}
        ax.add_collection(LineCollection(list(lines), **look, zorder=0.2), autolim=False)
    room = (high - low) * 0.06
    for name, east, north in found.names[:MOST_COUNTRIES]:
        at = np.array([east, north])
        if np.all((at > low + room) & (at < high - room)):
            ax.text(
                east,
                north,
                " ".join(name.upper()),
                ha="center",
                va="center",
                fontsize=6,
                color=COUNTRY,
                zorder=0.3,
                clip_on=True,
            )
