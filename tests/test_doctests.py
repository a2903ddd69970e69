"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import covertour
import experiments

HOMES = [Path(package.__file__).parent for package in (covertour, experiments)]
WITH_EXAMPLES = [
    ".".join(file.relative_to(home.parent).with_suffix("").parts).removesuffix(".__init__")
    for home in HOMES
    for file in sorted(home.rglob("*.py"))
    if ">>>" in file.read_text()
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module: str) -> None:
    failed, tried = doctest.testmod(import_module(module))
    assert failed == 0
    assert tried > 0
