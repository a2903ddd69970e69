"""covertour solve, methods, demo and warmup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from covertour import METHODS, random_instance, read, read_tour, verify, write

QUICK = ("--iterations", "50")


def solved(ran: Any) -> dict[str, Any]:
    """The result that ``--json`` printed."""
    assert (ran.code, ran.err) == (0, ""), ran
    return json.loads(ran.out)


def facts(ran: Any) -> dict[str, str]:
    """The rows of the summary."""
    assert ran.code == 0
    return dict(line.split(maxsplit=1) for line in ran.out.split("\n\n")[0].splitlines()[1:])


def test_the_summary_names_stops_length_method_and_seed(covertour: Any, county: str) -> None:
    rows = facts(covertour("solve", county, "--nearest", "0", "--seed", "3", *QUICK))
    assert rows["stops"] == "40 of 40 places"
    assert (rows["method"], rows["seed"], rows["iterations"]) == ("lns", "3", "50")
    assert rows["stopped"] == "at the limit"


def test_few_places_are_answered_at_once(covertour: Any, villages: str) -> None:
    rows = facts(covertour("solve", villages, "--nearest", "0", "--seconds", "600"))
    assert (rows["length"], rows["bound"]) == ("14.0000", "14.0000")
    assert (rows["gap"], rows["stopped"]) == ("0 %, proven optimal", "as no tour is shorter")


def test_a_gap_needs_a_proof(covertour: Any, county: str) -> None:
    ran = covertour("solve", county, "--gap", "0.1", *QUICK)
    ran.assert_refused("--gap: goes with --prove")
    assert solved(covertour("solve", county, "--gap", "0.5", "--prove", "--json"))["gap"] <= 0.5


def test_the_itinerary_lists_stops_legs_and_covered_places(covertour: Any, villages: str) -> None:
    ran = covertour("solve", villages, "--radius", "1", "--depot", "Alba", *QUICK)
    lines = ran.out.split("\n\n")[1].splitlines()
    assert lines[0].split() == ["stop", "place", "leg", "total", "also", "covers"]
    assert lines[1].split() == ["1", "Alba", "1:", "Bree"]
    assert lines[-1].split() == ["back", "to", "Alba", "3.0000", "14.0000"]


def test_without_output_a_map_is_suggested(covertour: Any, villages: str) -> None:
    assert "--output map.html" in covertour("solve", villages, "--nearest", "1", *QUICK).out


def test_json_is_alone_on_standard_output(covertour: Any, villages: str) -> None:
    result = solved(covertour("solve", villages, "--nearest", "0", "--json", *QUICK))
    assert sorted(result["tour"]) == [0, 1, 2, 3, 4]
    assert result["length"] == pytest.approx(14)
    assert result["bound"] is None or result["bound"] <= 14


def test_quiet_prints_nothing(covertour: Any, villages: str) -> None:
    ran = covertour("solve", villages, "--nearest", "1", "--quiet", *QUICK)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_where_a_long_tour_is_listed(covertour: Any, tmp_path: Path) -> None:
    write(tmp_path / "many.json", random_instance(60, nearest=0))
    ran = covertour("solve", "many.json", *QUICK)
    assert "60 of 60 places" in ran.out
    assert "also covers" not in ran.out
    assert "To list its 60 stops, add for example: --output map.html" in ran.out
    ran = covertour("solve", "many.json", *QUICK, "-o", "a.svg", "-o", "a.csv")
    assert "Its 60 stops are listed in a.csv" in ran.out


@pytest.mark.parametrize("ending", ["html", "png", "svg", "csv", "geojson", "gpx", "json", "tour"])
def test_every_output_is_written(covertour: Any, towns: str, tmp_path: Path, ending: str) -> None:
    ran = covertour("solve", towns, "--nearest", "1", "--output", f"out.{ending}", *QUICK)
    assert ran.code == 0
    assert f"wrote out.{ending}" in ran.out
    assert (tmp_path / f"out.{ending}").stat().st_size > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"out.{ending}", towns]


@pytest.mark.parametrize("ending", ["json", "tour", "csv", "geojson", "gpx"])
def test_what_solve_writes_check_accepts(covertour: Any, towns: str, ending: str) -> None:
    rule = ("--radius", "20")
    covertour("solve", towns, *rule, "--output", f"out.{ending}", *QUICK)
    ran = covertour("check", towns, f"out.{ending}", *rule)
    assert (ran.code, ran.err) == (0, ""), ran
    assert ran.out.startswith(f"out.{ending}: right")


def test_several_outputs_at_once(covertour: Any, villages: str, tmp_path: Path) -> None:
    covertour("solve", villages, "-k", "1", "-o", "a.json", "-o", "a.csv", *QUICK)
    assert (tmp_path / "a.json").exists()
    assert (tmp_path / "a.csv").exists()


def test_a_failing_output_does_not_drop_the_others(
    covertour: Any, villages: str, tmp_path: Path
) -> None:
    (tmp_path / "full.json").symlink_to("/dev/full")
    outputs = ("-o", "full.json", "-o", "a.csv")
    ran = covertour("solve", villages, "-k", "1", *outputs, *QUICK)
    assert ran.code == 2
    assert ran.err == "covertour: full.json: cannot be written: No space left on device\n"
    assert "wrote a.csv" in ran.out
    assert "wrote full.json" not in ran.out
    assert "also covers" in ran.out
    assert (tmp_path / "a.csv").exists()
    ran = covertour("solve", villages, "-k", "1", *outputs, *QUICK, "--json")
    assert (json.loads(ran.out)["instance"], json.loads(ran.err)["code"]) == ("villages", 2)


def test_json_has_names_legs_and_who_serves_whom(covertour: Any, villages: str) -> None:
    rules = ("--radius", "1", "--depot", "Alba")
    found = solved(covertour("solve", villages, *rules, *QUICK, "--json"))
    first = found["stops"][0]
    assert (first["name"], first["leg"], first["serves"]) == (
        "Alba",
        0,
        [{"place": 1, "name": "Bree", "distance": 1}],
    )
    assert sum(stop["leg"] for stop in found["stops"][1:]) + 3 == found["length"]
    assert found["stopped"] in ("limit", "proven")


def test_places_go_by_name_or_number(covertour: Any, villages: str) -> None:
    rules = ("--depot", "Dorn", "--required", "Alba,2", "--forbidden", "Bree", "--forbidden", "4")
    result = solved(covertour("solve", villages, "--radius", "9", *rules, "--json", *QUICK))
    assert result["tour"][0] == 3
    assert set(result["tour"]) == {0, 2, 3}


def test_a_name_wins_over_a_number(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "numbered.csv").write_text("name,x,y\n2,0,0\n1,5,0\n0,0,5\n")
    result = solved(
        covertour("solve", "numbered.csv", "--radius", "9", "--depot", "2", "--json", *QUICK)
    )
    assert result["tour"] == [0]


def test_a_name_with_commas(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('name,x,y\n"Paris, Texas",0,0\nRome,5,0\nOslo,0,5\n')
    options = ("--required", "Paris, Texas", "--required", "Rome")
    result = solved(covertour("solve", "a.csv", "--radius", "9", *options, "--json", *QUICK))
    assert set(result["tour"]) == {0, 1}


def test_the_same_seed_gives_the_same_tour(covertour: Any, tmp_path: Path) -> None:
    write(tmp_path / "many.json", random_instance(80, nearest=3))
    command = ("solve", "many.json", "--seed", "7", "--json", *QUICK)
    assert solved(covertour(*command))["tour"] == solved(covertour(*command))["tour"]


def test_start_from_a_tour(covertour: Any, tmp_path: Path) -> None:
    instance = random_instance(80, nearest=3)
    write(tmp_path / "many.json", instance)
    covertour("solve", "many.json", "--iterations", "200", "--output", "good.tour")
    good = read_tour(tmp_path / "good.tour", instance).length
    result = solved(
        covertour("solve", "many.json", "--start", "good.tour", "--iterations", "1", "--json")
    )
    assert result["length"] <= good + 1e-9


def test_target_stops_the_search(covertour: Any, villages: str) -> None:
    result = solved(covertour("solve", villages, "-k", "0", "--target", "100", "--json"))
    assert result["length"] <= 100


def test_no_improvement_and_workers(covertour: Any, villages: str) -> None:
    options = ("--no-improvement", "0.01", "--workers", "2", "--json")
    assert solved(covertour("solve", villages, "-k", "0", *options))["length"] == pytest.approx(14)


def test_methods_lists_every_method(covertour: Any) -> None:
    ran = covertour("methods")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == list(METHODS)


def test_every_method_solves(covertour: Any, villages: str, weights: Any) -> None:
    for method in METHODS:
        more = ("--method", method, "--seconds", "1", *QUICK, "--json", "--quiet")
        if METHODS[method].model is not None:
            more = (*more, "--weights", weights(METHODS[method].model))
        result = solved(covertour("solve", villages, "-k", "1", *more))
        assert result["method"] == method
        assert verify(read(villages, nearest=1), result["tour"]).ok


def test_demo_writes_its_files_and_prints_the_itinerary(covertour: Any, tmp_path: Path) -> None:
    ran = covertour("demo", "--seconds", "0.2")
    assert ran.code == 0
    files = {path.name for path in (tmp_path / "demo").iterdir()}
    assert files == {f"senegal.{e}" for e in ("html", "png", "csv", "geojson", "gpx")}
    assert "Dakar" in ran.out
    for name in files:
        assert f"demo/{name}" in ran.out


def test_warmup_says_that_all_is_compiled(covertour: Any) -> None:
    covertour("warmup")
    ran = covertour("warmup")
    assert (ran.code, ran.out, ran.err) == (0, "The search is compiled already.\n", "")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("solve", "FILE", "--workers", "100000000"), "workers: expected 1 to 256 threads"),
        (("solve", "FILE", "-m", "am-gain", "--samples", "1000000000"), "samples: expected"),
        (("generate", "100000000"), "n: expected 1 to 10,000,000 places"),
    ],
)
def test_what_no_machine_could_do_is_refused(
    covertour: Any, county: str, command: tuple[str, ...], words: str
) -> None:
    covertour(*(county if word == "FILE" else word for word in command)).assert_refused(words)
