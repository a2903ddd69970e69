"""Benchmarks: data in, rows out; the literature's cases, random instances, learned methods, growth.

Each benchmark is a function that returns a report of frozen rows, and a function that makes tables
of it; ``covertour bench`` is the same on the command line. Only the public API is used. Whoever
measures something else finds here what they share: timed runs, rules as text, tables.
"""

from covertour.bench.gctsp import GctspReport, GctspRow, gctsp, gctsp_document, read_gctsp_rows
from covertour.bench.growth import ScaleReport, ScaleRow, scale, scale_document
from covertour.bench.gtsp import GtspReport, GtspRow, gtsp, gtsp_document
from covertour.bench.learned import LearnedReport, LearnedRow, learned, learned_document
from covertour.bench.machine import machine
from covertour.bench.mctp import MctpReport, MctpRow, mctp, mctp_document
from covertour.bench.proofs import ProofReport, ProofRow, proof_document, prove_literature
from covertour.bench.published import (
    LiteratureReport,
    LiteratureRow,
    literature,
    literature_document,
)
from covertour.bench.runs import OnStep, Run, at_most, gap_percent, timed_run
from covertour.bench.sampled import RandomReport, RandomRow, random, random_document
from covertour.bench.tables import (
    Column,
    Document,
    Table,
    output_directory,
    percent_text,
    time_text,
    write_document,
)
from covertour.problem.rules import parse_rule

__all__ = [
    "Column",
    "Document",
    "GctspReport",
    "GctspRow",
    "GtspReport",
    "GtspRow",
    "LearnedReport",
    "LearnedRow",
    "LiteratureReport",
    "LiteratureRow",
    "MctpReport",
    "MctpRow",
    "OnStep",
    "ProofReport",
    "ProofRow",
    "RandomReport",
    "RandomRow",
    "Run",
    "ScaleReport",
    "ScaleRow",
    "Table",
    "at_most",
    "gap_percent",
    "gctsp",
    "gctsp_document",
    "gtsp",
    "gtsp_document",
    "learned",
    "learned_document",
    "literature",
    "literature_document",
    "machine",
    "mctp",
    "mctp_document",
    "output_directory",
    "parse_rule",
    "percent_text",
    "proof_document",
    "prove_literature",
    "random",
    "random_document",
    "read_gctsp_rows",
    "scale",
    "scale_document",
    "time_text",
    "timed_run",
    "write_document",
]
