import numpy as np
import pytest

from covertour.plot.ground import ground


def box(west, south, east, north):
    return np.array([west, south], dtype=float), np.array([east, north], dtype=float)


def on_land(found, east, north):
    """Whether a point lies in an odd number of rings."""
    inside = False
    for ring in found.land:
        x, y = ring.T
        x2, y2 = np.roll(x, -1), np.roll(y, -1)
        passing = (y > north) != (y2 > north)
        at = x[passing] + (north - y[passing]) / (y2 - y)[passing] * (x2 - x)[passing]
        inside ^= bool(np.count_nonzero(at > east) % 2)
    return inside


@pytest.mark.parametrize(
    ("corners", "land", "sea"),
    [
        ((-20, 10, -8, 20), [(-14.5, 14.5), (-15.0, 13.45), (-10, 18)], [(-19, 14), (-18.5, 11)]),
        ((15, -36, 34, -20), [(28.2, -29.5), (22, -30), (25, -22)], [(16, -35), (33, -30)]),
        ((170, -25, 190, -10), [(178.0, -17.8)], [(182, -20), (172, -12)]),
        ((-190, 50, -150, 72), [(-185, 67), (-155, 65)], [(-169, 66.5), (-175, 55)]),
        ((-180, -80, 180, 80), [(10, 50), (-60, -10), (135, -25)], [(-30, 0), (0, -40)]),
    ],
)
def test_land_and_sea_are_told_apart(corners, land, sea):
    low, high = box(*corners)
    found = ground(low, high, finest=float(np.max(high - low)) / 1000)
    assert [on_land(found, *point) for point in land] == [True] * len(land)
    assert [on_land(found, *point) for point in sea] == [False] * len(sea)


def test_land_is_cut_at_the_box_and_lines_pass_through_it():
    low, high = box(-16, 12, -13, 15)
    found = ground(low, high, 0.01)
    rings = np.concatenate(found.land)
    assert np.all(rings >= low)
    assert np.all(rings <= high)
    assert found.borders
    for line in (*found.borders, *found.coasts):
        assert np.any(np.all((line >= low - 1) & (line <= high + 1), axis=1))


def test_wide_views_have_fewer_points():
    low, high = box(-180, -60, 180, 80)
    fine, coarse = (ground(low, high, finest) for finest in (0.1, 1.0))
    points = [sum(map(len, found.land)) for found in (fine, coarse)]
    assert points[1] < points[0] / 3
    assert all(len(ring) >= 3 for ring in coarse.land)


@pytest.mark.parametrize("corners", [(-180, -90, 180, 90), (150, -30, 210, 80)])
def test_no_line_is_drawn_across_the_map_or_along_its_seam(corners):
    found = ground(*box(*corners), 0.05)
    for line in (*found.coasts, *found.borders):
        east, north = line.T
        assert np.max(np.abs(np.diff(east))) < 60  # the 49th parallel is long
        along = (np.abs(np.abs(east[1:]) - 180) < 1e-6) & (np.diff(east) == 0)
        assert not np.any(along)
        assert north.min() > -89


def test_names_stand_on_the_land_of_the_country():
    found = ground(*box(-20, 10, -8, 20), 0.01)
    names = {name: at for name, *at in found.names}
    assert names["Gambia"] == pytest.approx([-15.4, 13.4], abs=0.6)
    assert all(on_land(found, *at) for at in names.values())


def test_open_sea_has_nothing():
    found = ground(*box(-32, -5, -20, 5), 0.01)
    assert (found.land, found.coasts, found.borders, found.names) == ((), (), (), ())
