from __future__ import annotations

import pytest

from covertour import InputError
from covertour.bench import scale, scale_document
from covertour.bench.growth import fit_exponent
from covertour.bench.scale_case import ScaleCase, measure

SAME = 1 + 1e-12
"""Room for the roundings of sums in another order."""


def test_each_size_is_measured_in_a_process_of_its_own() -> None:
    report = scale([60, 20], [0.5, 0.02], "nearest 3")
    assert [row.measure.n for row in report.rows] == [20, 60]
    assert report.seconds == (0.02, 0.5)
    for row in report.rows:
        found = row.measure
        assert found.first_tour_seconds > 0
        assert found.coverage_seconds > 0
        assert found.lengths[-1] is not None
        assert found.lengths[-1] <= found.first_length * SAME
        assert found.peak_gigabytes is None or 0.01 < found.peak_gigabytes < 8
    assert report.rows[0].growth is None
    assert report.exponent == report.rows[1].growth
    document = scale_document(report)
    assert [column.name for column in document.tables[0].columns][6:9] == [
        "length_per_root_n_at_0.02_s",
        "length_per_root_n_at_0.5_s",
        "gap_percent_at_0.02_s",
    ]
    assert "The time to the first tour grows like" in document.markdown("covertour")


@pytest.mark.parametrize("separate", [False, True])
def test_lengths_only_fall_within_a_run_and_are_missing_before_the_first_tour(
    separate: bool,
) -> None:
    found = measure(ScaleCase(200, "nearest 7", (1e-9, 0.3, 0.4), "lns", 0, separate, 1))
    early, middle, late = found.lengths
    assert early is None
    assert middle is not None
    assert late is not None
    assert middle <= found.first_length * SAME
    if not separate:
        assert late <= middle * SAME
    assert found.iterations_per_second > 0


def test_the_exponent_is_that_of_the_power_law() -> None:
    sizes = [10, 100, 1000, 10_000]
    assert fit_exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert fit_exponent([10], [1]) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1.0]), "sizes: expected at least one"),
        (([0], [1.0]), "sizes: expected numbers > 0"),
        (([10], []), "seconds: expected at least one"),
        (([10], [1.0], "all"), "rule: 'all'"),
        (([10], [1.0], "nearest 7", "magic"), "method: no 'magic'"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[object, ...], message: str) -> None:
    *positional, method = arguments if len(arguments) == 4 else (*arguments, "lns")
    with pytest.raises(InputError, match=message):
        scale(*positional, method=method)  # type: ignore[arg-type]
