"""Build the wheel and the sdist, and try each in an environment that has nothing else.

``make dist``, or ``python .ci/dist.py --python python3.12 --python python3.13`` to try them with
other interpreters too. The files are left in dist/.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
MUST_HAVE = (
    "covertour/py.typed",
    "covertour/data/senegal.csv",
    "covertour/formats/schemas/instance.json",
    "covertour/neural/weights/am-gain/weights.safetensors",
    "covertour/plot/outlines/countries.npz",
    "covertour/web/page/index.html",
)
PLACES = """name,lat,lon,depot
Kaolack,14.165,-16.076,yes
Fatick,14.339,-16.411,
Gossas,14.494,-16.065,
"""
TRY = """
import sys
import covertour
from covertour.data import demo_path

towns = covertour.read(demo_path(), radius=20)
result = covertour.solve(towns, iterations=2_000)
assert covertour.verify(towns, result.tour).ok
assert covertour.solve(covertour.random_instance(30, nearest=7), "exact").optimal
assert covertour.solve(towns, "am-gain").length > 0
assert "torch" not in sys.modules
print(f"  python {sys.version.split()[0]}: {len(result.tour)} stops, {result.length:,.1f} km")
"""


def run(*command: str | Path, cwd: Path = ROOT, quiet: bool = True) -> str:
    """What a command prints; its complaints are shown where it fails."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=clean, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    if not quiet:
        print(ran.stdout, end="")
    return ran.stdout


def environment(folder: Path, python: str, *packages: str | Path) -> Path:
    """A new virtual environment with these packages; the directory of its programs."""
    run(python, "-m", "venv", folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    pip = [programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run(*pip, "--constraint", ROOT / "constraints.txt", *packages)
    return programs


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of this directory, in dist/."""
    programs = environment(folder / "build", sys.executable, "hatchling")
    for old in DIST.glob("covertour-*"):
        old.unlink()
    run(programs / "python", "-m", "hatchling", "build", "-d", DIST)
    (wheel,), (sdist,) = DIST.glob("covertour-*.whl"), DIST.glob("covertour-*.tar.gz")
    return wheel, sdist


def contents(wheel: Path) -> dict[str, str]:
    """The files of a wheel by name, each as a checksum."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def check_contents(wheel: Path, sdist: Path, folder: Path) -> None:
    """The wheel has what it needs and no more, and the sdist makes the same wheel."""
    found = contents(wheel)
    missing = [name for name in MUST_HAVE if name not in found]
    stray = [name for name in found if not name.startswith("covertour")]
    if missing or stray:
        raise SystemExit(f"{wheel.name}: missing {missing}, not ours {stray}")
    python = folder / "build" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    run(*pip, "--no-build-isolation", "--wheel-dir", folder / "again", sdist)
    (again,) = (folder / "again").glob("*.whl")
    if contents(again) != found:
        raise SystemExit(f"{sdist.name} makes another wheel than the directory does")


def try_out(package: Path, python: str, folder: Path) -> None:
    """Install a package alone and use it, from the command line and from Python."""
    programs = environment(folder, python, package)
    work = folder / "work"
    work.mkdir()
    (work / "places.csv").write_text(PLACES, encoding="utf-8")
    covertour = programs / "covertour"
    version = run(covertour, "--version", cwd=work).strip()
    if version != f"covertour {package.name.split('-')[1].removesuffix('.tar.gz')}":
        raise SystemExit(f"{package.name} says it is {version}")
    solve = ["solve", "places.csv", "--radius", "40", "--iterations", "500", "--quiet"]
    run(covertour, *solve, "-o", "map.html", "-o", "tour.csv", cwd=work)
    run(covertour, "check", "places.csv", "tour.csv", "--radius", "40", cwd=work)
    run(programs / "python", "-W", "error", "-c", TRY, cwd=work, quiet=False)


def main() -> None:
    """Build, look inside, install, use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="also try this interpreter")
    others = parser.parse_args().python
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build(folder)
        check_contents(wheel, sdist, folder)
        for package in (wheel, sdist):
            print(f"{package.relative_to(ROOT)}: {package.stat().st_size / 1e6:.1f} MB")
        try_out(sdist, sys.executable, folder / "from-sdist")
        for number, python in enumerate([sys.executable, *others]):
            try_out(wheel, python, folder / f"from-wheel-{number}")
    print("built and tried")


if __name__ == "__main__":
    main()
