"""Benchmarks: data in, rows out; the literature's cases, random instances, learned methods, growth.

Each benchmark is a function that returns a report of frozen rows, and a function that makes tables
of it; ``covertour bench`` is the same on the command line. Only the public API is used.
"""

from covertour.bench.growth import ScaleReport, ScaleRow, scale, scale_document
from covertour.bench.learned import LearnedReport, LearnedRow, learned, learned_document
from covertour.bench.proofs import ProofReport, ProofRow, proof_document, prove_literature
from covertour.bench.published import (
    LiteratureReport,
    LiteratureRow,
    literature,
    literature_document,
)
from covertour.bench.sampled import RandomReport, RandomRow, random, random_document
from covertour.bench.tables import Document, Table, write_document

__all__ = [
    "Document",
    "LearnedReport",
    "LearnedRow",
    "LiteratureReport",
    "LiteratureRow",
    "ProofReport",
    "ProofRow",
    "RandomReport",
    "RandomRow",
    "ScaleReport",
    "ScaleRow",
    "Table",
    "learned",
    "learned_document",
    "literature",
    "literature_document",
    "proof_document",
    "prove_literature",
    "random",
    "random_document",
    "scale",
    "scale_document",
    "write_document",
]
