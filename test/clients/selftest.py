# SPDX-License-Identifier: BSD-2-Clause
"""Checks of compare.py and of the list of explained differences, with outputs written here: test/clients/clients.sh calls this."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import compare  # noqa: E402
import run  # noqa: E402
import runtests  # noqa: E402

VIEW = """\
  0 SNES Function norm 1.000000000000e+00
  Linear solve converged due to CONVERGED_RTOL iterations 12
KSP Object: 1 MPI process
  type: cg
  PC Object: 1 MPI process
    type: gamg
      type is MULTIPLICATIVE, levels=3 cycles=v
      Complexity:    grid = 1.18    operator = 1.1206
      eigenvalue targets used: min 0.105725, max 1.16297
  linear system matrix = precond matrix:
  Mat Object: 1 MPI process
    type: seqaij
    rows=1536, cols=1536, bs=3
    total: nonzeros=95832, allocated nonzeros=95832
      using I-node routines: found 512 nodes, limit used is 5
Norm of error 3.1e-11
  1 SNES Function norm 2.5e-12
"""
OURS = VIEW.replace("type: seqaij\n", "type: seqaijamb\n").replace("limit used is 5\n", """limit used is 5
      products run on amb, avx2 kernels: the traffic model sees a gain
        blocks of 3 columns, chunks of 8 rows, scopes of 64 rows, 1 tiles
        conversion 3.36e-05 s
""") + """\
petsc-amb on 1 process; matrices that were multiplied by vectors, blocks of MPI matrices by themselves
  type       matrices converted | products     on it    on AIJ | seconds     on it    on AIJ
  amb               3         2 |                 82       178 |             0.107    0.0125
  conversions 0.18 s, new values 0 s
"""
TABLE = "petsc-amb on 1 process\n  no matrix was of a type of petsc-amb: give -mat_type amb\n"

# name, text of petsc-amb made of OURS by a replacement, whether it must count as different
CHANGES = [
    ("lines and names of petsc-amb", "", "", False),
    ("a number within the tolerance", "max 1.16297", "max 1.162971", False),
    ("one in the last digit of a complexity", "operator = 1.1206", "operator = 1.1207", True),
    ("a norm below the floor", "error 3.1e-11", "error 4.7e-11", False),
    ("iterations", "iterations 12", "iterations 13", True),
    ("a reason to stop", "CONVERGED_RTOL", "CONVERGED_ITS", True),
    ("levels", "levels=3", "levels=4", True),
    ("a complexity of three digits", "grid = 1.18", "grid = 1.19", True),
    ("a lost block size", ", bs=3", "", True),
    ("nonzeros", "total: nonzeros=95832", "total: nonzeros=95833", True),
    ("a line that is missing", "      using I-node routines: found 512 nodes, limit used is 5\n", "", True),
    ("a line that is new", "Norm of error", "has attached null space\nNorm of error", True),
    ("an eigenvalue", "max 1.16297", "max 1.16311", True),
    ("not a number", "norm 1.000000000000e+00", "norm nan", True),
    ("another matrix type", "type: seqaijamb", "type: seqsell", True),
    ("a deeper line that is not of petsc-amb", "    rows=1536", "      rows=1536", True),
]


def main():
    types, rules, failed = runtests.types(), compare.Rules(1e-5, 1e-10, ()), []

    def check(name, good):
        print("%s %s" % ("ok" if good else "not ok", name))
        failed.extend([name] * (not good))

    for name, old, new, differs in CHANGES:
        found = compare.differences(VIEW, OURS.replace(old, new) if old else OURS, types, rules)
        check("%s: %s" % ("different" if differs else "equal", name), bool(found) == differs and (not old or old in OURS))
    check("equal: a line that is dropped", not compare.differences(VIEW, OURS.replace("error 3.1e-11", "error 1"), types, compare.Rules(1e-5, 1e-10, ("^Norm of error",))))
    check("the table says that the type was in use", compare.converted(compare.split_report(OURS)[1], "amb") == (3, 2))
    check("the table says that no matrix was of the type", compare.converted(compare.split_report(VIEW + TABLE)[1], "amb") is None)
    entries = [("slepc/*-2-*", re.compile("nodes -> $"), "a reason")]
    check("an explained difference has a reason", run.reason_for("slepc/one-2-for_aij-amb", [("512 nodes", "")], entries) == "a reason")
    check("a difference of another test has none", run.reason_for("slepc/one-1-for_aij-amb", [("512 nodes", "")], entries) is None)
    check("one explained difference of two is not enough", run.reason_for("slepc/one-2-for_aij-amb", [("512 nodes", ""), ("rows=3", "rows=4")], entries) is None)
    check("explained.txt can be read", len(run.read_explained(os.path.join(HERE, "explained.txt"))) > 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
