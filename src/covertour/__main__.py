"""The program ``covertour``, also ``python -m covertour``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C is answered in a line from the first moment on."""
    try:
        from covertour.cli import main as run
    except KeyboardInterrupt:
        print("covertour: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
