import io

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure

from covertour import InputError, Instance, Result, make_tour, random_instance
from covertour.plot import plot_instance, plot_tour, plot_trace
from covertour.problem.tour import Tour

SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]


def png(ax):
    data = io.BytesIO()
    ax.figure.savefig(data, format="png", dpi=40)
    return data.getvalue()


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_a_tour_goes_through_its_stops_and_back():
    instance = Instance.from_coordinates(SQUARE, radius=1)
    ax = plot_tour(instance, make_tour(instance, [0, 1, 2]))
    (line,) = ax.lines
    assert line.get_xydata().tolist() == [[0, 0], [0, 1], [1, 1], [0, 0]]


def test_covered_places_are_joined_to_the_stop_that_serves_them():
    instance = Instance.from_coordinates([[0, 0], [1, 0], [5, 0], [6, 0]], radius=1)
    ax = plot_tour(instance, make_tour(instance, [0, 3]))
    (lines,) = [c for c in ax.collections if isinstance(c, LineCollection)]
    ends = [segment.tolist() for segment in lines.get_segments()]
    assert ends == [[[1, 0], [0, 0]], [[5, 0], [6, 0]]]


def test_circles_are_drawn_for_radii_only():
    def circles(instance):
        ax = plot_tour(instance, make_tour(instance, [0, 2]))
        return sum(len(c.get_paths()) for c in ax.collections if isinstance(c, PolyCollection))

    assert circles(Instance.from_coordinates(SQUARE, radius=[1, 1, 0, 1])) == 1
    assert circles(Instance.from_coordinates(SQUARE, nearest=2)) == 0


def test_the_title_says_length_and_number_of_stops():
    instance = Instance.from_coordinates(SQUARE, radius=1, name="square")
    title = plot_tour(instance, make_tour(instance, [0, 2])).get_title()
    assert title == "square\nlength 2.82843, 2 stops for 4 places"


def test_a_proof_is_in_the_title():
    instance = Instance.from_coordinates(SQUARE, radius=1)
    tour = make_tour(instance, [0, 2])
    result = Result(instance, "exact", tour, 0.1, bound=tour.length)
    assert "proven shortest" in plot_tour(instance, result).get_title()


def test_few_stops_are_numbered_and_many_are_not():
    few = random_instance(60, nearest=3, seed=1)
    many = random_instance(300, nearest=0, seed=1)
    assert texts(plot_tour(few, make_tour(few, range(10)))) == [str(i) for i in range(1, 11)]
    assert texts(plot_tour(many, make_tour(many, range(300)))) == []


def test_stops_are_named_and_names_never_overlap():
    n = 30
    points = np.random.default_rng(3).random((n, 2))
    labels = [f"a rather long name {i}" for i in range(n)]
    instance = Instance.from_coordinates(points, nearest=0, labels=labels)
    ax = plot_tour(instance, make_tour(instance, range(n)))
    ax.figure.canvas.draw()
    named = [text for text in ax.texts if text.get_text() in labels]
    assert len(named) >= 5
    boxes = [text.get_window_extent() for text in named]
    frame = ax.get_window_extent()
    for i, box in enumerate(boxes):
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_names_are_drawn_as_they_are_whatever_they_contain():
    labels = ["$5 & $6", "$\\bad{", "Łódź", "two\nlines"]
    instance = Instance.from_coordinates(SQUARE, nearest=0, labels=labels, name="$x$ Łódź")
    ax = plot_tour(instance, make_tour(instance, range(4)))
    assert png(ax).startswith(b"\x89PNG")
    assert "$5 & $6" in texts(ax)
    assert "two lines" in texts(ax)


def test_depot_required_forbidden_and_uncovered_places_are_in_the_legend():
    instance = Instance.from_coordinates(
        [*SQUARE, [9, 9]], radius=1, depot=0, required=[2], forbidden=[1]
    )
    ax = plot_tour(instance, Tour(np.array([0, 2]), 2.83))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"depot", "required", "forbidden", "not covered", "reach of a stop, 1"} <= set(legend)
    assert "stop" not in legend


def test_degrees_keep_their_shape_away_from_the_equator():
    oslo = Instance.from_coordinates([[10, 60], [12, 60], [12, 61]], metric="haversine", radius=9)
    ax = plot_instance(oslo)
    assert ax.get_aspect() == pytest.approx(1 / np.cos(np.deg2rad(60.5)))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("longitude", "latitude")


@pytest.mark.parametrize(
    "points", [[[3, 4]], [[3, 4], [5, 9]], [[1, 1]] * 3, [[0, 0], [1, 0], [2, 0]], [[1e99, -1e99]]]
)
@pytest.mark.parametrize("rule", [{"radius": 0}, {"radius": 100}])
def test_the_smallest_instances_can_be_drawn(points, rule):
    instance = Instance.from_coordinates(points, **rule)
    assert plot_instance(instance).get_title()
    assert png(plot_tour(instance, make_tour(instance, range(len(points))))).startswith(b"\x89PNG")


def test_the_number_of_artists_does_not_grow_with_the_places():
    def artists(n):
        instance = random_instance(n, nearest=0, seed=1)
        return len(plot_tour(instance, make_tour(instance, range(n // 2, n))).get_children())

    assert artists(20_000) == artists(1_000)


def test_a_matrix_is_drawn_by_its_coordinates_or_not_at_all():
    matrix = [[0, 1], [2, 0]]
    drawn = Instance.from_matrix(matrix, nearest=1, coordinates=[[0, 0], [1, 0]])
    assert plot_tour(drawn, make_tour(drawn, [0, 1])).get_title().endswith("2 stops for 2 places")
    bare = Instance.from_matrix(matrix, nearest=1, name="bare")
    for draw in (plot_instance, lambda i: plot_tour(i, make_tour(i, [0]))):
        with pytest.raises(InputError, match=r"^bare: cannot be drawn.*$"):
            draw(bare)


def test_a_notebook_shows_a_plot():
    instance = random_instance(20, nearest=3)
    for ax in (plot_instance(instance), plot_tour(instance, make_tour(instance, [0, 1, 2]))):
        assert ax._repr_png_().startswith(b"\x89PNG")


def test_given_axes_are_drawn_on_and_no_window_is_opened():
    figure = Figure()
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    instance = random_instance(20, nearest=3)
    assert plot_instance(instance, ax=left) is left
    assert plot_tour(instance, make_tour(instance, [0, 1, 2]), ax=right) is right
    plot_instance(instance)
    assert pyplot.get_fignums() == []


def result(method="lns", seed=0, trace=((0.0, 9.0), (0.5, 7.0)), seconds=2.0, **more):
    instance = Instance.from_coordinates(SQUARE, radius=1)
    return Result(instance, method, Tour(np.array([0]), 7.0), seconds, seed, trace=trace, **more)


def test_a_trace_falls_in_steps_and_lasts_until_the_end():
    ax = plot_trace(result())
    (line,) = ax.lines
    assert line.get_drawstyle() == "steps-post"
    assert line.get_ydata().tolist() == [9, 7, 7]
    assert line.get_xdata()[-1] == 2
    assert ax.get_xscale() == "log"
    assert min(line.get_xdata()) > 0


def test_traces_are_told_apart_by_method_seed_or_given_names():
    def names(results):
        return [text.get_text() for text in plot_trace(results).get_legend().get_texts()]

    assert names([result("lns"), result("exact")]) == ["lns", "exact"]
    assert names([result(seed=0), result(seed=1)]) == ["lns, seed 0", "lns, seed 1"]
    assert names([result(), result()]) == ["lns, seed 0", "lns, seed 0 (2)"]
    assert names({"old": result(), "new": result()}) == ["old", "new"]


def test_a_result_without_trace_and_one_with_a_bound_can_be_drawn():
    ax = plot_trace([result("a", trace=(), seconds=0.0), result("b", bound=6.5)])
    assert png(ax).startswith(b"\x89PNG")
    assert [6.5, 6.5] in [list(line.get_ydata()) for line in ax.lines]


def test_no_result_is_an_error():
    with pytest.raises(InputError, match="at least one result"):
        plot_trace([])
