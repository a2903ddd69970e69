import numpy as np
import pytest

from covertour import Instance
from covertour.plot import layout
from covertour.problem.drawing import drawn_at
from covertour.problem.metric import distances


def test_circles_on_the_globe_have_their_radius_everywhere():
    centres = np.array([[-17.4, 14.7], [20.0, 69.6], [179.9, -45.0]])
    instance = Instance.from_coordinates(centres, metric="haversine", radius=50)
    rims = layout.circles(instance, centres, np.array([20.0, 50.0, 300.0]), corners=36)
    for centre, rim, radius in zip(centres, rims, (20.0, 50.0, 300.0), strict=True):
        assert distances("haversine", centre, rim) == pytest.approx(radius)


@pytest.mark.parametrize(
    ("metric", "radius", "inside", "outside"),
    [
        ("euclidean", 2.0, 2.0, 2.01),
        ("euc_2d", 2.0, 2.49, 2.51),
        ("ceil_2d", 2.5, 2.0, 2.01),
        ("att", 2.0, 6.32, 6.33),
    ],
)
def test_a_circle_shows_what_a_rounding_metric_covers(metric, radius, inside, outside):
    points = [[0, 0], [inside, 0], [-outside, 0]]
    instance = Instance.from_coordinates(points, metric=metric, radius=radius)
    reach = layout.reach(instance, np.array([0]))
    assert reach is not None
    assert inside <= reach[0] < outside
    assert instance.coverage.covers_of(0).tolist() == [0, 1]


def test_rules_without_a_distance_to_draw_have_no_circles():
    points = [[0, 0], [1, 0]]
    nearest = Instance.from_coordinates(points, nearest=1)
    matrix = Instance.from_matrix([[0, 9], [9, 0]], radius=9, coordinates=points)
    assert layout.reach(nearest, np.array([0])) is None
    assert layout.reach(matrix, np.array([0])) is None


@pytest.mark.parametrize("spot", [[0.0, 0.0], [1e6, -1e6], [1e-9, 1e-9]])
def test_places_in_one_spot_have_a_view_with_room_around_them(spot):
    instance = Instance.from_coordinates([spot, spot], nearest=1)
    low, high = layout.view(instance, drawn_at(instance))
    assert (low < spot).all()
    assert (high > spot).all()
