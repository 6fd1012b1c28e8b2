#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# make check-petsc judges as it should: what it takes out of an output, which differences it finds, and how it reads the list of explained ones.
# gpu: 0
# tier: check
set -euo pipefail
"${PYTHON:-python3}" - "$(cd "$(dirname "$0")/.." && pwd)" <<'PYTHON'
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1], os.path.join(sys.argv[1], "petsc")]
import petscblocks
import petsccompare
import runtests


def check(name, holds):
    print("%s %s" % ("ok" if holds else "not ok", name))


ROOT = os.path.dirname(sys.argv[1])
REPORT = """petsc-amb on 2 processes, sums over them; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
  type       matrices converted | products     on it    on AIJ | seconds     on it    on AIJ
  amb              32        23 |                482       678 |             0.107    0.0125
  conversions 0.18 s, new values 0 s
  products of matrices: 0 by hashgemm, 0 times with new values, 0.326 s; 3 by PETSc
  stayed on the AIJ: 9 (measured: the AIJ is faster)
  the load of the last minute was 17.9 on 2 processors: on an idle machine, or with fewer threads (OMP_NUM_THREADS), the format may be faster
"""
VIEW = """  Mat Object: 1 MPI process
    type: seqaij
    products run on amb, avx512 kernels: tried against the traffic model
      blocks of 3 columns, chunks of 8 rows, scopes of 64 rows, 2 tiles
      values: table of 8 bits, 3 distinct
      products by a stencil of 7 entries, with a mask for each row
      copy of the AIJ on the GPU: given back
      bytes: 1644 stored, 1644 by the model, 1056 of the AIJ; 22.22 per nonzero, AIJ 14.27; fill 1.622
      conversion 5.89e-05 s
        nussell, C = 8: 13.63 bytes per nonzero, not timed, in use
      KSP Object: (redundant_) 1 MPI process
    using nonscalable MatPtAP() implementation
[0] <sys> PetscDLLibraryOpen(): Opening dynamic library lib/libpetscamb
"""
BARE = "  Mat Object: 1 MPI process\n    type: seqaij\n      KSP Object: (redundant_) 1 MPI process\n"

check("the report is taken out", petsccompare.take_report("before\n" + REPORT + "after\n", "amb") == ("before\nafter\n", True))
with open(os.path.join(ROOT, "src", "mat", "shadow", "user", "shadowreport.c"), encoding="utf-8") as source:
    shapes = [re.sub(r"%-?[\d.]*l?[dfg]", "7", shape).replace("%-10s", "amb") for shape in re.findall(r'PetscPrintf\(PETSC_COMM_SELF, "(  .*?)\\n"', source.read())]
kept = [shape for shape in shapes if petsccompare.take_report(shape + "\n", "amb")[0] and not re.match("  (amb|%s) ", shape)]
check("every line of the report is one that is taken out" + "".join(", not: " + shape for shape in kept), len(shapes) > 8 and not kept)
check("a report of another type is none of this type", not petsccompare.take_report(REPORT, "nussell")[1])
check("a type without products is not in use", not petsccompare.take_report(REPORT.replace("482", "  0").replace("678", "  0"), "amb")[1])

case = petscblocks.Case({"filter": "", "diff_args": ""})
with tempfile.TemporaryDirectory() as folder:
    check("the lines of petsc-amb in a view are taken out, and no others", petsccompare.filtered(case, VIEW, folder) == BARE)
    case.filter = "grep -v \"a \\\\+\" | sort"
    check("the filter of a block", petsccompare.filtered(case, "c\na   x\nb\n", folder) == "b\nc\n")

check("last digits do not count", petsccompare.far_numbers("norm 1.2345e+02 0.5 3e-16", "norm 1.2346e+02 0.5 7e-12") is None)
check("other digits count", petsccompare.far_numbers("norm 1.2345e+02 0.5", "norm 1.2345e+02 0.6") is not None)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "explained.txt")
    with open(path, "w", encoding="utf-8") as text:
        text.write("# a comment\nmat/*ex1_* amb,nussell 3.18-3.20 host: a reason\nksp/* * 3.19- *: a reason: with a colon\nsnes/* * * host: any version\n")
    old, new = petsccompare.Explained(path, "3.18.5", "host"), petsccompare.Explained(path, "3.26.1", "host")
    check("an entry holds for its versions", [len(old.entries), len(new.entries)] == [2, 2] and new.entry("ksp/tests/ex1_2", "amb") and not old.entry("ksp/tests/ex1_2", "amb"))
    check("an entry holds where its matrices are", len(petsccompare.Explained(path, "3.26.1", "gpu").entries) == 1)
    check("an entry holds for its types", old.entry("mat/tests/ex1_2", "amb") and not old.entry("mat/tests/ex1_2", "hashgemm"))
    check("an entry counts the runs that it stands for", [entry["ran"] for entry in old.entries] == [1, 0])
    with open(path, "w", encoding="utf-8") as text:
        text.write("mat/*ex1_* amb host: no version\n")
    try:
        petsccompare.Explained(path, "3.18.5", "host")
        check("an entry without a version is refused", False)
    except runtests.Syntax:
        check("an entry without a version is refused", True)
PYTHON
