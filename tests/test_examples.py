"""The scripts in examples/ and the Python in README run and print a tour."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
EXAMPLES = PROJECT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def run(tmp_path: Path, *arguments: str) -> str:
    """What Python prints, without a word of complaint."""
    ran = subprocess.run(
        [sys.executable, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.stem for script in SCRIPTS])
def test_an_example_runs(script: Path, tmp_path: Path) -> None:
    assert "stops" in run(tmp_path, str(script))


def test_the_python_in_readme_and_docs_runs(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "villages.csv", tmp_path)
    first, many, own = (
        "\n".join(re.findall(r"```python\n(.*?)```", (PROJECT / page).read_text(), re.DOTALL))
        for page in ("README.md", "docs/learning.md", "CONTRIBUTING.md")
    )
    code = "\n".join([first, "instances = [instance] * 3", many, own, "print(results[0])"])
    printed = run(tmp_path, "-c", re.sub(r"seconds=\d+", "seconds=0.1", code))
    assert "method lns" in printed
    assert "method am-gain" in printed
    assert {"map.html", "tour.png"} <= {file.name for file in tmp_path.iterdir()}


def test_the_python_in_the_guide_for_researchers_runs(tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "guide" / "researcher.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    printed = run(tmp_path, "-c", re.sub(r"seconds=\d+", "seconds=0.1", code))
    assert "method lns" in printed
    assert "method exact" in printed


def test_examples_are_short() -> None:
    assert SCRIPTS
    for script in SCRIPTS:
        assert len(script.read_text().splitlines()) < 40
