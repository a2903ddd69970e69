"""The files in tests/data/planner: what the command line makes of each is in cases.toml there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "data" / "planner"
EXPECTED = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))
CASES = EXPECTED["case"]


def called(case: dict[str, Any]) -> str:
    return " ".join([case["file"], *case.get("options", ())])


@pytest.mark.parametrize("case", CASES, ids=called)
def test_a_planners_file(
    covertour: Any, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    monkeypatch.chdir(FOLDER)
    options = case.get("options", [])
    rest = ["--iterations", "300", *options]
    rest += [] if "--radius" in options else ["--radius", "25km"]
    ran = covertour("solve", case["file"], *rest)
    told = ran.err.splitlines()
    if "complaint" in case:
        assert (ran.code, ran.out) == (2, "")
        assert told == [*case.get("notes", ()), f"covertour: {case['complaint']}"]
        return
    assert told == case.get("notes", [])
    assert ran.code == 0
    found = json.loads(covertour("solve", case["file"], *rest, "--json").out)
    assert [stop["name"] for stop in found["stops"]] == case.get("stops", EXPECTED["usual"])
    assert found["length"] == pytest.approx(case.get("length", EXPECTED["usual_length"]), abs=1e-3)


def test_every_file_has_its_case() -> None:
    files = {file.name for file in FOLDER.iterdir()} - {"README.md", "cases.toml", ".gitattributes"}
    assert {case["file"] for case in CASES} == files
    assert len(files) >= 40


@pytest.mark.parametrize("ending", ["csv", "xlsx", "kml", "gpkg", "geojson", "json"])
def test_other_columns_reach_every_output(
    covertour: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """From a shapefile to each format and on to JSON, the column region stays."""
    made, again = tmp_path / f"a.{ending}", tmp_path / "again.json"
    shapes = FOLDER / "villages_shapefile.zip"
    assert covertour("convert", shapes, made, "--radius", "25").code == 0
    assert covertour("convert", made, again).code == 0
    regions = ["DK", "DK", "TH", "TH", "TH", "FK", "KL", "DL"]
    assert json.loads(again.read_text(encoding="utf-8"))["extra"]["region"] == regions
