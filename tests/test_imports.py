"""What may import what: the base stays light, and dependencies point one way."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import covertour
import experiments

HOME = Path(covertour.__file__).parent
HEAVY = ("osmium", "torch", "matplotlib", "scipy", "numba", "highspy", "safetensors")

SOLVERS = {"exact", "neural", "search"}
CONTRACT = {"solving.clock", "solving.result", "solving.stop", "solving.tradeoff"}
SHARED = {"executors", "kernel", "storage", "version"}
PUBLIC = {"covertour", "data", "formats", "plot", "problem", "roads", "solving", *CONTRACT}

MAY_IMPORT = {
    "version": set(),
    "kernel": {"kernelcache"},
    "kernelcache": {"problem", "storage"},
    "storage": {"problem"},
    "problem": {"problem"},
    "executors": {"problem", "version"},
    **{solver: {"problem", solver, *SHARED, *CONTRACT} for solver in SOLVERS},
    "solving": {
        "problem",
        "plot",
        "executors",
        "kernelcache",
        "version",
        "solving",
        *CONTRACT,
        *SOLVERS,
    },
    "roads": {"problem", "roads", "storage"},
    "covertour": {"problem", "roads", "search", "solving", "version", "formats", "plot", *CONTRACT},
    "__main__": {"cli"},
    "data": {"data"},
    "plot": {"problem", "plot", *CONTRACT},
    "formats": {"problem", "storage", "version", "formats", "plot", *CONTRACT},
    "bench": PUBLIC | {"bench", "executors", "storage", "version"},
    "web": PUBLIC | {"web", "version"},
    "cli": PUBLIC | {"web", "bench", "cli", "executors", "neural", "storage", "version"},
}
"""For each top-level part of the package the parts it may import; ``covertour`` is the package's
own ``__init__``."""


def part_of(file: Path) -> str:
    """The top-level part a source file belongs to."""
    inside = file.relative_to(HOME)
    if len(inside.parts) > 1:
        return inside.parts[0]
    return "covertour" if file.stem == "__init__" else file.stem


def parts() -> set[str]:
    return {part_of(file) for file in HOME.rglob("*.py")}


def names_imported(tree: ast.AST, package: list[str]) -> set[str]:
    """The dotted names that a file imports, whether at its top or inside a function."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                base = package[: len(package) - node.level + 1] if node.level else []
                whole = ".".join([*base, *([node.module] if node.module else [])])
                names |= {f"{whole}.{alias.name}" for alias in node.names}
            case ast.Constant(value=str(text)) if re.fullmatch(r"covertour(\.\w+)+", text):
                names.add(text)  # the argument of an import by name
    return names


def imports_of(file: Path) -> set[str]:
    inside = file.is_relative_to(HOME)
    package = ["covertour", *file.relative_to(HOME).parent.parts] if inside else []
    return names_imported(ast.parse(file.read_text()), package)


def parts_imported(file: Path, known: set[str]) -> set[str]:
    found = set()
    for name in imports_of(file):
        first, *rest = name.split(".")
        if first != "covertour":
            continue
        if ".".join(rest[:2]) in CONTRACT:
            found.add(".".join(rest[:2]))
        else:
            found.add(rest[0] if rest and rest[0] in known else "covertour")
    return found


def test_every_part_has_its_row_in_the_table() -> None:
    assert parts() - set(MAY_IMPORT) == set()


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_a_part_imports_only_what_it_may(part: str) -> None:
    known = parts() | set(MAY_IMPORT)
    wrong = {
        str(file.relative_to(HOME)): sorted(beyond)
        for file in HOME.rglob("*.py")
        if part_of(file) == part and (beyond := parts_imported(file, known) - MAY_IMPORT[part])
    }
    assert wrong == {}


def test_experiments_use_what_any_user_could() -> None:
    known = parts() | set(MAY_IMPORT)
    users = {"covertour", "bench", "plot", "solving.stop", "storage"}
    wrong = {
        file.name: sorted(beyond)
        for file in Path(experiments.__file__).parent.rglob("*.py")
        if (beyond := parts_imported(file, known) - users)
    }
    assert wrong == {}


def test_the_check_sees_every_way_to_import() -> None:
    source = """
import covertour.search.lns
def later():
    from covertour import exact
    from ..neural import model
    import_module("covertour.solving.methods")
"""
    assert names_imported(ast.parse(source), ["covertour", "plot"]) == {
        "covertour.search.lns",
        "covertour.exact",
        "covertour.neural.model",
        "covertour.solving.methods",
    }


def test_only_the_neural_part_knows_torch() -> None:
    users = {
        part_of(file)
        for file in HOME.rglob("*.py")
        if any(name.split(".")[0] == "torch" for name in imports_of(file))
    }
    assert users <= {"neural"}


def test_inference_knows_neither_torch_nor_what_needs_it() -> None:
    beyond = ("torch", "covertour.neural.models", "covertour.neural.training")
    files = list((HOME / "neural" / "inference").rglob("*.py"))
    assert files
    for file in files:
        assert [name for name in imports_of(file) if name.startswith(beyond)] == [], file.name


def test_importing_covertour_leaves_the_heavy_packages_alone() -> None:
    loaded = f"[name for name in {HEAVY!r} if name in sys.modules]"
    code = f"import sys, covertour; covertour.random_instance(5, nearest=1); print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_listed() -> None:
    for name in covertour.__all__:
        assert getattr(covertour, name) is not None
    assert set(covertour.__all__) <= set(dir(covertour))
    assert callable(covertour.plot.plot_tour)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'shortest'"):
        _ = covertour.shortest


@pytest.mark.parametrize("n", [100, 300])
def test_a_search_imports_nothing_while_its_clock_runs(n: int) -> None:
    code = f"""
import sys
from covertour import random_instance, solve
from covertour.solving.loading import load
from covertour.solving.stop import MaxIterations
instance = random_instance({n}, nearest=7)
load("lns", instance)
before = set(sys.modules)
solve(instance, stop=MaxIterations(10))
print(sorted(set(sys.modules) - before))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
