"""Several pictures on one sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def panels(rows: int, columns: int, *, width: float = 5.0, height: float = 4.0) -> list[Axes]:
    """Axes, row by row, on a new figure of their own; each of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from covertour.plot.picture import Picture

    figure = Figure(figsize=(width * columns, height * rows), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    numbers = range(1, rows * columns + 1)
    return [figure.add_subplot(rows, columns, number, axes_class=Picture) for number in numbers]
