"""Pictures, one function each; every one takes an optional ``ax`` and returns the Axes.

Without ``ax`` it draws on a new figure of its own, without pyplot: ``plot_tour(instance,
tour).figure.savefig("tour.png")``.
"""

from covertour.plot.frontier import plot_frontier
from covertour.plot.gap import plot_gap_against_time
from covertour.plot.places import plot_instance, plot_tour
from covertour.plot.solutions import plot_solutions
from covertour.plot.trace import plot_trace
from covertour.plot.training import TrainingCurve, plot_training

__all__ = [
    "TrainingCurve",
    "plot_frontier",
    "plot_gap_against_time",
    "plot_instance",
    "plot_solutions",
    "plot_tour",
    "plot_trace",
    "plot_training",
]
