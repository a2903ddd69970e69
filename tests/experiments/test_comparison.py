"""Comparisons: what the tables hold, and that a rerun goes on where the last one stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import pytest

from covertour import InputError, __version__, solve
from covertour.bench import Document
from experiments import coverage
from experiments.contents import EXPERIMENTS
from experiments.shared.comparison import (
    Comparison,
    Reference,
    comparison_document,
    methods_in_cell,
    planned_comparison,
    run_comparison,
)
from experiments.shared.paper import paper_figure
from experiments.shared.protocol import Cell, Settings, limit_of
from experiments.shared.rows import BATCH, RowFile
from experiments.shared.study import Study

MakeStudy = Callable[..., Study]
CELL = Cell("nearest 7", 20)
TABLE = Comparison("Tiny", (CELL,), (CELL,), ("ls1-paper", "ls2-paper", "am", "exact"))


def column(document: Document, name: str) -> list[object]:
    table = document.tables[0]
    index = [column.name for column in table.columns].index(name)
    return [row[index] for row in table.rows]


def test_a_table_has_lengths_true_gaps_and_the_papers_figures(study: MakeStudy) -> None:
    made = study("am-20")
    document = run_comparison(TABLE, made)
    assert column(document, "method") == ["ls1-paper", "ls2-paper", "am", "exact"]
    assert column(document, "paper_length") == [1.87, 1.73, 2.23, None]
    assert column(document, "paper_seconds") == [4.24, 6.55, 0.014, None]
    assert column(document, "proven") == [2, 2, 2, 2]
    gaps = column(document, "gap_percent")
    assert gaps[3] == 0
    assert all(isinstance(gap, float) and gap >= 0 for gap in gaps)
    instances = [CELL.instance(seed) for seed in (0, 1)]
    stop = limit_of("ls1-paper", CELL.n, made.settings).stop()
    expected = fmean(
        solve(instance, "ls1-paper", stop=stop, seed=seed).length
        for seed, instance in enumerate(instances)
    )
    assert column(document, "length")[0] == pytest.approx(expected)
    times = column(document, "batch_seconds")
    assert [time is None for time in times] == [True, True, False, True]
    assert any("Weights: am-20 for n = 20" in sentence for sentence in document.sentences)


def test_the_gap_as_in_the_paper_is_to_the_better_heuristic(study: MakeStudy) -> None:
    document = run_comparison(TABLE, study("am-20"))
    lengths = dict(zip(column(document, "method"), column(document, "length"), strict=True))
    best = min(lengths["ls1-paper"], lengths["ls2-paper"])  # type: ignore[type-var]
    for method, gap in zip(
        column(document, "method"), column(document, "paper_style_gap_percent"), strict=True
    ):
        assert gap == pytest.approx(100 * (lengths[method] / best - 1), abs=1e-6)  # type: ignore


def test_a_method_without_weights_is_left_out_with_a_sentence(study: MakeStudy) -> None:
    document = run_comparison(TABLE, study())
    assert "am" not in column(document, "method")
    assert any(sentence.startswith("am is left out") for sentence in document.sentences)


def test_a_rerun_makes_only_what_is_missing(study: MakeStudy) -> None:
    made = study("am-20")
    run_comparison(TABLE, made)
    text = made.rows.path.read_text()
    lines = text.splitlines(keepends=True)
    assert len(lines) == 1 + 4 * 2 + 2  # header, four methods, the batch of am
    made.rows.path.write_text("".join(lines[:4]))
    again = replace(made, rows=RowFile(made.rows.path))
    assert sum(planned_comparison(TABLE, again).values()) > 0
    document = run_comparison(TABLE, again)
    assert made.rows.path.read_text().startswith("".join(lines[:4]))
    assert len(made.rows.path.read_text().splitlines()) == len(lines)
    assert planned_comparison(TABLE, again) == {}
    assert comparison_document(TABLE, again) == document


def test_other_limits_and_other_weights_make_other_runs(study: MakeStudy) -> None:
    made = study("am-20")
    run = made.run(CELL, 0, "exact")
    longer = replace(made, settings=replace(made.settings, exact_seconds=30.0))
    assert longer.run(CELL, 0, "exact") != run
    assert longer.run(CELL, 0, "am") == made.run(CELL, 0, "am")
    before = made.run(CELL, 0, "am")
    (made.homes[0] / "am-20" / "weights.safetensors").write_bytes(b"others")
    assert made.run(CELL, 0, "am") != before


def test_only_the_methods_asked_for_are_run(study: MakeStudy) -> None:
    document = run_comparison(TABLE, study("am-20", methods=("ls1-paper",)))
    assert column(document, "method") == ["ls1-paper"]
    assert not any("left out" in sentence for sentence in document.sentences)
    with pytest.raises(InputError, match="no 'magic'"):
        Settings(methods=("magic",))


def test_proofs_in_processes_side_by_side_are_those_made_alone(study: MakeStudy) -> None:
    table = replace(TABLE, methods=("exact",))
    made = study()
    alone = column(run_comparison(table, made), "length")
    two = replace(made, settings=replace(made.settings, cores=2))
    assert column(run_comparison(table, two), "length") == pytest.approx(alone)
    assert len(two.rows) == 4


def test_batches_are_solved_as_one_by_one(study: MakeStudy) -> None:
    made = study("am-20")
    run_comparison(replace(TABLE, methods=("am",)), made)
    for seed in made.settings.seeds:
        rows = made.rows.of_instance(CELL.rule, CELL.n, seed)
        together, alone = sorted(rows, key=lambda row: row.run.timing != BATCH)
        assert together.length == pytest.approx(alone.length)


def test_figures_need_rows(study: MakeStudy) -> None:
    assert methods_in_cell(study(), CELL, TABLE.methods) == []


def test_every_cell_of_the_papers_tables_is_compared() -> None:
    cells_of = coverage.EXPERIMENT.cells
    assert cells_of is not None
    assert cells_of(Settings())[:2] == (Cell("nearest 2-15", 50), Cell("nearest 2-15", 100))
    for name in ("small", "large", "nc", "coverage"):
        cells_of = EXPERIMENTS[name].cells
        assert cells_of is not None
        for cell in cells_of(Settings()):
            figure = paper_figure(cell.rule, cell.n, "am-dynamic+ls")
            assert figure is not None, (name, cell)
            assert figure.cost is not None
    assert paper_figure("nearest 7", 100, "lns") is None


def test_rows_are_found_whoever_made_them_where_nothing_is_measured(study: MakeStudy) -> None:
    made = study("am-20", cores=2)
    document = run_comparison(TABLE, made)
    text = made.rows.path.read_text()
    assert ",beside," in text
    made.rows.path.write_text(text.replace(f",{__version__},", ",0.0.9,"))
    settings = replace(made.settings, cores=1, from_rows=True)
    looking = replace(made, settings=settings, rows=RowFile(made.rows.path))
    assert run_comparison(TABLE, looking).tables == document.tables
    assert not looking.rows.grew


def test_a_reference_is_proven_by_its_bound() -> None:
    assert Reference(2.0, 2.0 * (1 - 1e-8)).proven
    assert not Reference(2.0, 1.999).proven
    assert not Reference(2.0, None).proven
