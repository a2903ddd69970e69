from __future__ import annotations

from dataclasses import dataclass

import pytest

from covertour import InputError
from covertour.plot import plot_gap_against_time


@dataclass(frozen=True)
class Row:
    method: str
    seconds: float
    gap_percent: float


ROWS = [
    Row("lns", 0.1, 0.0),
    Row("lns", 0.01, 0.3),
    Row("lns", 1.0, 0.0),
    Row("ls1", 0.02, 5.0),
    Row("ls1", 0.5, 2.0),
]


def points(ax, name):
    (line,) = [line for line in ax.lines if line.get_label() == name]
    return line.get_xydata().tolist()


def test_each_method_is_a_line_in_the_order_of_time():
    ax = plot_gap_against_time(ROWS)
    assert points(ax, "ls1") == [[0.02, 5.0], [0.5, 2.0]]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["lns", "ls1"]


def test_a_gap_of_zero_stands_on_the_floor_where_the_line_ends():
    ax = plot_gap_against_time(ROWS)
    floor = points(ax, "lns")[-1][1]
    assert points(ax, "lns") == [[0.01, 0.3], [0.1, floor]]
    assert 0 < floor < 0.3
    assert any(list(line.get_ydata()) == [floor, floor] for line in ax.lines)
    assert [text.get_text() for text in ax.texts] == ["optimal / reference"]
    assert ax.get_ylim()[0] < floor


def test_only_zeros_can_be_drawn():
    ax = plot_gap_against_time([Row("lns", 0.1, 0.0)])
    ax.figure.canvas.draw()
    assert len(points(ax, "lns")) == 1


def test_given_axes_are_used():
    ax = plot_gap_against_time(ROWS[:1])
    assert plot_gap_against_time(ROWS, ax) is ax


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="at least one row"):
        plot_gap_against_time([])
