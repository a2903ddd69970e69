"""The pages hang together; that they can be built, with all cells run, ``make docs`` shows."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

import covertour

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = sorted(
    page
    for page in DOCS.rglob("*")
    if page.suffix in (".md", ".rst") and "_build" not in page.parts
)
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.md"))
READ_ON_THEIR_OWN = [
    *PROJECT.glob("*.md"),
    PROJECT / "experiments" / "README.md",
    *(PROJECT / "experiments" / "results").glob("*.md"),
    *(PROJECT / "examples").rglob("*.md"),
]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def cells(notebook: Path) -> list[str]:
    text = notebook.read_text(encoding="utf-8")
    return re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *READ_ON_THEIR_OWN], ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z+]+:", target):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_in_the_table_of_contents_once() -> None:
    found: list[Path] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            found += [(page.parent / name.split("<")[-1].rstrip(">")).resolve() for name in names]
    pages = {page.with_suffix("").resolve() for page in PAGES} - {(DOCS / "index").resolve()}
    assert sorted(found) == sorted(pages)


def test_every_table_of_the_experiments_has_a_page() -> None:
    made = {page.stem for page in (PROJECT / "experiments" / "results").glob("*.md")}
    shown = {page.stem for page in (DOCS / "results" / "paper").glob("*.md")}
    assert shown - {"index"} == made - {"summary"}


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference" / "api.rst").read_text(encoding="utf-8")
    for name in set(covertour.__all__) - {"__version__", "plot"}:
        assert re.search(rf"^\.\. (auto|py:)\w+:: {name}$", text, re.MULTILINE), name
    assert ".. automodule:: covertour.plot" in text


def test_what_pages_include_is_there() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in re.findall(r"^```\{include\} (.*?)^```", text, re.DOTALL | re.MULTILINE):
            name, *options = block.splitlines()
            included = (page.parent / name).read_text(encoding="utf-8")
            marks = re.findall(r'(?:start-after|end-before): "(.*)"', "\n".join(options))
            for mark in marks:
                assert included.count(mark) == 1, f"{page.name}: {mark!r} in {name}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda page: page.stem)
def test_cells_are_python_and_fit_the_page(notebook: Path) -> None:
    found = cells(notebook)
    assert found
    for cell in found:
        ast.parse(cell)
        assert max(map(len, cell.splitlines())) <= 84


def test_the_drawings_are_those_of_their_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = runpy.run_path(str(DOCS / "images" / "moves.py"))
    monkeypatch.setitem(script["draw"].__globals__, "HERE", tmp_path)
    for name in ("remove_and_cover", "exchange", "two_opt", "or_opt", "swap_paths"):
        script[name]()
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert drawn == {
        file.name: file.read_text(encoding="utf-8") for file in (DOCS / "images").glob("move-*.svg")
    }


def test_the_version_is_the_same_everywhere() -> None:
    version = covertour.__version__
    assert f"\nversion: {version}\n" in (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE)
