"""The examples in the docstrings of the domain are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

DOMAIN = ("coverage", "generate", "instance", "metric", "referee", "result", "stop", "tour")


@pytest.mark.parametrize("module", ["covertour", *(f"covertour.{name}" for name in DOMAIN)])
def test_examples(module: str) -> None:
    failed, _ = doctest.testmod(import_module(module))
    assert failed == 0
