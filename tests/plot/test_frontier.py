import numpy as np

from covertour import Quota, Result, make_tour, random_instance
from covertour.plot import plot_frontier
from covertour.solving.tradeoff import Frontier, Point

PLACES = random_instance(6, radius=0.0, seed=2).with_changes(weight=[50, 20, 10, 10, 5, 5])


def point(stops, bound=None):
    tour = make_tour(PLACES, stops)
    weight = PLACES.with_changes(quota=Quota(share=0.01)).covered_weight(stops)
    goal = PLACES.with_changes(quota=Quota(weight=weight))
    return Point(weight, Result(goal, "by hand", tour, 0.0), bound)


def texts(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_each_dot_is_a_tour_and_the_last_step_is_told():
    found = Frontier(PLACES, (point([0]), point([0, 1, 2, 3]), point(range(6))), 1.0)
    ax = plot_frontier(found)
    dots = ax.collections[0].get_offsets()
    assert np.allclose(dots[:, 1], [50, 90, 100])
    assert "100 % in" in texts(ax)
    assert "people" in ax.get_ylabel()
    assert ax.get_legend() is None


def test_the_band_lies_between_what_is_known_and_what_cannot_be():
    low, high = point([0], 0.0), point(range(6))
    high = Point(high.asked, high.result, high.cost / 2)
    ax = plot_frontier(Frontier(PLACES, (low, high), 1.0))
    (band,) = (c for c in ax.collections if c.get_label().startswith("not known"))
    corners = band.get_paths()[0].vertices
    # Whoever spends less than half of the whole tour cannot serve all, but maybe nearly all.
    assert corners[:, 0].min() == 0
    assert np.isclose(corners[:, 0].max(), high.cost)
    assert corners[:, 1].min() == 50
    assert np.isclose(corners[:, 1].max(), 100)
    assert "tours are proven to within 100.0 %" in ax.get_legend().get_title().get_text()


def test_a_single_tour_is_a_picture_too():
    ax = plot_frontier(Frontier(PLACES, (point([0], 0.0),), 1.0))
    assert "50 % in 0" in texts(ax)
    assert ax.get_legend().get_title().get_text() == "every tour is proven best"
