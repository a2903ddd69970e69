"""Instances by road: distances, cover, lines, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from maps import Draw, at

from covertour import InputError, Instance, solve, verify, with_roads
from covertour.roads import openstreetmap
from covertour.roads.network import kilometres
from covertour.solving.stop import MaxIterations

ROAD = {"highway": "primary"}
SQUARE = {1: (0, 0), 2: (3, 0), 3: (3, 3), 4: (0, 3)}


def places(*points: tuple[float, float], radius: float = 1.0, **more: object) -> Instance:
    """Places at kilometres (x, y) from 0, 0."""
    return Instance.from_coordinates(
        [at(x, y) for x, y in points], metric="haversine", radius=radius, **more
    )


def test_distances_follow_the_road_from_the_point_nearest_to_a_place(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4], ROAD)])
    # Half a kilometre from the west end of the southern side; at the north-western corner.
    instance = with_roads(places((0.5, -0.2), (0, 3)), roads)
    assert instance.matrix == pytest.approx(np.array([[0, 8.7], [8.7, 0]]), abs=1e-3)
    assert instance.roads is not None
    assert instance.roads.unit == "km"


def test_one_way_streets_make_the_way_back_longer(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4, 1], ROAD | {"oneway": "yes"})])
    instance = with_roads(places((1, 0), (2, 0)), roads)
    assert instance.matrix == pytest.approx(np.array([[0, 1], [11, 0]]), abs=1e-3)


def test_time_takes_the_faster_road_even_if_it_is_longer(draw: Draw) -> None:
    nodes = {1: (0, 0), 2: (6, 0), 3: (3, 4)}
    roads = draw(nodes, [([1, 2], {"highway": "service"}), ([1, 3, 2], {"highway": "motorway"})])
    there = places((0, 0), (6, 0))
    by_time = with_roads(there, roads, by="time")
    assert by_time.matrix == pytest.approx(np.array([[0, 6], [24, 0]]), abs=1e-2)
    assert with_roads(there, roads).matrix == pytest.approx(np.array([[0, 6], [6, 0]]), abs=1e-3)
    assert by_time.roads is not None
    assert by_time.roads.unit == "min"


def test_cover_is_asked_of_its_own_roads(draw: Draw) -> None:
    # A footpath straight across, a road for cars the long way round.
    nodes = {1: (0, 0), 2: (2, 0), 3: (0, 3), 4: (2, 3)}
    roads = draw(nodes, [([1, 3, 4, 2], ROAD), ([1, 2], {"highway": "path"})])
    there = places((0, 0), (2, 0), (0, 2.5), radius=2.2)
    on_foot = with_roads(there, roads, cover="foot")
    assert [members.tolist() for members in on_foot.rule.sets] == [[1], [0], []]
    by_car = with_roads(there, roads)
    assert [members.tolist() for members in by_car.rule.sets] == [[], [], []]
    by_air = with_roads(there, roads, cover="air")
    assert [members.tolist() for members in by_air.rule.sets] == [[1], [0], []]
    assert on_foot.matrix == pytest.approx(by_car.matrix)
    assert on_foot.cover_distances([0, 0], [1, 0]).tolist() == pytest.approx([2, 0], abs=1e-3)


def test_the_nearest_places_are_the_nearest_by_road(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4], ROAD)])
    there = Instance.from_coordinates(
        [at(0, 0), at(0, 2.9), at(3, 1)], metric="haversine", nearest=1
    )
    instance = with_roads(there, roads)
    assert [members.tolist() for members in instance.rule.sets] == [[2], [2], [0]]


def test_a_bollard_stops_cars_and_nobody_on_foot(draw: Draw) -> None:
    nodes = {**SQUARE, 5: (1.5, 0)}
    ways = [([1, 5, 2, 3, 4, 1], {"highway": "residential"})]
    roads = draw(nodes, ways, {5: {"barrier": "bollard"}})
    instance = with_roads(places((1, 0), (2, 0)), roads, cover="foot")
    assert instance.matrix == pytest.approx(np.array([[0, 11], [11, 0]]), abs=1e-3)
    assert [members.tolist() for members in instance.rule.sets] == [[1], [0]]


def test_two_places_in_one_spot_are_no_way_apart(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4], ROAD)])
    instance = with_roads(places((1, 0.3), (1, 0.3), (2, 0)), roads)
    assert instance.matrix[0, 1] == 0.0
    assert instance.matrix[0, 2] == pytest.approx(1.3, abs=1e-3)


def test_a_line_is_as_long_as_the_matrix_says(ordino: Path) -> None:
    points = [[1.519, 42.5745], [1.5335, 42.5562], [1.5413, 42.6189], [1.5262, 42.5963]]
    there = Instance.from_coordinates(points, metric="haversine", radius=5)
    for by in ("distance", "time"):
        instance = with_roads(there, ordino, by=by)
        shortest = with_roads(there, ordino).matrix
        assert instance.matrix is not None
        for i in range(4):
            for j in range(4):
                line = instance.roads.lines.line(i, j)
                assert line[[0, -1]].tolist() == [points[i], points[j]]
                length = kilometres(line[:-1], line[1:]).sum()
                if by == "distance":
                    assert length == pytest.approx(instance.matrix[i, j], abs=1e-5)
                else:
                    assert length >= shortest[i, j] - 1e-5


def test_the_matrix_is_that_of_all_shortest_paths(draw: Draw) -> None:
    """On a grid with random one-way streets and gaps, by Floyd and Warshall."""
    rng = np.random.default_rng(5)
    side = 5
    nodes = {k + 1: (k % side, k // side) for k in range(side * side)}
    ways, far = [], np.full((side * side,) * 2, np.inf)
    np.fill_diagonal(far, 0.0)
    for a in range(side * side):
        for b in [a + 1] * (a % side < side - 1) + [a + side] * (a + side < side * side):
            kind = rng.integers(4)
            if kind == 3 and a % side and b % side:
                continue
            one_way = {0: "yes", 1: "-1"}.get(int(kind), "no") if a % side else "no"
            ways.append(([a + 1, b + 1], {"highway": "tertiary", "oneway": one_way}))
            if one_way != "-1":
                far[a, b] = 1.0
            if one_way != "yes":
                far[b, a] = 1.0
    for middle in range(side * side):
        far = np.minimum(far, far[:, [middle]] + far[[middle]])
    together = np.isfinite(far[0]) & np.isfinite(far[:, 0])
    chosen = np.flatnonzero(together)
    assert len(chosen) > 15
    instance = with_roads(places(*(nodes[k + 1] for k in chosen)), draw(nodes, ways))
    assert instance.matrix == pytest.approx(far[np.ix_(chosen, chosen)], abs=2e-3)
    assert not instance.symmetric


def test_tours_by_road_are_solved_and_verified(ordino: Path) -> None:
    points = [[1.519, 42.5745], [1.5335, 42.5562], [1.5413, 42.6189], [1.5262, 42.5963]]
    there = Instance.from_coordinates(points, metric="haversine", radius=3, labels="abcd")
    instance = with_roads(there, ordino, cover="foot")
    result = solve(instance, stop=MaxIterations(100))
    assert verify(instance, result.tour).ok
    assert instance.roads.credit == "© OpenStreetMap contributors (ODbL)"


def test_how_far_places_are_from_the_road_is_told(draw: Draw) -> None:
    notes: list[str] = []
    there = places((1, 0.25), (2, -0.05), labels=["far", "near"])
    with_roads(there, draw(SQUARE, [([1, 2, 3, 4], ROAD)]), on_note=notes.append)
    assert notes == ["places: the nearest road is 150 m away on average, 250 m at most (far)"]


def test_a_place_far_from_any_road_is_named(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4], ROAD)])
    there = places((1, 0), (1, -2.5), (2, 0), labels=["a", "lost", "b"])
    with pytest.raises(InputError, match=r"more than 2 km from any road .* place lost;"):
        with_roads(there, roads)


def test_places_on_roads_that_do_not_meet_are_named(draw: Draw) -> None:
    nodes = {1: (0, 0), 2: (1, 0), 3: (9, 0), 4: (10, 0)}
    roads = draw(nodes, [([1, 2], ROAD), ([3, 4], ROAD)])
    there = places((0, 0), (1, 0), (9.5, 0), labels=["a", "b", "island"])
    with pytest.raises(InputError, match="separate pieces; place island cannot be reached by car"):
        with_roads(there, roads)
    ferry = draw(nodes, [([1, 2], ROAD), ([3, 4], ROAD), ([2, 3], {"route": "ferry"})])
    assert with_roads(there, ferry).matrix[0, 2] == pytest.approx(9.5, abs=1e-3)


def test_a_street_that_one_cannot_leave_is_no_place_to_stop_at(draw: Draw) -> None:
    nodes = {1: (0, 0), 2: (3, 0), 3: (1, 0), 4: (1, 1)}
    roads = draw(nodes, [([1, 3, 2], ROAD), ([3, 4], ROAD | {"oneway": "yes"})])
    instance = with_roads(places((0, 0), (1, 0.9)), roads)
    assert instance.matrix[1, 0] == pytest.approx(0.9 + 1, abs=1e-3)


def test_walkers_may_be_cut_off_from_each_other(draw: Draw) -> None:
    nodes = {1: (0, 0), 2: (1, 0), 3: (4, 0), 4: (5, 0)}
    highway = ROAD | {"foot": "no"}
    roads = draw(nodes, [([1, 2], ROAD), ([2, 3], highway), ([3, 4], ROAD)])
    instance = with_roads(places((0, 0), (1, 0), (4, 0), radius=9), roads, cover="foot")
    assert [members.tolist() for members in instance.rule.sets] == [[1], [0], []]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"by": "tyme"}, "did you mean 'time'"),
        ({"cover": "bike"}, "cover: no 'bike'; there are car, foot, air"),
    ],
)
def test_unknown_words_are_refused(draw: Draw, options: dict[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        with_roads(places((0, 0)), draw(SQUARE, [([1, 2], ROAD)]), **options)


def test_roads_need_places_on_the_globe(draw: Draw) -> None:
    roads = draw(SQUARE, [([1, 2], ROAD)])
    with pytest.raises(InputError, match="not a distance matrix"):
        with_roads(Instance.from_matrix([[0, 1], [1, 0]], radius=1), roads)
    with pytest.raises(InputError, match="latitude and longitude, not the metric 'euclidean'"):
        with_roads(Instance.from_coordinates([[0, 0]], radius=1), roads)


def test_too_many_places_are_refused_with_the_limit(draw: Draw) -> None:
    many = Instance.from_coordinates(np.zeros((6_001, 2)), metric="haversine", nearest=0)
    with pytest.raises(InputError, match="at most 6,000 places go by road, not 6,001"):
        with_roads(many, draw(SQUARE, [([1, 2], ROAD)]))


def test_the_second_time_the_extract_is_not_read_again(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads = draw(SQUARE, [([1, 2, 3, 4], ROAD)])
    there = places((0, 0), (3, 1))
    first = with_roads(there, roads, cover="foot")

    def must_not(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(openstreetmap, "read_ways", must_not)
    second = with_roads(there, roads, cover="foot")
    assert second.matrix.tolist() == first.matrix.tolist()
    assert second.roads.lines.line(0, 1).tolist() == first.roads.lines.line(0, 1).tolist()
