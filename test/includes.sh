#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The include graph of the folders under src/, from the text of their #include lines. Fails on an arrow that runs up or sideways in the order below, on a
# circle between folders, on a circle between files, and on an include in quotes that is not a path from src/.
#   bash test/includes.sh draw     prints the graph
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/.." || exit 1

# The order: a file may include the names to the left of its folder in a line, and those to the left of these names in other lines. A * stands for one
# name of a folder. The public header is petscamb.h.
order='
sys petscamb.h < vec/ambvec < mat/shadow/core
sys petscamb.h < mat/aij < mat/shadow/core < mat/shadow/adopt < mat/shadow/user
sys petscamb.h < mat/shadow/core < mat/halo mat/product < mat/impls/* < petscamb.c
mat/impls/amb < mat/impls/ccoo < petscamb.c
mat/impls/amb < mat/impls/tilecomposite < petscamb.c
mat/halo mat/product < mat/impls/amb < mat/impls/nus < mat/impls/autosparse < petscamb.c
sys < mat/impls/hashgemm/host < mat/impls/hashgemm/cuda < mat/impls/hashgemm/glue < petscamb.c
mat/halo mat/product < mat/impls/hashgemm/glue
sys < mat/impls/spmm/host < mat/impls/spmm/cuda < mat/impls/spmm/glue < petscamb.c
mat/product < mat/impls/spmm/glue
mat/impls/spmm/host < mat/impls/batch/host < mat/impls/batch/cuda < mat/impls/batch/glue < petscamb.c
petscamb.h < mat/impls/batch/glue
sys petscamb.h < mat/io < petscamb.c
mat/aij < mat/graph/glue < petscamb.c
sys < mat/graph/host < mat/graph/glue
sys mat/impls/hashgemm/cuda < mat/graph/cuda < mat/graph/glue
sys < ksp/ksp/impls/fused < ksp/ksp/impls/ambksp < ksp/ksp/impls/ambcg ksp/ksp/impls/ambbcgs ksp/ksp/impls/ambchebyshev < petscamb.c
petscamb.h < ksp/ksp/impls/ambksp
mat/halo < ksp/ksp/impls/ambksp
mat/shadow/user < ksp/pc/impls/* < petscamb.c
mat/shadow/user < ksp/ksp/impls/ambksp
ksp/ksp/impls/ambchebyshev < ksp/pc/impls/mg < petscamb.c
petscamb.h < ksp/examples
'

"${PYTHON:-python3}" - "$order" "${1:-}" <<'END'
import collections, os, re, sys

order, mode = sys.argv[1:]
failed = False


def check(name, wrong):
    global failed
    failed = failed or bool(wrong)
    for line in wrong:
        print("    " + line, file=sys.stderr, flush=True)
    print("%s %s" % ("not ok" if wrong else "ok", name), flush=True)


def reachable(graph, start):
    seen, stack = set(), [start]
    while stack:
        for node in graph.get(stack.pop(), ()):
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return seen


def circles(graph):
    """The sets of nodes that reach one another, two or more."""
    reach = {node: reachable(graph, node) for node in graph}
    found = {frozenset([node] + [other for other in reach[node] if node in reach.get(other, ())]) for node in graph if node in reach[node]}
    return ["a circle: " + ", ".join(sorted(nodes)) for nodes in found if len(nodes) > 1]


# what is below each name of the order
below = collections.defaultdict(set)
for line in order.strip().splitlines():
    steps = [step.split() for step in line.split("<")]
    for lower, upper in zip(steps, steps[1:]):
        for name in upper:
            below[name].update(lower)
names = set(below) | {name for lower in below.values() for name in lower}
patterns = {name: re.compile(re.escape(name).replace(r"\*", "[^/]+") + "$") for name in names}


def listed(path):
    """The names of the order that stand for a file or for its folder."""
    return [name for name, pattern in patterns.items() if pattern.match(path) or pattern.match(os.path.dirname(path))]


# the files by their path from src/, the public header by its name; what each includes of them
files = {os.path.relpath(os.path.join(folder, name), "src"): os.path.join(folder, name) for folder, _, found in os.walk("src") for name in found if re.search(r"\.(c|h|cu|cuh)$", name)}
files["petscamb.h"] = "include/petscamb.h"
includes, quoted = collections.defaultdict(set), []
for path, place in files.items():
    with open(place, encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text, 1):
            found = re.match(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", line)
            if not found:
                continue
            if found.group(2) in files:
                includes[path].add(found.group(2))
            if (found.group(1) == '"') != (found.group(2) in files and found.group(2) != "petscamb.h"):
                quoted.append("%s:%d: %s is %s" % (place, number, line.strip(), "a file of src/" if found.group(1) == "<" else "no path from src/"))


def above(path, other):
    """May the file include the other one?"""
    return os.path.dirname(path) == os.path.dirname(other) or any(low in reachable(below, high) for high in listed(path) for low in listed(other))


folders = collections.defaultdict(collections.Counter)
for path, targets in includes.items():
    for other in targets:
        here, there = (os.path.dirname(end) or end for end in (path, other))
        if here != there:
            folders[here][there] += 1

if mode == "draw":
    for folder in sorted({os.path.dirname(path) or path for path in files}, key=lambda folder: (len(reachable(folders, folder)), folder)):
        print("%-24s %s" % (folder, "-> " + ", ".join("%s (%d)" % arrow for arrow in sorted(folders[folder].items())) if folders[folder] else ""))
    sys.exit()
check("the order has no circle, and there are includes to look at", circles(below) + ["no include was found"] * (not includes))
check("every folder has a place in the order", ["%s has none" % files[path] for path in sorted(files) if not listed(path)])
check("includes run down", ["%s includes %s" % (files[path], other) for path in sorted(includes) for other in sorted(includes[path]) if not above(path, other)])
check("no circle of folders", circles(folders))
check("no circle of files", circles(includes))
check("an include in quotes is a path from src/", quoted)
sys.exit(failed)
END
