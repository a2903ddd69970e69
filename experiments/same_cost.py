"""The table same-cost: how soon each heuristic is as good as the learned tour after its search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from covertour.bench import Column, Document, Table, at_most, time_text
from experiments.shared.claims import ratio_text, span, verdict
from experiments.shared.comparison import seeds_text
from experiments.shared.experiment import Experiment, report_of
from experiments.shared.measure import Job, job_of, jobs_of, measure
from experiments.shared.paper import SAME_COST as PAPER_TABLE
from experiments.shared.paper import paper_figure
from experiments.shared.protocol import (
    PAPER_RULE,
    Cell,
    Limit,
    Settings,
    cells_of,
    planned_seconds,
)
from experiments.shared.rows import Row
from experiments.shared.study import Plan, Study, not_judged

CELLS = cells_of([PAPER_RULE], [50, 100, 150, 200, 300])
QUICK_CELLS = CELLS[:2]

LEADERS = ("am-dynamic+ls", "am-gain+ls")
"""Whose length the others are to reach: the first that has weights."""

CHASERS = ("ls1-paper", "ls2-paper", "ls1", "ls2", "lns")


@dataclass(frozen=True)
class ToTheSameLength:
    """A method on its way to the lengths of the leader, over the instances of a cell.

    ``seconds``: mean, with the whole time of the runs that never got there; ``reached``: how many
    did. ``ratio``: to the mean of the leader.
    """

    rule: str
    n: int
    method: str
    length: float
    reached: int
    instances: int
    seconds: float
    median_seconds: float
    ratio: float
    paper_length: float | None
    paper_seconds: float | None
    paper_ratio: float | None


def chosen_cells(settings: Settings) -> tuple[Cell, ...]:
    """The cells of the table, fewer in a quick run."""
    return settings.cells(CELLS, QUICK_CELLS)


def leader_of(study: Study) -> str | None:
    """The method whose lengths are to be reached; None where none has weights."""
    for method in LEADERS:
        if all(study.weights(method, cell.n) is not None for cell in chosen_cells(study.settings)):
            return method
    return None


def planned_same_cost(study: Study) -> Plan:
    """The runs, whether made or not: which they are is known when the leader has run."""
    leader = leader_of(study)
    if leader is None:
        return {}
    return {
        ("same-cost", cell, method): planned_seconds(method, cell.n, study.settings)
        * study.settings.count
        for cell in chosen_cells(study.settings)
        for method in (leader, *_chasers(study))
    }


def _chasers(study: Study) -> list[str]:
    return [method for method in CHASERS if study.settings.wants(method)]


def run_same_cost(study: Study) -> Document | str:
    """Make the runs that are missing, and the table; a sentence where nobody sets the length."""
    leader = leader_of(study)
    if leader is None:
        return (
            f"same-cost is left out: it needs weights of one of {', '.join(LEADERS)}, and there "
            "are none."
        )
    cells = chosen_cells(study.settings)
    # The leader sets the lengths, so it runs whichever methods are wanted.
    everyone = replace(study, settings=replace(study.settings, methods=()))
    measure(study, jobs_of(everyone, cells, [leader]))
    measure(study, [job for cell in cells for job in _chases(study, cell, leader)])
    return same_cost_document(study, leader)


def _target(study: Study, cell: Cell, seed: int, leader: str) -> float | None:
    """The length that the leader's own run ended with; None where it was not made."""
    run = study.run(cell, seed, leader)
    return study.rows[run].length if run in study.rows else None


def _led(study: Study, cell: Cell, leader: str) -> list[int]:
    """The seeds of the instances that the leader has solved."""
    seeds = study.settings.seeds
    return [seed for seed in seeds if _target(study, cell, seed, leader) is not None]


def _chase(study: Study, cell: Cell, seed: int, method: str, leader: str) -> Job:
    """The run of a method until it has a tour as short as the leader's.

    The leader itself makes its own run again and stops where it had that tour; the others search
    on beyond their usual numbers of iterations.
    """
    target = _target(study, cell, seed, leader)
    assert target is not None
    own = study.limit(method, cell.n)
    limit = own if method == leader else Limit(seconds=study.settings.patience)
    return job_of(study, cell, seed, method, replace(limit, length=target * (1.0 + 1e-9)))


def _chases(study: Study, cell: Cell, leader: str) -> list[Job]:
    jobs = (
        _chase(study, cell, seed, method, leader)
        for method in (leader, *_chasers(study))
        for seed in _led(study, cell, leader)
    )
    return [job for job in jobs if job.run not in study.rows]


def figures_of(study: Study, cell: Cell, leader: str) -> list[ToTheSameLength]:
    """The figures of a cell, from the rows."""
    seeds = _led(study, cell, leader)
    made: dict[str, list[Row]] = {}
    for method in (leader, *_chasers(study)):
        runs = [_chase(study, cell, seed, method, leader).run for seed in seeds]
        made[method] = study.found(runs)
    if not made[leader]:
        return []
    base = fmean(row.seconds for row in made[leader])
    paper_base = paper_figure(cell.rule, cell.n, "am-dynamic+ls", PAPER_TABLE)
    figures = []
    for method, rows in made.items():
        if not rows:
            continue
        targets = [_target(study, cell, row.run.seed, leader) or 0.0 for row in rows]
        paper = paper_figure(cell.rule, cell.n, method, PAPER_TABLE)
        seconds = [row.seconds for row in rows]
        figures.append(
            ToTheSameLength(
                rule=cell.rule,
                n=cell.n,
                method=method,
                length=fmean(row.length for row in rows),
                reached=sum(
                    at_most(row.length, target * (1.0 + 1e-9))
                    for row, target in zip(rows, targets, strict=True)
                ),
                instances=len(rows),
                seconds=fmean(seconds),
                median_seconds=median(seconds),
                ratio=fmean(seconds) / base if base > 0 else float("inf"),
                paper_length=None if paper is None else paper.cost,
                paper_seconds=None if paper is None else paper.seconds,
                paper_ratio=_ratio(paper, paper_base),
            )
        )
    return figures


def _ratio(paper: object, base: object) -> float | None:
    seconds, whole = getattr(paper, "seconds", None), getattr(base, "seconds", None)
    return seconds / whole if seconds and whole else None


COLUMNS = (
    Column("rule", "rule", "s"),
    Column("n", "n", "d"),
    Column("method", "method", "s"),
    Column("length", "mean length", ".4f"),
    Column("reached", "reached", "d"),
    Column("instances", "instances", "d", detail=True),
    Column("seconds", "mean time", time_text),
    Column("median_seconds", "median time", time_text, detail=True),
    Column("ratio", "time / leader's", ratio_text),
    Column("paper_length", "paper: length", ".3f"),
    Column("paper_seconds", "paper: time", time_text),
    Column("paper_ratio", "paper: time / AM-dynamic (LS)'s", ratio_text),
)


def same_cost_document(study: Study, leader: str) -> Document:
    """The table and sentences, from the rows there are."""
    settings = study.settings
    cells = chosen_cells(settings)
    figures = [row for cell in cells for row in figures_of(study, cell, leader)]
    rows = tuple(tuple(getattr(row, column.name) for column in COLUMNS) for row in figures)
    trained = study.papers_weights([leader], [cell.n for cell in cells])
    return Document(
        f"Time to the same length ({seeds_text(settings)})",
        (Table("Methods", COLUMNS, rows),),
        (
            *_verdicts(figures, leader, not_judged(trained)),
            f"The leader is {leader}: each method stops once its tour of an instance is no longer "
            "than the leader's of the same instance. The leader's own time is to the moment when "
            "it had that tour.",
            "The heuristics search on beyond their usual numbers of iterations, for at most "
            f"{time_text(settings.patience)} per instance; a run that did not get there counts "
            "with its whole time.",
            "All are compiled by the same compiler and were run in the same way, one instance at a "
            "time on one core; time counts from the call of solve with coverage built and the "
            "method loaded.",
            *study.left_out([leader], cells),
        ),
    )


def _verdicts(figures: Sequence[ToTheSameLength], leader: str, not_judged: str) -> list[str]:
    """The paper's claim, judged unless there is a reason not to, and how our search compares."""
    paper = [row.ratio for row in figures if row.method in ("ls1-paper", "ls2-paper")]
    ours = [row.ratio for row in figures if row.method == "lns"]
    said = []
    if paper:
        here = f"Here ls1-paper and ls2-paper take {span(paper, ratio_text)} times the time of"
        judged = f". {not_judged}" if not_judged else f": {verdict(min(paper) > 10)}"
        said.append(
            "Claim: AM-dynamic (LS) is more than 10 times faster than LS1 and LS2 to the same "
            f"cost. {here} {leader}{judged}"
        )
    if ours:
        said.append(
            f"Ours: lns, which learns nothing, takes {span(ours, ratio_text)} times the time of "
            f"{leader} to the same lengths."
        )
    return said


EXPERIMENT = Experiment(
    "the time of the heuristics to the lengths of the learned method",
    planned_same_cost,
    lambda study: report_of(run_same_cost(study)),
    chosen_cells,
)
