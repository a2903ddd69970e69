"""Extracts of OpenStreetMap that cannot be used: each gets its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from maps import ORDINO, Draw

from covertour import InputError
from covertour.roads.extract import Box, read_ways, surroundings

WORLD = Box(-180, -90, 180, 90)


def test_a_truncated_extract_is_refused(tmp_path: Path) -> None:
    cut = tmp_path / "cut.osm.pbf"
    cut.write_bytes(ORDINO.read_bytes()[:-9_000])
    with pytest.raises(
        InputError, match=r"cut\.osm\.pbf: cannot be read as an OpenStreetMap extract"
    ):
        read_ways(cut, WORLD)


def test_what_is_no_extract_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.osm.pbf"
    other.write_bytes(b"name,lat,lon\nA,1,2\n")
    with pytest.raises(InputError, match="cannot be read as an OpenStreetMap extract"):
        read_ways(other, WORLD)
    other.write_bytes(b"")
    with pytest.raises(InputError, match=r"other\.osm\.pbf"):
        read_ways(other, WORLD)


def test_a_map_without_roads_is_refused(draw: Draw) -> None:
    with pytest.raises(InputError, match="has no roads"):
        read_ways(draw({1: (0, 0)}, []), WORLD)
    buildings = draw({1: (0, 0), 2: (0, 1)}, [([1, 2], {"building": "yes"})])
    with pytest.raises(InputError, match="has no roads"):
        read_ways(buildings, WORLD)


def test_roads_elsewhere_are_no_roads() -> None:
    with pytest.raises(InputError, match=r"no road near the places, which lie about 14\.70, -17"):
        read_ways(ORDINO, surroundings(np.array([[-17.4, 14.7]])))


def test_a_way_with_a_point_in_the_box_is_kept_whole(draw: Draw) -> None:
    roads = draw(
        {1: (0, 0), 2: (50, 0), 3: (100, 0), 4: (90, 0)},
        [([1, 2, 3], {"highway": "primary"}), ([3, 4], {"highway": "primary"})],
    )
    ways = read_ways(roads, surroundings(np.array([[0.0, 0.0]])))
    assert ways.node.tolist() == [1, 2, 3]
