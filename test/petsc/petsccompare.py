# SPDX-License-Identifier: BSD-2-Clause
"""Compare the outputs of two runs of a program by PETSc's rules, and look up differences in the list of those that are explained."""
import fnmatch
import os
import re
import shlex

import runtests

# the report of -petscamb_view, which says whether the type was in use
REPORT = re.compile(r"petsc-amb on \d+ process.*\n|^  type +matrices converted .*\n|^  (?P<type>\w+) +\d+ +\d+ \| +(?P<converted>\d+) +(?P<csr>\d+) \| .*\n|^  conversions .* s, new values .*\n"
                    r"|^  products of matrices: (?P<ours>\d+) by hashgemm.*\n|^  option -\S+: no matrix used it\n"
                    r"|^  (?:without the seconds of \d+ products|memory: formats had |products by PETSc: |products of baij and sbaij with vectors: |stayed on the AIJ: |-mat_shadow_tune model may |of types that petsc-amb does not "
                    r"|the load of the last minute was |\d+ of \d+ threaded loops |no matrix was of a type of petsc-amb\b).*\n", re.M)


def take_report(text, name):
    """(text without the report, whether a matrix of the type of this name was multiplied by a vector or a matrix)"""
    used = False
    for line in REPORT.finditer(text):
        used = used or line.group("type") == name and int(line.group("converted")) + int(line.group("csr")) > 0 or int(line.group("ours") or 0) > 0
    return REPORT.sub("", text), used


# what petsc-amb adds to the view of a matrix: a line, and further lines to the right of it
VIEW = re.compile(r"^( *)products run on (?:the AIJ, not on )?\w+[,:].*\n(?:\1  +(?:blocks of \d|values: |bytes: |\d+ more bytes |(?:off-)?diagonal blocks:|halo by |conversion |product |products by a stencil |copy of the AIJ |\d+ candidates "
                  r"|\d+ tasks: |\d+ segments |\d+ others |chunks of \d|\d+ chunks of |\d+ tiles of |no tiles|\d+ rectangles |\d+ sums of rows |predicted: |\w.*: [\d.]+ bytes per nonzero, ).*\n)*", re.M)
# what PETSc says in the view of a product of matrices about the algorithm, which is another one with petsc-amb
PRODUCT = re.compile(r"^ *using (?:nonscalable|scalable|allatonce|merged allatonce) MatPtAP\(\) implementation\n", re.M)
# what PETSc says with -info about the library that -dll_append names
LIBRARY = re.compile(r"^\[\d+\] <\w+> \w+\(\): .*libpetscamb.*\n", re.M)


def bare(text):
    for pattern in (VIEW, PRODUCT, LIBRARY):
        text = pattern.sub("", text)
    return text


def filtered(case, text, folder):
    """The output as PETSc's test harness would compare it, behind the filter of the block. The harness gives the filter to the shell as $'filter'."""
    text = bare(text)
    if not case.filter:
        return text
    script = "filter='%s'; eval \"filter=\\$'$filter'\"; eval \"cat | $filter\"" % case.filter
    return bare(runtests.shell(script, folder, 60, text.encode())[1])  # a filter may read files


NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE][-+]?\d))(?:[eE][-+]?\d+)?")
RELATIVE, ABSOLUTE = 1e-2, 1e-5


def far_numbers(first, second):
    """The first pair of lines in which numbers with a point differ by more than the last digits of a solve, or None. petscdiff leaves them out."""
    for one, other in zip(filter(str.strip, first.splitlines()), filter(str.strip, second.splitlines())):
        pairs = zip(NUMBER.findall(one), NUMBER.findall(other))
        if any(abs(a - b) > ABSOLUTE + RELATIVE * max(abs(a), abs(b)) for a, b in (map(float, pair) for pair in pairs)):
            return "numbers differ:\n< %s\n> %s" % (one, other)
    return None


def difference(case, petscdiff, folder, first, second):
    """The difference between two outputs by petscdiff's rules and of their numbers, or None."""
    if first.split() == second.split():
        return None
    names = [os.path.join(folder, ".petscdiff-" + side) for side in ("aij", "ours")]
    for name, text in zip(names, (first, second)):
        with open(name, "w", encoding="utf-8") as out:
            out.write(text)
    code, out, err, _ = runtests.shell("bash %s %s %s" % (shlex.quote(petscdiff), case.diff_args, " ".join(map(shlex.quote, names))), folder, 120)
    for name in names:
        os.remove(name)
    return ((out + err).strip() or "petscdiff: %s" % code) if code else far_numbers(first, second)


class Explained:
    """The list of explained differences. A line has a glob of runs, types, versions of PETSc, where the matrices are, and after a colon the reason."""

    def __init__(self, path, version, where):
        self.path, self.entries = path, []
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                words, colon, reason = line.partition(": ")
                if not colon or len(words.split()) != 4 or not reason.strip():
                    raise runtests.Syntax("%s, line %d: write 'GLOB TYPES VERSIONS WHERE: REASON'" % (path, number))
                glob, types, versions, place = words.split()
                if place not in ("host", "gpu", "*"):
                    raise runtests.Syntax("%s, line %d: %s is neither host nor gpu nor *" % (path, number, place))
                if self.applies(versions, version) and place in (where, "*"):
                    self.entries.append({"line": number, "glob": glob, "types": types.split(","), "reason": reason.strip(), "used": 0, "ran": 0})

    @staticmethod
    def applies(versions, version):
        """Whether a range of versions as 3.18-3.20, 3.19-, -3.20 or * has this version."""
        number = lambda text: tuple(int(part) for part in text.split("."))
        low, dash, high = versions.partition("-")
        if versions == "*":
            return True
        here = number(version)[:2]
        return (not low or number(low) <= here) and (not (high if dash else low) or here <= number(high if dash else low))

    def covers(self, name, kind):
        """The entry for a run of this case with this type, or None."""
        return next((entry for entry in self.entries if fnmatch.fnmatchcase(name, entry["glob"]) and ("*" in entry["types"] or kind in entry["types"])), None)

    def entry(self, name, kind):
        """The same; the entry counts as one whose case ran."""
        found = self.covers(name, kind)
        if found:
            found["ran"] += 1
        return found
