"""Several pictures on one sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def panels(rows: int, columns: int, *, width: float = 5.0, height: float = 4.0) -> list[Axes]:
    """Axes, row by row, on a new figure of their own; each of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return [figure.add_subplot(rows, columns, index + 1) for index in range(rows * columns)]
