"""What is written reads back the same, and damaged files give one-line errors and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from covertour import (
    InputError,
    Instance,
    Nearest,
    Radius,
    Result,
    Sets,
    Tour,
    read,
    read_tour,
    write,
)
from covertour.formats import INSTANCE_ENDINGS, TOUR_ENDINGS
from covertour.formats.written import place_columns
from covertour.problem.metric import METRICS

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers in this range that are not so small that places could be too near each other."""
    return st.floats(low, high).map(lambda value: value if abs(value) > 1e-100 else value * 0.0)


PLANE = numbers(-1e100, 1e100)
NEAR = numbers(-1e3, 1e3)
COMMON = settings(max_examples=60, deadline=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@st.composite
def coordinates(draw: st.DrawFn, metric: str, n: int, plane: st.SearchStrategy[float]) -> list:
    latitude, longitude = numbers(-90, 90), numbers(-360, 360)
    pair = {"haversine": (longitude, latitude), "geo": (latitude, longitude)}
    return draw(st.lists(st.tuples(*pair.get(metric, (plane, plane))), min_size=n, max_size=n))


@st.composite
def instances(
    draw: st.DrawFn,
    metric_names: tuple[str, ...] = METRICS,
    plane: st.SearchStrategy[float] = PLANE,
    *,
    with_forbidden: bool = True,
) -> Instance:
    metric = draw(st.sampled_from(metric_names))
    n = draw(st.integers(1, 6))
    places = st.integers(0, n - 1)
    fields: dict = {"metric": metric, "name": draw(TEXT)}
    if metric == "matrix":
        rows = st.lists(numbers(0, 1e100), min_size=n, max_size=n)
        fields["matrix"] = draw(st.lists(rows, min_size=n, max_size=n))
    if metric != "matrix" or draw(st.booleans()):
        fields["coordinates"] = draw(coordinates(metric, n, plane))
    count, reach = st.integers(0, 10**6), st.floats(0, 1e100)
    fields["rule"] = draw(
        st.one_of(
            st.builds(Nearest, count | st.lists(count, min_size=n, max_size=n)),
            st.builds(Radius, reach | st.lists(reach, min_size=n, max_size=n)),
            st.builds(Sets, st.tuples(*[st.lists(places, max_size=n)] * n)),
        )
    )
    if draw(st.booleans()):
        fields["labels"] = draw(st.lists(TEXT, min_size=n, max_size=n))
    kinds = ["free", "required", "forbidden"] if with_forbidden else ["free", "required"]
    kind = draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n))
    fields["required"] = [place for place in range(n) if kind[place] == "required"]
    fields["forbidden"] = [place for place in range(n) if kind[place] == "forbidden"]
    allowed = [place for place in range(n) if kind[place] != "forbidden"]
    if allowed:
        fields["depot"] = draw(st.none() | st.sampled_from(allowed))
    return Instance(**fields)


@st.composite
def rich_instances(
    draw: st.DrawFn, metric_names: tuple[str, ...], text: st.SearchStrategy[str] = TEXT
) -> Instance:
    """Instances with weights, demands, visit costs, an end and other columns too."""
    plain = draw(instances(metric_names))
    n = plain.n

    def each(values: st.SearchStrategy) -> st.SearchStrategy:
        return st.none() | st.lists(values, min_size=n, max_size=n)

    changes = {
        "labels": draw(each(text)),
        "weight": draw(each(st.floats(0, 1e9))),
        "demand": draw(each(st.integers(0, 5))),
        "visit_cost": draw(each(st.floats(0, 1e9))),
        "extra": draw(st.dictionaries(text, st.lists(text, min_size=n, max_size=n), max_size=3)),
    }
    free = sorted(set(range(n)) - set(plain.forbidden) - {plain.depot})
    if free and draw(st.booleans()):
        changes["end"] = draw(st.sampled_from(free))
    return plain.with_changes(**changes)


def assert_rich_same(found: Instance, expected: Instance, *, but: tuple[str, ...] = ()) -> None:
    assert_same(found, expected, but=but)
    assert found.end == expected.end
    for field in ("weight", "demand", "visit_cost"):
        assert bits(getattr(found, field)) == bits(getattr(expected, field)), field
    columns = place_columns(expected)
    kept = {title: columns[title] for title in list(columns)[-len(expected.extra or "") :]}
    kept = kept if expected.extra else {}
    kept = {title: texts for title, texts in kept.items() if any(texts)}
    assert (found.extra or {}) == kept


def bits(values: object) -> bytes | None:
    return None if values is None else np.asarray(values, dtype=np.float64).tobytes()


def rule_of(instance: Instance) -> tuple[str, object]:
    """The rule with one number per place: a column of equal numbers reads as one for all."""
    match instance.rule:
        case Nearest(k):
            return "nearest", np.broadcast_to(k, instance.n).tolist()
        case Radius(r):
            return "radius", bits(np.broadcast_to(r, instance.n))
        case Sets(sets):
            return "sets", [members.tolist() for members in sets]


def assert_same(found: Instance, expected: Instance, *, but: tuple[str, ...] = ()) -> None:
    for field in ("metric", "name", "depot", "required", "forbidden", "labels"):
        if field not in but:
            assert getattr(found, field) == getattr(expected, field), field
    if "coordinates" not in but:
        assert bits(found.coordinates) == bits(expected.coordinates)
    assert bits(found.matrix) == bits(expected.matrix)
    assert rule_of(found) == rule_of(expected)


@COMMON
@given(instance=instances())
def test_json_keeps_an_instance(folder: Path, instance: Instance) -> None:
    write(folder / "a.json", instance)
    found = read(folder / "a.json")
    assert_same(found, instance)
    assert type(found.rule) is type(instance.rule)


@COMMON
@given(instance=instances(("euc_2d", "ceil_2d", "att", "geo", "matrix")))
def test_tsplib_keeps_an_instance(folder: Path, instance: Instance) -> None:
    write(folder / "a.tsp", instance)
    assert_same(read(folder / "a.tsp"), instance)


@COMMON
@given(instance=rich_instances(("haversine",)))
def test_geojson_keeps_an_instance(folder: Path, instance: Instance) -> None:
    write(folder / "a.geojson", instance)
    assert_rich_same(read(folder / "a.geojson", on_note=str), instance)


@COMMON
@given(instance=rich_instances(("haversine", "euclidean")))
def test_json_keeps_all_fields(folder: Path, instance: Instance) -> None:
    write(folder / "a.json", instance)
    found = read(folder / "a.json")
    assert_same(found, instance)
    assert found.extra == instance.extra
    assert (found.end, found.open) == (instance.end, instance.open)


@COMMON
@given(instance=rich_instances(tuple(metric for metric in METRICS if metric != "matrix")))
def test_csv_keeps_an_instance(folder: Path, instance: Instance) -> None:
    write(folder / "a.csv", instance)
    assert_rich_same(read(folder / "a.csv", on_note=str), instance, but=("name",))


LETTERS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufffe\uffff"),
    max_size=12,
).map(lambda text: " ".join(text.split()))
"""Texts that any file keeps: on one line, without space around them."""


@settings(COMMON, max_examples=20)
@given(instance=rich_instances(("haversine", "euclidean", "att", "geo"), LETTERS))
def test_a_workbook_keeps_an_instance(folder: Path, instance: Instance) -> None:
    write(folder / "a.xlsx", instance)
    assert_rich_same(read(folder / "a.xlsx", on_note=str), instance, but=("name",))


@COMMON
@given(instance=rich_instances(("haversine",), LETTERS))
def test_kml_keeps_an_instance(folder: Path, instance: Instance) -> None:
    labels = None if instance.labels is None or not any(instance.labels) else instance.labels
    instance = instance.with_changes(labels=labels)
    write(folder / "a.kml", instance)
    assert_rich_same(read(folder / "a.kml", on_note=str), instance, but=("name",))


@COMMON
@given(instance=rich_instances(("haversine",), LETTERS))
def test_a_geopackage_keeps_an_instance(folder: Path, instance: Instance) -> None:
    titles = {title.lower() for title in place_columns(instance)}
    assume(len(titles) == len(place_columns(instance)) and titles.isdisjoint(["fid", "geom"]))
    write(folder / "a.gpkg", instance)
    assert_rich_same(read(folder / "a.gpkg", on_note=str), instance, but=("name",))


@COMMON
@given(instance=instances(("matrix",)), ending=st.sampled_from([".csv", ".npy"]))
def test_a_matrix_file_keeps_distances(folder: Path, instance: Instance, ending: str) -> None:
    rule = Radius(1.5) if isinstance(instance.rule, Sets) else instance.rule
    bare = instance.with_changes(rule=rule, depot=None, required=(), forbidden=())
    file = folder / f"a{ending}"
    write(file, bare)
    again = {"nearest": rule.k} if isinstance(rule, Nearest) else {"radius": rule.r}
    lost = ("name", "coordinates", *(("labels",) if ending == ".npy" else ()))
    assert_same(read(file, **again), bare, but=lost)


@st.composite
def outcomes(draw: st.DrawFn, metric_names: tuple[str, ...]) -> tuple[Instance, Tour | Result]:
    """An instance and a tour that need not cover it nor have the length that it claims."""
    instance = draw(instances(metric_names, NEAR, with_forbidden=False))
    order = draw(st.permutations(range(instance.n)))
    stops = np.array(order[: draw(st.integers(1, instance.n))])
    tour = Tour(stops, draw(st.floats(0, 1e100)))
    if draw(st.booleans()):
        return instance, tour
    return instance, Result(instance, "planted", tour, seconds=0.5)


def assert_tour_kept(file: Path, instance: Instance, outcome: Tour | Result) -> None:
    write(file, instance, outcome)
    found = read_tour(file, instance)
    tour = outcome.tour if isinstance(outcome, Result) else outcome
    assert found.places.tolist() == tour.places.tolist()
    assert found.length == tour.length


@COMMON
@given(case=outcomes(METRICS), ending=st.sampled_from([".json", ".csv", ".xlsx", ".tour"]))
def test_files_keep_a_tour(folder: Path, case: tuple, ending: str) -> None:
    assert_tour_kept(folder / f"b{ending}", *case)


@COMMON
@given(case=outcomes(("haversine", "geo")), ending=st.sampled_from([".geojson", ".gpx"]))
def test_map_files_keep_a_tour(folder: Path, case: tuple, ending: str) -> None:
    assert_tour_kept(folder / f"b{ending}", *case)


SQUARE = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1, metric="haversine")


def assert_only_input_errors(file: Path, content: bytes, *, tour: bool) -> None:
    file.write_bytes(content)
    try:
        if tour:
            read_tour(file, SQUARE)
        else:
            read(file, radius=1, on_note=str)
            read(file, on_note=str)
    except InputError as error:
        message = str(error)
    else:
        return
    assert str(file) in message
    assert "\n" not in message


@COMMON
@given(content=st.binary(max_size=60) | TEXT.map(str.encode), data=st.data())
def test_any_bytes_are_read_or_refused(folder: Path, content: bytes, data: st.DataObject) -> None:
    tour = data.draw(st.booleans())
    ending = data.draw(st.sampled_from(TOUR_ENDINGS if tour else INSTANCE_ENDINGS))
    assert_only_input_errors(folder / f"c{ending}", content, tour=tour)


SCRAPS = (
    *(b"", b"0", b"-1", b"1e999", b"nan", b"null", b"[]", b"{}", b'"', b",", b"\n", b":", b"\xff"),
    *(b"99999999999999999999", b"x", b"y", b" ", b"[[[[", b"true", b"1.5", b"\x00", b"EOF", b"<"),
)


def damaged(content: bytes, cuts: list[tuple[float, float, bytes]]) -> bytes:
    for at, share, scrap in cuts:
        start = int(at * len(content))
        content = content[:start] + scrap + content[start + int(share * 12) :]
    return content


DAMAGE = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from(SCRAPS)), min_size=1, max_size=3
)


@settings(max_examples=150, deadline=None)
@given(instance=instances(), cuts=DAMAGE, ending=st.sampled_from(INSTANCE_ENDINGS))
def test_damaged_instances_are_read_or_refused(
    folder: Path, instance: Instance, cuts: list, ending: str
) -> None:
    file = folder / f"d{ending}"
    try:
        write(file, instance)
    except InputError:
        return
    assert_only_input_errors(file, damaged(file.read_bytes(), cuts), tour=False)


@settings(max_examples=100, deadline=None)
@given(case=outcomes(("haversine",)), cuts=DAMAGE, ending=st.sampled_from(TOUR_ENDINGS))
def test_damaged_tours_are_read_or_refused(
    folder: Path, case: tuple, cuts: list, ending: str
) -> None:
    file = folder / f"e{ending}"
    write(file, *case)
    assert_only_input_errors(file, damaged(file.read_bytes(), cuts), tour=True)
