"""same-cost: everyone stops at the lengths of the leader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from covertour.bench import Document
from experiments import same_cost
from experiments.same_cost import figures_of, leader_of, run_same_cost
from experiments.shared.protocol import Cell
from experiments.shared.study import Study

MakeStudy = Callable[..., Study]
CELL = Cell("nearest 7", 50)


@pytest.fixture(autouse=True)
def _one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(same_cost, "CELLS", (CELL,))


def test_each_method_stops_at_the_leaders_length(study: MakeStudy) -> None:
    made = study("am-dynamic-50", methods=("ls2-paper", "lns"))
    document = run_same_cost(made)
    assert isinstance(document, Document)
    leader, *chasers = figures_of(made, CELL, "am-dynamic+ls")
    assert [row.method for row in chasers] == ["ls2-paper", "lns"]
    assert leader.ratio == 1
    assert leader.reached == leader.instances == 2
    for row in chasers:
        assert row.reached == 2
        assert row.length <= leader.length * (1 + 1e-8)
        assert row.ratio == pytest.approx(row.seconds / leader.seconds)
    assert chasers[0].paper_seconds == 11.14
    assert chasers[0].paper_ratio == pytest.approx(11.14 / 0.78)
    assert any("The leader is am-dynamic+ls" in sentence for sentence in document.sentences)
    assert any(sentence.startswith("Claim:") for sentence in document.sentences)


def test_a_cell_that_nobody_measured_is_not_in_the_table(
    study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = study("am-dynamic-50", methods=("lns",))
    run_same_cost(made)
    rows = len(made.rows)
    monkeypatch.setattr(same_cost, "CELLS", (CELL, Cell("nearest 7", 100)))
    looking = replace(made, settings=replace(made.settings, from_rows=True, methods=()))
    document = run_same_cost(looking)
    assert isinstance(document, Document)
    assert [row[1:3] for row in document.tables[0].rows] == [(50, "am-dynamic+ls"), (50, "lns")]
    assert len(made.rows) == rows


def test_our_model_leads_where_the_papers_has_no_weights(study: MakeStudy) -> None:
    assert leader_of(study("am-gain")) == "am-gain+ls"


def test_without_weights_it_is_left_out(study: MakeStudy) -> None:
    made = study()
    assert "left out" in str(run_same_cost(made))
    assert len(made.rows) == 0
