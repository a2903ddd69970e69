"""How the documentation is built: ``make docs``, into docs/_build/html. Nothing needs a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
# The kernels of notebooks start elsewhere and need the same covertour, and `experiments`.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE.parent / "src"), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
).rstrip(os.pathsep)
os.environ["COLUMNS"] = "100"

from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402

from covertour.version import __version__  # noqa: E402

project = "covertour"
author = "The covertour developers"
project_copyright = author
version = release = __version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc"]
extensions += ["docstrings", "generated", "mathml", "offline", "repository"]  # in _extensions
exclude_patterns = ["_build", "_extensions", "images/*.py"]
templates_path: list[str] = []
nitpicky = True
# Only the public names must be there; without a network nobody knows those of other projects.
nitpick_ignore_regex = [(r"py:.*", r"(?!covertour\.\w+$).*")]
lexers["csv"] = TextLexer()

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 90
smartquotes = False
highlight_language = "none"
autodoc_type_aliases = {
    name: name
    for name in ("BoolArray", "FloatArray", "Int32Array", "IntArray", "Sides", "npt.ArrayLike")
}
add_module_names = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

html_theme = "furo"
html_title = f"covertour {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "../src/covertour/web/page/icon.svg"
html_logo = "../src/covertour/web/page/icon.svg"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "sidebar_hide_name": False,
    "light_css_variables": {
        "color-brand-primary": "#00629b",
        "color-brand-content": "#00629b",
        "color-brand-visited": "#4a4a8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cb8e6",
        "color-brand-content": "#6cb8e6",
        "color-brand-visited": "#a9a9e0",
    },
}
