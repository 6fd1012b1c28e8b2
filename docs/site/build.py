#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Build the site: the pages of this tree and the manual pages, as HTML. make site calls this.

    docs/site/build.py DIR     # DIR/html/index.html; DIR/source has the pages that Sphinx reads

Sphinx and MyST are taken from this Python; where it lacks them, pip installs them in DIR/venv. A warning of Sphinx, such as a link that leads nowhere, is an
error.
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
REFERENCE = "| manual pages |"  # the row of the README that stands for the pages in reference, which are made here


def python(folder):
    """An interpreter that has Sphinx and MyST."""
    if importlib.util.find_spec("sphinx") and importlib.util.find_spec("myst_parser"):
        return sys.executable
    place = os.path.join(folder, "venv")
    found = os.path.join(place, "bin", "python")
    if not os.path.exists(os.path.join(place, "complete")):
        print("Installing Sphinx and MyST in %s" % place)
        if not importlib.util.find_spec("ensurepip"):
            sys.exit("*** make site needs Sphinx and MyST, or the means to install them: apt-get install python3-venv, or pip install sphinx myst-parser")
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
    with open(os.path.join(source, "README.md"), "r+", encoding="utf-8") as file:
        text = file.read()
        groups = [(name, pages_of(rows)) for name, rows in re.findall(r"^\| \*\*(.*?)\*\* \| \|\n((?:\| [^*].*\n)*)", text, flags=re.M)]
        groups[-1][1].extend(["CHANGELOG", "data/README"])
        file.write("".join(tree(pages, name) for name, pages in groups))
    # pages that the README does not name are below the first page of their folder
    listed = [page for _, pages in groups for page in pages]
    for folder, _, files in os.walk(os.path.join(source, "docs")):
        others = [name[:-3] for name in sorted(files) if name.endswith(".md") and os.path.relpath(os.path.join(folder, name), source)[:-3] not in listed]
        if others:
            first = folder if os.path.exists(os.path.join(folder, "README.md")) and others != ["README"] else os.path.dirname(folder)
            with open(os.path.join(first, "README.md"), "a", encoding="utf-8") as file:
                file.write(tree([os.path.relpath(os.path.join(folder, page), first) for page in others]))


def pages_of(rows):
    """The pages that rows of the README's table link."""
    pages = [page for row in rows.splitlines() for page in (["reference/index"] if row.startswith(REFERENCE) else re.findall(r"\]\(([^)#:]*)\.md\)", row))]
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
    shutil.copy(os.path.join(html, "README.html"), os.path.join(html, "index.html"))
    print("The site is in %s" % html)


if __name__ == "__main__":
    main()
