#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""PageRank, HITS and random walks with restart by petscamb graph with several types of matrices: the running times of Tables 1, 4 and 5 of X. Yang, S. Parthasarathy, P. Sadayappan, Fast
Sparse Matrix-Vector Multiplication on GPUs: Implications for Graph Mining, VLDB 2011, on the graphs that are given. Prints a table for each algorithm: seconds after the set-up, the set-up, and
edges per second of the median iteration. Random walks start from 25 vertices at once, and the seconds are those of one."""
import argparse
import re
import shlex
import subprocess
import sys

KNOWN = {
    "amb": "-mat_type amb",
    "autosparse": "-mat_type autosparse",
    "tilecomposite": "-mat_type tilecomposite",
    "aijcusparse": "-mat_type aijcusparse",
    "aij": "-mat_type aij",
}
ALGORITHMS = {"pagerank": "", "hits": "", "rwr": "-undirected -seeds %s"}
WALKS = 25


def measure(program, algorithm, graph, options, seconds):
    """The vertices, edges, iterations, seconds after the set-up, seconds of the set-up and GTEPS; or why there are none."""
    command = shlex.split(program) + ["graph", algorithm, graph, "-top", "0"] + shlex.split(options)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "more than %g s" % seconds
    shape = re.search(r": (\d+) vertices, (\d+) edges", done.stdout)
    found = re.search(r"(\d+) iterations[^,]*, (\S+) s \((\S+) s before the first iteration\)(?:, (\S+) GTEPS)?", done.stdout)
    if not shape or not found:
        return (done.stderr.strip().splitlines() or ["exit code %d" % done.returncode])[0]
    return int(shape[1]), int(shape[2]), int(found[1]), float(found[2]) - float(found[3]), float(found[3]), float(found[4] or "nan")


def seeds(program, graph, options):
    """Ids of vertices, evenly spread over the ranks of a few iterations."""
    out = subprocess.run(shlex.split(program) + ["graph", "pagerank", graph, *shlex.split(options), "-iterations", "2", "-tol", "0", "-mat_type", "aij", "-top", str(20 * WALKS), "-csv"], stdout=subprocess.PIPE, text=True).stdout
    ids = [line.split(",")[0] for line in out.split()[1:]]
    return ",".join(ids[:: max(1, len(ids) // WALKS)][:WALKS])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--program", default="bin/petscamb", help="petscamb, perhaps with mpiexec before it (default %(default)s)")
    p.add_argument("--types", default="amb,aijcusparse,aij", help="of %s (default %%(default)s)" % ", ".join(KNOWN))
    p.add_argument("--algorithms", default=",".join(ALGORITHMS), help="default %(default)s")
    p.add_argument("--options", default="", help="for each run, such as --options=-unweighted, without which a grid has negative weights")
    p.add_argument("--seconds", type=float, default=600, help="for a run, at most (default %(default)s)")
    p.add_argument("graph", nargs="+", help="files and generators that petscamb graph reads")
    o = p.parse_args()
    failed = False
    for algorithm in o.algorithms.split(","):
        print("%s\n\n| graph | vertices | edges | type | iterations | seconds | set-up | GTEPS |\n|---|---|---|---|---|---|---|---|" % algorithm, flush=True)
        for graph in o.graph:
            extra = ALGORITHMS[algorithm]
            if "%s" in extra:
                extra %= seeds(o.program, graph, o.options)
            for kind in o.types.split(","):
                got = measure(o.program, algorithm, graph, " ".join((KNOWN[kind], extra, o.options)), o.seconds)
                if isinstance(got, str):
                    failed = True
                    print("| %s | | | %s | %s | | | |" % (graph, kind, got), flush=True)
                else:
                    n, edges, iterations, seconds, setup, rate = got
                    print("| %s | %d | %d | %s | %d | %.4g | %.3g | %.3g |" % (graph, n, edges, kind, iterations, seconds / (WALKS if algorithm == "rwr" else 1), setup, rate), flush=True)
        print(flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
