"""On what a benchmark ran: processor, memory, Python and the packages that matter."""

from __future__ import annotations

import os
import platform
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from covertour.version import __version__

PACKAGES = ("numpy", "numba", "highspy")


Facts = list[tuple[str, str]]
"""What was measured on, and when, as pairs of what and value."""


def machine() -> Facts:
    """What was measured on, and when, as pairs of what and value."""
    return [
        ("date", datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")),
        ("processor", _processor()),
        ("cores", str(os.cpu_count() or "unknown")),
        ("memory", _memory()),
        ("system", f"{platform.system()} {platform.release()}"),
        ("python", platform.python_version()),
        ("covertour", __version__),
        *((name, _version(name)) for name in PACKAGES),
    ]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """The model's name; Linux keeps it in /proc, elsewhere platform knows it."""
    return _line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()


def _memory() -> str:
    total = _line("/proc/meminfo", "MemTotal")
    return f"{int(total.split()[0]) / 2**20:.1f} GiB" if total else "unknown"


def _line(path: str, name: str) -> str:
    """The value of the first line with this name in a file of ``name: value`` lines, or nothing."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def peak_gigabytes() -> float | None:
    """The most memory this process ever held, in GB of 10^9 bytes; None where nobody tells.

    Linux's VmHWM is asked first: ru_maxrss there also counts the process that started this one.
    """
    high_water = _line("/proc/self/status", "VmHWM")
    if high_water:
        return int(high_water.split()[0]) * 1024 / 1e9
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
