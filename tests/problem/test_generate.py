"""Random instances: seeded, in the unit square, with every rule."""

from __future__ import annotations

import numpy as np
import pytest

from covertour import InputError, Nearest, Radius, random_instance


def test_the_same_seed_gives_the_same_instance_and_another_another() -> None:
    one, two, other = (random_instance(50, nearest=(2, 9), seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.coordinates, two.coordinates)
    assert np.array_equal(one.rule.k, two.rule.k)
    assert not np.array_equal(one.coordinates, other.coordinates)


def test_the_global_random_state_is_neither_used_nor_touched() -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    random_instance(50, nearest=3, layout="clustered")
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.parametrize("layout", ["uniform", "clustered"])
def test_places_lie_in_the_unit_square(layout: str) -> None:
    points = random_instance(3000, nearest=7, layout=layout).coordinates
    assert points.shape == (3000, 2)
    assert points.min() >= 0
    assert points.max() <= 1


def test_clustered_places_have_nearer_neighbours_than_uniform_ones() -> None:
    def mean_radius(layout: str) -> float:
        instance = random_instance(400, nearest=5, layout=layout, seed=4)
        points = instance.coordinates
        far = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        return float(np.sort(far, axis=1)[:, 5].mean())

    assert mean_radius("clustered") < mean_radius("uniform")


def test_a_pair_draws_a_value_for_each_place_both_ends_included() -> None:
    nearest = random_instance(400, nearest=(2, 5)).rule
    assert isinstance(nearest, Nearest)
    assert set(nearest.k.tolist()) == {2, 3, 4, 5}
    radius = random_instance(400, radius=(0.1, 0.25)).rule
    assert isinstance(radius, Radius)
    assert radius.r.shape == (400,)
    assert 0.1 <= radius.r.min() < radius.r.max() <= 0.25


def test_places_do_not_depend_on_the_rule() -> None:
    one, two = random_instance(30, nearest=(1, 9)), random_instance(30, radius=0.2)
    assert np.array_equal(one.coordinates, two.coordinates)


def test_the_name_tells_how_to_make_it_again() -> None:
    assert random_instance(20, nearest=(2, 5), seed=9).name == "uniform-20-nearest-2-5-seed-9"
    assert random_instance(20, radius=0.1, layout="clustered").name == (
        "clustered-20-radius-0.1-seed-0"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0, "nearest": 7}, "^n: expected 1 to 10,000,000 places, got 0$"),
        ({"n": 10**8, "nearest": 7}, "^n: expected 1 to 10,000,000 places, got 100,000,000$"),
        ({"n": 5}, "^coverage: give one of nearest and radius$"),
        ({"n": 5, "nearest": 7, "radius": 1}, "^coverage: nearest and radius are given"),
        ({"n": 5, "nearest": 7, "layout": "spiral"}, "^layout: no 'spiral'; there are uniform, "),
        ({"n": 5, "nearest": (5, 2)}, "^nearest: expected 0 <= low <= high, got 5 and 2$"),
        ({"n": 5, "radius": (-1, 2)}, "^radius: expected 0 <= low <= high, got -1 and 2$"),
        ({"n": 5, "radius": -1}, "^radius: -1 is not a finite number"),
        ({"n": 5, "nearest": 2.5}, "^nearest: expected whole numbers$"),
        ({"n": 5, "nearest": (0.5, 3)}, "^nearest: expected whole numbers"),
        ({"n": 5, "nearest": (0, float("inf"))}, "^nearest: expected 0 <= low <= high"),
        ({"n": 5, "nearest": 1, "seed": -1}, "^seed: expected a whole number >= 0, got -1$"),
    ],
)
def test_bad_arguments_get_one_clear_line(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        random_instance(**arguments)


def test_a_pair_of_weights_is_the_range_of_whole_weights_of_the_same_places() -> None:
    plain = random_instance(200, nearest=7, seed=3)
    weighted = random_instance(200, nearest=7, weight=(2, 5), seed=3)
    assert plain.coordinates.tolist() == weighted.coordinates.tolist()
    assert set(weighted.weights.tolist()) == {2.0, 3.0, 4.0, 5.0}
    with pytest.raises(InputError, match="weight: expected 0 <= low <= high"):
        random_instance(10, nearest=2, weight=(5, 2))
