"""Which weights a method takes, and what is known of their training."""

from __future__ import annotations

from pathlib import Path

import pytest

from covertour import Decoding, random_instance, solve, verify
from experiments.shared.weights import (
    HOMES,
    LEARNED,
    Lessons,
    as_called,
    digest,
    lessons_of,
    weights_for,
    weights_in,
)

CONFIG = """
[train]
batch = 64
baseline = "{baseline}"
rollouts = 16
[[stage]]
steps = 30
[[stage]]
steps = 20
"""


def test_the_nearest_size_is_taken_unless_there_is_one_for_all(tmp_path: Path) -> None:
    for name in ("am-20", "am-50", "am-dynamic-100", "pn", "pn-20"):
        (tmp_path / "here" / name).mkdir(parents=True)
    (tmp_path / "there" / "am-200").mkdir(parents=True)
    homes = (tmp_path / "here", tmp_path / "there", tmp_path / "nowhere")
    found = {n: weights_for("am", n, homes) for n in (5, 35, 36, 125, 126)}
    assert [path and path.name for path in found.values()] == [
        "am-20",
        "am-20",
        "am-50",
        "am-50",
        "am-200",
    ]
    (tmp_path / "there" / "am-60-200").mkdir()
    assert weights_for("am", 200, homes) == tmp_path / "there" / "am-200"
    assert weights_for("am", 100, homes) == tmp_path / "there" / "am-60-200"
    assert weights_for("pn", 20, homes) == tmp_path / "here" / "pn"
    assert weights_for("am-gain", 20, homes) is None


@pytest.mark.parametrize("network", LEARNED)
def test_every_network_has_weights_that_decode(network: str) -> None:
    path = weights_for(network, 30)
    assert path is not None
    instance = random_instance(30, nearest=5)
    tour = solve(instance, as_called(network), decoding=Decoding(weights=path)).tour
    assert verify(instance, tour).ok


def test_the_tours_of_a_training_are_counted_from_its_config(tmp_path: Path) -> None:
    assert lessons_of(tmp_path) is None
    (tmp_path / "config.toml").write_text(CONFIG.format(baseline="shared"))
    assert lessons_of(tmp_path) == Lessons(3_200, 51_200)
    (tmp_path / "config.toml").write_text(CONFIG.format(baseline="greedy"))
    assert lessons_of(tmp_path) == Lessons(3_200, 3_200)
    (tmp_path / "config-first.toml").write_text(CONFIG.format(baseline="critic"))
    assert lessons_of(tmp_path) == Lessons(6_400, 3_200 + 51_200)
    (tmp_path / "training-first.csv").write_text("step,seconds\n10,1.5\n25,3.0\n")
    assert lessons_of(tmp_path) == Lessons(3_200 + 25 * 64, 3_200 + 25 * 64 * 16)
    assert all(lessons_of(path) is not None for path in weights_in(HOMES))


def test_tours_of_the_weights_that_a_training_began_with_count(tmp_path: Path) -> None:
    for name in ("am-20", "am-50"):
        (tmp_path / name).mkdir()
        initial = "[train]\ninitial = 'somewhere/am-20/weights.safetensors'"
        config = CONFIG.format(baseline="shared").replace("[train]", initial)
        (tmp_path / name / "config.toml").write_text(config)
    assert lessons_of(tmp_path / "am-20") == Lessons(3_200, 51_200)
    assert lessons_of(tmp_path / "am-50") == Lessons(6_400, 102_400)


def test_a_training_has_one_name_whatever_the_format_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "one.weights").write_text("1")
    without_record = digest(tmp_path)
    (tmp_path / "one.weights").write_text("2")
    assert digest(tmp_path) != without_record
    (tmp_path / "validation.csv").write_text("step,cost\n")
    named = digest(tmp_path)
    (tmp_path / "one.weights").unlink()
    (tmp_path / "another.format").write_text("3")
    assert digest(tmp_path) == named
    (tmp_path / "validation.csv").write_text("step,cost\n1,2\n")
    assert digest(tmp_path) != named
