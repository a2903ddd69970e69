"""OSRM and Valhalla themselves, on this machine: their wheels are unpacked into a temporary folder.

The wheels come from the package index, or from the folder that COVERTOUR_TEST_WHEELS names. Where
they cannot be had, or do not run here, these tests are skipped.
"""

from __future__ import annotations

import platform
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from os import environ
from pathlib import Path

import numpy as np
import pytest
from maps import ORDINO

from covertour import Instance, MaxIterations, solve, verify, with_roads
from covertour.roads.network import kilometres
from covertour.roads.server import Server

SHARED = Path(__file__).parents[3] / "shared" / "data" / "roads" / "monaco.osm.pbf"
SECONDS = 120


def unpacked(name: str, folder: Path) -> Path:
    """The content of a wheel with programs for this machine."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip(f"{name}: the programs in its wheel are for Linux on x86_64")
    where = environ.get("COVERTOUR_TEST_WHEELS")
    source = ["--no-index", "--find-links", where] if where else []
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    command += ["--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
    command += ["--platform", "manylinux_2_28_x86_64", "--dest", str(folder), *source, name]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError):
        pytest.skip(f"{name}: its wheel cannot be had here")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for program in folder.glob("*/bin/*"):
        program.chmod(0o755)
    return folder


def run(*command: object) -> None:
    """Run a program to its end; skip where it does not run on this machine."""
    try:
        subprocess.run([*map(str, command)], check=True, capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{command[0]} does not run here: {error}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def extract(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Monaco where it is at hand, else Ordino; in a folder of its own."""
    source = SHARED if SHARED.exists() else ORDINO
    return Path(shutil.copyfile(source, tmp_path_factory.mktemp("extract") / source.name))


@pytest.fixture(scope="module")
def towns(extract: Path) -> Instance:
    """The towns, villages and quarters of the extract."""
    import osmium

    kinds = ("city", "town", "village", "suburb")
    found = [
        (node.lon, node.lat, node.tags["name"])
        for node in osmium.FileProcessor(str(extract), osmium.osm.NODE).with_filter(
            osmium.filter.KeyFilter("place")
        )
        if node.tags["place"] in kinds
    ]
    points, names = [place[:2] for place in found], [place[2] for place in found]
    return Instance.from_coordinates(points, metric="haversine", radius=1.5, labels=names)


@pytest.fixture(scope="module")
def osrm(extract: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an OSRM server that takes tables of 20 places at most."""
    folder = unpacked("osrm-bindings", tmp_path_factory.mktemp("osrm"))
    programs = folder / "osrm" / "bin"
    roads = shutil.copyfile(extract, folder / "roads.osm.pbf")
    run(programs / "osrm-extract", "-p", folder / "osrm/share/profiles/car.lua", roads)
    run(programs / "osrm-contract", folder / "roads.osrm")
    port = free_port()
    command = [programs / "osrm-routed", "-i", "127.0.0.1", "-p", port, "--max-table-size", 20]
    with subprocess.Popen(
        [*map(str, command), str(folder / "roads.osrm")], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        for line in server.stdout:
            if "waiting for requests" in line:
                break
        yield f"http://127.0.0.1:{port}"
        server.kill()


@pytest.fixture(scope="module")
def valhalla(extract: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Valhalla server."""
    folder = unpacked("pyvalhalla", tmp_path_factory.mktemp("valhalla"))
    programs, port = folder / "valhalla" / "bin", free_port()
    (folder / "tiles").mkdir()
    made = subprocess.run(
        [
            *(sys.executable, str(folder / "valhalla" / "valhalla_build_config.py")),
            *("--mjolnir-tile-dir", str(folder / "tiles"), "--mjolnir-tile-extract", ""),
            *("--httpd-service-listen", f"tcp://127.0.0.1:{port}"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"Valhalla cannot be configured here: {made.stderr[-200:]}")
    (folder / "valhalla.json").write_text(made.stdout)
    run(programs / "valhalla_build_tiles", "-c", folder / "valhalla.json", extract)
    command = [str(programs / "valhalla_service"), str(folder / "valhalla.json"), "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        address = f"http://127.0.0.1:{port}"
        waiting = Server(address, timeout=2.0, pauses=(0.5,) * 60)
        waiting.ask("/status")
        waiting.close()
        yield address
        server.kill()


def check(towns: Instance, extract: Path, by_server: Instance) -> None:
    """Distances of a server are about ours, tours are verified, lines run from stop to stop."""
    ours = with_roads(towns, extract)
    assert ours.matrix is not None
    assert by_server.matrix is not None
    apart = ~np.eye(towns.n, dtype=bool)
    ratio = by_server.matrix[apart] / ours.matrix[apart]
    assert 0.85 < np.median(ratio) < 1.15
    result = solve(by_server, stop=MaxIterations(200))
    assert verify(by_server, result.tour).ok
    stops = result.tour.places.tolist()
    assert len(stops) > 1
    line = by_server.roads.lines.line(stops[0], stops[1])
    assert line[[0, -1]] == pytest.approx(towns.coordinates[stops[:2]])
    length = kilometres(line[:-1], line[1:]).sum()
    assert length == pytest.approx(by_server.matrix[stops[0], stops[1]], rel=0.1, abs=0.3)


def test_osrm_measures_about_as_we_do(osrm: str, towns: Instance, extract: Path) -> None:
    by_server = with_roads(towns, osrm)
    check(towns, extract, by_server)
    assert by_server.roads.unit == "km"
    in_minutes = with_roads(towns, osrm, by="time")
    assert in_minutes.roads.unit == "min"
    assert not in_minutes.symmetric


def test_valhalla_measures_about_as_we_do(valhalla: str, towns: Instance, extract: Path) -> None:
    by_server = with_roads(towns, f"valhalla+{valhalla}", cover="foot")
    check(towns, extract, by_server)
    on_foot = with_roads(towns, extract, cover="foot")
    assert len(by_server.roads.pair) == pytest.approx(len(on_foot.roads.pair), rel=0.3)
