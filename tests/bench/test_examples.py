"""The examples in the docstrings of the benchmarks are true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    ["growth", "rules", "tables", "reproduce.claims", "reproduce.comparison", "reproduce.protocol"],
)
def test_examples(module: str) -> None:
    failed, tried = doctest.testmod(import_module(f"covertour.bench.{module}"))
    assert (failed, tried > 0) == (0, True)
