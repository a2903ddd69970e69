from __future__ import annotations

import pytest

from covertour.formats.quantities import angle, number, pair


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [
        ("12", False, 12),
        (" -0.5 ", False, -0.5),
        ("−3", False, -3),
        ("1e3", False, 1000),
        ("14,69", False, 14.69),
        ("14,69", True, 14.69),
        ("1,234", False, 1234),
        ("1,234", True, 1.234),
        ("1.234", False, 1.234),
        ("1.234", True, 1234),
        ("1,234,567", True, 1234567),
        ("1.234.567,5", False, 1234567.5),
        ("1 234", False, 1234),
        ("1\u00a0234,5", True, 1234.5),
        ("1\u202f234", False, 1234),
        ("1'234.5", False, 1234.5),
        ("12 34", False, None),
        ("1,2,3", False, None),
        ("", False, None),
        ("ten", False, None),
        ("1_000", False, None),
    ],
)
def test_numbers_as_people_write_them(text: str, comma: bool, value: float | None) -> None:
    assert number(text, comma) == value


@pytest.mark.parametrize(
    "text",
    [
        "14°41'24\"N",
        "14° 41′ 24″ N",
        "N 14° 41' 24\"",
        "14º41'24''",
        "14 41 24",
        "14:41:24",
        "14d41m24s",
        "14d41m24s N",
        "14 deg 41 min 24 sec",
        "14°41.4'",
        "14 41,4 nord",
        "14.69° N",
        "14,69",
        "+14.69",
        "14.69 Norte",
    ],
)
def test_latitudes_in_every_notation(text: str) -> None:
    found = angle(text)
    assert not isinstance(found, str), found
    assert found.degrees == pytest.approx(14.69, abs=1e-9)
    assert found.axis in (None, "latitude")


@pytest.mark.parametrize(
    ("text", "degrees"),
    [("17°26'24\"W", -17.44), ("17 26 24 S", -17.44), ("W17.44", -17.44), ("17.44 Ost", 17.44)],
)
def test_points_of_the_compass_have_signs(text: str, degrees: float) -> None:
    found = angle(text)
    assert not isinstance(found, str)
    assert found.degrees == pytest.approx(degrees)


def test_o_is_west_or_east_by_the_language() -> None:
    assert "may be west" in str(angle("17.44 O"))
    assert angle("17.44 O", 1.0) == (17.44, "longitude")
    assert angle("17.44 O", -1.0) == (-17.44, "longitude")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("north", "'north' is not a number"),
        ("14°75'", "60 minutes or seconds or more"),
        ("14 30 61", "60 minutes or seconds or more"),
        ("14.5°30'", "a fraction before its minutes"),
        ("-14 S", "both a sign and a point of the compass"),
        ("N14S", "two points of the compass"),
        ("14°°", "is not a number"),
    ],
)
def test_what_is_no_angle_is_told(text: str, why: str) -> None:
    assert why in str(angle(text))


@pytest.mark.parametrize(
    "text",
    [
        "14.69, -17.44",
        "14.69,-17.44",
        "14.69 -17.44",
        "(14.69; -17.44)",
        "14,69; -17,44",
        "14,69 -17,44",
        "14,69, -17,44",
        "14.69 / -17.44",
        "14.69 -17.44 12.5 4",
        "14.69, -17.44, 12",
        "14°41'24\"N 17°26'24\"W",
        "14°41'24\"N, 17°26'24\"W",
        "17°26'24\"W 14°41'24\"N",
        "N14.69 W17.44",
        "N 14.69, W 17.44",
        "14.69 N 17.44 W",
        "POINT (-17.44 14.69)",
        "SRID=4326;POINT(-17.44 14.69)",
    ],
)
def test_latitude_and_longitude_in_one_text(text: str) -> None:
    assert pair(text) == pytest.approx((14.69, -17.44))


def test_longitude_first_where_the_title_says_so() -> None:
    assert pair("-17.44, 14.69", longitude_first=True) == (14.69, -17.44)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is missing"),
        ("Dakar", "'Dakar' is not a latitude and a longitude"),
        ("14.69", "not a latitude and a longitude"),
        ("14,69,-17,44", "not a latitude and a longitude"),
        ("14 N 17 N", "the same axis twice"),
    ],
)
def test_what_is_no_pair_is_told(text: str, why: str) -> None:
    assert why in str(pair(text))
