"""Routing servers that misbehave: each way of it gets its line, and nothing is half done."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from covertour import InputError, Instance, with_roads
from covertour.roads import server as serving
from covertour.roads.server import Server

Answer = Callable[[BaseHTTPRequestHandler, int], None]
"""Answers a request, the so-manieth, however it likes."""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], str]]:
    """Starts a server on this machine that answers as it is told; its address."""
    monkeypatch.setattr(serving, "PAUSES", (0.0, 0.0))
    running: list[ThreadingHTTPServer] = []

    def started(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            asked = 0

            def do_GET(self) -> None:
                Handler.asked += 1
                answer(self, Handler.asked)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        running.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield started
    for server in running:
        server.shutdown()
        server.server_close()


def say(request: BaseHTTPRequestHandler, content: bytes, status: int = 200) -> None:
    request.send_response(status)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


def say_json(request: BaseHTTPRequestHandler, value: Any, status: int = 200) -> None:
    say(request, json.dumps(value).encode(), status)


def table(request: BaseHTTPRequestHandler) -> dict[str, Any]:
    """What OSRM would say: places are as many kilometres apart as their longitudes differ by."""
    path, _, query = request.path.partition("?")
    where = [float(pair.split(",")[0]) for pair in path.rpartition("/")[2].split(";")]
    parts = dict(part.split("=") for part in query.split("&"))
    rows, columns = ([*map(int, parts[k].split(";"))] for k in ("sources", "destinations"))
    far = [[abs(where[a] - where[b]) * 1000 for b in columns] for a in rows]
    return {"code": "Ok", "distances": far, "sources": [{"distance": 7.0} for _ in rows]}


def places(n: int = 3) -> Instance:
    return Instance.from_coordinates(
        [[k / 10, 0] for k in range(n)],
        metric="haversine",
        radius=0.15,
        labels=[f"p{k}" for k in range(n)],
    )


def test_a_table_comes_in_tiles(serve: Callable[[Answer], str]) -> None:
    asked: list[int] = []

    def answer(request: BaseHTTPRequestHandler, turn: int) -> None:
        asked.append(turn)
        say_json(request, table(request))

    notes: list[str] = []
    instance = with_roads(places(120), serve(answer), on_note=notes.append)
    line = np.arange(120) / 10
    assert instance.matrix == pytest.approx(np.abs(line[:, None] - line), abs=1e-9)
    assert len(asked) == 9 + 9  # for the tour, and for who covers whom
    assert notes == ["places: the nearest road is 7 m away on average, 7 m at most (p0)"]
    assert [members.tolist() for members in instance.rule.sets[:2]] == [[1], [0, 2]]


def test_the_limit_of_a_server_is_respected(serve: Callable[[Answer], str]) -> None:
    def answer(request: BaseHTTPRequestHandler, _: int) -> None:
        if request.path.count(";") > 40:
            say_json(request, {"code": "TooBig", "message": "Too many table coordinates"}, 400)
        else:
            say_json(request, table(request))

    instance = with_roads(places(30), serve(answer))
    assert instance.matrix[0, 29] == pytest.approx(2.9)


def test_a_server_that_allows_nothing_is_refused(serve: Callable[[Answer], str]) -> None:
    address = serve(lambda request, _: say_json(request, {"code": "TooBig"}, 400))
    with pytest.raises(InputError, match="refuses even a single way"):
        with_roads(places(), address)


def test_a_busy_server_is_asked_again(serve: Callable[[Answer], str]) -> None:
    def answer(request: BaseHTTPRequestHandler, turn: int) -> None:
        if turn == 1:
            say(request, b"wait", 503)
        elif turn == 2:
            request.close_connection = True  # without a word
        else:
            say_json(request, table(request))

    assert with_roads(places(), serve(answer)).matrix[0, 2] == pytest.approx(0.2)


def broken(**changes: Any) -> Answer:
    return lambda request, _: say_json(request, table(request) | changes)


NONSENSE: dict[str, tuple[Answer, str]] = {
    "no JSON": (lambda request, _: say(request, b"<html>Hello"), "expected JSON"),
    "nothing": (lambda request, _: say(request, b""), "expected JSON"),
    "a list": (lambda request, _: say_json(request, [1]), "an object with a code"),
    "no table": (broken(distances=None), "expected 3 rows of 3 numbers"),
    "a row too few": (broken(distances=[[0, 1, 2]] * 2), "expected 3 rows of 3 numbers"),
    "a short row": (broken(distances=[[0, 1, 2], [0, 1], [0, 1, 2]]), "3 rows of 3"),
    "texts": (broken(distances=[["0"] * 3] * 3), "expected numbers >= 0, got '0'"),
    "truths": (broken(distances=[[True] * 3] * 3), "expected numbers >= 0, got True"),
    "negative": (broken(distances=[[0, 1, -2]] * 3), "expected numbers >= 0, got -2"),
    "endless": (
        lambda request, _: say(request, b'{"code": "Ok", "distances": [[NaN, 1, 2]]}'),
        "expected JSON",
    ),
    "no sources": (broken(sources=[]), "sources: expected 3"),
    "an error": (
        lambda request, _: say_json(request, {"code": "InvalidQuery", "message": "bad"}, 400),
        "refuses: InvalidQuery: 'bad'",
    ),
    "always busy": (lambda request, _: say_json(request, {"code": "Busy"}, 503), "refuses: Busy"),
    "off the road": (
        broken(sources=[{"distance": 7}, {"distance": 7000}, {"distance": 7}]),
        "more than 2 km from any road: place p1;",
    ),
    "no segment": (
        lambda request, _: say_json(
            request,
            {"code": "NoSegment", "message": "Could not find a segment for coordinate 4"},
            400,
        ),
        "has no road near place p1",
    ),
    "an island": (
        broken(distances=[[0, 1, None], [1, 0, None], [None, None, 0]]),
        "separate pieces; place p2 cannot be reached",
    ),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_one_line(serve: Callable[[Answer], str], kind: str) -> None:
    answer, complaint = NONSENSE[kind]
    address = serve(answer)
    with pytest.raises(InputError) as refused:
        with_roads(places(), address)
    assert complaint in str(refused.value)
    assert str(refused.value).startswith(address)
    assert "\n" not in str(refused.value)


def test_a_server_that_breaks_off_is_told_of(serve: Callable[[Answer], str]) -> None:
    def answer(request: BaseHTTPRequestHandler, _: int) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b'{"code": "Ok"')
        request.close_connection = True

    with pytest.raises(InputError, match="breaks off its answer"):
        with_roads(places(), serve(answer))


def test_a_slow_server_is_not_waited_for(serve: Callable[[Answer], str]) -> None:
    over = threading.Event()
    address = serve(lambda request, _: over.wait(5.0) and None)
    with pytest.raises(InputError, match=r"did not answer within 0\.1 s"):
        Server(address, timeout=0.1, pauses=()).ask("/table")
    over.set()


def test_a_server_that_drips_is_not_waited_for(serve: Callable[[Answer], str]) -> None:
    over = threading.Event()

    def answer(request: BaseHTTPRequestHandler, _: int) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000000")
        request.end_headers()
        while not over.wait(0.02):
            try:
                request.wfile.write(b" ")
            except OSError:
                return

    address = serve(answer)
    with pytest.raises(InputError, match=r"did not answer within 0\.2 s"):
        Server(address, timeout=0.2, pauses=()).ask("/table")
    over.set()


def test_a_server_that_dies_half_way_is_told_of(serve: Callable[[Answer], str]) -> None:
    def answer(request: BaseHTTPRequestHandler, turn: int) -> None:
        if turn <= 2:
            say_json(request, table(request))
        else:
            request.close_connection = True

    with pytest.raises(InputError, match="the routing server cannot be reached"):
        with_roads(places(120), serve(answer))


def test_nobody_there_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "PAUSES", (0.0,))
    with pytest.raises(InputError, match=r"127\.0\.0\.1:1: the routing server cannot be reached"):
        with_roads(places(), "http://127.0.0.1:1")


@pytest.mark.parametrize(
    "address", ["http://", "http://host:port", "http://host?x=1", "ftp://host", "valhalla+ftp://x"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="expected the address of a routing server"):
        with_roads(places(), address)


def test_other_kinds_of_servers_are_refused() -> None:
    with pytest.raises(InputError, match=r"valhalla\+http://… for a Valhalla server"):
        with_roads(places(), "google+http://host")


def test_an_osrm_server_knows_one_way_of_travelling(serve: Callable[[Answer], str]) -> None:
    address = serve(lambda request, _: say_json(request, table(request)))
    with pytest.raises(InputError, match="knows one way of travelling"):
        with_roads(places(), address, cover="foot")

    def twice(request: BaseHTTPRequestHandler, _: int) -> None:
        found = table(request)
        found["distances"] = [[2 * far for far in row] for row in found["distances"]]
        say_json(request, found)

    instance = with_roads(places(), address, cover=serve(twice))
    assert [members.tolist() for members in instance.rule.sets] == [[], [], []]
    by_air = with_roads(places(), address, cover="air")
    assert [members.tolist() for members in by_air.rule.sets] == [[], [], []]


def valhalla(request: BaseHTTPRequestHandler, brief: bool = False) -> dict[str, Any]:
    """What Valhalla would say, with an object for each pair or in brief."""
    length = int(request.headers["Content-Length"])
    asked = json.loads(request.rfile.read(length))
    far = [[abs(a["lon"] - b["lon"]) for b in asked["targets"]] for a in asked["sources"]]
    slower = 60.0 if asked["costing"] == "auto" else 720.0
    if brief:
        times = [[slower * km for km in row] for row in far]
        return {"sources_to_targets": {"distances": far, "durations": times}}
    return {
        "sources_to_targets": [[{"distance": km, "time": slower * km} for km in row] for row in far]
    }


@pytest.mark.parametrize("brief", [False, True])
def test_valhalla_is_asked_in_its_own_words(serve: Callable[[Answer], str], brief: bool) -> None:
    address = serve(lambda request, _: say_json(request, valhalla(request, brief)))
    instance = with_roads(places(60), f"valhalla+{address}", by="time", cover="foot")
    assert instance.matrix[0, 59] == pytest.approx(5.9)
    assert instance.roads.unit == "min"
    assert instance.rule.sets[0].tolist() == [1]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "expected an object"),
        ({"sources_to_targets": [[1]]}, "expected 3 rows of 3 numbers"),
        ({"sources_to_targets": {"distances": 5}}, "expected 3 rows of 3 numbers"),
        ({"error": "No tiles", "error_code": 445, "status_code": 400}, "refuses: 'No tiles'"),
    ],
)
def test_nonsense_of_valhalla_is_one_line(
    serve: Callable[[Answer], str], value: Any, complaint: str
) -> None:
    address = serve(lambda request, _: say_json(request, value))
    with pytest.raises(InputError, match=complaint):
        with_roads(places(), f"valhalla+{address}")


def test_a_line_that_is_none_is_nonsense(serve: Callable[[Answer], str]) -> None:
    def answer(request: BaseHTTPRequestHandler, _: int) -> None:
        route = request.path.startswith("/route")
        wrong = {"code": "Ok", "routes": [{"geometry": {"coordinates": [[1, "x"]]}}]}
        say_json(request, wrong if route else table(request))

    instance = with_roads(places(), serve(answer))
    with pytest.raises(InputError, match="expected a route with a line"):
        instance.roads.lines.line(0, 1)
