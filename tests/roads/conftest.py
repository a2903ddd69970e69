"""Small road maps for the tests, written as OpenStreetMap XML."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from maps import ORDINO, Draw, Way, at

pytest.importorskip("osmium", reason="needs the extra roads: pip install 'covertour[roads]'")


@pytest.fixture
def draw(tmp_path: Path) -> Draw:
    """Write a map: nodes by number at kilometres (x, y), ways as (nodes, tags), tags of nodes."""

    def written(
        nodes: Mapping[int, tuple[float, float]],
        ways: Sequence[Way],
        tags: Mapping[int, Mapping[str, str]] | None = None,
        name: str = "map.osm",
    ) -> Path:
        def inside(pairs: Mapping[str, str]) -> str:
            return "".join(f'<tag k="{key}" v="{value}"/>' for key, value in pairs.items())

        lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<osm version="0.6">']
        for number, (x, y) in sorted(nodes.items()):
            east, north = at(x, y)
            own = inside((tags or {}).get(number, {}))
            lines.append(f'<node id="{number}" lat="{north:.7f}" lon="{east:.7f}">{own}</node>')
        for number, (refs, pairs) in enumerate(ways, start=1):
            points = "".join(f'<nd ref="{ref}"/>' for ref in refs)
            lines.append(f'<way id="{number}">{points}{inside(pairs)}</way>')
        file = tmp_path / name
        file.write_text("\n".join([*lines, "</osm>\n"]), encoding="utf-8")
        return file

    return written


@pytest.fixture
def ordino(tmp_path: Path) -> Path:
    """A copy of the real extract, beside which matrices may be kept."""
    return Path(shutil.copy(ORDINO, tmp_path / "ordino.osm.pbf"))
