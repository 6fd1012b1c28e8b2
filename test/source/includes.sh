#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The include graph of the folders under src/, from the text of their #include lines. Fails on an arrow that runs up or sideways in the order below, on a
# circle between folders, on a circle between files, on an include in quotes that is not a path from src/, and on a circle of calls between more than two files.
#   bash test/source/includes.sh draw     prints the graph
# gpu: 0
# tier: check
set -u
cd "$(dirname "$0")/../.." || exit 1

# The order: a file may include the names to the left of its folder in a line, and those to the left of these names in other lines. A * stands for one
# name of a folder, the same in both. The public headers are petscamb.h and, at its end, petscambgraph.h.
order='
sys petscamb.h < vec/ambvec < mat/shadow/core
sys petscamb.h < mat/aij < mat/shadow/core < mat/shadow/adopt < mat/shadow/user
sys petscamb.h < mat/shadow/core < mat/halo mat/product < mat/impls/*/glue < petscamb.c
sys < mat/impls/*/host < mat/impls/*/cuda < mat/impls/*/glue
mat/shadow/core < mat/impls/autosparse < petscamb.c
mat/impls/amb/host < mat/impls/nus/host
mat/impls/amb/cuda < mat/impls/nus/cuda mat/impls/ccoo/cuda mat/impls/tilecomposite/cuda
mat/impls/amb/glue < mat/impls/nus/glue
sys petscamb.h < mat/io < petscamb.c
mat/shadow/core < mat/baij/glue < petscamb.c
sys < mat/baij/host < mat/shadow/core mat/baij/glue
sys < mat/factor/host < mat/factor/cuda < mat/factor/glue < ksp/pc/impls/*/glue petscamb.c
mat/shadow/user < mat/factor/glue
mat/aij < mat/order/glue < petscamb.c
sys < mat/order/host < mat/order/glue
petscambgraph.h < petscamb.h
mat/aij < graph/glue < petscamb.c
sys < graph/host < graph/cuda < graph/glue
sys mat/impls/hashgemm/cuda < graph/cuda < graph/glue
sys < mat/impls/spmm/host < ksp/ksp/impls/fused
sys mat/impls/spmm/host < graph/batch/host < graph/batch/cuda < graph/batch/glue < petscamb.c
petscamb.h < graph/batch/glue
petscambgraph.h mat/io < graph/io < petscamb.c
sys < ksp/ksp/impls/fused < ksp/ksp/impls/ambksp < ksp/ksp/impls/ambcg ksp/ksp/impls/ambbcgs ksp/ksp/impls/ambgmres ksp/ksp/impls/ambchebyshev < petscamb.c
petscamb.h < ksp/ksp/impls/ambksp
mat/halo < ksp/ksp/impls/ambksp ksp/pc/impls/gamg/glue
mat/shadow/user < ksp/pc/impls/*/glue ksp/pc/impls/ambinverse < petscamb.c
mat/shadow/user < ksp/ksp/impls/ambksp
sys < ksp/pc/impls/*/host < ksp/pc/impls/*/cuda < ksp/pc/impls/*/glue
ksp/ksp/impls/fused ksp/ksp/impls/ambchebyshev < ksp/pc/impls/mg/glue
ksp/ksp/impls/ambchebyshev < ksp/pc/impls/gamg/glue
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
patterns = {name: re.compile(re.escape(name).replace(r"\*", "([^/]+)") + "$") for name in names}


def listed(path):
    """The names of the order that stand for a file or for its folder, with what a * stands for."""
    found = [(name, pattern.match(path) or pattern.match(os.path.dirname(path))) for name, pattern in patterns.items()]
    return [(name, match.group(1) if pattern.groups else None) for name, match in found if match for pattern in [patterns[name]]]


# the files by their path from src/, the public header by its name; what each includes of them
files = {os.path.relpath(os.path.join(folder, name), "src"): os.path.join(folder, name) for folder, _, found in os.walk("src") for name in found if re.search(r"\.(c|h|cu|cuh)$", name)}
public = ("petscamb.h", "petscambgraph.h")
files.update((name, "include/" + name) for name in public)
includes, quoted = collections.defaultdict(set), []
for path, place in files.items():
    with open(place, encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text, 1):
            found = re.match(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", line)
            if not found:
                continue
            if found.group(2) in files:
                includes[path].add(found.group(2))
            if (found.group(1) == '"') != (found.group(2) in files and found.group(2) not in public):
                quoted.append("%s:%d: %s is %s" % (place, number, line.strip(), "a file of src/" if found.group(1) == "<" else "no path from src/"))


def above(path, other):
    """May the file include the other one?"""
    return os.path.dirname(path) == os.path.dirname(other) or any(low in reachable(below, high) and (one is None or same is None or one == same) for high, one in listed(path) for low, same in listed(other))


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
# petscamb.h brings the functions of the annex to every file: none of the core may call one
with open(files["petscambgraph.h"], encoding="utf-8") as text:
    annex = set(re.findall(r"^PETSC_EXTERN PetscErrorCode +(\w+)\(", text.read(), re.M))
calls = []
for path, place in sorted(files.items()):
    if not path.startswith(("graph/", "ksp/examples/")) and path not in public:
        with open(place, encoding="utf-8", errors="replace") as text:
            code = re.sub(r"/\*.*?\*/", "", text.read(), flags=re.S)
        calls += ["%s calls %s" % (place, name) for name in sorted(annex & set(re.findall(r"\w+", code)))]
        calls += ["%s includes petscambgraph.h" % place] * ("petscambgraph.h" in includes[path])
check("the core does without src/graph", calls or ["petscambgraph.h has no function"] * (not annex))
check("an include in quotes is a path from src/", quoted)

# calls: a file uses the name of a function that one other source defines; two files may call each other, as those of host and device do
bodies = {}
for path, place in files.items():
    if path.endswith((".c", ".cu")) and not path.startswith("ksp/examples/"):
        with open(place, encoding="utf-8", errors="replace") as text:
            bodies[path] = re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\])*"', "", text.read(), flags=re.S)
defined = collections.defaultdict(set)
for path, body in bodies.items():
    for name in re.findall(r"^(?!static\b|typedef\b|extern\b|struct\b|SYS_DEVICE)[A-Za-z_][\w *]*?[ *](\w+)\([^;{}]*\)\s*\{", body, flags=re.M):
        defined[name].add(path)
owner = {name: min(places) for name, places in defined.items() if len(places) == 1}
called = {}
for path, body in bodies.items():
    own = set(re.findall(r"^static [\w *]*?(\w+)\(", body, flags=re.M))
    called[path] = {owner[name] for name in set(re.findall(r"\w+", body)) - own if owner.get(name, path) != path}
check("no circle of calls between more than two files", [line for line in circles(called) if line.count(",") > 1] + ["no call was found"] * (not any(called.values())))
sys.exit(failed)
END
