from __future__ import annotations

import pytest

from covertour import InputError, Instance
from covertour.problem.goals import Fleet
from covertour.problem.preferences import drop_under, prefer, usual_leg

LINE = Instance.from_coordinates([[0, 0], [1, 0], [2, 0]], radius=1, weight=[100, 40, 50])


def test_small_places_need_no_cover() -> None:
    assert drop_under(LINE, 50).demands.tolist() == [1, 0, 1]
    assert drop_under(LINE, 50).total_weight == 150
    twice = LINE.with_changes(demand=[2, 2, 1])
    assert drop_under(twice, 50).demands.tolist() == [2, 0, 1]


def test_without_people_nobody_is_small() -> None:
    with pytest.raises(InputError, match="drop_under: the places have no weights"):
        drop_under(LINE.with_changes(weight=None), 5)
    with pytest.raises(InputError, match="all places weigh less than 500"):
        drop_under(LINE, 500)


def test_new_stops_cost_more() -> None:
    assert prefer(LINE, [1], 3).visit_costs.tolist() == [3, 0, 3]
    paid = LINE.with_changes(visit_cost=[1, 1, 1])
    assert prefer(paid, [0, 2], 3).visit_costs.tolist() == [1, 4, 1]
    assert usual_leg(LINE, [0, 2]) == 2


def test_what_new_stops_cost_would_eat_a_budget() -> None:
    for fields in ({"budget": 5}, {"depot": 0, "fleet": Fleet(max_length=9)}):
        with pytest.raises(InputError, match="near: the cost of new stops would count against"):
            prefer(LINE.with_changes(**fields), [1], 3)
