"""Make the pictures of the README: ``.venv/bin/python docs/images/make.py`` (needs chromium)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

import covertour
from covertour.data import demo_path
from covertour.formats.html import html_map
from covertour.plot import plot_tour

HERE = Path(__file__).parent


def draw_picture(instance: covertour.Instance, result: covertour.Result) -> None:
    """The tour as ``senegal.png``."""
    plot_tour(instance, result).figure.savefig(HERE / "senegal.png", dpi=150)
    shrink(HERE / "senegal.png")


def draw_frontier(instance: covertour.Instance) -> None:
    """How far to travel to reach how many people, as ``senegal-frontier.png``."""
    found = covertour.frontier(instance, seconds=20.0)
    found.plot().figure.savefig(HERE / "senegal-frontier.png", dpi=150)
    shrink(HERE / "senegal-frontier.png")


def photograph_map(instance: covertour.Instance, result: covertour.Result) -> None:
    """The HTML map in a browser, as ``senegal-map.png``."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        raise SystemExit("make.py: needs the browser chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "senegal.html"
        page.write_text(html_map(instance, result), encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={folder}/profile",
            "--window-size=1400,900",
            "--virtual-time-budget=3000",
            f"--screenshot={HERE / 'senegal-map.png'}",
        ]
        subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True)
    shrink(HERE / "senegal-map.png")


def shrink(path: Path) -> None:
    """Keep 256 colours, which are enough for lines and letters, in less than half the size."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main() -> None:
    """Solve the bundled example and make the pictures."""
    instance = covertour.read(demo_path(), radius=20)
    result = covertour.solve(instance)
    draw_picture(instance, result)
    photograph_map(instance, result)
    draw_frontier(instance)


if __name__ == "__main__":
    main()
