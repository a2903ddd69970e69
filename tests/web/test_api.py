"""The API as a developer uses it, over HTTP."""

from __future__ import annotations

import io
import json

import pytest

from covertour import Instance, random_instance, read, verify, write

SQUARE = {"coordinates": [[0, 0], [0, 1], [3, 0], [3, 1]], "coverage": {"radius": 1}}
CSV = b"name,x,y\nAlba,0,0\nBree,1,0\nCori,4,0\n"


def as_json(instance: Instance) -> dict:
    stream = io.BytesIO()
    write(stream, instance)
    return json.loads(stream.getvalue())


def refused(response, status: int, field: str | None = None) -> dict:
    """The problem that a response is, of this status and about this field."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["detail"]
    assert problem.get("field") == field
    return problem


def test_solve_answers_with_a_result_that_the_referee_accepts(client):
    instance = random_instance(60, nearest=5, seed=3)
    order = {"instance": as_json(instance), "stop": {"iterations": 2000}, "seed": 1}
    result = client.post("/v1/solve", json=order).json()
    assert verify(instance, result["tour"]).ok
    assert result["length"] == pytest.approx(instance.length(result["tour"]))
    again = client.post("/v1/solve", json=order).json()
    assert again["tour"] == result["tour"]


def test_a_small_instance_is_proven_at_once(client):
    result = client.post("/v1/solve", json={"instance": SQUARE}).json()
    assert (result["length"], result["stopped"]) == (6.0, "proven")


def test_a_search_starts_from_the_tour_that_is_given(client):
    instance = as_json(random_instance(60, nearest=5, seed=3))
    best = client.post("/v1/solve", json={"instance": instance, "stop": {"iterations": 3000}})
    order = {"instance": instance, "stop": {"iterations": 0}, "start": best.json()["tour"]}
    assert client.post("/v1/solve", json=order).json()["length"] <= best.json()["length"] * 1.0001


def test_geojson_is_an_instance_too(client):
    def town(name, at):
        point = {"type": "Point", "coordinates": at}
        return {"type": "Feature", "geometry": point, "properties": {"name": name, "radius": 20}}

    towns = [town("Dakar", [-17.4, 14.7]), town("Thiès", [-16.9, 14.8]), town("Mbour", [-17, 14.4])]
    value = {"type": "FeatureCollection", "features": towns}
    result = client.post("/v1/solve", json={"instance": value}).json()
    assert {stop["name"] for stop in result["stops"]} <= {"Dakar", "Thiès", "Mbour"}


@pytest.mark.parametrize(
    ("order", "field"),
    [
        ({}, "instance"),
        ({"instance": 3}, "instance"),
        (
            {"instance": {"coordinates": [[0, "1"]], "coverage": {"radius": 1}}},
            "instance.coordinates",
        ),
        ({"instance": {"coordinates": [[0, 1]]}}, "instance"),
        ({"instance": SQUARE | {"depot": 9}}, "instance.depot"),
        ({"instance": SQUARE, "method": "exakt"}, "method"),
        ({"instance": SQUARE, "method": ["lns"]}, "method"),
        ({"instance": SQUARE, "seed": -1}, "seed"),
        ({"instance": SQUARE, "seed": True}, "seed"),
        ({"instance": SQUARE, "stop": 3}, "stop"),
        ({"instance": SQUARE, "stop": {"seconds": "1"}}, "stop.seconds"),
        ({"instance": SQUARE, "stop": {"seconds": 1e9}}, "stop.seconds"),
        ({"instance": SQUARE, "stop": {"iterations": 0.5}}, "stop.iterations"),
        ({"instance": SQUARE, "stop": {"gap": 0.1}}, "stop.gap"),
        ({"instance": SQUARE, "stop": {"minutes": 1}}, "stop.minutes"),
        ({"instance": SQUARE, "start": [7]}, "start"),
        ({"instance": SQUARE, "start": "0"}, "start"),
        ({"instance": SQUARE, "tour": [0]}, "tour"),
    ],
)
def test_a_wrong_field_is_named(client, order, field):
    for path in ("/v1/solve", "/v1/jobs"):
        refused(client.post(path, json=order), 422, field)


def test_a_problem_says_what_was_found_and_what_is_allowed(client):
    order = {"instance": SQUARE, "stop": {"seconds": -2}}
    problem = refused(client.post("/v1/jobs", json=order), 422, "stop.seconds")
    assert (problem["found"], problem["allowed"]) == ("-2", "a number of seconds")
    assert problem["type"] == "/docs#problem-invalid"


def test_a_method_that_cannot_do_what_is_asked_is_refused(client):
    plain = {m["name"] for m in client.get("/v1/methods").json() if not m["handles"]}
    assert "ls1" in plain
    order = {"instance": SQUARE | {"visit_cost": 1}, "method": "ls1"}
    problem = refused(client.post("/v1/solve", json=order), 422, "method")
    assert "visit cost" in problem["detail"]


def test_what_is_no_json_is_told_where(client):
    response = client.post(
        "/v1/solve", content=b'{"instance":\n {,}}', headers={"content-type": "application/json"}
    )
    assert "line 2" in refused(response, 400, "body")["detail"]


def test_other_content_than_json_is_refused(client):
    response = client.post("/v1/jobs", content=CSV, headers={"content-type": "text/csv"})
    refused(response, 415, "content-type")


def test_too_many_places_are_refused_with_the_limit(client):
    many = {"coordinates": [[i, 0] for i in range(2_001)], "coverage": {"nearest": 1}}
    problem = refused(
        client.post("/v1/solve", json={"instance": many}), 413, "instance.coordinates"
    )
    assert problem["found"] == 2_001
    assert "2000" in problem["allowed"]


def test_what_is_not_there_and_what_is_not_done_are_problems(client):
    refused(client.get("/v1/nothing"), 404)
    refused(client.get("/v1/jobs/none"), 404)
    refused(client.get("/v1/jobs/none/events"), 404)
    refused(client.get("/v1/examples/none"), 404)
    response = client.put("/v1/solve", json={})
    refused(response, 405)
    assert response.headers["allow"] == "POST"


def test_check_asks_the_referee(client):
    right = client.post("/v1/check", json={"instance": SQUARE, "tour": [0, 2], "length": 6}).json()
    assert (right["ok"], right["length"], right["problems"]) == (True, 6.0, [])
    wrong = client.post("/v1/check", json={"instance": SQUARE, "tour": [0], "length": 6}).json()
    assert (wrong["ok"], wrong["uncovered"]) == (False, [2, 3])
    unknown = client.post("/v1/check", json={"instance": SQUARE, "tour": [0, -7]}).json()
    assert unknown["length"] is None
    refused(client.post("/v1/check", json={"instance": SQUARE, "tour": [0.5]}), 422, "tour")


def test_convert_writes_every_format_of_a_tour(client):
    towns = {
        "coordinates": [[-17.4, 14.7], [-16.9, 14.8], [-17, 14.4]],
        "metric": "haversine",
        "coverage": {"radius": 20},
    }
    formats = client.get("/v1/health").json()["formats"]["tour"]
    assert {"gpx", "geojson", "html", "csv", "png"} <= set(formats)
    for to in formats:
        order = {"instance": towns, "tour": [0, 1, 2], "to": to}
        response = client.post("/v1/convert", json=order)
        assert response.status_code == 200, (to, response.text)
        assert response.content
        assert f"covertour.{to}" in response.headers["content-disposition"]


def test_convert_takes_a_file(client):
    response = client.post(
        "/v1/convert?name=towns.csv&radius=1.5&to=json",
        content=CSV,
        headers={"content-type": "text/csv"},
    )
    instance = read(io.BytesIO(response.content))
    assert instance.labels == ("Alba", "Bree", "Cori")
    assert len(instance.coverage.covers) == 5


def test_read_gives_the_places_also_without_a_rule(client):
    found = client.post("/v1/read?name=a%2Fb%5Ctowns.csv", content=CSV + b"").json()
    assert found["instance"]["coverage"] is None
    assert (found["instance"]["name"], found["instance"]["labels"][1]) == ("towns", "Bree")
    with_rule = client.post("/v1/read?name=towns.csv&nearest=1", content=CSV).json()
    assert with_rule["instance"]["coverage"] == {"nearest": 1}


def test_read_tells_of_columns_that_are_not_used(client):
    found = client.post("/v1/read?name=towns.csv", content=b"name,x,y,colour\na,0,0,red\n").json()
    assert "colour" in found["notes"][0]


@pytest.mark.parametrize(
    ("query", "content", "field"),
    [
        ("name=a.csv", b"", "body"),
        ("name=a.csv", b"name,x\na,1\n", "body"),
        ("name=a.xyz", b"\x00\x01\x02", "body"),
        ("name=a.csv&nearest=-1", CSV, "nearest"),
        ("name=a.csv&radius=nan", CSV, "radius"),
        ("name=a.csv&radius=1&nearest=1", CSV, "nearest"),
        ("name=a.csv&metric=miles", CSV, "metric"),
        ("name=a.csv&path=/etc/passwd", CSV, "path"),
    ],
)
def test_a_bad_file_is_refused(client, query, content, field):
    response = client.post(f"/v1/read?{query}", content=content)
    refused(response, 422, field)


def test_a_file_name_is_never_a_path_to_read(client, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_bytes(CSV)
    response = client.post("/v1/read", params={"name": str(secret)}, content=b"x,y\n7,7\n")
    assert response.json()["instance"]["coordinates"] == [[7, 7]]
    order = {"instance": str(secret)}
    refused(client.post("/v1/solve", json=order), 422, "instance")


def test_examples_are_there_to_be_solved(client):
    listed = client.get("/v1/examples").json()
    assert len(listed) == 3
    for example in listed:
        instance = client.get(example["instance"]).json()
        assert len(instance["coordinates"]) == example["places"]
        order = {"instance": instance, "stop": {"iterations": 10}}
        assert client.post("/v1/solve", json=order).status_code == 200


def test_health_tells_the_limits(client):
    health = client.get("/v1/health").json()
    assert health["status"] == "ok"
    assert health["limits"]["jobs"] == 2
    assert health["limits"]["places"] > 0


def test_every_answer_has_the_headers_of_safety(client):
    for path in ("/", "/docs", "/v1/health", "/v1/nothing", "/page/style.css"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_pages_of_other_servers_and_other_names_are_refused(client):
    refused(client.get("/v1/health", headers={"origin": "https://example.org"}), 403, "origin")
    refused(client.get("/v1/health", headers={"host": "example.org"}), 403, "host")
    assert client.get("/v1/health", headers={"host": "localhost:1"}).status_code == 200


def test_no_file_beside_the_page_is_served(client):
    for path in (
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page//etc/passwd",
        "/leaflet/../csv.py",
    ):
        assert client.get(path).status_code == 404
