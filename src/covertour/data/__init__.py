"""The bundled example: the towns and villages of Senegal, from GeoNames (CC BY 4.0)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def demo_path() -> Path:
    """Where ``senegal.csv`` is: name, lat, lon, population, depot (1 for Dakar, else 0)."""
    return Path(str(files(__name__) / "senegal.csv"))
