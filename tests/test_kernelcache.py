"""Machine code is kept as long as sources say the same, and done without where nothing is writable.

The tests run processes on a copy of the package to which a folder with two small kernels is added.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import covertour
from covertour import kernelcache

SUMS = """
from covertour.kernel import entry, inner
from covertour.small.constants import ADDED

@inner
def _more(x):
    return x + ADDED

@entry
def more(x):
    return _more(x)

@entry
def twice_more(x):
    return _more(_more(x))
"""

RUN = """
from covertour.kernelcache import on_compile
from covertour.small.sums import more, twice_more

with on_compile(lambda: print("compiling")):
    print(more(1), twice_more(1))
"""

UNWRITABLE = "/dev/null/nothing"
"""A directory in a file: not even root can make it."""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package without machine code, with small kernels."""
    copy = tmp_path / "installed" / "covertour"
    shutil.copytree(
        Path(covertour.__file__).parent,
        copy,
        ignore=shutil.ignore_patterns("__pycache__", "weights", "leaflet"),
    )
    small = copy / "small"
    small.mkdir()
    (small / "__init__.py").touch()
    (small / "sums.py").write_text(SUMS)
    (small / "constants.py").write_text("ADDED = 10\n")
    return copy


def run(
    package: Path, prepare: Callable[[], None] | None = None, **environment: str
) -> tuple[str, str]:
    """What a process that calls both kernels writes to standard output and error."""
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    ran = subprocess.run(
        [sys.executable, "-B", "-c", RUN],
        env={**kept, "PYTHONPATH": str(package.parent), "HOME": UNWRITABLE, **environment},
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=prepare,
    )
    return ran.stdout, ran.stderr


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


COMPILED, LOADED = ("compiling\n11 21\n", ""), ("11 21\n", "")


def test_dates_and_places_of_sources_do_not_matter(package: Path, tmp_path: Path) -> None:
    assert run(package) == COMPILED
    assert run(package) == LOADED
    for source in package.rglob("*.py"):
        os.utime(source, (2_000_000_000, 2_000_000_000))
    assert run(package) == LOADED
    elsewhere = tmp_path / "other" / "covertour"
    shutil.copytree(package, elsewhere)
    assert run(elsewhere) == LOADED


def test_a_change_of_what_a_kernel_uses_is_never_overlooked(package: Path) -> None:
    constants = package / "small" / "constants.py"
    before = constants.stat()
    assert run(package) == COMPILED
    constants.write_text("ADDED = 20\n")
    os.utime(constants, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(package) == ("compiling\n21 41\n", "")
    constants.write_text("ADDED = 10\n")
    assert run(package) == LOADED
    with (package / "problem" / "metric.py").open("a") as metric:
        metric.write("# one more comment\n")
    assert run(package) == COMPILED


def test_nor_is_one_of_a_kernel_in_another_folder(package: Path) -> None:
    sums = package / "small" / "sums.py"
    far, farther = package / "far", package / "far" / "farther"
    farther.mkdir(parents=True)
    for folder in (far, farther):
        (folder / "__init__.py").touch()
    sums.write_text(SUMS.replace("small.constants import ADDED", "far.others import ADDED"))
    (far / "others.py").write_text(
        "from covertour.kernel import inner\nfrom covertour.far.farther.last import ADDED\n"
    )
    (farther / "last.py").write_text("from covertour.kernel import inner\nADDED = 10\n")
    assert run(package) == COMPILED
    assert run(package) == LOADED
    (farther / "last.py").write_text("from covertour.kernel import inner\nADDED = 20\n")
    assert run(package) == ("compiling\n21 41\n", "")


def test_a_package_that_cannot_be_written_to_uses_the_users_cache(
    package: Path, tmp_path: Path
) -> None:
    (package / "__pycache__").touch()  # a file where the directory would be
    user = {"XDG_CACHE_HOME": str(tmp_path / "user")}
    assert run(package, **user) == COMPILED
    assert run(package, **user) == LOADED
    assert [file.suffix for file in files(tmp_path / "user")] == [".nbc", ".nbc"]


def test_where_nothing_can_be_written_one_line_says_so(package: Path) -> None:
    (package / "__pycache__").touch()
    for _ in range(2):
        out, err = run(package)
        assert out == COMPILED[0]
        assert err.count("\n") == 1
        assert err.startswith(f"covertour: {UNWRITABLE}/")
        assert "COVERTOUR_CACHE_DIR" in err


@pytest.mark.parametrize("variable", ["COVERTOUR_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_a_cache_directory_can_be_named(package: Path, tmp_path: Path, variable: str) -> None:
    named = {variable: str(tmp_path / "named")}
    assert run(package, **named) == COMPILED
    assert run(package, **named) == LOADED
    assert len(files(tmp_path / "named")) == 2
    assert not (package / "__pycache__").exists()


def test_a_full_disk_leaves_nothing_half_written(package: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    out, err = run(package, fill, XDG_CACHE_HOME=str(tmp_path / "user"))
    assert out == COMPILED[0]
    assert err.count("\n") == 1
    assert "cannot be written" in err
    assert files(package / "__pycache__") + files(tmp_path / "user") == []
    assert run(package) == COMPILED
    assert run(package) == LOADED


def test_damaged_files_are_compiled_again(package: Path) -> None:
    assert run(package) == COMPILED
    whole, cut = files(package / "__pycache__")
    whole.write_bytes(b"not machine code")
    cut.write_bytes(cut.read_bytes()[:500])
    assert run(package) == COMPILED
    assert run(package) == LOADED


def test_without_a_home_directory_none_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COVERTOUR_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "~")
    assert [path.is_absolute() for path in kernelcache.cache_directories()] == [True]


def test_only_the_oldest_machine_code_is_dropped(package: Path) -> None:
    kernels = package / "__pycache__" / "kernels"
    for age in range(8):
        (kernels / f"small-{age}").mkdir(parents=True)
        os.utime(kernels / f"small-{age}", (1000 - age, 1000 - age))
    (kernels / "search-old").mkdir()
    assert run(package) == COMPILED
    names = {path.name for path in kernels.iterdir()}
    assert names >= {"search-old", *(f"small-{age}" for age in range(4))}
    assert len(names) == 6
