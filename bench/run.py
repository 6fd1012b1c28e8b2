#!/usr/bin/env python3
"""Solve the same systems with aij and with amb and print what each took; exit with 1 unless both need the same iterations and reach
the same residual. Called by bench/run.sh with BIN, LIB, EXAMPLES and MPIEXEC in the environment."""
import argparse
import csv
import glob
import gzip
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 300
SOLVERS = (("cg + jacobi", "-ksp_type cg -pc_type jacobi"), ("bcgs + bjacobi", "-ksp_type bcgs -pc_type bjacobi"), ("cg + gamg", "-ksp_type cg -pc_type gamg"))
HEADER = ("program", "solver", "ranks", "type", "its", "true resid", "set-up s", "solve s", "MatMult us", "B/nnz", "solve", "MatMult")
FORMAT = "%-22s %-14s %5s  %-5s %5s %11s %9s %9s %11s %6s %7s %7s"


class Failed(Exception):
    """A run that did not end as it should; the text says how."""


class Outcome:
    """What one solve took."""

    def __init__(self, its, residual, setup, solve, mult, bytes_per_nonzero):
        self.its, self.residual, self.setup, self.solve, self.mult, self.bytes = its, residual, setup, solve, mult, bytes_per_nonzero


def execute(command, ranks, folder):
    launcher = shlex.split(os.environ.get("MPIEXEC", "mpiexec")) + ["-n", str(ranks)] if ranks > 1 or os.environ.get("MPIEXEC") else []
    env = dict(os.environ)
    env.setdefault("OMP_NUM_THREADS", "1")
    command = launcher + command
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT, universal_newlines=True, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failed("no end after %d s: %s" % (TIMEOUT, " ".join(command)))
    return done.returncode, done.stdout, " ".join(shlex.quote(word) for word in command)


def find(pattern, text, command):
    match = re.search(pattern, text)
    if not match:
        raise Failed("%s\nprinted nothing like %s:\n%s" % (command, pattern, text[-3000:]))
    return match


def logged(path, event):
    """Calls and seconds of a log event over all stages, of the slowest rank."""
    ranks = {}
    with open(path, newline="") as lines:
        for row in csv.reader(lines):
            if len(row) > 4 and row[1] == event:
                calls, seconds = ranks.get(row[2], (0, 0.0))
                ranks[row[2]] = (calls + int(row[3]), seconds + float(row[4]))
    return max(ranks.values(), key=lambda pair: pair[1]) if ranks else (0, 0.0)


def example(program, size, type_option):
    """A runner for one of PETSc's own examples, which get nothing but options."""

    def run(kind, solver, ranks, folder):
        log = os.path.join(folder, "log.csv")
        options = solver + " -ksp_rtol 1e-8 -ksp_converged_reason -ksp_view_final_residual -ksp_view_mat ::ascii_info -log_view :log.csv:ascii_csv"
        command = [os.path.join(os.environ["EXAMPLES"], program)] + size.split() + [type_option, kind, "-dll_append", os.environ["LIB"]] + options.split()
        code, text, shown = execute(command, ranks, folder)
        if code:
            raise Failed("%s\nexit code %d:\n%s" % (shown, code, text[-3000:]))
        its = int(find(r"converged due to \w+ iterations (\d+)", text, shown).group(1))
        residual = float(find(r"KSP final norm of residual (\S+)", text, shown).group(1))
        rows = int(find(r"rows=(\d+)", text, shown).group(1))
        nonzeros = int(find(r"total: nonzeros=(\d+)", text, shown).group(1))
        stored = re.search(r"bytes: \d+ stored.*?; ([\d.]+) per nonzero", text)
        calls, mult = logged(log, "MatMult")
        return Outcome(its, residual, logged(log, "PCSetUp")[1], logged(log, "KSPSolve")[1], mult / max(calls, 1), float(stored.group(1)) if stored else 12 + 4 * (rows + 1) / nonzeros)

    return run


def from_file(path):
    """A runner for bin/solve on a matrix."""

    def run(kind, solver, ranks, folder):
        command = [os.path.join(os.environ["BIN"], "solve"), "-f", path, "-mat_type", kind] + solver.split() + ["-ksp_rtol", "1e-8"]
        code, text, shown = execute(command, ranks, folder)
        line = re.search(r"^ +%s +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +\S+x +\S+x *(.*)$" % re.escape(kind), text, re.M)
        if code or not line:
            raise Failed("%s\nexit code %d:\n%s" % (shown, code, text[-3000:]))
        values = [float(line.group(k)) for k in range(1, 6)]
        return Outcome(int(values[0]), values[1], values[2], values[3], values[4] * 1e-6, float(line.group(6)) if line.group(6) != "-" else 0)

    return run


def laplacian(folder, n):
    """A file to solve from where data/ holds none: the 7-point Laplacian on n^3 points."""
    path = os.path.join(folder, "p7_%d.mtx" % n)
    with open(path, "w") as out:
        out.write("%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n" % (n ** 3, n ** 3, n ** 3 + 3 * n * n * (n - 1)))
        for i in range(n ** 3):
            out.write("%d %d 6\n" % (i + 1, i + 1))
            for step, place in ((1, i % n), (n, i // n % n), (n * n, i // n // n)):
                if place:
                    out.write("%d %d -1\n" % (i + 1, i + 1 - step))
    return path


def real_matrices(folder):
    """(path, solver) of the square real matrices in data/ that a Krylov method can solve; symmetric ones there are definite."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "data", "*.mtx.gz"))):
        with gzip.open(path, "rt", errors="replace") as lines:
            banner = next(lines, "").lower().split()
            size = next((line.split() for line in lines if line.strip() and not line.startswith("%")), [])
        if len(banner) == 5 and banner[2] == "coordinate" and banner[3] == "real" and size[:1] == size[1:2]:
            found.append((path, SOLVERS[0] if banner[4] == "symmetric" else SOLVERS[1]))
    return found or [(laplacian(folder, 40), SOLVERS[0])]


def agree(aij, other):
    """Another order of summation may move the end of an iteration, the more the longer it is."""
    return abs(aij.its - other.its) <= max(1, 0.02 * aij.its) and max(aij.residual, other.residual) <= 10 * min(aij.residual, other.residual)


def show(program, solver, ranks, kind, out, first):
    print(FORMAT % (program, solver, ranks, kind, out.its, "%.3e" % out.residual, "%.3f" % out.setup, "%.3f" % out.solve, "%.1f" % (1e6 * out.mult), "%.2f" % out.bytes if out.bytes else "-",
                    "%.2fx" % (first.solve / out.solve) if out.solve > 0 else "-", "%.2fx" % (first.mult / out.mult) if out.mult > 0 else "-"), flush=True)


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", default="amb", help="the type to compare with aij")
    kind = parser.parse_args().type
    start, failures, solves, mults = time.time(), [], [], []
    with tempfile.TemporaryDirectory(prefix="petsc-amb-run-") as folder:
        jobs = [(os.path.basename(path).replace(".mtx", "").replace(".gz", ""), (solver,), from_file(path)) for path, solver in real_matrices(folder)]
        jobs.append(("ex45, 65^3 grid", SOLVERS, example("ex45", "-da_grid_x 65 -da_grid_y 65 -da_grid_z 65", "-dm_mat_type")))
        jobs.append(("ex56, 20^3 elements", SOLVERS, example("ex56", "-ne 20", "-mat_type")))
        print(FORMAT % HEADER, flush=True)
        for program, solvers, run in jobs:
            for solver, options in solvers:
                for ranks in (1, 2) if os.environ.get("MPIEXEC", "mpiexec") else (1,):
                    try:
                        aij = run("aij", options, ranks, folder)
                        show(program, solver, ranks, "aij", aij, aij)
                        other = run(kind, options, ranks, folder)
                        show(program, solver, ranks, kind, other, aij)
                    except (Failed, OSError) as error:
                        failures.append("%s, %s, %d ranks: %s" % (program, solver, ranks, error))
                        print("FAIL  %s" % failures[-1], flush=True)
                        continue
                    if not agree(aij, other):
                        failures.append("%s, %s, %d ranks: aij and %s do not agree" % (program, solver, ranks, kind))
                        print("FAIL  %s" % failures[-1], flush=True)
                    solves.append(aij.solve / other.solve)
                    mults.append(aij.mult / other.mult)
    print("set-up: PCSetUp; solve: KSPSolve, with the conversion and tuning of %s in it; MatMult: the mean over all levels; ratios: aij over %s" % (kind, kind))
    if failures:
        print("FAIL: %d of %d comparisons in %.0f s" % (len(failures), len(failures) + len(solves), time.time() - start))
        return 1
    print("aij and %s agree in all %d solves; geomean of the ratios: solve %.2fx, MatMult %.2fx; %.0f s" % (kind, len(solves), geomean(solves), geomean(mults), time.time() - start))
    return 0


if __name__ == "__main__":
    sys.exit(main())
