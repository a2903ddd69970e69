"""``covertour serve`` as it is started: what it says, and what it refuses in one line."""

from __future__ import annotations

import re
import socket
import subprocess
import sys

import pytest

from covertour.web.jobs import Jobs
from covertour.web.limits import Limits
from covertour.web.problems import Problem
from covertour.web.store import Store


def refusal(*options: object) -> str:
    """The one line that a start with these options ends with."""
    command = [sys.executable, "-m", "covertour", "serve", "--port", "0", *map(str, options)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout) == (2, ""), ran
    assert re.fullmatch(r"covertour: [^\n]+\n", ran.stderr)
    return ran.stderr


def test_a_port_in_use_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}" in refusal("--port", port)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--port", 70_000), "--port"),
        (("--port", "http"), "--port"),
        (("--token", " "), "--token"),
        (("--jobs", 0), "--jobs"),
        (("--store", "/nowhere/jobs.sqlite"), "/nowhere/jobs.sqlite"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, word):
    assert word in refusal(*options)


def test_a_file_that_is_no_store_is_left_alone(tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear Dorothee, " * 100)
    assert "letter.txt" in refusal("--store", file)
    assert file.read_text() == "Dear Dorothee, " * 100


def test_nothing_is_taken_on_while_it_ends():
    jobs = Jobs(Limits(), Store(None))
    jobs.begin_to_close()
    with pytest.raises(Problem) as refused:
        jobs.check_room()
    jobs.store.close()
    assert (refused.value.status, refused.value.retry_after) == (503, 5)
