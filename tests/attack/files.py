"""Damaged files of every format, and nonsense on the command line: read, or refused in one line."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import solvers

from covertour import InputError, Instance, cli, make_tour, read, read_tour
from covertour.formats import INSTANCE_ENDINGS, TOUR_ENDINGS, encode

SCRAPS = (
    *(b"", b"0", b"-1", b"1e999", b"nan", b"null", b"true", b"[]", b"{}", b'"', b",", b"\n", b":"),
    *(b"\xff", b"\0", b"'", b"=", b";", b"<", b"&", b"<!--", b"\xef\xbb\xbf", b"1" * 5000),
    *(b"[" * 2000, b'{"a":' * 2000, b"9223372036854775808", b"-9223372036854775809", b"1e-200"),
)

LABELS = ("a", "Thiès", '"q", "r"', "=1+1", "'-x", "two\nlines", "<b>", "", " spaced ", "\x07")


def instances(rng: Random, folder: Path) -> Iterator[None]:
    """A damaged instance is read or refused."""
    while True:
        ending = rng.choice(INSTANCE_ENDINGS)
        content = _content(rng, ending.removeprefix("."), with_tour=False)
        if content is None:
            continue
        path = folder / f"a{ending}"
        path.write_bytes(_damaged(rng, content))
        with _only_refused(path):
            read(path, radius=1, on_note=str)
            read(path, on_note=str)
        yield


def tours(rng: Random, folder: Path) -> Iterator[None]:
    """A damaged tour is read or refused."""
    places = Instance.from_coordinates(
        [[i, i % 3] for i in range(9)], metric="haversine", nearest=2, labels=LABELS[:9]
    )
    while True:
        ending = rng.choice(TOUR_ENDINGS)
        content = _content(rng, ending.removeprefix("."), with_tour=True)
        if content is None:
            continue
        path = folder / f"a{ending}"
        path.write_bytes(_damaged(rng, content))
        with _only_refused(path):
            tour = read_tour(path, places)
            encode(places, tour, rng.choice(("html", "json", "csv", "gpx", "geojson", "tour")))
        yield


def arguments(rng: Random, folder: Path) -> Iterator[None]:
    """Whatever is typed ends in an exit code and at most one line on standard error."""
    (folder / "a.csv").write_text("name,x,y\na,0,0\nb,1,0\nc,5,5\n")
    (folder / "t.json").write_text("[0, 2]")
    words = [
        *("a.csv", "t.json", "-", "none.csv", "--radius", "--nearest", "--metric", "--depot", "1"),
        *(
            "2",
            "-1",
            "nan",
            "1e999",
            "b",
            "0,2",
            "haversine",
            "--required",
            "--forbidden",
            "--json",
        ),
        *(
            "--output",
            "o.csv",
            "o.html",
            "x\0y.json",
            "x\ud800.json",
            "--tour",
            "9" * 5000,
            "=",
            "",
        ),
    ]
    while True:
        verb = rng.choice(("check", "convert", "info", "generate", "methods"))
        typed = [verb, *rng.choices(words, k=rng.randint(0, 6))]
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _input(b"x,y\n1,2\n"),
        ):
            code = cli.run(typed)
        told = [line for line in err.getvalue().splitlines() if "not used" not in line]
        if code not in (0, 1, 2) or len(told) > 1 or "this is a bug" in err.getvalue():
            raise AssertionError(f"{typed}: exit code {code}, {err.getvalue()}")
        yield


@contextlib.contextmanager
def _input(data: bytes) -> Iterator[None]:
    import sys

    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        yield
    finally:
        sys.stdin = before


def _content(rng: Random, kind: str, with_tour: bool) -> bytes | None:
    """A good file of a kind, where the instance that was drawn has one."""
    try:
        instance = solvers.random_problem(rng)
        if rng.random() < 0.5:
            instance = instance.with_changes(labels=rng.choices(LABELS, k=instance.n))
        tour = make_tour(instance, rng.sample(range(instance.n), rng.randint(1, instance.n)))
        return encode(instance, tour if with_tour else None, kind)
    except InputError:  # not in this format, or not covered
        return None


def _damaged(rng: Random, content: bytes) -> bytes:
    for _ in range(rng.randint(1, 4)):
        first = rng.randint(0, len(content))
        last = min(len(content), first + rng.choice((0, 0, 1, 1, 3, 30)))
        scrap = rng.choice((*SCRAPS, bytes([rng.randrange(256)]), content[first : first + 20]))
        content = content[:first] + scrap + content[last:]
    return content[: rng.randint(0, len(content))] if rng.random() < 0.2 else content


@contextlib.contextmanager
def _only_refused(path: Path) -> Iterator[None]:
    """Lets an InputError pass that names the file, on one line that is not too long."""
    try:
        yield
    except InputError as error:
        message = str(error)
        if (
            "\n" in message
            or len(message) > (3000 if "bad rows" in message else 500)
            or not re.search(rf"{path.name}|tour: |the char", message)
        ):
            raise AssertionError(f"unclear: {message}") from error
    except Exception:
        (path.parent / "broken").write_bytes(path.read_bytes())
        raise AssertionError(f"{path.name}: {path.read_bytes()[:3000]!r}") from None
