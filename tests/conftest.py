"""Settings for all tests: property tests that find the same examples on every run.

``COVERTOUR_EXAMPLES=5000 pytest tests/property`` looks longer, and elsewhere on every run.
"""

import os

from hypothesis import settings

examples = os.environ.get("COVERTOUR_EXAMPLES")
settings.register_profile(
    "covertour",
    deadline=None,
    database=None,
    derandomize=examples is None,
    max_examples=int(examples or 50),
)
settings.load_profile("covertour")
