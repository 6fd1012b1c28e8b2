# SPDX-License-Identifier: BSD-2-Clause
"""Sphinx's settings of the site; docs/site/build.py calls Sphinx. The pages are Markdown (MyST)."""
import os

project = "petsc-amb"
author = "the authors of petsc-amb"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "VERSION"), encoding="utf-8") as file:
    version = release = file.read().strip()
extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 6  # links to headings, with the names that forges give them
myst_enable_extensions = ["tasklist"]
html_theme = "alabaster"
html_theme_options = {"description": "A PETSc plugin of fast sparse matrix formats", "page_width": "1280px", "body_max_width": "1060px", "font_size": "16px", "code_font_size": "0.8em", "fixed_sidebar": True}
html_static_path = ["static"]  # custom.css, which the theme reads
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_copy_source = False
