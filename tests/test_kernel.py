"""The convention for kernels: what each decorator allows, and what a kernel may depend on."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

import covertour
from covertour import kernelcache
from covertour.kernel import entry, inner

HOME = Path(covertour.__file__).parent


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERTOUR_CACHE_DIR", str(tmp_path))


def test_python_calls_entries_and_entries_call_inner_kernels() -> None:
    @inner
    def third(x):
        return x / 3.0

    @inner(inlined=True)
    def sixth(x):
        return third(x) / 2.0

    @entry
    def outer(x):
        return sixth(x) / x  # divides by zero as numpy does

    assert outer(6.0) == 1.0 / 6.0
    assert np.isnan(outer(0.0))


def test_only_who_says_so_makes_arrays() -> None:
    def zeros(n):
        return np.zeros(n)

    assert entry(allocates=True)(zeros)(2).tolist() == [0.0, 0.0]
    with pytest.raises(NumbaError):
        entry(zeros)(2)


def modules_with_kernels() -> list[Path]:
    return [
        file
        for file in HOME.rglob("*.py")
        if re.search(r"covertour.kernel import .*(entry|inner)", file.read_text())
    ]


def test_kernels_use_only_what_the_cache_looks_at() -> None:
    # By these sources it tells whether machine code is up to date: those of the folder, those of
    # other folders with kernels that it imports, and the constants of the metrics.
    folders = {str(file.parent.relative_to(HOME)) for file in modules_with_kernels()}
    assert folders == {"search", "exact", "neural/inference", "neural/training"}
    for file in modules_with_kernels():
        looked_at = {source.parent for source in kernelcache._sources(file.parent)}
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("covertour"):
                continue
            module = HOME.parent.joinpath(*str(node.module).split("."))
            if module in looked_at or module.parent in looked_at:
                continue
            if node.module in ("covertour.kernel", "covertour.problem.metric"):
                continue
            for alias in node.names:
                value = getattr(import_module(str(node.module)), alias.name)
                constant = isinstance(value, int | float | str | tuple | dict | np.ndarray)
                assert not constant, f"{file.name}: {alias.name} of {node.module}"
