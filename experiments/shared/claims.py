"""The claims of the paper, held against what was measured here, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from covertour.bench import Document

if TYPE_CHECKING:
    from experiments.shared.comparison import MethodInCell

LEARNED_ALONE = ("pn", "pn-dynamic", "am")
HEURISTICS = ("ls1-paper", "ls2-paper")
HYBRID = "am-dynamic+ls"
POLICY = "am-dynamic-paper"
VARIABLE_RADIUS = "radius 0-0.25"


def headlines(document: Document) -> list[str]:
    """The sentences of a document that tell what came out, and what was left out."""
    return [
        sentence
        for sentence in document.sentences
        if sentence.startswith(("Claim:", "Speed:", "Ours:")) or "left out" in sentence
    ]


def comparison_claims(
    figures: Sequence[MethodInCell], not_judged: str = "", sizes: Container[int] | None = None
) -> list[str]:
    """Verdicts on the paper's claims about quality and speed, cell by cell in the counts.

    ``not_judged``: why the networks are not, which leaves those about speed. ``sizes``: the numbers
    of places that all of them were trained on; None for any.
    """
    cells: dict[tuple[str, int], dict[str, MethodInCell]] = {}
    for row in figures:
        cells.setdefault((row.rule, row.n), {})[row.method] = row
    said = [
        *(
            f"Claim: {claim} {not_judged or figures_and_verdict}"
            for claim, figures_and_verdict in (
                _beats_the_other_learned(cells, sizes),
                _near_the_heuristics(cells),
                _better_where_radii_vary(cells),
            )
            if figures_and_verdict
        ),
        *_speed_of_the_heuristics(cells),
        _ours(cells),
        _our_networks(cells, compared=not not_judged),
    ]
    return [sentence for sentence in said if sentence]


Cells = dict[tuple[str, int], dict[str, "MethodInCell"]]


def _beats_the_other_learned(cells: Cells, sizes: Container[int] | None) -> tuple[str, str]:
    claim = "AM-dynamic outperforms PN, PN-dynamic and AM on all tasks."
    won = lost = 0
    elsewhere = False
    for (_, n), cell in cells.items():
        others = [cell[method].length for method in LEARNED_ALONE if method in cell]
        if POLICY not in cell or not others:
            continue
        if sizes is not None and n not in sizes:
            elsewhere = True
            continue
        better = cell[POLICY].length < min(others)
        won, lost = won + better, lost + (not better)
    if won + lost == 0:
        return claim, "Not judged: not all were trained on so many places." if elsewhere else ""
    cells_won = f"in {won} of {won + lost} cells"
    if elsewhere:
        cells_won += " with as many places as all were trained on"
    return claim, f"Here its mean is the shortest {cells_won}: {verdict(lost == 0)}"


def _near_the_heuristics(cells: Cells) -> tuple[str, str]:
    claim = "AM-dynamic (LS) is within 2 % of the better of LS1 and LS2 above n = 20."
    gaps = [
        cell[HYBRID].paper_style_gap_percent
        for (_, n), cell in cells.items()
        if HYBRID in cell and n > 20
    ]
    known = [gap for gap in gaps if gap is not None]
    if not known:
        return claim, ""
    return claim, (
        f"Here, with the weights that ship and our search, its mean is {span(known, '+.2f')} % "
        f"from the better mean of ls1-paper and ls2-paper: {verdict(max(known) <= 2.0)}"
    )


def _better_where_radii_vary(cells: Cells) -> tuple[str, str]:
    claim = "AM-dynamic (LS) outperforms LS1 where radii vary."
    pairs = [
        (cell[HYBRID].length, cell["ls1-paper"].length)
        for (rule, _), cell in cells.items()
        if rule == VARIABLE_RADIUS and HYBRID in cell and "ls1-paper" in cell
    ]
    if not pairs:
        return claim, ""
    better = sum(ours < theirs for ours, theirs in pairs)
    return claim, (
        f"Here its mean is shorter than that of ls1-paper in {better} of {len(pairs)} cells: "
        f"{verdict(better == len(pairs))}"
    )


def _speed_of_the_heuristics(cells: Cells) -> list[str]:
    """The times of LS1 and LS2 as multiples of those of the learned methods.

    These hardly depend on how well a network was trained.
    """
    sentences = []
    for method, claim, least in (
        (HYBRID, "take about 20 to 40 times the time of its AM-dynamic (LS)", 20.0),
        (POLICY, "take thousands of times the time of its AM-dynamic alone", 1000.0),
    ):
        ratios = {
            heuristic: [
                cell[heuristic].seconds / cell[method].seconds
                for cell in cells.values()
                if method in cell and heuristic in cell and cell[method].seconds > 0
            ]
            for heuristic in HEURISTICS
        }
        known = {name: values for name, values in ratios.items() if values}
        if not known:
            continue
        words = " and ".join(
            f"{name} takes {span(values, ratio_text)} times" for name, values in known.items()
        )
        holds = min(min(values) for values in known.values()) >= least
        sentences.append(
            f"Speed: the paper's LS1 and LS2 {claim}. Here, all compiled, {words} the time that "
            f"{method} takes: {'they do so too' if holds else 'they are faster than that'}."
        )
    return sentences


def _ours(cells: Cells) -> str:
    """How far lns goes beyond the best heuristic of the paper, and in which time."""
    pairs = [
        (cell["lns"], min((cell[name] for name in HEURISTICS if name in cell), key=_length))
        for cell in cells.values()
        if "lns" in cell and any(name in cell for name in HEURISTICS)
    ]
    if not pairs:
        return ""
    shorter = [100.0 * (1.0 - ours.length / theirs.length) for ours, theirs in pairs]
    gaps = [ours.gap_percent for ours, _ in pairs]
    return (
        f"Ours: the mean of lns is {span(shorter, '.2f')} % shorter than the better mean of "
        f"ls1-paper and ls2-paper, and its gap is {span(gaps, '.3f')} %."
    )


def _our_networks(cells: Cells, compared: bool) -> str:
    """What the networks that ship do without search and, where it may be judged, the paper's."""
    gaps = {
        method: span([cell[method].gap_percent for cell in cells.values() if method in cell], ".1f")
        for method in ("am-gain", "am-dynamic", *([POLICY] if compared else []))
        if any(method in cell for cell in cells.values())
    }
    if not gaps.keys() & {"am-gain", "am-dynamic"}:
        return ""
    words = ", ".join(f"{method} {gap} %" for method, gap in gaps.items())
    return f"Ours: the gaps without any search, {words}."


def _length(row: MethodInCell) -> float:
    return row.length


def span(values: Sequence[float], form: str | Callable[[float], str]) -> str:
    """The least and the largest value, or the one that both are as people see them.

    >>> span([3.14, 1.5], ".1f"), span([1.5, 1.5], ".1f")
    ('1.5 to 3.1', '1.5')
    """
    shown = [form(v) if callable(form) else format(v, form) for v in (min(values), max(values))]
    return " to ".join(dict.fromkeys(shown))


def ratio_text(ratio: float) -> str:
    """A ratio with two digits that count.

    >>> ratio_text(0.0312), ratio_text(3.14159), ratio_text(1234.0)
    ('0.031', '3.1', '1,200')
    """
    if ratio >= 99.5:
        digits = 10 ** (len(str(int(ratio))) - 2)
        return f"{round(ratio / digits) * digits:,}"
    return f"{ratio:.2g}"


def verdict(holds: bool) -> str:
    """The verdict on a claim."""
    return "the claim holds." if holds else "the claim does not hold."
