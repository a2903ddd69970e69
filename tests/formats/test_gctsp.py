from __future__ import annotations

from pathlib import Path

import pytest

from covertour import InputError, read

SMALL = """1\r
6\r
2\r
3\r
2\r
\r
0   0.0  0.0\r
1   3.00  0\r
2   0  4\r
3   3 1\r
4   1 4\r
5   9 9\r
\r
1  1  3\r
2  2  3  4  \r
\r
1\r
0.33\r
5\r
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_customers_are_only_covered_and_the_depot_starts_the_tour(tmp_path: Path) -> None:
    instance = read(written(tmp_path / "1S.txt", SMALL))
    assert (instance.name, instance.metric, instance.n) == ("1S", "euclidean", 6)
    assert (instance.depot, instance.forbidden) == (0, (3, 4, 5))
    assert instance.demands.tolist() == [0, 0, 0, 1, 1, 1]
    assert instance.weights.tolist() == [0, 0, 0, 1, 1, 1]
    assert instance.quota_weight == 2
    assert instance.coverage.covers_of(2).tolist() == [2, 3, 4]
    assert instance.covered_weight([0, 2]) == 2


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1\r\n6\r\n", "x\r\n6\r\n", r"1S.txt, line 1: a flag: got 'x'; expected a benchmark file"),
        ("6\r\n2", "7\r\n2", r"line 4: 7 places are not a depot, 2 facilities and 3 customers"),
        ("3\r\n2\r\n", "3\r\n4\r\n", r"line 5: how many customers to cover: .* 1 to 3, got 4"),
        ("2   0  4", "7   0  4", r"line 9: the number of the place: expected 2, got 7"),
        ("3.00", "3,00", r"line 8: x: got '3,00'; expected a benchmark file"),
        ("3.00", "inf", r"1S.txt: coordinates: place 1 has \[inf, 0.0\], not finite"),
        ("2  2  3  4", "2  2  3  1", r"line 15: a customer that facility 2 covers: .* 3 to 5"),
        ("1  1  3", "2  1  3", r"line 14: the number of the facility: expected 1, got 2"),
        (SMALL[60:], "", r"line 10: the file ends, expected y"),
        (SMALL, " \n", r"1S.txt: the file is empty"),
    ],
)
def test_bad_files(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in SMALL
    with pytest.raises(InputError, match=expected):
        read(written(tmp_path / "1S.txt", SMALL.replace(old, new)))
