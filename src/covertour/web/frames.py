"""Messages between the server and its processes: a small JSON value, then bytes.

Two lengths of four bytes, the value, the bytes; the same in both directions.
"""

from __future__ import annotations

import asyncio
import json
import struct
from typing import IO, Any

LENGTHS = struct.Struct(">II")


def pack(value: dict[str, Any], content: bytes = b"") -> bytes:
    """The message as bytes."""
    head = json.dumps(value).encode()
    return LENGTHS.pack(len(head), len(content)) + head + content


def read(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """The next message of a stream; None at its end."""
    lengths = stream.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    head, content = LENGTHS.unpack(lengths)
    text, rest = stream.read(head), stream.read(content)
    if len(text) < head or len(rest) < content:
        return None
    return json.loads(text), rest


async def receive(stream: asyncio.StreamReader) -> tuple[dict[str, Any], bytes] | None:
    """The next message, for the server; None at the end of the stream."""
    try:
        head, content = LENGTHS.unpack(await stream.readexactly(LENGTHS.size))
        value = json.loads(await stream.readexactly(head))
        return value, await stream.readexactly(content) if content else b""
    except asyncio.IncompleteReadError:
        return None
