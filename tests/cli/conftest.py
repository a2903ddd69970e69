"""Running the command line in this process, and small files to run it on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from covertour import cli, random_instance, write
from covertour.neural.config import MODELS
from covertour.neural.inference.tours import load_kernels
from covertour.neural.inference.weights import load_network
from covertour.solving.loading import load

VILLAGES = """name,x,y
Alba,0,0
Bree,1,0
Cori,4,0
Dorn,4,3
Esk,0,3
"""

TOWNS = """name,lat,lon
Dakar,14.69,-17.44
Pikine,14.76,-17.39
Thiès,14.79,-16.93
Mbour,14.42,-16.96
"""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def assert_refused(self, *words: str) -> None:
        """Bad input: exit code 2, nothing on standard output, one line that has the words."""
        assert (self.code, self.out) == (2, ""), self
        self._assert_one_line(words)

    def assert_failed(self, *words: str) -> None:
        assert self.code == 1, self
        self._assert_one_line(words)

    def _assert_one_line(self, words: tuple[str, ...]) -> None:
        assert re.fullmatch(r"covertour: [^\n]+\n", self.err), self.err
        for word in words:
            assert word in self.err


Command = Callable[..., Ran]


@pytest.fixture(scope="session", autouse=True)
def _compiled(weights: Callable[[str], Path]) -> None:
    """All is compiled before the first test, so that none sees the notice about it."""
    load("exact", random_instance(12, nearest=1))  # and the search with it
    load("lns", random_instance(40, nearest=2))  # of many stops
    for model in MODELS:
        load_kernels(load_network(weights(model)))


@pytest.fixture
def covertour(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs ``covertour`` with the arguments, in an empty directory of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COVERTOUR_DEBUG", raising=False)

    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def villages(tmp_path: Path) -> str:
    """A CSV of five named places, in the directory where ``covertour`` runs."""
    (tmp_path / "villages.csv").write_text(VILLAGES)
    return "villages.csv"


@pytest.fixture
def county(tmp_path: Path) -> str:
    """An instance of 40 places, too many to be answered at once."""
    write(tmp_path / "county.json", random_instance(40, nearest=2).with_changes(name="county"))
    return "county.json"


@pytest.fixture
def towns(tmp_path: Path) -> str:
    """A CSV of four places with latitudes, in the directory where ``covertour`` runs."""
    (tmp_path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    return "towns.csv"
