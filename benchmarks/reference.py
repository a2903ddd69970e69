"""Long searches of one large random instance in parts, and how far short ones are from the best.

The best tour so far is kept in a file, and each part begins with it; the file tells of the parts.

    python benchmarks/reference.py 100000 best-100000.tour --iterations 300000000
    python benchmarks/reference.py 100000 best-100000.tour --seconds 60,300
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from covertour import Instance, random_instance, solve, verify
from covertour.bench.runs import warm_up

SHORT_SEED = 1_000
"""Short searches have seeds of their own, so that none is the beginning of the long one."""


def read(path: Path) -> tuple[list[int], list[str]]:
    """The stops of the best tour, and a line about each part; empty where there is no file."""
    if not path.exists():
        return [], []
    lines = path.read_text().splitlines()
    about = [line for line in lines if line.startswith("COMMENT")]
    first = lines.index("TOUR_SECTION") + 1
    return [int(line) - 1 for line in lines[first : lines.index("-1")]], about


def write(path: Path, name: str, stops: np.ndarray, about: list[str]) -> None:
    """Write a TSPLIB tour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = [f"NAME : {name}", "TYPE : TOUR", *about, f"DIMENSION : {len(stops)}", "TOUR_SECTION"]
    path.write_text("\n".join([*head, *(str(stop + 1) for stop in stops), "-1", "EOF", ""]))


def lengthen(instance: Instance, path: Path, iterations: int, workers: int) -> None:
    """Search for so many iterations more, and keep what is better."""
    stops, about = read(path)
    begin = time.process_time()
    found = solve(
        instance, start=stops or None, iterations=iterations, workers=workers, seed=len(about)
    )
    assert verify(instance, found.tour).ok
    spent = (time.process_time() - begin) / 3600
    made = f"{found.iterations:,} iterations, {spent:.2f} hours of a core"
    about.append(f"COMMENT : {made}: {found.length:.6f}")
    write(path, instance.name, found.tour.places, about)
    print(about[-1], flush=True)


def compare(instance: Instance, path: Path, seconds: list[float], workers: int) -> None:
    """How far searches of so many seconds are from the best tour."""
    stops, about = read(path)
    best = instance.length(stops)
    assert verify(instance, stops).ok
    print("\n".join([*about, f"best {best:.6f}"]), flush=True)
    warm_up(instance, ["lns"])
    for index, limit in enumerate(seconds):
        found = solve(instance, seconds=limit, workers=workers, seed=SHORT_SEED + index)
        over = 100 * (found.length / best - 1)
        print(
            f"{limit:g} s, {workers} workers: {found.length:.6f}, {over:.2f} % over the best, "
            f"{found.iterations:,} iterations",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("places", type=int)
    parser.add_argument("file", type=Path, help="the best tour so far")
    parser.add_argument("--iterations", type=int, help="go on with the long search")
    parser.add_argument("--seconds", help="compare searches of so many seconds, such as 60,300")
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    whole = random_instance(asked.places, nearest=7, seed=0)
    if asked.iterations:
        lengthen(whole, asked.file, asked.iterations, asked.workers)
    if asked.seconds:
        limits = [float(word) for word in asked.seconds.split(",")]
        compare(whole, asked.file, limits, asked.workers)
