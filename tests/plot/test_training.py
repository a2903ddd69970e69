"""Pictures of trainings and of solutions side by side."""

from __future__ import annotations

import pytest

from covertour import InputError, random_instance, solve
from covertour.plot import TrainingCurve, plot_solutions, plot_training
from covertour.plot.style import new_axes
from covertour.solving.stop import MaxIterations


def test_a_line_for_each_training_and_one_for_the_search() -> None:
    curves = [
        TrainingCurve("pn", (1, 2), (5.0, 4.0), 1.5),
        TrainingCurve("am_$x$", (1, 2, 3), (3.0, 2.0, 1.9), 1.5),
    ]
    ax = new_axes()
    assert plot_training(curves, ax) is ax
    assert [list(line.get_ydata()) for line in ax.lines] == [[5.0, 4.0], [3.0, 2.0, 1.9], [1.5] * 2]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["pn: 4.000 at the end", "am_$x$: 1.900 at the end", "the search: 1.500"]
    ax.figure.canvas.draw()


def test_no_line_for_the_search_where_trainings_differ_in_it() -> None:
    curves = [TrainingCurve("a", (1,), (2.0,), 1.5), TrainingCurve("b", (1,), (2.0,), None)]
    assert len(plot_training(curves).lines) == 2


@pytest.mark.parametrize("curves", [[], [TrainingCurve("a", (), ())]])
def test_a_training_without_points_is_refused(curves: list[TrainingCurve]) -> None:
    with pytest.raises(InputError, match="expected at least one curve"):
        plot_training(curves)


def test_solutions_have_method_and_length_in_their_titles() -> None:
    rows = []
    for seed in (0, 1):
        instance = random_instance(20, radius=0.3, seed=seed)
        results = [solve(instance, name, stop=MaxIterations(5)) for name in ("lns", "greedy")]
        rows.append((instance, results))
    axes = plot_solutions(rows).figure.axes
    assert len(axes) == 4
    assert axes[1].get_title().startswith(f"greedy: length {rows[0][1][1].length:.5f}")
    assert "radius of 0.3" in axes[2].get_title()


def test_solutions_must_fill_the_sheet() -> None:
    instance = random_instance(8, nearest=2)
    result = solve(instance, stop=MaxIterations(1))
    for wrong in ([], [(instance, [])], [(instance, [result]), (instance, [result, result])]):
        with pytest.raises(InputError, match="the same number of tours"):
            plot_solutions(wrong)
    with pytest.raises(InputError, match="axes: expected 2, got 1"):
        plot_solutions([(instance, [result, result])], axes=[new_axes()])
