# SPDX-License-Identifier: BSD-2-Clause
"""Sphinx's settings of the site; docs/site/build.py calls Sphinx. The pages are Markdown (MyST)."""
import os
import re

project = "petsc-amb"
author = "the authors of petsc-amb"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "VERSION"), encoding="utf-8") as file:
    version = release = file.read().strip()
extensions = ["myst_parser", "sphinx_design"]
root_doc = "index"
myst_heading_anchors = 6  # links to headings, with the names that forges give them
myst_enable_extensions = ["colon_fence", "tasklist"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "petsc-amb"},
    "navbar_align": "left",
    "secondary_sidebar_items": [],  # code of 120 characters needs the room
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_static_path = ["static"]
html_css_files = ["custom.css"]
html_sidebars = {"index": [], "**": ["sidebar-nav-bs"]}
html_copy_source = False
html_show_sourcelink = False


def label(table):
    """Give each cell the heading of its column, which custom.css shows on narrow screens."""
    names = [re.sub(r"<[^>]*>", "", name).strip() for name in re.findall(r"<th\b[^>]*>(.*?)</th>", table, flags=re.S)]

    def row(match):
        cells = iter(names)
        return re.sub(r"<td\b", lambda _: '<td data-label="%s"' % next(cells, ""), match.group())

    return re.sub(r"<tr\b.*?</tr>", row, table, flags=re.S)


def label_all(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = re.sub(r"<table\b.*?</table>", lambda match: label(match.group()), context["body"], flags=re.S)


def setup(app):
    app.connect("html-page-context", label_all)
