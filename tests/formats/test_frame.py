"""Instances from the frames of pandas and GeoPandas."""

from __future__ import annotations

import geopandas
import numpy as np
import pandas as pd
import pytest

from covertour import InputError, Radius, read

TOWNS = pd.DataFrame(
    {
        "name": ["Alba", "Bree", "Cori"],
        "lat": [14.69, 14.76, 14.79],
        "lon": [-17.44, -17.39, -16.93],
        "radius": [10, 20, None],
        "depot": [False, True, False],
        "must visit": pd.array([None, True, False], dtype="boolean"),
    }
)


def test_a_frame_is_read_as_a_csv_file_would_be() -> None:
    instance = read(TOWNS, radius=5)
    assert (instance.n, instance.metric, instance.labels) == (3, "haversine", tuple(TOWNS["name"]))
    assert instance.coordinates.tolist() == TOWNS[["lon", "lat"]].to_numpy().tolist()
    assert (instance.depot, instance.required) == (1, (1,))
    whole = read(TOWNS.fillna({"radius": 7.5}))
    assert isinstance(whole.rule, Radius)
    assert whole.rule.r.tolist() == [10, 20, 7.5]


def test_what_is_wrong_in_a_frame_is_told_by_its_row() -> None:
    with pytest.raises(InputError, match=r"^the frame, row 2: radius is missing"):
        read(TOWNS)
    with pytest.raises(InputError, match=r"^the frame, row b: latitude 'north' is not a number"):
        read(pd.DataFrame({"lat": [1, "north"], "lon": [1, 2]}, index=["a", "b"]), radius=1)
    with pytest.raises(InputError, match=r"^the frame: expected the columns x,y or lat,lon"):
        read(pd.DataFrame({"a": [1.5], "b": ["c"]}), radius=1)
    with pytest.raises(InputError, match="the frame: has no places"):
        read(TOWNS[:0], radius=1)


@pytest.mark.parametrize("names", [["a", "b"], [0, 1]])
def test_a_square_frame_is_a_distance_matrix(names: list) -> None:
    frame = pd.DataFrame([[0, 2], [3, 0]], index=names, columns=names)
    instance = read(frame, nearest=1)
    assert instance.matrix.tolist() == [[0, 2], [3, 0]]
    assert instance.labels == tuple(map(str, names))


def test_points_of_geopandas_in_any_projection() -> None:
    points = geopandas.GeoDataFrame(
        {"name": TOWNS["name"], "nearest": np.array([1, 1, 2])},
        geometry=geopandas.points_from_xy(TOWNS["lon"], TOWNS["lat"]),
        crs=4326,
    )
    for frame in (points, points.to_crs(3857), points.set_crs(None, allow_override=True)):
        instance = read(frame)
        assert instance.labels == tuple(TOWNS["name"])
        assert instance.coordinates == pytest.approx(TOWNS[["lon", "lat"]].to_numpy())
        assert instance.rule.k.tolist() == [1, 1, 2]
