"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import covertour

HOME = Path(covertour.__file__).parent
WITH_EXAMPLES = [
    ".".join(["covertour", *file.relative_to(HOME).with_suffix("").parts]).removesuffix(".__init__")
    for file in sorted(HOME.rglob("*.py"))
    if ">>>" in file.read_text()
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert failed == 0
    assert tried > 0
