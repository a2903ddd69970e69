"""PDF: sheets for the drivers, a page or more for each route."""

from __future__ import annotations

import io

from covertour.formats.manner import Manner
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result


def encode_outcome(instance: Instance, outcome: Result | Tour, manner: Manner = Manner()) -> bytes:
    """The sheets of a tour as one document."""
    from matplotlib.backends.backend_pdf import PdfPages

    from covertour.plot.sheets import sheets

    data = io.BytesIO()
    # A document without its date is the same each time it is written.
    about = {"Title": instance.name, "Creator": "covertour", "CreationDate": None}
    with PdfPages(data, metadata=about) as document:
        for page in sheets(instance, outcome, manner.times):
            document.savefig(page)
    return data.getvalue()
