"""Result: gap, proof, and the file it becomes."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from covertour import (
    InputError,
    Instance,
    Result,
    Tour,
    __version__,
    make_tour,
    random_instance,
    solve,
)

VILLAGES = random_instance(9, nearest=3).with_changes(name="villages")


def result(length: float = 110.0, bound: float | None = None) -> Result:
    return Result(
        instance=VILLAGES,
        method="search",
        tour=Tour(np.array([4, 1, 7]), length),
        seconds=1.25,
        seed=3,
        iterations=5000,
        bound=bound,
        trace=((0.1, 130.0), (0.7, 110.0)),
        stopped="limit",
    )


@pytest.mark.parametrize(
    ("length", "bound", "gap", "optimal"),
    [
        (110.0, None, None, False),
        (110.0, 100.0, 0.1, False),
        (110.0, 110.0, 0.0, True),
        (110.0, 110.00001, 0.0, True),  # a bound may exceed the length by rounding
        (110.0, 109.99999, 9.0909e-8, True),
        (0.0, 0.0, 0.0, True),
        (110.0, 0.0, None, False),  # no share of nothing
    ],
)
def test_the_gap_is_a_share_of_the_bound(
    length: float, bound: float | None, gap: float | None, optimal: bool
) -> None:
    found = result(length, bound)
    assert found.gap == (None if gap is None else pytest.approx(gap, rel=1e-3))
    assert found.optimal is optimal


def test_the_file_has_the_fields_in_order_and_null_where_nothing_is_proven() -> None:
    found = json.loads(result().to_json())
    assert [stop["place"] for stop in found["stops"]] == found["tour"]
    assert list(found)[-2:] == ["stops", "version"]
    del found["stops"]
    assert list(found.items()) == [
        ("instance", "villages"),
        ("method", "search"),
        ("tour", [4, 1, 7]),
        ("length", 110.0),
        ("visit_cost", 0.0),
        ("cost", 110.0),
        ("covered_weight", found["covered_weight"]),
        ("total_weight", found["total_weight"]),
        ("uncovered", found["uncovered"]),
        ("bound", None),
        ("gap", None),
        ("cost_bound", None),
        ("seconds", 1.25),
        ("seed", 3),
        ("iterations", 5000),
        ("stopped", "limit"),
        ("version", __version__),
    ]


def test_a_length_survives_the_file_to_the_last_bit() -> None:
    assert json.loads(result(length=0.1 + 0.2).to_json())["length"] == 0.1 + 0.2


def test_printed_it_says_what_was_found_and_what_is_proven() -> None:
    assert str(result()).splitlines() == [
        "villages: 3 stops, length 110",
        "method search, seed 3, 5,000 iterations, 1.25 s, stopped: limit",
    ]
    assert str(result(bound=100.0)).endswith("no tour is shorter than 100: gap 10.0000%")
    assert str(result(bound=110.0)).endswith("no tour is shorter than 110: proven optimal")
    assert str(result(bound=0.0)).endswith("gap unknown")


def test_with_a_budget_it_is_optimal_once_no_tour_serves_as_much_at_less_cost() -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [4, 0], [5, 0]], radius=1, budget=3.0)
    tour = make_tour(instance, [0, 1])

    def found(bound: float, cost_bound: float | None) -> Result:
        return Result(instance, "exact", tour, 1.0, bound=bound, cost_bound=cost_bound)

    assert tour.length == 2.0
    assert instance.covered_weight(tour.places) == 2.0
    for cost_bound, gap in ((None, None), (1.6, 0.25)):
        served = found(2.0, cost_bound)
        assert served.serves_most
        assert not served.optimal
        assert served.cost_gap == (None if gap is None else pytest.approx(gap))
        assert str(served).endswith("proven, but not that none serves as much at less cost")
    assert found(2.0, 2.0).optimal
    assert not found(3.0, 2.0).serves_most
    assert not found(3.0, 2.0).optimal


LINE = Instance.from_coordinates(
    [[0, 0], [1, 0], [4, 0], [5, 0]], radius=1, labels=["a", "b", "c", "d"], name="line"
)
ON_LINE = Result(LINE, "lns", make_tour(LINE, [0, 2]), 0.5, bound=8.0, stopped="proven")


def test_a_notebook_shows_what_was_found_with_a_sketch() -> None:
    shown = ON_LINE._repr_html_()
    for words in ("line", "2 stops, 8.00000", "method lns", "proven optimal", "<svg", "<polygon"):
        assert words in shown


def test_no_text_of_the_user_becomes_markup() -> None:
    evil = "<script>alert(1)</script>"
    named = LINE.with_changes(name=evil, labels=[evil] * 4)
    shown = Result(named, evil, make_tour(named, [0, 2]), 0.5)._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown


def test_a_result_without_coordinates_is_shown_in_words() -> None:
    found = solve(Instance.from_matrix([[0, 3], [2, 0]], nearest=0))
    assert "2 stops" in found._repr_html_()
    assert "<svg" not in found._repr_html_()


def test_it_draws_itself() -> None:
    ax = ON_LINE.plot()
    assert "proven shortest" in ax.get_title()
    assert ON_LINE.plot(ax) is ax


def test_as_a_frame_it_has_a_row_per_stop() -> None:
    frame = ON_LINE.to_dataframe()
    assert list(frame.columns) == [
        *("stop", "place", "name", "route", "leg", "distance", "weight", "visit_cost", "serves")
    ]
    assert frame.to_dict("list") == {
        "stop": [1, 2],
        "place": [0, 2],
        "name": ["a", "c"],
        "route": [1, 1],
        "leg": [0.0, 4.0],
        "distance": [0.0, 4.0],
        "weight": [2.0, 2.0],
        "visit_cost": [0.0, 0.0],
        "serves": [["b"], ["d"]],
    }


def test_without_pandas_a_frame_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="to_dataframe: needs pandas"):
        ON_LINE.to_dataframe()
