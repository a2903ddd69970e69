"""Seconds and peak memory of a matrix by road: python benchmarks/roads.py andorra.osm.pbf.

Places lie near junctions of the extract's roads, drawn at random. Nothing is kept from run to run:
the extract is copied into a temporary folder.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from covertour import Instance, with_roads
from covertour.roads.extract import Box, read_ways
from covertour.roads.network import make_network
from covertour.roads.profiles import CAR

NEAR = 0.001
"""Degrees by which places lie beside the road, about 100 m."""


def places_near(path: Path, n: int) -> Instance:
    network = make_network(read_ways(path, Box(-180.0, -90.0, 180.0, 90.0)), CAR)
    rng = np.random.default_rng(1)
    stretches = rng.choice(np.flatnonzero(network.piece == 0), n)
    points = network.point[network.first[stretches]] + rng.normal(0.0, NEAR, (n, 2))
    return Instance.from_coordinates(points, metric="haversine", radius=1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extract", type=Path)
    parser.add_argument("--places", type=int, default=2_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        roads = Path(shutil.copy(given.extract, folder))
        instance = places_near(roads, given.places)
        for again in ("first", "again"):
            wall, cpu = time.perf_counter(), time.process_time()
            by_road = with_roads(instance, roads, cover="foot", on_note=print)
            assert by_road.matrix is not None
            print(
                f"{again}: {instance.n:,} places, {time.perf_counter() - wall:.1f} s "
                f"({time.process_time() - cpu:.1f} s of the processor), "
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most, "
                f"longest way {by_road.matrix.max():.1f} km"
            )


if __name__ == "__main__":
    main()
