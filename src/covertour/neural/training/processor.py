"""How torch uses the processor in a training: which products, which attention, which memory.

By default torch multiplies float32 matrices with MKL, which leaves half of the speed of AMD's
processors unused. oneDNN does not; torch turns to it where products may be less precise, which they
are on processors with AMX units only, and those are Intel's. But its products take time to begin,
which the attention, made of many small ones, cannot afford; so that one stays with MKL. On Intel's
processors MKL is the quicker one for all products.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
"""Names of settings of the C library's memory (mallopt)."""


def use_well(threads: int | None = None) -> None:
    """Settings of this process for trainings: so many threads, fast products, memory kept."""
    if threads is not None:
        torch.set_num_threads(threads)
    if maker() == "AuthenticAMD":
        torch.set_float32_matmul_precision("medium")
    _keep_memory()


def maker() -> str:
    """Who made the processor, in its own words; empty where the system does not tell."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    found = re.search(r"^vendor_id\s*:\s*(\S+)", told, re.MULTILINE)
    return found[1] if found else ""


def _keep_memory() -> None:
    """Let memory that was freed be used again at once, instead of a new piece from the system.

    A step makes and frees the same large tensors as the one before; pages that the system clears
    each time cost up to a seventh of it.
    """
    if not sys.platform.startswith("linux"):
        return
    change = getattr(ctypes.CDLL(None), "mallopt", None)
    if change is not None:  # glibc has it
        for setting, value in ((MMAP_THRESHOLD, 1 << 30), (TRIM_THRESHOLD, 2**31 - 1)):
            change(setting, value)
        change(TOP_PAD, 64 << 20)


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """softmax(Q K^T / sqrt(d_k) + mask) V, as torch's scaled_dot_product_attention.

    [b, m, q, d_k] of queries [b, m, q, d_k], keys and values [b, m, n, d_k]; ``mask``: numbers to
    be added, [b, m, q, n], which have no gradient.
    """
    attended: Tensor = Attention.apply(query, key, value, mask)  # type: ignore[no-untyped-call]
    return attended


class Attention(torch.autograd.Function):
    """:func:`attention` with precise products, there and back."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """As torch's own; keeps the sums of the softmax."""
        with _precisely():
            out, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                query, key, value, attn_mask=mask
            )
        ctx.save_for_backward(query, key, value, mask, out, sums)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Of queries, keys and values."""
        query, key, value, mask, out, sums = ctx.saved_tensors
        with _precisely():
            made = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
                gradients[0], query, key, value, out, sums, 0.0, False, attn_mask=mask
            )
        return *made, None


@contextmanager
def _precisely() -> Iterator[None]:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
