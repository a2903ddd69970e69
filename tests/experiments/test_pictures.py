"""The figures: tours side by side, and gaps against time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from experiments import gap_time, solutions
from experiments.gap_time import draw_gap_time, points_of, run_gap_time
from experiments.shared.protocol import Cell
from experiments.shared.study import Study
from experiments.solutions import draw_solutions, solutions_document, solve_pairs

MakeStudy = Callable[..., Study]


def test_solutions_are_drawn_side_by_side(
    study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = (Cell("nearest 2-15", 30), Cell("radius 0-0.25", 30))
    monkeypatch.setattr(solutions, "CELLS", cells)
    pairs = solve_pairs(study("am-dynamic-20"))
    assert [result.method for result in pairs[0].results] == ["am-dynamic+ls", "ls1-paper"]
    axes = draw_solutions(pairs).figure.axes
    assert len(axes) == 4
    first = pairs[0].results[0]
    assert axes[0].get_title().startswith(f"am-dynamic+ls: length {first.length:.4f}")
    table = solutions_document(pairs).tables[0]
    assert [row[3] for row in table.rows] == ["am-dynamic+ls", "ls1-paper"] * 2
    assert [row[0] for row in table.rows] == ["nearest 2-15"] * 2 + ["radius 0-0.25"] * 2


def test_without_weights_our_search_is_drawn(
    study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solutions, "CELLS", (Cell("radius 0.2", 20),))
    (pair,) = solve_pairs(study())
    assert pair.results[0].method == "lns"


def test_every_method_is_in_the_picture_of_gaps(
    study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = (Cell("nearest 7", 20), Cell("nearest 7", 30))
    monkeypatch.setattr(gap_time, "CELLS", cells)
    monkeypatch.setattr(gap_time, "LNS_SECONDS", (0.001, 0.004))
    made = study("am-20", methods=("ls1-paper", "am", "lns", "exact"))
    document = run_gap_time(made)
    methods = [row[1] for row in document.tables[0].rows]
    assert methods == ["ls1-paper", "am", "exact", "lns", "lns"] * 2
    assert all(point.gap_percent >= 0 for point in points_of(made, cells[0]))
    figure = draw_gap_time(made).figure
    assert [ax.get_title() for ax in figure.axes] == [
        "20 places, nearest 7",
        "30 places, nearest 7",
    ]
    assert len(figure.axes[0].get_legend().get_texts()) == 4
