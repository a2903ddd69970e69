"""``python -m experiments``."""

import sys

from experiments.command import run

if __name__ == "__main__":  # not in the processes that prove side by side
    sys.exit(run(sys.argv[1:]))
