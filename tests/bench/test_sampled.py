from __future__ import annotations

import pytest

from covertour import InputError, Quota, random_instance, solve
from covertour.bench import random, random_document
from covertour.bench.sampled import PEOPLE
from covertour.solving.stop import MaxIterations


def test_lengths_are_means_over_the_seeds() -> None:
    report = random(30, count=3, seed=5, iterations=[50])
    lengths = [
        solve(random_instance(30, nearest=7, seed=seed), stop=MaxIterations(50), seed=seed).length
        for seed in (5, 6, 7)
    ]
    (row,) = report.rows
    assert row.length == pytest.approx(sum(lengths) / 3)
    assert (row.method, row.limit, report.count) == ("lns", "50 iterations", 3)
    # The only run of an instance is its own reference.
    assert (row.gap_percent, row.worst_gap_percent, row.at_reference) == (0, 0, 3)
    assert report.reference_length == pytest.approx(row.length)


def test_every_method_meets_every_limit_and_gaps_are_to_the_best_of_all() -> None:
    report = random(
        40, "radius 0.1-0.3", count=2, methods=["greedy", "lns"], seconds=[0.05], iterations=[0 + 1]
    )
    assert [(row.method, row.limit) for row in report.rows] == [
        ("greedy", "0.05 s"),
        ("greedy", "1 iterations"),
        ("lns", "0.05 s"),
        ("lns", "1 iterations"),
    ]
    assert all(row.gap_percent >= 0 and row.seconds > 0 for row in report.rows)
    assert min(row.length for row in report.rows) >= report.reference_length * (1 - 1e-9)


def test_a_proof_as_reference_gives_gaps_to_the_optimum() -> None:
    report = random(
        15, "nearest 3", count=2, iterations=[200], reference="exact", reference_seconds=20
    )
    assert report.reference_proven == 2
    assert "a run of exact" in report.reference
    assert "2 of 2 proven" in random_document(report).sentences[1]


def test_with_a_quota_places_have_weights_and_gaps_are_of_cost() -> None:
    quota = Quota(share=0.5)
    report = random(20, "nearest 3", count=2, iterations=[1, 300], quota=quota)
    instances = [
        random_instance(20, nearest=3, weight=PEOPLE, seed=seed).with_changes(quota=quota)
        for seed in (0, 1)
    ]
    costs = [
        solve(instance, stop=MaxIterations(300), seed=seed).cost
        for seed, instance in enumerate(instances)
    ]
    assert report.rows[1].length == pytest.approx(sum(costs) / 2)
    assert "quota 50 %" in random_document(report).title


def test_with_a_budget_gaps_are_of_the_weight_that_is_served() -> None:
    report = random(*(20, "nearest 3"), count=2, iterations=[1, 300], budget=0.5, reference="exact")
    assert (report.measure, report.reference_proven) == ("weight", 2)
    for row in report.rows:
        assert row.length <= report.reference_length
        assert 0.0 <= row.gap_percent <= row.worst_gap_percent < 100.0
    document = random_document(report)
    assert "largest weight" in document.sentences[1]
    assert document.tables[0].columns[2].name == "weight"


def test_one_instance_has_no_standard_error() -> None:
    report = random(10, "nearest 2", count=1, iterations=[10])
    assert report.rows[0].length_error is None
    table = random_document(report).tables[0]
    assert (
        dict(zip([c.name for c in table.columns], table.shown()[0], strict=True))["length_error"]
        == "-"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seconds": []}, "expected at least one limit"),
        ({"seconds": [-1.0]}, "seconds: expected numbers > 0"),
        ({"iterations": [5], "methods": ["magic"]}, "methods: no 'magic'"),
        ({"iterations": [5], "methods": []}, "methods: expected at least one"),
        ({"iterations": [5], "reference": "magic"}, "reference: no 'magic'"),
        ({"iterations": [5], "reference_seconds": 0.0}, "reference seconds: expected"),
        ({"iterations": [5], "rule": "everyone"}, "rule: 'everyone'"),
        ({"iterations": [5], "count": 0}, "n, count"),
        ({"iterations": [5], "budget": -0.5}, "budget: expected numbers > 0"),
        ({"iterations": [5], "budget": 0.5, "quota": Quota(share=0.5)}, "not both"),
        ({"iterations": [5], "layout": "spiral"}, "layout: no 'spiral'"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        random(10, **arguments)  # type: ignore[arg-type]
