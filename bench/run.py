#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Solve the same systems with a type of PETSc and with amb, taking turns, and print what each took; exit with 1 unless both need the same iterations
and reach the same residual. On the host PETSc's type is aij, on a GPU aijcusparse. Called by bench/run.sh with BIN, LIB, BUILD, EXAMPLES and MPIEXEC in
the environment."""
import argparse
import csv
import glob
import gzip
import json
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
BUDGET = 55      # seconds for everything, on a quiet machine; each comparison gets its share of what is left
ENOUGH = 0.2     # seconds of solving after which a type needs no further rounds
ROUNDS = (2, 3)  # at least, and without haste
CG, BCGS, GAMG = ("cg + jacobi", "-ksp_type cg -pc_type jacobi"), ("bcgs + bjacobi", "-ksp_type bcgs -pc_type bjacobi"), ("cg + gamg", "-ksp_type cg -pc_type gamg")
HEADER = ("system", "solver", "ranks", "type", "its", "true resid", "set-up s", "1st solve", "2nd solve", "MatMult us", "B/nnz", "rounds", "spread", "1st", "2nd", "MatMult")
FORMAT = "%-20s %-14s %5s  %-11s %5s %10s %9s %9s %9s %10s %6s %6s %6s %6s %6s %7s"


class Failed(Exception):
    """A run that did not end as it should; the text says how."""


class Sample:
    """What one round took."""

    def __init__(self, its, residual, setup, first, second, mult, bytes_per_nonzero):
        self.its, self.residual, self.setup, self.first, self.second, self.mult, self.bytes = its, residual, setup, first, second, mult, bytes_per_nonzero


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


class Outcome:
    """The rounds of one type."""

    def __init__(self, samples):
        self.rounds, self.its, self.residual, self.bytes = len(samples), samples[0].its, samples[0].residual, samples[0].bytes
        for name in ("setup", "first", "second", "mult"):
            values = [getattr(sample, name) for sample in samples]
            setattr(self, name, None if None in values else quantile(values, 0.5))
        firsts = [sample.first for sample in samples]
        apart = quantile(firsts, 0.75) - quantile(firsts, 0.25) if len(firsts) > 3 else max(firsts) - min(firsts)
        self.spread = apart / max(self.first, 1e-9) if len(firsts) > 1 else None


def execute(command, ranks, folder):
    launcher = shlex.split(os.environ.get("MPIEXEC", "mpiexec")) + ["-n", str(ranks)] if ranks > 1 or os.environ.get("MPIEXEC") else []
    env = dict(os.environ)
    env.setdefault("OMP_NUM_THREADS", "1")
    command = launcher + command
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT, universal_newlines=True, errors="replace")
    except subprocess.TimeoutExpired:
        raise Failed("no end after %d s: %s" % (TIMEOUT, " ".join(command)))
    shown = " ".join(shlex.quote(word) for word in command)
    if done.returncode:
        raise Failed("%s\nexit code %d:\n%s" % (shown, done.returncode, done.stdout[-3000:]))
    return done.stdout, shown


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


def wanted(spent, rounds, start, share):
    """Whether another round is worth its time, by what the rounds took so far."""
    took = time.time() - start
    if rounds < ROUNDS[0]:
        return took < 3 * share  # a machine that is this busy tells little in a second round, too
    return (min(spent) < ENOUGH or rounds < ROUNDS[1]) and took * (rounds + 1) / rounds <= share


def taking_turns(once):
    """A comparison from a function that makes one round of one type, each in a process of its own."""

    def compare(kinds, solver, ranks, folder, share):
        samples, start, rounds, more = {kind: [] for kind in kinds}, time.time(), 0, True
        while more:
            for kind in kinds:
                samples[kind].append(once(kind, solver, ranks, folder))
            rounds += 1
            more = wanted([sum(sample.first for sample in samples[kind]) for kind in kinds], rounds, start, share)
        return samples

    return compare


def example(program, size, type_option):
    """One of PETSc's own examples, which get nothing but options."""

    def once(kind, solver, ranks, folder):
        log = os.path.join(folder, "log.csv")
        options = solver + " -ksp_rtol 1e-8 -ksp_converged_reason -ksp_view_final_residual -ksp_view_mat ::ascii_info -log_view :log.csv:ascii_csv"
        command = [os.path.join(os.environ["EXAMPLES"], program)] + size.split() + [type_option, kind, "-dll_append", os.environ["LIB"]] + options.split()
        text, shown = execute(command, ranks, folder)
        its = int(find(r"converged due to \w+ iterations (\d+)", text, shown).group(1))
        residual = float(find(r"KSP final norm of residual (\S+)", text, shown).group(1))
        rows = int(find(r"rows=(\d+)", text, shown).group(1))
        nonzeros = int(find(r"total: nonzeros=(\d+)", text, shown).group(1))
        stored = re.search(r"bytes: \d+ stored.*?; ([\d.]+) per nonzero", text)
        calls, mult = logged(log, "MatMult")
        return Sample(its, residual, logged(log, "PCSetUp")[1], logged(log, "KSPSolve")[1], None, mult / max(calls, 1), float(stored.group(1)) if stored else 12 + 4 * (rows + 1) / nonzeros)

    return taking_turns(once)


def petscamb_solve(matrix, kinds, solver, ranks, folder, options):
    """Samples by type of a matrix, a file or what a generator makes, in one process of petscamb solve for all types."""
    results = os.path.join(folder, "rounds.csv")
    text, shown = execute([os.path.join(os.environ["BIN"], "petscamb"), "solve", matrix, "-types", ",".join(kinds), "-csv", results, "-ksp_rtol", "1e-8"] + solver.split() + options, ranks, folder)
    samples = {kind: [] for kind in kinds}
    with open(results, newline="") as lines:
        for row in csv.DictReader(lines):
            value = {key: float(row[key]) for key in row if key.endswith("_s") or key in ("true_residual", "bytes_per_nonzero")}
            samples[row["type"]].append(Sample(int(row["iterations"]), value["true_residual"], value["setup_s"], value["first_s"], value["second_s"], value["mult_s"], value["bytes_per_nonzero"]))
    if not all(samples.values()):
        raise Failed("%s\nwrote no rounds:\n%s" % (shown, text[-3000:]))
    return samples


def matrix_on_host(matrix):
    """Both types in one process, which makes the rounds by itself."""

    def compare(kinds, solver, ranks, folder, share):
        return petscamb_solve(matrix, kinds, solver, ranks, folder, ["-seconds", str(ENOUGH), "-rounds", str(ROUNDS[1]), "-limit", "%.1f" % share])

    return compare


def matrix_on_gpu(matrix):
    """A process for each round of each type: there the first matrix of ours makes every aijcusparse ours, and the first solve of a process is what most users have."""
    return taking_turns(lambda kind, solver, ranks, folder: petscamb_solve(matrix, [kind], solver, ranks, folder, ["-rounds", "1", "-seconds", "0"])[kind][0])


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
            found.append((path, CG if banner[4] == "symmetric" else BCGS))
    return found or [(laplacian(folder, 40), CG)]


def host_jobs(folder):
    """[(name, solver, ranks, comparison)]"""
    ranks = (1, 2) if os.environ.get("MPIEXEC", "mpiexec") else (1,)
    jobs = [(os.path.basename(path).replace(".mtx", "").replace(".gz", ""), (solver,), matrix_on_host(path)) for path, solver in real_matrices(folder)]
    jobs.append(("ex45, 49^3 grid", (CG, BCGS, GAMG), example("ex45", "-da_grid_x 49 -da_grid_y 49 -da_grid_z 49", "-dm_mat_type")))
    jobs.append(("ex56, 16^3 elements", (CG, GAMG), example("ex56", "-ne 16", "-mat_type")))
    return [(name, solver, n, compare) for name, solvers, compare in jobs for solver in solvers for n in ranks]


def gpus():
    """How many there are."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    except OSError:
        return 0
    return listed.stdout.count("GPU ") if listed.returncode == 0 else 0


def gpu_jobs():
    """One process, and two where each has a GPU to itself."""
    ranks = (1, 2) if gpus() > 1 and os.environ.get("MPIEXEC", "mpiexec") else (1,)
    jobs = [("7-point, 65^3", (CG,), matrix_on_gpu("p7:65")), ("7-point, 129^3", (CG, GAMG), matrix_on_gpu("p7:129")), ("27-point, 101^3", (CG,), matrix_on_gpu("p27:101")),
            ("ex45, 129^3 grid", (GAMG,), example("ex45", "-da_grid_x 129 -da_grid_y 129 -da_grid_z 129 -dm_vec_type cuda", "-dm_mat_type")),
            ("ex56, 31^3 elements", (GAMG,), example("ex56", "-ne 31 -vec_type cuda", "-mat_type"))]
    return [(name, solver, n, compare) for name, solvers, compare in jobs for solver in solvers for n in ranks]


def agree(first, other):
    """Another order of summation may move the end of an iteration, the more the longer it is."""
    return abs(first.its - other.its) <= max(1, 0.02 * first.its) and max(first.residual, other.residual) <= 10 * min(first.residual, other.residual)


def show(system, solver, ranks, kind, out, first):
    ratio = ["%.2fx" % (getattr(first, name) / getattr(out, name)) if getattr(out, name) else "-" for name in ("first", "second", "mult")]
    print(FORMAT % ((system, solver, ranks, kind, out.its, "%.3e" % out.residual, "%.4f" % out.setup, "%.4f" % out.first, "-" if out.second is None else "%.4f" % out.second, "%.1f" % (1e6 * out.mult),
                     "%.2f" % out.bytes if out.bytes else "-", out.rounds, "-" if out.spread is None else "%.0f %%" % (100 * out.spread)) + tuple(ratio)), flush=True)


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else 0


def verdict(base, kind, pairs, seconds):
    """What the table comes to, for someone who wonders whether to use it. A ratio counts as a gain or a loss where it is more than both spreads."""
    known = [max(first.spread, other.spread) for first, other in pairs if first.spread is not None]
    usual = quantile(known, 0.5) if known else 1
    ratios = [(first.first / other.first, usual if first.spread is None else max(first.spread, other.spread)) for first, other in pairs]
    faster, slower = sum(ratio > 1 + noise for ratio, noise in ratios), sum(ratio < 1 / (1 + noise) for ratio, noise in ratios)
    if usual > 0.15 or len(known) < len(pairs):
        print("This machine was busy: %s. Run it again on a quiet one before you believe a ratio." %
              ("solves differed by %.0f %% from round to round" % (100 * usual) if known else "there was no time for a second round"))
    print("%s and %s agree in all %d solves; geomean of the ratios: solve %.2fx, MatMult %.2fx; all 1st solves: %.2f s with %s, %.2f s with %s, which is faster in %d, slower in %d, and within the noise (%.0f %%) in %d; %.0f s" %
          (base, kind, len(pairs), geomean([ratio for ratio, _ in ratios]), geomean([first.mult / other.mult for first, other in pairs]), sum(first.first for first, _ in pairs), base,
           sum(other.first for _, other in pairs), kind, faster, slower, 100 * usual, len(pairs) - faster - slower, seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", default="amb", help="the type to compare with PETSc's")
    parser.add_argument("--gpu", action="store_true", help="on a GPU; the default where make was configured with one")
    args = parser.parse_args()
    with open(os.path.join(os.environ["BUILD"], "conf.json")) as text:
        gpu = args.gpu or bool(json.load(text)["conf"]["AMB_GPU"])
    kinds = ("aijcusparse" if gpu else "aij", args.type)
    start, failures, pairs = time.time(), [], []
    with tempfile.TemporaryDirectory(prefix="petsc-amb-run-") as folder:
        jobs = gpu_jobs() if gpu else host_jobs(folder)
        print(FORMAT % HEADER, flush=True)
        for done, (system, (solver, options), ranks, compare) in enumerate(jobs):
            try:
                samples = compare(kinds, options, ranks, folder, max(0, start + BUDGET - time.time()) / (len(jobs) - done))
                first, other = (Outcome(samples[kind]) for kind in kinds)
            except (Failed, OSError) as error:
                failures.append("%s, %s, %d ranks: %s" % (system, solver, ranks, error))
                print("FAIL  %s" % failures[-1], flush=True)
                continue
            show(system, solver, ranks, kinds[0], first, first)
            show(system, solver, ranks, kinds[1], other, first)
            if not agree(first, other):
                failures.append("%s, %s, %d ranks: %s and %s do not agree" % ((system, solver, ranks) + kinds))
                print("FAIL  %s" % failures[-1], flush=True)
            pairs.append((first, other))
    print("set-up: PCSetUp; 1st solve: KSPSolve, with the conversion and tuning of %s in it; 2nd: with the same matrix again, where the program solves twice; MatMult: in ex45 and ex56 the mean over\n"
          "all levels; times are medians of the rounds; spread: how far the middle half of the 1st solves lie apart (all of up to 3); ratios: %s over %s" % (kinds[1], kinds[0], kinds[1]))
    if failures:
        print("FAIL: %d of %d comparisons in %.0f s" % (len(failures), len(jobs), time.time() - start))
        return 1
    verdict(kinds[0], kinds[1], pairs, time.time() - start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
