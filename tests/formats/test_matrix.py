from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, read, write


def test_a_square_array_is_a_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "km.npy", np.array([[0, 5], [7, 0]], dtype=np.int32))
    instance = read(tmp_path / "km.npy", radius=6)
    assert (instance.name, instance.metric) == ("km", "matrix")
    assert instance.matrix.tolist() == [[0, 5], [7, 0]]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.zeros((2, 3)), r"km.npy: expected a square distance matrix, got shape \(2, 3\)"),
        (np.zeros(4), r"km.npy: expected a square distance matrix, got shape \(4,\)"),
        (np.zeros((0, 0)), "km.npy: an instance needs at least one place"),
        (np.array([[0, -1], [1, 0]]), "km.npy: matrix: row 0, column 1 is -1"),
        (np.array([[0, np.nan], [1, 0]]), "km.npy: matrix: row 0, column 1 is nan"),
        (np.array([["a"]]), "km.npy: expected an array of numbers, got dtype <U1"),
        (np.array([[1j]]), "km.npy: expected an array of numbers, got dtype complex128"),
        (np.array([[None]]), "km.npy: not a .npy file of numbers: Object arrays"),
    ],
)
def test_bad_arrays(tmp_path: Path, array: np.ndarray, expected: str) -> None:
    np.save(tmp_path / "km.npy", array)
    with pytest.raises(InputError, match=expected):
        read(tmp_path / "km.npy", radius=1)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "km.npy"
    np.save(path, np.zeros((9, 9)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"km.npy: not a .npy file of numbers"):
        read(path, radius=1)
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r"km.npy: the file is empty"):
        read(path, radius=1)


def test_a_matrix_file_needs_a_rule(tmp_path: Path) -> None:
    np.save(tmp_path / "km.npy", np.zeros((2, 2)))
    with pytest.raises(InputError, match=r"give nearest or radius \(--nearest, --radius\)"):
        read(tmp_path / "km.npy")


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (Instance.from_coordinates([[0, 0]], radius=1), "the places have coordinates"),
        (Instance.from_matrix([[0]], radius=1, depot=0), "cannot hold a depot"),
        (Instance.from_matrix([[0]], radius=1, required=[0]), "cannot hold required places"),
        (Instance.from_matrix([[0]], radius=1, forbidden=[0]), "cannot hold forbidden places"),
        (Instance.from_matrix([[0]], sets=[[0]]), "cannot hold sets of covered places"),
    ],
)
def test_what_a_matrix_cannot_hold_is_not_lost_silently(
    tmp_path: Path, instance: Instance, expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        write(tmp_path / "km.npy", instance)
    assert list(tmp_path.iterdir()) == []
