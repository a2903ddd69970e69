"""The convention for kernels: what each decorator allows, and what a kernel may depend on."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

import covertour
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


def test_kernels_use_only_their_folder_and_the_problem() -> None:
    # The cache tells by these sources whether machine code is up to date.
    modules = [
        file
        for folder in ("search", "exact", "neural/inference")
        for file in (HOME / folder).glob("*.py")
        if "import entry" in file.read_text() or "import inner" in file.read_text()
    ]
    assert {file.parent.name for file in modules} == {"search", "exact", "inference"}
    for file in modules:
        own = "covertour." + ".".join(file.relative_to(HOME).parent.parts)
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("covertour"):
                known = (own, "covertour.problem", "covertour.kernel", "covertour.solving")
                assert str(node.module).startswith(known), f"{file.name}: {node.module}"
