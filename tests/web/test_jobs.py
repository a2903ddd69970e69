"""Jobs: started, watched, stopped, kept through a sudden end, and bounded."""

from __future__ import annotations

import json
import signal

import pytest

from covertour import random_instance, verify
from tests.web.conftest import TOKEN, started
from tests.web.test_api import SQUARE, as_json, refused
from tests.web.test_serve import refusal

LONG = {"instance": as_json(random_instance(60, nearest=5, seed=3)), "stop": {"seconds": 500}}
SHORT = LONG | {"stop": {"iterations": 500}}


def events(client, address, headers=None):
    """The events of a job, until it ends."""
    kind = None
    with client.stream("GET", f"{address}/events", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        for line in response.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield kind, json.loads(line.removeprefix("data: "))


def test_a_job_tells_of_improvements_and_ends_with_its_result(client):
    instance = random_instance(200, nearest=5, seed=3)
    order = {"instance": as_json(instance), "stop": {"iterations": 20_000}}
    response = client.post("/v1/jobs", json=order)
    assert response.status_code == 202
    address = response.headers["location"]
    told = list(events(client, address))
    improvements = [news for kind, news in told if kind == "improvement"]
    assert [kind for kind, _ in told][-1] == "done"
    costs = [news["cost"] for news in improvements]
    assert costs == sorted(costs, reverse=True)
    assert all(verify(instance, news["stops"]).ok for news in improvements)
    job = told[-1][1]
    assert job["state"] == "done"
    assert verify(instance, job["result"]["tour"]).ok
    assert job["best"]["cost"] == pytest.approx(job["result"]["length"])
    assert job["trace"][-1][1] == pytest.approx(job["result"]["length"])
    assert client.get(address).json() == job
    assert client.get(f"{address}/instance").json() == order["instance"]
    assert [kind for kind, _ in events(client, address)][-1] == "done"


def test_a_proof_tells_of_its_bounds(client):
    instance = as_json(random_instance(60, nearest=4, seed=1))
    order = {"instance": instance, "method": "exact", "stop": {"seconds": 60}}
    address = client.post("/v1/jobs", json=order).headers["location"]
    job = list(events(client, address))[-1][1]
    assert job["result"]["stopped"] == "proven"
    assert job["gap"] <= 1e-6


def test_a_job_is_stopped_and_answers_with_the_best_so_far(client):
    address = client.post("/v1/jobs", json=LONG).headers["location"]
    for kind, _ in events(client, address):
        if kind == "improvement":
            break
    job = client.delete(address).json()
    assert job["state"] == "stopped"
    assert job["result"]["stopped"] == "interrupt"
    assert job["best"]["stops"] == job["result"]["tour"]
    assert client.delete(address).json() == job


def test_a_job_that_ended_starts_again_from_its_best_tour(client):
    address = client.post("/v1/jobs", json=SHORT).headers["location"]
    first = list(events(client, address))[-1][1]
    response = client.post(f"{address}/again")
    assert response.status_code == 202
    second = list(events(client, response.headers["location"]))[-1][1]
    assert second["id"] != first["id"]
    assert second["result"]["length"] <= first["result"]["length"] * (1 + 1e-9)
    assert next(iter(second["trace"]))[1] <= first["result"]["length"] * (1 + 1e-9)


def test_a_job_that_runs_does_not_start_again(client):
    address = client.post("/v1/jobs", json=LONG).headers["location"]
    refused(client.post(f"{address}/again"), 409)
    client.delete(address)


def test_a_quick_request_does_not_wait_for_long_jobs(client):
    addresses = [client.post("/v1/jobs", json=LONG).headers["location"] for _ in range(3)]
    assert client.post("/v1/solve", json={"instance": SQUARE}).status_code == 200
    states = {client.get(address).json()["state"] for address in addresses}
    assert states <= {"running", "waiting"}
    for address in reversed(addresses):
        assert client.delete(address).json()["state"] == "stopped"


RIGHT = {"authorization": f"Bearer {TOKEN}"}


def test_a_full_queue_says_when_to_come_again(strict):
    def start():
        return strict.client.post("/v1/jobs", json=LONG, headers=RIGHT)

    running = start().headers["location"]
    until_it_runs(strict.client, running, RIGHT)
    waiting = start().headers["location"]
    response = start()
    refused(response, 429)
    assert int(response.headers["retry-after"]) >= 1
    for address in (waiting, running):
        assert strict.client.delete(address, headers=RIGHT).json()["state"] == "stopped"


def test_a_token_is_asked_for_where_there_is_one(strict):
    client = strict.client
    response = client.get("/v1/methods")
    refused(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"
    wrong = {"authorization": "Bearer sesame"}
    refused(client.post("/v1/solve", json={"instance": SQUARE}, headers=wrong), 401)
    assert client.get("/v1/methods", headers=RIGHT).status_code == 200
    assert client.get("/v1/health").status_code == 200
    assert client.get("/").status_code == 200


def test_other_origins_are_let_in_where_they_are_named(strict):
    mine = strict.client.get("/v1/methods", headers={"origin": "https://example.org"} | RIGHT)
    assert mine.headers["access-control-allow-origin"] == "https://example.org"
    other = strict.client.get("/v1/methods", headers={"origin": "https://x.org"} | RIGHT)
    refused(other, 403, "origin")


def until_it_runs(client, address, headers=None):
    for kind, _ in events(client, address, headers):
        if kind == "improvement":
            return


def test_jobs_survive_a_sudden_end_and_an_orderly_one(tmp_path):
    store = ("--jobs", "2", "--store", str(tmp_path / "jobs.sqlite"))
    with started(*store) as server:
        addresses = [
            server.client.post("/v1/jobs", json=order).headers["location"]
            for order in [SHORT] * 10 + [LONG] * 10
        ]
        finished = {address: last(server.client, address) for address in addresses[:10]}
        until_it_runs(server.client, addresses[10])
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    with started(*store) as server:
        for address, job in finished.items():
            assert job["state"] == "done"
            assert server.client.get(address).json() == job
        for address in addresses[10:]:
            assert server.client.get(address).json()["state"] == "interrupted"
        assert "another server" in refusal(*store)
        again = server.client.post(f"{addresses[10]}/again").headers["location"]
        told = []
        for kind, value in events(server.client, again):
            told.append((kind, value))
            if [kind for kind, _ in told] == ["improvement"]:
                server.process.send_signal(signal.SIGTERM)
        assert told[-1][0] == "done"
        assert told[-1][1]["state"] == "interrupted"
        assert server.process.wait(timeout=60) == 0
    with started(*store) as server:
        job = server.client.get(again).json()
        assert job == told[-1][1]
        assert job["best"]["stops"]


def last(client, address):
    """A job when it has ended."""
    return list(events(client, address))[-1][1]
