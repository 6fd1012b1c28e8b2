#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Make the manual pages of the public interface from the comments of the sources: a page in Markdown for each, and a list.

    docs/site/manualpages.py DIR       # writes DIR/index.md and DIR/NAME.md
    docs/site/manualpages.py --check   # names what the comments lack; exit code 1 if anything

The comments are PETSc's: /*@ a function, /*E an enumeration, /*S a struct, /*MC a type or an algorithm.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADER = os.path.join(ROOT, "include", "petscamb.h")
KINDS = (("Functions", ("@", "@C")), ("Types and algorithms", ("MC",)), ("Enumerations", ("E",)), ("Structs", ("S",)))
SECTION = re.compile(r"^ {0,3}([A-Z][A-Za-z ]+):\s*$")
ITEM = re.compile(r"^([+.-])\s{1,3}(\S.*?)\s+-\s+(.*)$")
PETSC = "https://petsc.org/release/manualpages/"


class Page:
    """A comment: its name, its summary, and its sections in their order, each a list of lines."""

    def __init__(self, kind, body, code, path):
        self.kind, self.path = kind, os.path.relpath(path, ROOT)
        head, _, rest = body.strip().partition("\n\n")
        head = " ".join(head.split())
        self.name, _, self.summary = (part.strip() for part in head.partition(" - "))
        self.sections = [("", [])]
        rest, _, see = rest.partition(".seealso:")
        self.see = re.findall(r"`?(\w+)(?:\(\))?`?", see)
        for line in rest.splitlines():
            found = SECTION.match(line)
            if found:
                self.sections.append((found.group(1), []))
            elif re.match(r" {0,3}Level: *(\w+)", line):
                self.sections.append(("Level", [line.split(":")[1].strip()]))
                self.sections.append(("", []))
            else:
                self.sections[-1][1].append(line[2:] if line.startswith("  ") else line)
        self.code = code

    def section(self, *names):
        return [line for title, lines in self.sections if title in names for line in lines]

    def described(self):
        """The names of the arguments that the page explains."""
        return [name for line in self.section("Input Parameter", "Input Parameters", "Output Parameter", "Output Parameters") for found in [ITEM.match(line)] if found
                for name in re.split(r",\s*", found.group(2))]

    def arguments(self):
        """The names of the arguments of the function."""
        found = re.search(r"\((.*)\)", self.code or "", re.S)
        return [re.sub(r"\[[^]]*\]", "", word).split()[-1].lstrip("*") for word in found.group(1).split(",") if word.strip() != "void"] if found else []


def declaration(text):
    """The code behind a comment, without its body."""
    text = text.lstrip()
    if text.startswith("typedef"):
        end = re.match(r"typedef [^{;]*(?:\{[^}]*\})?[^;]*;", text)
        return end.group(0) if end else ""
    if text.startswith("#define"):
        return "\n".join(line for line in text.split("\n\n")[0].splitlines() if line.startswith("#define"))
    end = re.match(r"(PetscErrorCode \w+\([^)]*\))", text)
    return re.sub(r"\s+", " ", end.group(1)) if end else ""


def pages():
    """All pages by name; of two comments with one name the longer one counts."""
    found = {}
    for path in [HEADER] + sorted(glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in re.finditer(r"^/\*(@C?|E|S|MC)\n(.*?)\n\s*(?:@|E|S|M)C?\*/", text, re.M | re.S):
            page = Page(match.group(1), match.group(2), declaration(text[match.end():]), path)
            other = found.get(page.name)
            if not other or len(match.group(2)) > other.length:
                page.length = len(match.group(2))
                page.code = page.code or (other.code if other else "")
                found[page.name] = page
            elif not other.code:
                other.code = page.code
    return found


def public():
    """The functions that the header declares."""
    with open(HEADER, encoding="utf-8") as file:
        return set(re.findall(r"^PETSC_EXTERN PetscErrorCode +(\w+)\(", file.read(), re.M))


def check(found):
    wrong = ["%s: no manual page" % name for name in sorted(public() - set(found))]
    for name, page in sorted(found.items()):
        if not page.summary:
            wrong.append("%s: %s has no summary" % (page.path, name))
        if page.kind.startswith("@"):
            if name not in public():
                wrong.append("%s: %s is not in petscamb.h" % (page.path, name))
            if not page.section("Level"):
                wrong.append("%s: %s has no level" % (page.path, name))
            missing = set(page.arguments()) - set(page.described())
            extra = set(page.described()) - set(page.arguments())
            wrong += ["%s: %s: the argument %s is not explained" % (page.path, name, one) for one in sorted(missing)]
            wrong += ["%s: %s has no argument %s" % (page.path, name, one) for one in sorted(extra)]
        ours = re.compile(r"^(MatShadow|MatAMB|MatNUSSELL|MatCCOO|MatHashGEMM|MatBatch|GraphConv|PetscAMB|MatLoadMatrixMarket|MatLoadEdgeList)\w*$")
        wrong += ["%s: %s: see also %s, which has no manual page" % (page.path, name, one) for one in page.see if ours.match(one) and one not in found]
    return wrong


def linked(text, found, here):
    """Names of our pages between backticks become links to them."""
    return re.sub(r"`(\w+)(\(\))?`", lambda m: "[`%s`](%s.md)" % (m.group(1) + (m.group(2) or ""), m.group(1)) if m.group(1) in found and m.group(1) != here else m.group(0), text)


def render(page, found):
    out = ["# %s" % page.name, "", linked(page.summary[:1].upper() + page.summary[1:].rstrip(".") + ".", found, page.name), ""]
    if page.code:
        out += ["```c", "#include <petscamb.h>", page.code + (";" if page.kind.startswith("@") else ""), "```", ""]
    for title, lines in page.sections:
        while lines and not lines[0].strip():
            lines = lines[1:]
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if not lines:
            continue
        if title == "Level":
            out += ["**Level:** %s" % lines[0], ""]
            continue
        out += ["## %s" % title, ""] if title else []
        for line in lines:
            item = ITEM.match(line)
            if item:
                key = item.group(2).strip("`")
                out.append("- `%s`: %s" % (key, linked(item.group(3), found, page.name)))
            else:
                text = linked(line.strip(), found, page.name)
                out.append("  " + text if out[-1].startswith(("- ", "  ")) and text else text.replace("<", "&lt;") if "`" not in text else text)
        out.append("")
    if page.see:
        out += ["## See also", "", ", ".join("[`%s`](%s.md)" % (one, one) if one in found else "`%s`" % one for one in page.see), ""]
    out += ["Source: `%s`. Names that are not of petsc-amb are in [PETSc's manual pages](%s)." % (page.path, PETSC), ""]
    return "\n".join(out)


def main():
    found = pages()
    if sys.argv[1:] == ["--check"]:
        wrong = check(found)
        for line in wrong:
            print("    " + line, file=sys.stderr)
        print("%s %d manual pages explain the public interface" % ("not ok" if wrong or len(found) < 60 else "ok", len(found)))
        sys.exit(bool(wrong) or len(found) < 60)
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    out = ["# Manual pages", "", "The public interface, from the comments of the sources.", ""]
    for title, kinds in KINDS:
        names = sorted(name for name, page in found.items() if page.kind in kinds)
        out += ["## %s" % title, "", "| name | |", "|---|---|"] + ["| [`%s`](%s.md) | %s |" % (name, name, found[name].summary.replace("|", "\\|")) for name in names] + [""]
    with open(os.path.join(sys.argv[1], "index.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    for name, page in found.items():
        with open(os.path.join(sys.argv[1], name + ".md"), "w", encoding="utf-8") as file:
            file.write(render(page, found))


if __name__ == "__main__":
    main()
