"""bench gtsp: GTSPLIB's clusters of TSPLIB's places, and gaps to the best known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, read, solve, verify
from covertour.bench import gtsp, gtsp_document
from covertour.bench.gtsp import KNOWN, clustered, clusters, read_gtsp_cases

TSPLIB = Path(__file__).parents[3] / "shared" / "data" / "tsplib"
CACHED = pytest.mark.skipif(not TSPLIB.is_dir(), reason=f"TSPLIB's files are not in {TSPLIB}")


def line(*positions: float) -> Instance:
    return Instance.from_coordinates([[x, 0.0] for x in positions], nearest=0)


def test_centres_are_the_farthest_places_and_clusters_the_nearest_to_them() -> None:
    # Two clusters of ten places: the first centre is at 9, the second at 0.
    found = clusters(line(*range(10)))
    assert found.tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0]


def test_a_place_in_the_middle_belongs_to_the_earlier_centre() -> None:
    assert clusters(line(0, 1, 2, 3, 4, 8, 2))[4] == 0


def test_each_place_covers_its_cluster() -> None:
    instance = clustered(line(*range(10)))
    coverage = instance.coverage
    covered = coverage.covers[coverage.covers_start[2] : coverage.covers_start[3]]
    assert np.sort(covered).tolist() == [0, 1, 2, 3, 4]
    assert verify(instance, [4, 5]).ok
    assert not verify(instance, [4, 3]).ok


@CACHED
@pytest.mark.parametrize("name", ["eil51", "berlin52"])
def test_optima_are_those_of_gtsplib(name: str) -> None:
    instance = clustered(read(TSPLIB / f"{name}.tsp", nearest=0))
    proven = solve(instance, "exact", seconds=60)
    assert proven.optimal
    assert proven.length == KNOWN[name].length


@CACHED
def test_gaps_shrink_from_limit_to_limit_and_the_best_known_ends_a_run() -> None:
    report = gtsp(TSPLIB, only=["eil51", "kroA200"], seconds=[60, 1e-6], seeds=2)
    assert [(row.case, row.limit) for row in report.rows] == [
        (case, limit) for case in ("eil51", "kroA200") for limit in (1e-6, 60)
    ]
    first, last = report.rows[2:]
    assert (last.places, last.clusters, last.known, last.runs) == (200, 40, 13_406, 2)
    assert (last.mean_gap, last.reached) == (0.0, 2)
    assert last.seconds_to_known is not None
    assert last.seconds_to_known < 60
    assert first.mean_gap > 0
    assert first.seconds_to_known is None
    document = gtsp_document(report)
    assert "13,406" in document.tables[0].markdown()
    assert (last.glns_gap, last.glns_seconds) == (0.0, 0.1)


def test_wrong_wishes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected TSPLIB's files"):
        read_gtsp_cases(tmp_path)
    with pytest.raises(InputError, match="no best length of 'd18512' is known"):
        gtsp(tmp_path, only=["d18512"])
    with pytest.raises(InputError, match=r"rat783\.tsp: no such file"):
        gtsp(tmp_path, only=["rat783"])
    with pytest.raises(InputError, match="seconds: expected at least one number"):
        gtsp(tmp_path, seconds=[])
    with pytest.raises(InputError, match="method: no 'glns'"):
        gtsp(tmp_path, method="glns")
