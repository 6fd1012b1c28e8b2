# SPDX-License-Identifier: BSD-2-Clause
"""The /*TEST*/ blocks of PETSc's own programs, as PETSc's test generator understands them.

The generator's modules come with the sources of the programs. They parse a block and say which of its requirements this PETSc does not meet.
"""
import contextlib
import io
import logging
import os
import sys
import tempfile

import runtests

PACKAGES = ("mat", "ksp", "snes", "ts", "tao")
LANGUAGES = ("c", "cxx")
SECONDS = 120  # for a run, twice the time of PETSc's harness, since several run at once


class Case:
    """One run of a program. Those of a block differ by the values of its loops and by its subtests; they run in one folder, one after the other."""

    def __init__(self, fields):
        self.__dict__.update(fields)  # name, nsize, args, env, filter, diff_args, error, cuda, seconds, skip


class Block:
    """A test of a program, with the name that it has in PETSc but for the slashes: mat/tests/ex1_2."""

    def __init__(self, fields):
        self.__dict__.update(fields)  # name, folder, program, depends, files
        self.cases = [Case(case) for case in fields["cases"]]

    def fields(self):
        return dict(self.__dict__, cases=[case.__dict__ for case in self.cases])


def generator(conf):
    """PETSc's gmakegentest.generateExamples for this PETSc, and its parser."""
    folder = os.path.join(conf["AMB_EXAMPLES_SRC"], "config")
    if not os.path.exists(os.path.join(folder, "gmakegentest.py")):
        sys.exit("%s: PETSc's test generator gmakegentest.py is needed there; it comes with the sources of PETSc and with make install" % folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    logging.getLogger().addHandler(logging.NullHandler())  # else the generator writes a log beside PETSc's library
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as scratch:
        import gmakegentest
        import testparse
        rules = gmakegentest.generateExamples(petsc_dir=conf["AMB_PETSC_DIR"], petsc_arch=conf["AMB_PETSC_ARCH"], testdir=scratch)
    return rules, testparse


def sources(root):
    """The programs with a block, relative to the folder src, in PETSc's order of packages."""
    for package in PACKAGES:
        for folder, folders, files in os.walk(os.path.join(root, package)):
            folders.sort()
            place = os.path.relpath(folder, root)
            if not {"tests", "tutorials"} & set(place.split(os.sep)) or os.path.basename(folder) == "output":
                continue
            for name in sorted(files):
                if os.path.splitext(name)[1] not in (".c", ".cxx", ".cu", ".F90", ".F", ".cpp", ".hip") or name.startswith((".", "#")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as code:
                    if "/*TEST\n" in code.read():
                        yield os.path.join(place, name)


def unmet(rules, entry):
    """Why this PETSc cannot run a test of these words, or None."""
    asked = {key: entry[key] for key in ("requires", "nsize") if key in entry}
    rules._isRun(asked)
    reasons = [reason for reason in asked["SKIP"] if not (reason == "Requires DATAFILESPATH" and os.environ.get("DATAFILESPATH"))]
    return ", ".join(reasons) or None


def cases(rules, name, entry, skip):
    """The cases of a test: its subtests without names of their own, and the values of the loops in nsize and args."""
    subtests = [entry[key] for key in entry.get("subtests", [])] or [{}]
    for index, subtest in enumerate(subtests):
        words = dict(entry, **subtest)
        words["args"] = (entry.get("args", "") + " " + subtest.get("args", "")).strip()
        words["requires"] = (entry.get("requires", "") + " " + subtest.get("requires", "")).strip()
        for key in ("TODO", "SKIP", "command"):
            if words.get(key):
                reason = "%s: %s" % (key, words[key]) if key != "command" else "runs a command of its own: " + words[key]
                break
        else:
            reason = None
        reason = skip or reason or unmet(rules, words)
        for sizes, counted, _ in runtests.loops(words.get("nsize", "1")):
            for args, values, _ in runtests.loops(words["args"]):
                labels = ["abcdefghijklmnopqrstuvwxyz"[index % 26]] * (len(subtests) > 1) + ["nsize-" + sizes.strip()] * bool(counted) + values
                pipe = words.get("filter", "")
                yield {"name": name + "".join("+" + label.replace("/", "-") for label in labels), "nsize": int(sizes), "args": args.strip(), "env": words.get("env", ""),
                       "filter": pipe[len("Error:"):].strip() if pipe.startswith("Error:") else pipe, "error": pipe.startswith("Error:"),
                       "diff_args": words.get("diff_args", ""), "cuda": "cuda" in words["requires"].split(), "seconds": SECONDS * float(words.get("timeoutfactor", 1)), "skip": reason}


def blocks(conf):
    """All blocks, those that cannot run with the reason in their cases."""
    rules, testparse = generator(conf)
    root = os.path.join(conf["AMB_EXAMPLES_SRC"], "src")
    for source in sources(root):
        folder, file = os.path.split(source)
        with contextlib.redirect_stdout(io.StringIO()):
            tests = testparse.parseTestFile(os.path.join(root, source), 0)[file]
            rules._isBuilt(file, tests)
        language = os.path.splitext(file)[1][1:]
        skip = ", ".join(tests.get("SKIP", [])) or ("TODO: " + tests["TODO"] if tests.get("TODO") else None)
        if language not in LANGUAGES:
            skip = skip or "not in C: the program is a .%s" % language
        for key, entry in tests.items():
            if key in testparse.buildkeys:
                continue
            name = os.path.join(folder, key[len("run"):])
            files = " ".join([entry.get("localrunfiles", "")] + [entry[subtest].get("localrunfiles", "") for subtest in entry.get("subtests", [])])
            yield Block({"name": name, "folder": folder, "program": source, "depends": tests.get("depends", "").split(), "files": files.split(),
                         "cases": list(cases(rules, name, entry, skip))})
