"""Long searches of one large random instance in parts, and how far short ones are from the best.

The best tour so far is kept in a file, and each part begins with it; the file tells of the parts.

    python benchmarks/reference.py 100000 best-100000.tour --iterations 300000000
    python benchmarks/reference.py 100000 best-100000.tour --seconds 60,300
"""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path

from covertour import Instance, Tour, random_instance, read_tour, solve, verify, write
from covertour.bench.runs import warm_up

PART = "COMMENT : part of "
"""How a line about a part begins."""

SHORT_SEED = 1_000
"""Short searches have seeds of their own, so that none is the beginning of the long one."""


def read(path: Path, instance: Instance) -> tuple[Tour | None, list[str]]:
    """The best tour and a line about each part; None and no lines where there is no file."""
    if not path.exists():
        return None, []
    about = [line for line in path.read_text().splitlines() if line.startswith(PART)]
    return read_tour(path, instance), about


def keep(path: Path, instance: Instance, tour: Tour, about: list[str]) -> None:
    """Write a TSPLIB tour with its lines about the parts."""
    page = io.StringIO()
    write(page, instance, tour, format="tour")
    name, rest = page.getvalue().split("\n", 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([name, *about, rest]))


def lengthen(instance: Instance, path: Path, iterations: int, workers: int) -> None:
    """Search for so many iterations more, and keep what is better."""
    best, about = read(path, instance)
    begin = time.process_time()
    found = solve(instance, start=best, iterations=iterations, workers=workers, seed=len(about))
    assert verify(instance, found.tour).ok
    spent = (time.process_time() - begin) / 3600
    made = f"{found.iterations:,} iterations, {spent:.2f} hours of a core"
    about.append(f"{PART}{made}: {found.length:.6f}")
    keep(path, instance, found.tour, about)
    print(about[-1], flush=True)


def compare(instance: Instance, path: Path, seconds: list[float], workers: int) -> None:
    """How far searches of so many seconds are from the best tour."""
    best, about = read(path, instance)
    if best is None:
        raise SystemExit(f"{path} is not there yet: --iterations makes it")
    assert verify(instance, best).ok
    print("\n".join([*about, f"best {best.length:.6f}"]), flush=True)
    warm_up(instance, ["lns"])
    for index, limit in enumerate(seconds):
        found = solve(instance, seconds=limit, workers=workers, seed=SHORT_SEED + index)
        over = 100 * (found.length / best.length - 1)
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
