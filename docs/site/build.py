#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Build the site: the pages of this tree and the manual pages, as HTML. make site calls this.

    docs/site/build.py DIR     # DIR/html/index.html; DIR/source has the pages that Sphinx reads

This Python's Sphinx builds it; where a package of requirements.txt is missing, pip installs all of them in DIR/venv. A warning of Sphinx, such as a broken
link, is an error. The landing page has four doors: pages with rows of the README's table.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff", "docs", "data/README.md", "data/elasticity.py")
MODULES = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_design")  # of requirements.txt
REFERENCE = "| manual pages | `make site` builds them, with all pages, as HTML |"  # the row of the README for the pages in reference, which copy() creates
CHOOSE = "| [choose]"  # the row of the README that opens the second door
DOORS = (  # file, title, groups of the README's table, sentence
    ("use", "Use it", ("Start here", "Interfaces"), "Install petsc-amb, run a program with it, and call it from C, Python and Fortran."),
    ("choose", "Choose", ("Formats and methods",), "Find the format, the product and the solver for a matrix, on the host and on GPUs."),
    ("measure", "Measure", ("Measurements",), "Measure matrices, kernels and solves, and read the recorded measurements."),
    ("contribute", "Contribute", ("Work on petsc-amb",), "Find the place for a change, build it, and test it."),
)
MORE = {"use": ["README", "CHANGELOG"], "measure": ["data/README"]}  # pages that the README's table does not name


def python(folder):
    """An interpreter that has all MODULES."""
    if all(importlib.util.find_spec(name) for name in MODULES):
        return sys.executable
    place = os.path.join(folder, "venv")
    found = os.path.join(place, "bin", "python")
    if not os.path.exists(os.path.join(place, "complete")):
        print("Installing Sphinx and its theme in %s" % place)
        if not importlib.util.find_spec("ensurepip"):
            sys.exit("*** make site needs Sphinx and its theme: apt-get install python3-venv, or pip install -r docs/site/requirements.txt")
        venv.create(place, with_pip=True)
        subprocess.run([found, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", os.path.join(HERE, "requirements.txt")], check=True)
        open(os.path.join(place, "complete"), "w").close()
    return found


def copy(source):
    """The pages in their folders, so that links between them stay as they are."""
    shutil.rmtree(source, ignore_errors=True)
    for name in PAGES:
        there = os.path.join(source, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(os.path.join(ROOT, name)):
            shutil.copytree(os.path.join(ROOT, name), there, ignore=shutil.ignore_patterns("site", "man", "*.py"))
        else:
            shutil.copy(os.path.join(ROOT, name), there)
    # fences that say more than their language, as those that a test runs
    for folder, _, files in os.walk(source):
        for name in (name for name in files if name.endswith(".md")):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            text = re.sub(r"^```(sh|c|python|fortran|cmake) .*$", r"```\1", text, flags=re.M)
            # what is no page is found in the source tree: say so by its name
            text = re.sub(r"\[([^]]*)\]\(((?:\.\./)*(?:src|tool|bench|test|config)/[^)]*)\)", r"`\1`", text)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    subprocess.run([sys.executable, os.path.join(HERE, "manualpages.py"), os.path.join(source, "reference")], check=True)
    with open(os.path.join(source, "reference", "index.md"), "a", encoding="utf-8") as file:
        file.write("\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n")
    listed = doors(source)
    # pages that the README does not name are below the first page of their folder
    for folder, _, files in os.walk(os.path.join(source, "docs")):
        others = [name[:-3] for name in sorted(files) if name.endswith(".md") and os.path.relpath(os.path.join(folder, name), source)[:-3] not in listed]
        if others:
            first = folder if os.path.exists(os.path.join(folder, "README.md")) and others != ["README"] else os.path.dirname(folder)
            with open(os.path.join(first, "README.md"), "a", encoding="utf-8") as file:
                file.write(tree([os.path.relpath(os.path.join(folder, page), first) for page in others]))


def doors(source):
    """Write the landing page and its doors; return the pages that they list."""
    with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
        text = file.read()
    groups = {name: rows.replace(REFERENCE, "| [manual pages](reference/index.md) | every public function, type and option |")
              for name, rows in re.findall(r"^\| \*\*(.*?)\*\* \| \|\n((?:\| [^*].*\n)*)", text, flags=re.M)}
    choose = next(row for row in groups["Start here"].splitlines(True) if row.startswith(CHOOSE))
    groups["Start here"] = groups["Start here"].replace(choose, "")
    groups["Formats and methods"] = choose + groups["Formats and methods"]
    listed = []
    cards = ""
    for name, title, parts, sentence in DOORS:
        rows = "".join(groups[part] for part in parts)
        pages = pages_of(rows) + MORE.get(name, [])
        with open(os.path.join(source, name + ".md"), "w", encoding="utf-8") as file:
            file.write("# %s\n\n%s\n\n| page | contents |\n|---|---|\n%s%s" % (title, sentence, rows, tree(pages)))
        cards += ":::{grid-item-card} %s\n:link: %s\n:link-type: doc\n\n%s\n:::\n" % (title, name, sentence)
        listed.extend(pages)
    head = text[: text.index("```sh")]  # the title, the sentence, the picture and its source
    sentence, picture = re.fullmatch(r"(# .*?)\n\n(!\[.*)", head, flags=re.S).groups()
    with open(os.path.join(source, "index.md"), "w", encoding="utf-8") as file:
        file.write("%s\n\n::::{grid} 1 2 2 4\n:gutter: 3\n\n%s::::\n\n%s%s" % (sentence, cards, picture, tree([door[0] for door in DOORS])))
    return listed


def pages_of(rows):
    """The pages that rows of the README's table link."""
    pages = [page for row in rows.splitlines() for page in re.findall(r"\]\(([^)#:]*)\.md\)", row)]
    return list(dict.fromkeys(pages))


def tree(pages, caption=None):
    """A table of contents, which only the sidebar shows."""
    return "\n```{toctree}\n:hidden:\n%s\n%s\n```\n" % (":caption: %s\n" % caption if caption else "", "\n".join(pages))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = os.path.abspath(sys.argv[1])
    source, html = os.path.join(folder, "source"), os.path.join(folder, "html")
    os.makedirs(folder, exist_ok=True)
    copy(source)
    shutil.rmtree(html, ignore_errors=True)
    done = subprocess.run([python(folder), "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", HERE, "-d", os.path.join(folder, "doctrees"), source, html])
    if done.returncode:
        sys.exit("*** the site has mistakes, see above")
    print("The site is in %s" % html)


if __name__ == "__main__":
    main()
