"""The benchmark of learned methods, on a model with random weights."""

from collections.abc import Callable
from pathlib import Path

import pytest

from covertour import InputError, bench


def test_more_decoding_finds_shorter_tours_and_proofs_judge_them(
    weights: Callable[[str], Path],
) -> None:
    own = str(weights("am-gain"))
    report = bench.learned("am-gain", [12], "nearest 3", count=4, weights=own, workers=1)
    rows = {row.way: row for row in report.rows}
    greedy, raw, turned, drawn, searched = rows.values()
    assert [row.proven for row in rows.values()] == [4] * 5
    assert raw.gap_percent >= greedy.gap_percent
    assert greedy.gap_percent >= turned.gap_percent >= drawn.gap_percent >= 0
    assert searched.gap_percent == pytest.approx(0.0, abs=1e-6)
    assert greedy.per_second is not None
    document = bench.learned_document(report)
    assert document.tables[0].shown()[0][:2] == ["12", "greedy"]


@pytest.mark.parametrize("method", ["lns", "am-gain+ls", "am-gian"])
def test_only_learned_methods_are_measured(method: str) -> None:
    with pytest.raises(InputError, match="no learned method"):
        bench.learned(method)
