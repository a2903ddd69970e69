"""What nobody should send: each is refused with a problem, and the server goes on."""

from __future__ import annotations

import json
import random
import socket
from contextlib import suppress

import httpx

from tests.web.test_api import SQUARE

JSON = {"content-type": "application/json"}
GOOD = json.dumps({"instance": SQUARE, "stop": {"iterations": 1}}).encode()


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + closing * depth).encode()


def orders(**fields: object) -> bytes:
    return json.dumps({"instance": SQUARE} | fields).encode()


def instances(**fields: object) -> bytes:
    return json.dumps({"instance": SQUARE | fields}).encode()


def hostile() -> list[bytes]:
    """Two hundred bodies that make no sense, each in a way of its own."""
    huge = "9" * 5_000
    bodies = [
        *(
            b"",
            b" ",
            b"null",
            b"true",
            b"3",
            b'"x"',
            b"[]",
            b"{}",
            b"{",
            b"[",
            b'{"instance"',
            b"\x00",
        ),
        *(
            b"\xff\xfe",
            "{}".encode("utf-16"),
            b"\xef\xbb\xbf",
            b"\x80" * 1000,
            b"%PDF-1.4",
            b"PK\x03\x04",
        ),
        *(b"NaN", b"Infinity", b"-Infinity", b"1e999", huge.encode(), f"[{huge}]".encode()),
        *(nested(100_000), nested(100_000, '{"a":', "}"), nested(5_000, '{"instance":', "}")),
        *(GOOD[:cut] for cut in range(1, len(GOOD) - 1, 4)),
        *(GOOD + tail for tail in (b"}", b"x", b",{}", b"\x00", GOOD)),
        b'{"instance": {}, "instance": {}}',
        *(
            orders(**{field: 1})
            for field in ("path", "file", "workers", "weights", "__class__", "x" * 9999)
        ),
        *(
            orders(method=value)
            for value in ("", "LNS", "../lns", None, 1, [], {}, "lns\x00", "l" * 99_999)
        ),
        *(orders(seed=value) for value in (-1, 1.5, "0", None, True, [], 2**64, -(2**70))),
        *(orders(stop=value) for value in (1, "1", [], [1], True)),
        *(
            orders(stop={field: value})
            for field in ("seconds", "iterations", "gap", "length", "idle_seconds")
            for value in (-1, "1", True, [], {}, 1e400 if field == "gap" else -1e308)
        ),
        *(orders(start=value) for value in (0, "0", [-1], [4], [0.5], [None], [[0]], {}, [2**70])),
        *(
            json.dumps({"instance": value}).encode()
            for value in (None, 1, "file.csv", [], [SQUARE], True)
        ),
        *(
            instances(coordinates=value)
            for value in (
                *(
                    None,
                    1,
                    "x",
                    [],
                    {},
                    [1, 2],
                    [[1]],
                    [[1, 2, 3]],
                    [["0", "1"]],
                    [[None, 1]],
                    [[True, 0]],
                ),
                *([[0, 0], [1]], [[1e308, 0], [-1e308, 0]], [[[0, 0]]], [{}], [[0, 10**400]]),
            )
        ),
        *(instances(matrix=value) for value in ([[0]], [[0, 1]], "x", [[-1]], [], [[0, 1], [1]])),
        *(instances(metric=value) for value in ("miles", 1, [], "matrix", "../x")),
        *(
            instances(coverage=value)
            for value in (
                *(
                    1,
                    "radius",
                    [],
                    {},
                    {"radius": -1},
                    {"radius": "1"},
                    {"radius": [1]},
                    {"nearest": -1},
                ),
                *(
                    {"nearest": 1.5},
                    {"nearest": 10**30},
                    {"sets": [[9]]},
                    {"sets": [[0]]},
                    {"sets": 1},
                ),
                *(
                    {"radius": 1, "nearest": 1},
                    {"reach": 1},
                    {"radius": None},
                    {"sets": [[0], [1], [2], [-1]]},
                ),
            )
        ),
        *(
            instances(**{field: value})
            for field in ("required", "forbidden")
            for value in (1, "0", [9], [-1], [0.5], [None], [[0]], {"0": 1})
        ),
        *(instances(depot=value) for value in (-1, 4, 0.5, "0", [], {}, True)),
        *(
            instances(labels=value)
            for value in (1, "abcd", [], ["a"], [1, 2, 3, 4], [None] * 4, {})
        ),
        *(instances(weight=value) for value in (1, "x", [1], [-1, 0, 0, 0], ["1"] * 4)),
        *(
            instances(quota=value)
            for value in (1, {}, {"share": 2}, {"share": -1}, {"share": "1"}, {"part": 1})
        ),
        *(instances(budget=value) for value in (-1, "1", [], {})),
        *(
            instances(fleet=value)
            for value in (1, [], {"vehicles": 0}, {"vehicles": 1.5}, {"trucks": 1})
        ),
        *(instances(**{field: 1}) for field in ("path", "file", "url", "features", "type")),
        instances(labels=["\ud800"] * 4),
        instances(forbidden=[0, 1, 2, 3]),
    ]
    rng = random.Random(19)
    while len(bodies) < 260:
        broken = bytearray(GOOD)
        at = rng.randrange(len(broken))
        broken[at] ^= 1 << rng.randrange(7)
        if not _is_json(bytes(broken)):
            bodies.append(bytes(broken))
    return bodies


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_hostile_bodies_are_all_refused_and_the_server_lives(client):
    bodies = hostile()
    assert len(set(bodies)) >= 200
    for body in bodies:
        for path in ("/v1/solve", "/v1/jobs"):
            response = client.post(path, content=body, headers=JSON)
            assert 400 <= response.status_code < 500, (path, body[:200], response.text)
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["detail"], body[:200]
    assert client.post("/v1/solve", content=GOOD, headers=JSON).status_code == 200
    assert client.get("/v1/health").json()["status"] == "ok"


def test_hostile_files_are_all_refused_or_read(client):
    rng = random.Random(5)
    for name in (
        "a.csv",
        "a.json",
        "a.geojson",
        "a.tsp",
        "a.npy",
        "a.xlsx",
        "a.kml",
        "a.gpkg",
        "a.zip",
        "a",
    ):
        for content in (
            b"\x00" * 100,
            b"<" * 1000,
            b'{"type":"FeatureCollection"}',
            rng.randbytes(3000),
            nested(50_000),
        ):
            response = client.post("/v1/read", params={"name": name}, content=content)
            assert response.status_code in (200, 413, 422), (name, content[:40], response.text)


def test_a_large_body_is_refused_before_it_is_read(client):
    address = (client.base_url.host, client.base_url.port)
    with socket.create_connection(address, timeout=30) as line:
        line.sendall(
            b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 99999999999\r\n\r\n"
        )
        assert line.recv(64).startswith(b"HTTP/1.1 413")


def test_a_body_without_end_is_cut_off(client):
    def endless():
        for _ in range(40):
            yield b" " * 1_000_000

    with suppress(httpx.TransportError):  # it may hang up while we are still sending
        assert client.post("/v1/jobs", content=endless(), headers=JSON).status_code == 413
    assert client.get("/v1/health").status_code == 200


def test_what_is_no_http_is_hung_up_on(client):
    address = (client.base_url.host, client.base_url.port)
    with socket.create_connection(address, timeout=30) as line:
        line.sendall(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")
        assert line.recv(64).startswith(b"HTTP/1.1 400")
    assert client.get("/v1/health").status_code == 200
