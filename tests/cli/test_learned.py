"""Learned methods on the command line: solve with weights of one's own, and export."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from covertour import random_instance, read, solve, verify, write
from covertour.neural.config import ModelConfig
from covertour.neural.models import make_model
from covertour.neural.training.checkpoint import save_weights
from covertour.solving.method import Decoding

CONFIG = ModelConfig("am-gain", width=16, heads=2, layers=1, feed_forward=16)


@pytest.fixture
def many(tmp_path: Path) -> str:
    write(tmp_path / "many.json", random_instance(40, nearest=5))
    return "many.json"


def solved(ran: Any) -> dict[str, Any]:
    assert (ran.code, ran.err) == (0, ""), ran
    return json.loads(ran.out)


def test_more_decoding_gives_a_shorter_tour(covertour: Any, many: str, weights: Any) -> None:
    command = ("solve", many, "--method", "am", "--weights", weights("am"), "--json")
    lengths = [
        solved(covertour(*command, *more))["length"]
        for more in ((), ("--samples", "16"), ("--samples", "16", "--symmetries"))
    ]
    assert lengths[0] > lengths[1] > lengths[2]


def test_the_search_goes_on_from_the_learned_tour(covertour: Any, many: str, weights: Any) -> None:
    command = ("solve", many, "--weights", weights("am"), "--json")
    learned = solved(covertour(*command, "--method", "am"))
    searched = solved(covertour(*command, "--method", "am+ls"))
    assert (learned["iterations"], searched["iterations"]) == (0, 50 * 60)
    assert searched["length"] < learned["length"]
    short = solved(covertour(*command, "--method", "am+ls", "--iterations", "7"))
    assert short["iterations"] == 7


def test_limits_do_not_disturb_a_learned_method(covertour: Any, many: str, weights: Any) -> None:
    command = ("solve", many, "--method", "pn", "--weights", weights("pn"), "--json")
    tour = solved(covertour(*command))["tour"]
    for limit in ("--seconds", "--iterations", "--target", "--no-improvement"):
        assert solved(covertour(*command, limit, "0"))["tour"] == tour


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--samples", "2"), ("--samples", "learned", "lns")),
        (("--samples", "0"), ("--samples", "learned", "lns")),
        (("--symmetries",), ("--symmetries", "learned")),
        (("--raw",), ("--raw", "learned")),
        (("--method", "exact", "--weights", "x"), ("--weights", "learned", "exact")),
        (("--method", "am", "--samples", "-1"), ("--samples", ">= 0")),
        (("--method", "am", "--weights", "nowhere"), ("'nowhere'", "no directory")),
        (("--method", "am", "--weights", "."), ("weights.safetensors", "covertour export")),
        (("--method", "pn"), ("pn: no weights", "--weights DIR", "experiments/weights")),
        (("--method", "am-gian"), ("did you mean 'am-gain",)),
        (("--method", "am", "--prove"), ("--prove",)),
    ],
)
def test_bad_input_is_one_line(
    covertour: Any, many: str, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    covertour("solve", many, *options).assert_refused(*words)


def test_what_a_learned_method_cannot_do_is_one_line(
    covertour: Any, many: str, weights: Any, tmp_path: Path
) -> None:
    (tmp_path / "matrix.csv").write_text("0,1\n1,0\n")
    own = ("--method", "am", "--weights", weights("am"))
    covertour("solve", "matrix.csv", "-k", "1", *own).assert_refused("needs coordinates")
    covertour("solve", many, "-o", "a.tour", "--iterations", "1")
    covertour("solve", many, *own, "--start", "a.tour").assert_refused("start", "am")
    own = ("--method", "am", "--weights", weights("pn"))
    covertour("solve", many, *own).assert_refused("holds weights of pn, not of am")


def test_exported_weights_solve(covertour: Any, many: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    save_weights(tmp_path / "run" / "best.safetensors", make_model(CONFIG), CONFIG, {})
    ran = covertour("export", "run", "--output", "out")
    assert (ran.code, ran.err) == (0, "")
    assert "--method am-gain --weights out" in ran.out
    result = solved(covertour("solve", many, "--method", "am-gain", "--weights", "out", "--json"))
    assert verify(read(many), result["tour"]).ok
    assert covertour("export", "run/best.safetensors", "-o", "again", "--quiet").out == ""
    again = (tmp_path / "again" / "weights.safetensors").read_bytes()
    assert (tmp_path / "out" / "weights.safetensors").read_bytes() == again


def test_export_refuses_what_is_no_training(covertour: Any, tmp_path: Path) -> None:
    covertour("export", "nowhere", "-o", "out").assert_refused("nowhere", "no such")
    covertour("export", ".", "-o", "out").assert_refused("no best.safetensors here")
    covertour("export", ".").assert_refused("--output")
    (tmp_path / "best.safetensors").write_bytes(b"cut")
    covertour("export", ".", "-o", "out").assert_refused("best.safetensors", "cut off")
    save_weights(tmp_path / "best.safetensors", make_model(CONFIG), CONFIG, {})
    (tmp_path / "taken").write_text("")
    covertour("export", ".", "-o", "taken").assert_refused("taken")
    assert not (tmp_path / "out").exists()


def test_without_torch_weights_are_exported_and_solve(
    many: str, weights: Any, tmp_path: Path
) -> None:
    source = str(weights("am") / "weights.safetensors")
    own = ["solve", many, "--method", "am", "--weights", "out", "--quiet"]
    code = (
        "import sys; sys.modules['torch'] = None; from covertour import cli;"
        f"print(cli.run(['export', {source!r}, '-o', 'out', '-q']), cli.run({own!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert (done.stdout, done.stderr) == ("0 0\n", "")


def test_a_learned_method_starts_without_the_search(
    many: str, weights: Any, tmp_path: Path
) -> None:
    own = ["solve", many, "--method", "am-gain", "--weights", str(weights("am-gain"))]
    code = (
        f"import sys; from covertour import cli; assert cli.run({own!r}) == 0;"
        "heavy = {'scipy.linalg', 'matplotlib', 'torch', 'highspy', 'covertour.search.lns'};"
        "heavy &= set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_command_and_the_function_give_the_same_tour(covertour: Any, many: str) -> None:
    for model in ("am-gain", "am-dynamic"):
        for more in ({}, {"samples": 3, "symmetries": True}):
            options = ("--samples", "3", "--symmetries") if more else ()
            ran = solved(covertour("solve", many, "--method", model, *options, "--json"))
            decoding = Decoding(**more) if more else None
            assert ran["tour"] == solve(read(many), model, decoding=decoding).tour.places.tolist()


def test_a_search_starts_without_scipy_s_algebra(many: str, tmp_path: Path) -> None:
    code = (
        "import sys; from covertour import cli;"
        f"assert cli.run(['solve', {many!r}, '--iterations', '9', '--quiet']) == 0;"
        "sys.exit('scipy.linalg' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ran.returncode, ran.stderr) == (0, "")
