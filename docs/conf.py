"""How the site is built: `make docs`, which turns warnings into errors.

Nothing is fetched, neither when the site is built nor when it is read: no inventories of other
projects, no fonts or scripts from elsewhere. `_ext/offline.py` holds the built pages to it.
"""

import sys
from pathlib import Path

import orthoselect

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "orthoselect"
author = "the orthoselect developers"
project_copyright = author
version = release = orthoselect.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "doctest_ends",
    "fitted_names",
    "notebook_pages",
    "offline",
]
exclude_patterns = ["_build", "gallery/*.md5", "gallery/**/*.ipynb", "gallery/*.py"]
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]  # the default role, see below
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".ipynb": "markdown"}

# Pages are Markdown that reads well elsewhere too; docstrings are numpydoc.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "py:obj"  # a name in backquotes is code, and a link if there is a page about it
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings tell types, with shapes
numpydoc_show_class_members = False  # the template lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"peers\.py$",  # its answer depends on what else is installed
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "notebook_extensions": set(),
    "default_thumb_file": str(Path(__file__).parent / "_static" / "thumb.png"),
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # a build's seconds are no property of an example
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "plot_gallery": "True",
}

html_theme = "pydata_sphinx_theme"
html_title = "orthoselect"
html_logo = html_favicon = "_static/mark.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["version-switch.js"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"**": ["pages"]}
html_theme_options = {
    "logo": {"text": "orthoselect", "alt_text": "orthoselect, to the first page"},
    "navbar_center": [],  # the pages are in the side bar, all of them
    "navbar_end": ["version-switch", "theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
