"""Pictures: what covertour.plot draws, as .png and .svg files."""

from __future__ import annotations

import io
from pathlib import Path

from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result
from covertour.storage import write_bytes


def write(path: Path, instance: Instance, outcome: Result | Tour | None) -> None:
    """Draw an instance or a tour of it and write the picture."""
    from covertour.plot import plot_instance, plot_tour

    ax = plot_instance(instance) if outcome is None else plot_tour(instance, outcome)
    figure = ax.get_figure(root=True)
    assert figure is not None
    ending = path.suffix.lower().removeprefix(".")
    data = io.BytesIO()
    # A picture without its date is the same each time it is drawn.
    metadata = {"Date": None} if ending == "svg" else None
    figure.savefig(data, format=ending, dpi=150, bbox_inches="tight", metadata=metadata)
    write_bytes(path, data.getvalue())
