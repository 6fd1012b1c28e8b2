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
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = [os.path.join(ROOT, "include", name) for name in ("petscamb.h", "petscambgraph.h")]
# the subjects of the list, and what the names of their pages begin with; the first one that fits counts
SUBJECTS = (
    ("Start and version", r"PetscAMB|PETSCAMB_"),
    ("Matrix types", r"MAT(AMB|NUSSELL|CCOO|TILECOMPOSITE|AUTOSPARSE|HASHGEMM)$"),
    ("What all formats share", r"MatShadow"),
    ("Parameters of a format", r"Mat(AMB|NUSSELL|CCOO|TileComposite)[A-Z]"),
    ("Assembly", r"MatSet\w*BlockCOO"),
    ("Products of matrices", r"MATPRODUCTALGORITHM|MatHashGEMM|MatSDDMM"),
    ("Batches of small matrices", r"MatBatch"),
    ("Graph convolutions", r"GraphConv"),
    ("Graphs", r"Mat(Graph|PageRank|HITS|RandomWalk|Count|Breadth|Markov|MultOr|Prune|PowEntries|MaskEntries|MatMultMask)|Vec|MATPARTITIONING"),
    ("Solvers and preconditioners", r"KSP|PC|MATCOARSEN|MATSOLVER|MATORDERING"),
    ("Files", r"MatLoad"),
)
SECTION = re.compile(r"^ {0,3}([A-Z][A-Za-z/ ]+):\s*$")
ITEM = re.compile(r"^([+.-])\s{1,3}(\S.*?)\s+-\s+(.*)$")
PETSC = "https://petsc.org/release/manualpages/"
INTRODUCTION = """# Manual pages

The public interface, `petscamb.h` and `petscambgraph.h`, by subject. The pages are made from the comments of the sources.

A function returns a `PetscErrorCode`: call it within `PetscCall()`. *Collective* means that all processes of the object call the function together,
*logically collective* that they also give the same values, *not collective* that a process may call it alone. Options are read when a matrix becomes
one of our types, see [options](../docs/options.md).

## Errors of all functions

| error | when |
|---|---|
| `PETSC_ERR_ARG_NULL`, `PETSC_ERR_ARG_BADPTR`, `PETSC_ERR_ARG_CORRUPT`, `PETSC_ERR_ARG_WRONG` | an argument is no object, is destroyed, or is of another class (checked in a PETSc with debugging) |
| `PETSC_ERR_ARG_WRONG` | processes give different values to a function that is logically collective (in a PETSc with debugging) |
| `PETSC_ERR_MEM` | memory is used up; a format that finds none leaves products on the AIJ instead |
| `PETSC_ERR_GPU` | a call of CUDA failed |

The pages of functions list the errors beside these. [Troubleshooting](../docs/troubleshooting.md) has the messages that users see most.
"""


class Page:
    """A comment: its name, its summary, and its sections in their order, each a list of lines."""

    def __init__(self, kind, body, code, path, line):
        self.kind, self.path, self.line = kind, os.path.relpath(path, ROOT), line
        head, _, rest = body.strip().partition("\n\n")
        head = " ".join(head.split())
        self.name, _, self.summary = (part.strip() for part in head.partition(" - "))
        self.sections = [("", [])]
        rest, _, see = rest.partition("\n.seealso:")
        self.see = re.findall(r"`?(\w+)(?:\(\))?`?", see)
        verbatim = False
        for line in rest.splitlines():
            verbatim = line == ".vb" or verbatim and line != ".ve"
            found = None if verbatim else SECTION.match(line)
            if found:
                self.sections.append((found.group(1), []))
            elif re.match(r" {0,3}Level: *(\w+)", line):
                self.sections.append(("Level", [line.split(":")[1].strip()]))
                self.sections.append(("", []))
            else:
                self.sections[-1][1].append(line[2:] if line.startswith("  ") else line)
        self.code = code

    def line_of_list(self):
        """The summary, of which a long one ends at its first colon."""
        text = re.sub(r"^`\w+` = ", "", self.summary).split(". ")[0].rstrip(".")
        return text.split(": ")[0] if len(text) > 150 else text

    def section(self, *names):
        return [line for title, lines in self.sections if title in names for line in lines]

    def described(self):
        """The names of the arguments that the page explains."""
        return [name for title, lines in self.sections if re.match(r"(Input|Output|Input/Output) Parameters?$", title) for line in lines for found in [ITEM.match(line)] if found
                for name in re.split(r",\s*", found.group(2))]

    def names(self):
        """What the code of the page defines: the page's own name, and the others that it explains."""
        return {self.name} | set(re.findall(r"^#define (\w+)", self.code, re.M)) | set(re.findall(r"^ +(MAT_\w+)", self.code, re.M)) | set(re.findall(r"^PETSC_EXTERN .*?(\w+)(?:\[\])?;", self.code, re.M))

    def arguments(self):
        """The names of the arguments of the function."""
        found = re.search(r"\((.*)\)", self.code or "", re.S)
        return [re.sub(r"\[[^]]*\]", "", word).split()[-1].lstrip("*") for word in found.group(1).split(",") if word.strip() != "void"] if found else []


def declaration(text):
    """The code behind a comment, without its body."""
    text = text.lstrip()
    if text.startswith("typedef"):
        end = re.match(r"typedef [^{;]*(?:\{[^}]*\})?[^;]*;(?:\nPETSC_EXTERN [^(;]*;)*", text)
        return end.group(0) if end else ""
    if text.startswith("#define"):
        return "\n".join(line for line in text.split("\n\n")[0].splitlines() if line.startswith("#define"))
    end = re.match(r"(PetscErrorCode) ?\(?(\w+)\)?(\([^)]*\))", text)
    return re.sub(r"\s+", " ", "%s %s%s" % end.groups()) if end else ""


def pages():
    """All pages by name; of two comments with one name the longer one counts."""
    found = {}
    for path in HEADERS + sorted(glob.glob(os.path.join(ROOT, "src", "**", "*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in re.finditer(r"^/\*(@C?|E|S|MC)\n(.*?)\n\s*(?:@|E|S|M)C?\*/", text, re.M | re.S):
            page = Page(match.group(1), match.group(2), declaration(text[match.end():]), path, text.count("\n", 0, match.start()) + 1)
            other = found.get(page.name)
            if not other or len(match.group(2)) > other.length:
                page.length = len(match.group(2))
                page.code = page.code or (other.code if other else "")
                found[page.name] = page
            elif not other.code:
                other.code = page.code
    return found


def header(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def public():
    """The functions that the headers declare, and all of their names."""
    text = "".join(header(path) for path in HEADERS)
    functions = set(re.findall(r"^PETSC_EXTERN PetscErrorCode +(\w+)\(", text, re.M))
    types = re.findall(r"^#define (\w+) ", text, re.M) + re.findall(r"^(?:\} |typedef (?:struct )?\w+ \*)(\w+);", text, re.M) + re.findall(r"^typedef .*\(\*(\w+)\)\(", text, re.M)
    return functions, functions | set(types) | set(re.findall(r"^PETSC_EXTERN (?!PetscErrorCode).*?(\w+)(?:\[\])?;", text, re.M))


def subject(name):
    return next((title for title, begin in SUBJECTS if re.match(begin, name)), None)


def explained(found):
    """The page of each name that the pages explain, besides those that have the name of a page."""
    return {name: page.name for page in found.values() for name in page.names() if name not in found}


def referring(found):
    """For each page the pages that refer to it, which it does not name itself."""
    others = explained(found)
    back = {name: set() for name in found}
    for page in found.values():
        for one in page.see:
            there = others.get(one, one)
            if there in found and page.name not in found[there].see:
                back[there].add(page.name)
    return back


def bindings():
    """The subroutine of Fortran and the function of Python for the functions that have one, and the files that call a function, as examples."""
    fortran, python, users = {}, {}, {}
    for path in glob.glob(os.path.join(ROOT, "src", "binding", "fortran", "petscamb.F90")):
        with open(path, encoding="utf-8") as file:
            fortran.update((name, "call %s(%s)" % (name, arguments)) for name, arguments in re.findall(r"^  subroutine (\w+)\((.*?)\)$", file.read(), re.M))
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        python.update((name, "petscamb.%s" % signature) for signature, name in re.findall(r"^\| `([\w.]+\(.*\))` \| `(\w+)\(\)` \|$", file.read(), re.M))
    for folder in ("src/ksp/examples", "tool", "tool/graph", "bench", "test/*"):
        for path in sorted(glob.glob(os.path.join(ROOT, *folder.split("/"), "*.c"))):
            with open(path, encoding="utf-8") as file:
                for name in set(re.findall(r"\b((?:Mat|Vec|GraphConv|PC|Petsc)\w+)\(", file.read())):
                    users.setdefault(name, []).append(os.path.relpath(path, ROOT))
    return fortran, python, users


def check(found):
    functions, names = public()
    wrong = ["%s: no manual page" % name for name in sorted(names - set(found) - set(explained(found)))]
    for name, page in sorted(found.items()):
        if not page.summary:
            wrong.append("%s: %s has no summary" % (page.path, name))
        if page.kind.startswith("@"):
            if name not in functions:
                wrong.append("%s: %s is in no public header" % (page.path, name))
            if not page.section("Level"):
                wrong.append("%s: %s has no level" % (page.path, name))
            if not re.match(r"(Logically |Not )?[Cc]ollective", (page.section("") + [""] * 2)[0].strip() or (page.section("") + [""] * 2)[1].strip()):
                wrong.append("%s: %s does not say whether it is collective" % (page.path, name))
            missing = set(page.arguments()) - set(page.described())
            extra = set(page.described()) - set(page.arguments())
            wrong += ["%s: %s: the argument %s is not explained" % (page.path, name, one) for one in sorted(missing)]
            wrong += ["%s: %s has no argument %s" % (page.path, name, one) for one in sorted(extra)]
        if not subject(name):
            wrong.append("%s: %s belongs to no subject of the list" % (page.path, name))
        ours = re.compile(r"^(MatShadow|MatAMB|MatNUSSELL|MatCCOO|MatHashGEMM|MatBatch|GraphConv|PetscAMB|MatLoad(?:MatrixMarket|EdgeList|GetFormat|Format))\w*$")
        wrong += ["%s: %s: see also %s, which has no manual page" % (page.path, name, one) for one in page.see if ours.match(one) and one not in found]
    return wrong


def linked(text, found, here, others):
    """Names between backticks that our pages explain become links to them."""

    def link(m):
        there = others.get(m.group(1), m.group(1))
        return "[`%s`](%s.md)" % (m.group(1) + (m.group(2) or ""), there) if there in found and there != here else m.group(0)

    return re.sub(r"`(\w+)(\(\))?`", link, text)


def body(page, lines, link):
    """The lines of a section in Markdown."""
    out, code = [], None
    for line in lines:
        item = ITEM.match(line)
        if line == ".vb":
            code = []
        elif line == ".ve":
            text = "\n".join(code)
            out += ["```c" if re.search(r"[;{]", text) else "```sh"] + textwrap.dedent(text).splitlines() + ["```"]
            code = None
        elif code is not None:
            code.append(line)
        elif item:
            out.append("- `%s`: %s" % (item.group(2).strip("`"), link(item.group(3))))
        else:
            text = link(line.strip())
            out.append("  " + text if out and out[-1].startswith(("- ", "  ")) and text else text.replace("<", "&lt;") if "`" not in text else text)
    return out


def render(page, found, others, back, languages):
    def link(text):
        return linked(text, found, page.name, others)

    fortran, python, users = languages
    function = page.kind.startswith("@")
    out = ["# %s" % page.name, "", link(page.summary[:1].upper() + page.summary[1:].rstrip(".") + "."), ""]
    if page.code:
        out += ["```c", "#include <%s>" % ("petscambgraph.h" if re.search(r"\b%s\b" % page.name, header(HEADERS[1])) else "petscamb.h"), page.code + (";" if function else ""), "```", ""]
    last = {"Errors": 1, "Example": 2} # errors and examples come last
    for title, lines in sorted(page.sections, key=lambda one: last.get(one[0], 0)):
        while lines and not lines[0].strip():
            lines = lines[1:]
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if title == "Level":
            out += ["**Level:** %s" % lines[0], ""]
        elif lines:
            out += (["## %s" % title, ""] if title else []) + body(page, lines, link)
            out += ["", "Besides, [the errors of all functions](index.md#errors-of-all-functions)."] if title == "Errors" and function else []
            out.append("")
    if function and not page.section("Errors"):
        out += ["## Errors", "", "[Those of all functions](index.md#errors-of-all-functions).", ""]
    if function:
        out += ["## Fortran and Python", "", "Fortran: " + ("`%s`, module `petscamb`." % fortran[page.name] if page.name in fortran else "no interface."), "Python: " + ("`%s`." % python[page.name] if page.name in python else "no interface."), ""]
    see = ["[`%s`](%s.md)" % (one, others.get(one, one)) if others.get(one, one) in found else "`%s`" % one for one in page.see]
    see += ["[`%s`](%s.md)" % (one, one) for one in sorted(back[page.name])]
    if see:
        out += ["## See also", "", ", ".join(see), ""]
    if users.get(page.name):
        out += ["Used in " + ", ".join("`%s`" % path for path in users[page.name][:4]) + ".", ""]
    out += ["Source: `%s`, line %d. Names that are not of petsc-amb are in [PETSc's manual pages](%s). [All manual pages](index.md)." % (page.path, page.line, PETSC), ""]
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
    others, back, languages = explained(found), referring(found), bindings()
    out = [INTRODUCTION]
    for title, _ in SUBJECTS:
        names = sorted((name for name in found if subject(name) == title), key=lambda name: (not name.isupper(), "Destroy" in name, name))
        if not names:
            continue
        out += ["## %s" % title, "", "| name | what it is or does | level |", "|---|---|---|"]
        for name in names:
            more = sorted(found[name].names() - {name}) if name.isupper() else []
            label = "[`%s`](%s.md)%s" % (name, name, " (%s)" % ", ".join("`%s`" % one for one in more) if more else "")
            out.append("| %s | %s | %s |" % (label, found[name].line_of_list().replace("|", "\\|"), " ".join(found[name].section("Level"))))
        out.append("")
    with open(os.path.join(sys.argv[1], "index.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(out))
    for name, page in found.items():
        with open(os.path.join(sys.argv[1], name + ".md"), "w", encoding="utf-8") as file:
            file.write(render(page, found, others, back, languages))


if __name__ == "__main__":
    main()
