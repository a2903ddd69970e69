"""XML that strangers made: a tree of elements without document types, entities or links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

from covertour.formats.source import Source
from covertour.problem.errors import InputError, why

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DEEPEST = 200
"""Elements inside each other."""


def parse(source: Source, data: bytes) -> Element:
    """The root of a tree in which tags are without their namespaces.

    A document type is refused: entities are defined there, by which a few lines become gigabytes.
    """
    from xml.etree.ElementTree import TreeBuilder

    builder = TreeBuilder()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise InputError(f"{source}: XML with elements too deep inside each other")
        builder.start(local(tag), {local(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(local(tag))

    def refuse(*_: object) -> NoReturn:
        raise InputError(
            f"{source}: XML with a document type (DOCTYPE) is refused, as it may define entities "
            "that grow without end"
        )

    try:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = builder.data
        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        parser.Parse(data, True)
        return builder.close()
    except expat.ExpatError as error:
        message = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{source}, line {error.lineno}: not XML: {message}") from None
    except (ValueError, LookupError, AssertionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source}: not XML: {why(error)}") from None


def local(tag: str) -> str:
    """A tag without its namespace."""
    return tag.rpartition(" ")[2]


def children(element: Element, tag: str) -> Iterator[Element]:
    """The children of an element that have this tag."""
    return (child for child in element if child.tag == tag)


def text_of(element: Element, tag: str) -> str:
    """The text of the first child with this tag, without space around it; else empty."""
    for child in children(element, tag):
        return "".join(child.itertext()).strip()
    return ""


NOT_IN_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def as_read(text: str) -> str:
    """A text as it reads back: without what XML cannot hold, lines ending as XML ends them."""
    return NOT_IN_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def escaped(text: str) -> str:
    """A text inside XML."""
    return as_read(text).translate(ENTITIES)
