"""Verdicts on the paper's claims follow the figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from covertour.bench import Document
from experiments.shared.claims import comparison_claims, headlines
from experiments.shared.comparison import MethodInCell
from experiments.shared.study import not_judged


def row(
    method: str, length: float, seconds: float, n: int = 100, rule: str = "nearest 7"
) -> MethodInCell:
    gap = 100 * (length / 3.5 - 1)
    return MethodInCell(
        *(rule, n, method, 100, length, 0.01, gap, "optimum", gap, 0, 100, seconds),
        *(None, 100 * (length / 3.6 - 1), None, None, None),
    )


def said(figures: list[MethodInCell], words: str) -> str:
    (sentence,) = (one for one in comparison_claims(figures) if words in one)
    return sentence


def test_speed_is_told_as_ratios_and_judged() -> None:
    slow = [row("ls1-paper", 3.6, 30.0), row("ls2-paper", 3.7, 40.0)]
    sentence = said([*slow, row("am-dynamic+ls", 3.65, 1.0)], "20 to 40 times")
    assert "ls1-paper takes 30 times and ls2-paper takes 40 times" in sentence
    assert sentence.endswith("they do so too.")
    sentence = said([*slow, row("am-dynamic+ls", 3.65, 60.0)], "20 to 40 times")
    assert "ls1-paper takes 0.5 times" in sentence
    assert sentence.endswith("they are faster than that.")


def test_quality_is_judged_by_the_worst_cell() -> None:
    near = [row("ls1-paper", 3.6, 1), row("am-dynamic+ls", 3.65, 1)]
    assert said(near, "within 2 %").endswith("the claim holds.")
    far = [row("ls1-paper", 3.6, 1, 200), row("am-dynamic+ls", 3.7, 1, 200)]
    sentence = said([*near, *far], "within 2 %")
    assert "+1.39 to +2.78 %" in sentence
    assert sentence.endswith("the claim does not hold.")


def test_learned_methods_are_compared_cell_by_cell() -> None:
    first = [row("am", 5.0, 1, 20), row("am-dynamic-paper", 4.0, 1, 20)]
    second = [row("am", 3.9, 1, 50), row("am-dynamic-paper", 4.0, 1, 50)]
    assert "1 of 2 cells: the claim does not hold" in said([*first, *second], "on all tasks")
    assert "1 of 1 cells: the claim holds" in said(first, "on all tasks")
    ours = said([*first, row("am-gain", 3.6, 2, 20)], "without any search")
    assert ours == "Ours: the gaps without any search, am-gain 2.9 %, am-dynamic-paper 14.3 %."


def test_networks_are_compared_on_sizes_that_all_were_trained_on() -> None:
    figures = [
        row(method, length, 1, n)
        for n, lengths in ((50, (5.0, 4.0)), (100, (3.9, 4.0)))
        for method, length in zip(("am", "am-dynamic-paper"), lengths, strict=True)
    ]

    def claimed(*sizes: int) -> str:
        (claim,) = (one for one in comparison_claims(figures, "", sizes) if "on all tasks" in one)
        return claim

    assert "in 1 of 2 cells: the claim does not hold" in claimed(50, 100)
    assert "in 1 of 1 cells with as many places as all were trained on: the claim" in claimed(50)
    assert claimed(20).endswith("Not judged: not all were trained on so many places.")


def test_networks_that_learned_little_are_not_judged(
    tmp_path: Path, learn: Callable[[Path, int], None]
) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for path, tours in ((few, 64_000), (many, 16_000_000)):
        path.mkdir()
        learn(path, tours)
    assert not_judged([many]) == ""
    why = not_judged([many, few])
    assert why == (
        "Not judged: trained on 64,000 instances (0.1 million tours), the paper's on 16 million."
    )
    assert "not told how long" in not_judged([many, tmp_path])
    figures = [row("ls1-paper", 3.6, 1), row("am", 5.0, 1), row("am-gain", 3.6, 2)]
    figures += [row("am-dynamic-paper", 9.0, 1), row("am-dynamic+ls", 9.0, 1), row("lns", 3.5, 1)]
    sentences = comparison_claims(figures, why)
    claims = [sentence for sentence in sentences if sentence.startswith("Claim:")]
    assert len(claims) == 2
    assert all(claim.endswith(f". {why}") for claim in claims)
    assert not any("does not hold" in sentence for sentence in sentences)
    assert any(sentence.startswith("Speed: the paper's LS1") for sentence in sentences)
    assert "Ours: the gaps without any search, am-gain 2.9 %." in sentences


def test_nothing_is_said_about_what_was_not_measured() -> None:
    assert comparison_claims([row("exact", 3.5, 1)]) == []


def test_headlines_are_the_verdicts_and_what_is_missing() -> None:
    sentences = ("Claim: a. It holds.", "Limits: b.", "pn is left out: c.", "Ours: d.")
    document = Document("t", (), sentences)
    assert headlines(document) == [sentences[0], sentences[2], sentences[3]]
