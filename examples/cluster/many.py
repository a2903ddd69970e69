"""Solve many instances on the workers of a dask scheduler: python many.py tcp://10.0.0.1:8786"""

import sys

from covertour import random_instance, solve_many
from covertour.executors import cluster


def main(address: str) -> None:
    maps = [random_instance(300, nearest=7, seed=seed) for seed in range(100)]
    with cluster(address) as machines:
        results = solve_many(maps, iterations=5_000, executor=machines)
    stops = sum(len(result.tour) for result in results)
    print(f"{len(results)} tours, {stops / len(results):.1f} stops on average")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
