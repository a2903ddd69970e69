"""Names beside stops: put where they hide neither a marker nor another name, else left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from covertour.plot.fonts import family, printable
from covertour.problem.metric import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = np.array(
    [[1, 0], [-1, 0], [0, 1], [0, -1], [0.8, 0.8], [0.8, -0.8], [-0.8, 0.8], [-0.8, -0.8]]
)
"""Where a name may stand, as directions from its marker, best first."""

LONGEST = 24
"""Longer names are cut."""


def put_names(
    ax: Axes,
    at: FloatArray,
    names: Sequence[str],
    avoid: Sequence[FloatArray] = (),
    size: float = 6.5,
    gap: float = 5.0,
) -> None:
    """Write names of ``size`` points beside markers ``at``, float64[m, 2] in data coordinates.

    ``gap``: points from the centre of a marker to its name. ``avoid``: layers of float64[p, 2],
    points that names should not cover; where there is no room, the last layer is given up first.
    No name covers a marker in ``at`` or another name: one that would is left out. Earlier names
    choose first. The limits and the aspect of the axes must be set before.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke
    from matplotlib.textpath import TextPath

    ax.apply_aspect()
    pixels = ax.figure.dpi / 72.0
    centres = ax.transData.transform(at) / pixels
    frame = np.asarray(ax.get_window_extent().extents) / pixels
    used = [_boxes(centres, gap * 0.75)]
    layers = [_boxes(ax.transData.transform(points) / pixels, 2.0) for points in avoid]
    halo = [withStroke(linewidth=2.0, foreground="white", alpha=0.8)]
    for place, centre, name in zip(at, centres, names, strict=True):
        text = printable(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")
        if not text:
            continue
        # A dollar sign would start a formula in a path, and is as wide as an S.
        prop = FontProperties(family=family(text))
        outline = TextPath((0, 0), text.replace("$", "S"), size=size, prop=prop)
        wide = float(np.ptp(np.asarray(outline.vertices)[:, 0]))
        half = np.array([wide / 2.0 + 1.0, size * 0.6])
        middles = centre + SIDES * (gap + half)
        choices = np.hstack([middles - half, middles + half])
        inside = (choices[:, :2] >= frame[:2]).all(axis=1) & (choices[:, 2:] <= frame[2:]).all(
            axis=1
        )
        for kept in range(len(layers), -1, -1):
            obstacles = np.concatenate([*used, *layers[:kept]])
            free = np.flatnonzero(inside & ~_hit(choices, obstacles))
            if len(free):
                break
        else:
            continue
        used.append(choices[free[:1]])
        shift = middles[free[0]] - centre
        ax.annotate(
            text,
            (place[0], place[1]),
            xytext=(shift[0], shift[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            fontfamily=family(text),
            color="#222222",
            zorder=8,
            parse_math=False,
            path_effects=halo,
        )


def _boxes(centres: FloatArray, half: float) -> FloatArray:
    """Squares around centres, float64[m, 4]: left, bottom, right, top."""
    return np.hstack([centres - half, centres + half])


def _hit(choices: FloatArray, obstacles: FloatArray) -> npt.NDArray[np.bool_]:
    """Which boxes overlap an obstacle, bool[m]."""
    a, b = choices[:, None, :], obstacles[None, :, :]
    overlap = np.all((b[..., :2] < a[..., 2:]) & (b[..., 2:] > a[..., :2]), axis=-1)
    return np.asarray(np.any(overlap, axis=1))
