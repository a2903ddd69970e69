"""Picture: axes on a figure of their own, which a notebook shows."""

from __future__ import annotations

from io import BytesIO

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class Picture(Axes):
    """Axes of a figure that belongs to no window and no pyplot state."""

    def _repr_png_(self) -> bytes:
        """The whole figure, for a notebook."""
        assert isinstance(self.figure, Figure)
        shown = BytesIO()
        self.figure.savefig(shown, format="png")
        return shown.getvalue()
