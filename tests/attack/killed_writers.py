"""Writers killed at any moment: there is the old file or the new one, and nothing is left over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import sleep

from covertour import random_instance, write

SIZES = (5, 4000)

WRITER = """
import sys
from covertour import random_instance, write
both = [random_instance(n, nearest=1) for n in (5, 4000)]
print("ready", flush=True)
while True:
    for instance in both:
        write(sys.argv[1], instance)
"""


def attempts(rng: Random, folder: Path) -> Iterator[None]:
    """Kill a process that writes two instances in turn, and look at what is there."""
    path = folder / "a.json"
    whole = set()
    for n in SIZES:
        write(path, random_instance(n, nearest=1))
        whole.add(path.read_bytes())
    while True:
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            sleep(rng.uniform(0.0, 0.1))
            process.kill()
        assert path.read_bytes() in whole, "neither the old nor the new file"
        write(path, random_instance(SIZES[0], nearest=1))
        assert [file.name for file in folder.iterdir()] == ["a.json"], "something was left behind"
        yield
