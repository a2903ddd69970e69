"""A process of the server: takes tasks from its standard input, answers on its standard output.

It ends when its input does, so that none outlives the server, however that came to its end.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any

from covertour.web import frames

MEGABYTE = 1_000_000


def main() -> None:
    """Do tasks until nobody is left to give any."""
    settings = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed goes to the log, never between two messages
    tasks: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()
    to_stop: set[int] = set()
    threading.Thread(target=_listen, args=(tasks, to_stop), daemon=True).start()

    _prepare(settings)
    _limit_memory(settings["memory"])

    from covertour.problem.errors import SolveError
    from covertour.web.problems import Problem
    from covertour.web.tasks import perform

    def send(value: dict[str, Any], content: bytes = b"") -> None:
        try:
            answers.write(frames.pack(value, content))
            answers.flush()
        except OSError:  # the server has gone
            os._exit(0)

    send({"ready": True})
    while True:
        header, content = tasks.get()
        number = header["number"]
        try:
            value, answer = perform(header, content, send, lambda: number in to_stop)  # noqa: B023
            message = {"done": value}
        except Problem as problem:
            message, answer = {"problem": problem.to_dict()}, b""
        except SolveError as error:
            message, answer = {"problem": Problem(500, str(error)).to_dict()}, b""
        except (Exception, KeyboardInterrupt) as error:
            # Its text may hold what the client sent, which is not for the log.
            print(
                f"covertour: {header['task']}: unexpected {type(error).__name__}", file=sys.stderr
            )
            what = Problem(500, f"unexpected {type(error).__name__}; this is a bug of covertour")
            message, answer = {"problem": what.to_dict()}, b""
        send(message, answer)
        to_stop.discard(number)
        del header, content, answer


def _listen(tasks: queue.SimpleQueue[tuple[dict[str, Any], bytes]], to_stop: set[int]) -> None:
    """Hand tasks over, heed calls to stop, and end the process with the server."""
    while (message := frames.read(sys.stdin.buffer)) is not None:
        if message[0]["task"] == "stop":
            to_stop.add(message[0]["number"])
        else:
            tasks.put(message)
    os._exit(0)


def _prepare(settings: dict[str, Any]) -> None:
    """Load what most tasks need, before the first of them waits for it."""
    if settings["searches"]:
        from covertour import random_instance
        from covertour.solving.loading import load

        for n in (16, 3_000):  # with a table of distances, and without
            load("lns", random_instance(n, nearest=2))


def _limit_memory(megabytes: int) -> None:
    """Let the process take so much memory more than it has by now, where the system can."""
    try:
        import resource

        with open("/proc/self/status", encoding="ascii") as status:
            now = next(int(line.split()[1]) for line in status if line.startswith("VmData"))
        most = now * 1024 + megabytes * MEGABYTE
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except (ImportError, OSError, ValueError, StopIteration):
        return  # no such limits here


if __name__ == "__main__":
    main()
