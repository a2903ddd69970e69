"""Pictures: what covertour.plot draws, as .png and .svg files."""

from __future__ import annotations

import io

from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result


def encode(kind: str, instance: Instance, outcome: Result | Tour | None) -> bytes:
    """A picture of an instance or a tour of it; ``kind``: png or svg."""
    from covertour.plot import plot_instance, plot_tour

    ax = plot_instance(instance) if outcome is None else plot_tour(instance, outcome)
    figure = ax.get_figure(root=True)
    assert figure is not None
    data = io.BytesIO()
    # A picture without its date is the same each time it is drawn.
    metadata = {"Date": None} if kind == "svg" else None
    figure.savefig(data, format=kind, dpi=150, bbox_inches="tight", metadata=metadata)
    return data.getvalue()
