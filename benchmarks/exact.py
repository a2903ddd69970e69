"""Proofs: how many instances are proven optimal, and in what time, on one core.

Run ``python benchmarks/exact.py`` for all cells or name some: n50, n100, n200, n300, n1000,
demands100, literature. ``--count`` instances of each rule (default 20; 1 for n1000), from the seed
``--first`` on, ``--seconds`` each (default 600), which with ``--processor`` are processor seconds:
then other work on the machine changes nothing. Places of demands100 have random demands, 0 to 3.
``--data DIR`` is where tsplib/*.tsp and literature_best.csv are, for the cell literature. Seconds
are of the whole solve: the search for a tour, the proof, and the referee. Processor seconds, which
other work on the machine disturbs less, stand beside them. OPENBLAS_NUM_THREADS=1 keeps numpy to
one core too.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from covertour import Instance, random_instance, read, solve, verify
from covertour.solving.stop import MaxSeconds, Progress, StoppingRule

RULES: dict[str, dict[str, object]] = {
    "nearest 7": {"nearest": 7},
    "nearest 2-15": {"nearest": (2, 15)},
    "radius 0.2": {"radius": 0.2},
    "radius 0-0.25": {"radius": (0.0, 0.25)},
    "nearest 11": {"nearest": 11},
}
CELLS = {
    "n50": (50, list(RULES)),
    "n100": (100, list(RULES)),
    "n200": (200, ["nearest 7"]),
    "n300": (300, ["nearest 7"]),
    "demands100": (100, ["nearest 7"]),
    "n1000": (1000, ["nearest 7"]),
}


def literature(data: Path) -> Iterator[tuple[Instance, float]]:
    with open(data / "literature_best.csv", newline="") as file:
        for row in csv.DictReader(file):
            path = data / "tsplib" / f"{row['instance']}.tsp"
            yield read(path, nearest=int(row["nearest"])), float(row["best_known"])


def with_demands(instance: Instance, seed: int) -> Instance:
    """Random demands, 0 to 3, as far as there are coverers."""
    most = np.diff(instance.coverage.covered_by_start)
    demand = np.random.default_rng(100 + seed).integers(0, 4, instance.n)
    return instance.with_changes(demand=np.minimum(demand, most).tolist())


def limit(seconds: float, processor: bool) -> StoppingRule:
    """A rule that stops after so many seconds from now on, of the clock or of the processor."""
    if not processor:
        return MaxSeconds(seconds)
    end = process_time() + seconds

    def over(_: Progress) -> bool:
        return process_time() >= end

    return over


def run(
    name: str,
    instances: Iterator[tuple[Instance, float | None]],
    seconds: float,
    by_processor: bool,
) -> None:
    wall: list[float] = []
    processor: list[float] = []
    gaps: list[float] = []
    for instance, best_known in instances:
        begun = process_time()
        result = solve(instance, "exact", stop=limit(seconds, by_processor), seed=1)
        processor.append(process_time() - begun)
        wall.append(result.seconds)
        assert verify(instance, result.tour).ok
        assert result.bound is not None
        gap = (result.tour.length - result.bound) / result.bound if result.bound else 0.0
        gaps.append(gap)
        if gap > 1e-6:
            print(f"  not proven: {instance.name}, gap {gap:.4%}", flush=True)
        if best_known is not None and result.tour.length != best_known:
            print(
                f"  {instance.name}: {result.tour.length:g}, best known {best_known:g}", flush=True
            )
    proven = sum(gap <= 1e-6 for gap in gaps)
    print(
        f"{name:24} {proven:4} of {len(gaps):3} proven"
        f"  median {median(wall):8.2f} s  max {max(wall):8.2f} s"
        f"  processor {median(processor):8.2f} / {max(processor):8.2f} s"
        f"  largest gap {max(gaps):.3%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cells", nargs="*", metavar="CELL", help="default: all")
    parser.add_argument("--count", type=int, help="instances of each rule")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--processor", action="store_true", help="limit processor seconds")
    parser.add_argument("--data", type=Path, help="tsplib/ and literature_best.csv")
    options = parser.parse_args()
    cells = options.cells or [*CELLS, *(["literature"] if options.data else [])]
    unknown = set(cells) - {*CELLS, "literature"}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: expected {', '.join(CELLS)} or literature")
    if "literature" in cells and options.data is None:
        parser.error("the cell literature needs --data")
    solve(random_instance(30, nearest=3), "exact", stop=MaxSeconds(10))  # compile first
    for cell in cells:
        if cell == "literature":
            run(cell, literature(options.data), options.seconds, options.processor)
            continue
        n, rules = CELLS[cell]
        count = options.count or (1 if n == 1000 else 20)
        for rule in rules:
            seeds = range(options.first, options.first + count)
            plain = (random_instance(n, seed=seed, **RULES[rule]) for seed in seeds)  # type: ignore[arg-type]
            if cell.startswith("demands"):
                plain = (with_demands(one, seed) for one, seed in zip(plain, seeds, strict=True))
            instances = ((instance, None) for instance in plain)
            run(f"{cell} {rule}", instances, options.seconds, options.processor)


if __name__ == "__main__":
    main()
