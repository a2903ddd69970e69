"""Layers of the networks, compiled: products, softmax, attention, recurrence, in float32.

All of them run on the caller's thread. numpy's products would be a fifth faster on an idle machine,
but its BLAS shares them out among threads that wait for each other: on a busy one they took a
hundred times as long. And here each number is summed in an order of its own that depends on
nothing else, so that an instance has the same tour whatever is solved beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.neural.inference.environment import Float32Array

NONE, ONE, TWO = np.float32(0), np.float32(1), np.float32(2)
NEVER = np.float32(-np.inf)

# --- Functions of a number ------------------------------------------------------------------------

LEAST, MOST = np.float32(-87.3), np.float32(88.0)
PER_DOUBLING = np.float32(1.44269504)
DOUBLING, DOUBLING_REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
E_2, E_3 = np.float32(5.0000001201e-1), np.float32(1.6666665459e-1)
E_4, E_5 = np.float32(4.1665795894e-2), np.float32(8.3334519073e-3)
E_6, E_7 = np.float32(1.3981999507e-3), np.float32(1.9875691500e-4)


@inner
def exp(x):
    """e^x to the last bit or two, of x between -87 and 88; beyond, as at these ends.

    Cephes' expf, without branches or calls, so that loops take eight numbers at a time: seven times
    as fast as the library's function. e^x = 2^m e^r with r between -ln(2)/2 and ln(2)/2.
    """
    x = min(max(x, LEAST), MOST)
    m = np.rint(x * PER_DOUBLING)
    r = x - m * DOUBLING - m * DOUBLING_REST
    p = ((((E_7 * r + E_6) * r + E_5) * r + E_4) * r + E_3) * r + E_2
    doubled = np.int32((np.int32(m) + np.int32(127)) << np.int32(23))  # the exponent of 2^m
    return (p * r * r + r + ONE) * doubled.view(np.float32)


@inner
def tanh(x):
    """tanh x = 1 - 2 / (e^2x + 1)."""
    return ONE - TWO / (exp(x + x) + ONE)


@inner
def sigmoid(x):
    """1 / (1 + e^-x)."""
    return ONE / (ONE + exp(-x))


@inner
def softplus(x):
    """log(1 + e^x)."""
    return max(x, NONE) + math.log(ONE + exp(-abs(x)))


# --- Sums -----------------------------------------------------------------------------------------

IN_CACHE = 4096
"""So many numbers stay in a processor's first cache beside what passes by."""


@inner(reassociates=True)
def add(to, factor, values):
    """to += factor · values, float32[k]."""
    for index in range(len(to)):
        to[index] += factor * values[index]


@inner(reassociates=True)
def total(values):
    """The sum of float32[k]."""
    so_far = NONE
    for index in range(len(values)):
        so_far += values[index]
    return so_far


@inner(reassociates=True)
def dot(a, b):
    """a · b, float32[k]."""
    total = NONE
    for index in range(len(a)):
        total += a[index] * b[index]
    return total


@inner
def apply(weight, x, out):
    """out = W x, from float32[m, k] and float32[k]."""
    for row in range(len(out)):
        out[row] = dot(weight[row], x)


@inner(reassociates=True)
def multiply(a, b, out):
    """out = a b^T, float32[n, m], from float32[n, k] and float32[m, k].

    Twelve sums at a time, so that each number that is read serves for three or four of them; and
    while all of b passes by, so many rows of a as stay in the first cache. At the edges rows are
    taken twice, which changes nothing.
    """
    n, m = out.shape
    rows = max(3, IN_CACHE // a.shape[1] // 3 * 3)
    for top in range(0, n, rows):
        for j in range(0, m, 4):
            j1, j2, j3 = min(j + 1, m - 1), min(j + 2, m - 1), min(j + 3, m - 1)
            for i in range(top, min(top + rows, n), 3):
                i1, i2 = min(i + 1, n - 1), min(i + 2, n - 1)
                s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = NONE
                for k in range(a.shape[1]):
                    x0, x1, x2 = a[i, k], a[i1, k], a[i2, k]
                    y0, y1, y2, y3 = b[j, k], b[j1, k], b[j2, k], b[j3, k]
                    s00, s01, s02, s03 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2, s03 + x0 * y3
                    s10, s11, s12, s13 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2, s13 + x1 * y3
                    s20, s21, s22, s23 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2, s23 + x2 * y3
                out[i, j], out[i, j1], out[i, j2], out[i, j3] = s00, s01, s02, s03
                out[i1, j], out[i1, j1], out[i1, j2], out[i1, j3] = s10, s11, s12, s13
                out[i2, j], out[i2, j1], out[i2, j2], out[i2, j3] = s20, s21, s22, s23


@entry
def _multiply(a, b, out):
    multiply(a, b, out)


def product(a: Float32Array, b: Float32Array) -> Float32Array:
    """a b^T, float32[n, m], from float32[n, k] and float32[m, k]; in torch ``linear(a, b)``."""
    out = np.empty((len(a), len(b)), dtype=np.float32)
    _multiply(a, b, out)
    return out


# --- Attention, one query and one head at a time; the places come last ----------------------------


@inner(reassociates=True)
def compare(score, query, key, scale):
    """score_i = scale · (q · k_i), float32[n], with ``key``: float32[k, n]."""
    for p in range(len(score)):
        score[p] = NONE
    k = len(query)
    for row in range(0, k, 4):
        r1, r2, r3 = min(row + 1, k - 1), min(row + 2, k - 1), min(row + 3, k - 1)
        q0 = query[row] * scale
        q1 = query[r1] * scale if row + 1 < k else NONE
        q2 = query[r2] * scale if row + 2 < k else NONE
        q3 = query[r3] * scale if row + 3 < k else NONE
        k0, k1, k2, k3 = key[row], key[r1], key[r2], key[r3]
        for p in range(len(score)):
            score[p] += q0 * k0[p] + q1 * k1[p] + q2 * k2[p] + q3 * k3[p]


@inner(reassociates=True)
def softmax(score):
    """Turn scores into e^(u_i - max u), float32[n]; 1 / their sum, which makes them shares."""
    most = NEVER
    for p in range(len(score)):
        most = max(most, score[p])
    for p in range(len(score)):
        score[p] = exp(score[p] - most)
    return ONE / total(score)


@inner(reassociates=True)
def collect(out, score, value, scale):
    """out = scale · Σ score_i v_i, with ``value``: float32[k, n]."""
    k = len(out)
    for row in range(0, k, 4):
        r1, r2, r3 = min(row + 1, k - 1), min(row + 2, k - 1), min(row + 3, k - 1)
        s0 = s1 = s2 = s3 = NONE
        for p in range(len(score)):
            s0 += score[p] * value[row, p]
            s1 += score[p] * value[r1, p]
            s2 += score[p] * value[r2, p]
            s3 += score[p] * value[r3, p]
        out[row], out[r1], out[r2], out[r3] = s0 * scale, s1 * scale, s2 * scale, s3 * scale


@inner
def attend(out, score, query, key, value, hidden, heads, first, end):
    """softmax(q K / sqrt(d/m)) V in heads ``first`` to ``end``, over places that are not hidden.

    ``out``: float32[d]; ``key``, ``value``: float32[d, n]; ``hidden``: bool[n], or [0] for none;
    ``score``: room, [n].
    """
    width = len(query) // heads
    scale = ONE / math.sqrt(np.float32(width))
    for head in range(first, end):
        low, high = head * width, (head + 1) * width
        compare(score, query[low:high], key[low:high], scale)
        for p in range(len(hidden)):
            if hidden[p]:
                score[p] = NEVER
        whole = softmax(score)
        for p in range(len(hidden)):
            if hidden[p]:
                score[p] = NONE  # not 1e-38, as numbers below that are slow
        collect(out[low:high], score, value[low:high], whole)


# --- Recurrence -----------------------------------------------------------------------------------


class Gru(NamedTuple):
    """torch's GRU or GRUCell: W_ih and W_hh, float32[3 d, d]; b_ih and b_hh, float32[3 d]."""

    read: Float32Array
    recall: Float32Array
    read_bias: Float32Array
    recall_bias: Float32Array


def gru_shapes(name: str, d: int, end: str = "") -> dict[str, tuple[int, ...]]:
    """The tensors of a GRU, by their names in torch."""
    return {
        f"{name}.weight_ih{end}": (3 * d, d),
        f"{name}.weight_hh{end}": (3 * d, d),
        f"{name}.bias_ih{end}": (3 * d,),
        f"{name}.bias_hh{end}": (3 * d,),
    }


def gru_of(tensors: Mapping[str, Float32Array], name: str, end: str = "") -> Gru:
    """The GRU with these tensors."""
    return Gru(*(tensors[key] for key in gru_shapes(name, 0, end)))


def read(gru: Gru, given: Float32Array) -> Float32Array:
    """W_ih I + b_ih, float32[k, 3 d], of inputs float32[k, d]; so that no step has to."""
    return product(given, gru.read) + gru.read_bias


@inner
def recur(memory, given, gru, recalled):
    """A step of the GRU: d_t in place of d_{t-1}, float32[d].

    ``given``: W_ih I_t + b_ih, float32[3 d]; ``recalled``: room, float32[3 d].
    """
    d = len(memory)
    apply(gru.recall, memory, recalled)
    for k in range(3 * d):
        recalled[k] += gru.recall_bias[k]
    for k in range(d):
        reset = sigmoid(given[k] + recalled[k])
        keep = sigmoid(given[d + k] + recalled[d + k])
        new = tanh(given[2 * d + k] + reset * recalled[2 * d + k])
        memory[k] = new + keep * (memory[k] - new)
