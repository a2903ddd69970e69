"""What a method cannot do is refused before anything is loaded or solved."""

from __future__ import annotations

import pytest

from covertour import METHODS, InputError, random_instance, solve
from covertour.solving.loading import load

PARTIAL = random_instance(12, nearest=2).with_changes(quota=0.5)
UNABLE = [name for name, method in METHODS.items() if "quota" not in method.handles]


@pytest.mark.parametrize("method", UNABLE)
def test_a_method_without_quotas_says_so_before_it_is_loaded(method: str) -> None:
    with pytest.raises(InputError, match="cannot handle quota; lns"):
        load(method, PARTIAL)
    with pytest.raises(InputError, match="cannot handle quota; lns"):
        solve(PARTIAL, method)
