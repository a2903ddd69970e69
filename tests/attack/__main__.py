"""python tests/attack: look for mistakes for as long as there is time, elsewhere on every run.

It compares proofs and heuristics with brute force, stops proofs too early, kills writers and
trainings, and feeds damaged files to every reader. --seed tries the same again; what broke is kept
in the directory --keep.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]

import files  # noqa: E402
import killed_training  # noqa: E402
import killed_writers  # noqa: E402
import solvers  # noqa: E402

from covertour import write  # noqa: E402

ATTACKS = {
    "proofs against brute force": (solvers.proofs, 4),
    "heuristics against brute force": (solvers.heuristics, 3),
    "bounds under tiny limits": (solvers.bounds, 2),
    "damaged instances": (files.instances, 2),
    "damaged tours": (files.tours, 1),
    "arguments of the command line": (files.arguments, 1),
    "killed writers": (killed_writers.attempts, 1),
    "killed trainings": (killed_training.attempts, 2),
}
"""What is tried, each a generator that raises where something broke, and its share of the time."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="in all; the default is 600")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--only", choices=sorted(ATTACKS), help="one of the attacks")
    parser.add_argument(
        "--keep", type=Path, default=Path("attack"), help="where to keep what broke"
    )
    given = parser.parse_args()
    chosen = {given.only: ATTACKS[given.only]} if given.only else ATTACKS
    shares = sum(share for _, share in chosen.values())
    print(f"seed {given.seed}, {given.seconds:g} s", flush=True)
    broken = 0
    for name, (attack, share) in chosen.items():
        with TemporaryDirectory() as folder:
            tries = attack(Random(f"{given.seed} {name}"), Path(folder))
            tried, failed = _for(given.seconds * share / shares, tries, name, given.keep)
        print(f"{name:32} {tried:8,} tried  {failed:4,} broken", flush=True)
        broken += failed
    return 1 if broken else 0


def _for(seconds: float, tries: Iterator[object], name: str, keep: Path) -> tuple[int, int]:
    """How often it was tried, at least once, and how often something broke."""
    end = perf_counter() + seconds
    tried = 0
    while tried == 0 or perf_counter() < end:
        try:
            next(tries)
        except StopIteration:
            return tried, 0
        except Exception as error:
            _keep(keep, name, tried, error)
            return tried + 1, 1  # a generator that raised is at its end
        tried += 1
    return tried, 0


def _keep(keep: Path, name: str, number: int, error: Exception) -> None:
    keep.mkdir(exist_ok=True)
    stem = keep / f"{name.replace(' ', '-')}-{number}"
    text = "".join(traceback.format_exception(error))
    stem.with_suffix(".txt").write_text(text, encoding="utf-8")
    if isinstance(error, solvers.Broken):
        write(stem.with_suffix(".json"), error.instance)
    print(
        f"{name}: broken at try {number}, kept in {stem}.txt\n{text}", file=sys.stderr, flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
