"""Jobs on disk: one SQLite file that a server holds alone, and that survives its sudden end."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covertour.problem.errors import InputError

TABLE = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    finished REAL,
    facts TEXT NOT NULL,
    instance BLOB NOT NULL,
    result BLOB
)
"""
FORMAT = 1
"""Of the file; another one is refused rather than guessed at."""

MOST_KEPT = 10_000
"""Finished jobs; of more, the oldest are forgotten."""


@dataclass(frozen=True)
class Stored:
    """A job as the file has it: ``facts`` are its plain values, ``result`` the result's JSON."""

    id: str
    state: str
    finished: float | None
    facts: dict[str, Any]
    result: bytes | None


class Store:
    """The file of a server; without a path, in memory."""

    def __init__(self, path: Path | None) -> None:
        try:
            self._file = sqlite3.connect(
                ":memory:" if path is None else path, isolation_level=None, timeout=1.0
            )
            # One server per file: another one would take our running jobs for interrupted ones.
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.execute("PRAGMA journal_mode = WAL")
            # What is committed outlives the process; only a machine that loses power loses it.
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute("BEGIN EXCLUSIVE")
            (found,) = self._file.execute("PRAGMA user_version").fetchone()
            if found not in (0, FORMAT):
                raise InputError(f"{path}: written by another version of covertour")
            self._file.execute(TABLE)
            self._file.execute(f"PRAGMA user_version = {FORMAT}")
            self._file.execute("COMMIT")
        except sqlite3.Error as error:
            why = "another server uses it" if "locked" in str(error) else str(error)
            raise InputError(f"{path}: cannot keep jobs here: {why}") from None

    def add(self, id: str, state: str, facts: dict[str, Any], instance: bytes) -> None:
        """Keep a new job."""
        self._file.execute(
            "INSERT INTO jobs (id, state, facts, instance) VALUES (?, ?, ?, ?)",
            (id, state, json.dumps(facts), instance),
        )

    def update(
        self,
        id: str,
        state: str,
        facts: dict[str, Any],
        finished: float | None = None,
        result: bytes | None = None,
    ) -> None:
        """Keep what is new about a job."""
        self._file.execute(
            "UPDATE jobs SET state = ?, facts = ?, finished = ?, result = ? WHERE id = ?",
            (state, json.dumps(facts), finished, result, id),
        )

    def get(self, id: str) -> Stored | None:
        """A job, None where there is none of this name."""
        row = self._file.execute(
            "SELECT id, state, finished, facts, result FROM jobs WHERE id = ?", (id,)
        ).fetchone()
        if row is None:
            return None
        return Stored(row[0], row[1], row[2], json.loads(row[3]), row[4])

    def instance(self, id: str) -> bytes:
        """The instance of a job, as JSON."""
        (found,) = self._file.execute("SELECT instance FROM jobs WHERE id = ?", (id,)).fetchone()
        return found

    def unfinished(self) -> list[str]:
        """The jobs that ran or waited when the server was last heard of."""
        rows = self._file.execute("SELECT id FROM jobs WHERE finished IS NULL ORDER BY rowid")
        return [row[0] for row in rows]

    def forget(self, before: float) -> None:
        """Let go of jobs that were finished before a time, and of the oldest beyond the most."""
        self._file.execute("DELETE FROM jobs WHERE finished < ?", (before,))
        self._file.execute(
            "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE finished IS NOT NULL "
            "ORDER BY finished DESC LIMIT -1 OFFSET ?)",
            (MOST_KEPT,),
        )

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
