#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""petscamb graph against plain loops, and against networkx where it and SciPy are there: each algorithm on directed, undirected and weighted graphs, with loops,
repeated edges, isolated and dangling vertices, one vertex and none, on 1 to 3 processes; the ids of each kind of file, the forms of results, and their bits from
run to run. The argument is the program; MPIEXEC starts processes."""
import collections
import hashlib
import importlib
import itertools
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile

try:
    import networkx
    import scipy  # networkx asks it for ranks
except ImportError:
    networkx = None
    print("skip comparisons with networkx: networkx or SciPy is not there")

PROGRAM, MPIEXEC = sys.argv[1], shlex.split(os.environ.get("MPIEXEC", "mpiexec"))
VERSION = subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
SINGLE = "numbers of 32 bits" in VERSION
TOLERANCE = 1e-5 if SINGLE else 1e-8
failed = False


def check(name, problem):
    global failed
    failed = failed or bool(problem)
    print("not ok %s: %s" % (name, problem) if problem else "ok " + name, flush=True)


# ------------------------------------------------- graphs -------------------------------------------------

class Graph:
    """The lines of an edge list, and the weights of its edges by their ends."""

    def __init__(self, name, lines):
        self.name, self.lines = name, lines
        self.ids, self.edge = set(), collections.defaultdict(float)
        for line in lines:
            self.ids.update(line[:2])
            if len(line) > 1:
                self.edge[line[:2]] += line[2] if len(line) > 2 else 1
        self.ids = sorted(self.ids)
        self.file = name + ".txt"
        with open(self.file, "w") as file:
            file.write("# %s\n" % name + "".join("\t".join(map(str, line)) + "\n" for line in lines))

    def undirected(self):
        other = collections.defaultdict(float, self.edge)
        for (u, v), w in self.edge.items():
            if u != v:
                other[v, u] += w
        return other


def scattered(n, edges, seed, weights=False, step=1):
    """Random edges with hubs, loops and repetitions, and isolated vertices."""
    draw = random.Random(seed)
    lines = [(7 + step * int(n * draw.random() ** 2), 7 + step * int(n * draw.random() ** 2)) for _ in range(edges)]
    if weights:
        lines = [line + (draw.randrange(1, 100) / 8,) for line in lines]
    return lines + [(7 + step * v,) for v in range(0, n, 10)]


def graphs():
    yield Graph("nothing", [])
    yield Graph("one", [(5,)])
    yield Graph("loop", [(5, 5)])
    yield Graph("edge", [(2**40, 3)])
    yield Graph("no_edges", [(1,), (2,), (9,)])
    yield Graph("chain", [(v, v + 1) for v in range(20)])
    yield Graph("complete", [(u, v) for u in range(9) for v in range(9) if u != v])
    yield Graph("mixed", [(1, 2), (2, 1), (1, 2), (3, 3), (2, 3), (3, 1), (4, 1), (2**63 - 1, 4), (8,)])
    yield Graph("random", scattered(150, 500, 1))
    yield Graph("weighted", scattered(120, 700, 2, weights=True, step=10**15))


# ------------------------------------------------- plain loops -------------------------------------------------

def walk(graph, edge, c, restart, dangling, keep=None):
    """The fixed point of x = c P x + (1 - c) restart, where vertices without edges go where dangling says."""
    ids = [v for v in graph.ids if keep is None or v in keep]
    out = collections.defaultdict(float)
    edge = {(u, v): w for (u, v), w in edge.items() if u in ids and v in ids}
    for (u, _), w in edge.items():
        out[u] += w
    x = {v: restart(v) for v in ids}
    for _ in range(2000):
        z = dict.fromkeys(ids, 0.0)
        for (u, v), w in edge.items():
            z[v] += c * x[u] * w / out[u]
        lost = sum(x[v] for v in ids if not out[v])
        z = {v: z[v] + (1 - c) * restart(v) + c * lost * dangling(v) for v in ids}
        change, x = sum(abs(z[v] - x[v]) for v in ids), z
        if change < 1e-15:
            break
    return dict.fromkeys(graph.ids, 0.0) | x


def pagerank(graph, edge):
    n = len(graph.ids)
    return walk(graph, edge, 0.85, lambda v: 1 / n, lambda v: 1 / n)


def removed(graph, edge):
    keep = set(graph.ids)
    while True:
        left = {u for u, v in edge if u in keep and v in keep}
        if left == keep:
            break
        keep = left
    n = max(len(keep), 1)
    return walk(graph, edge, 0.85, lambda v: 1 / n, lambda v: 1 / n, keep)


def restart(graph, edge, seed):
    return walk(graph, edge, 0.9, lambda v: v == seed, lambda v: v == seed)


def hits(graph, edge):
    n, a = len(graph.ids), dict.fromkeys(graph.ids, 0.0)
    h = dict.fromkeys(graph.ids, 1 / max(n, 1) if edge else 0.0)
    last = None
    for _ in range(3000 if edge else 0):
        for x, y, ends in ((a, h, 1), (h, a, 0)):
            x.update(dict.fromkeys(x, 0.0))
            for pair, w in edge.items():
                x[pair[ends]] += w * y[pair[1 - ends]]
            total = sum(x.values())
            x.update({v: value / total for v, value in x.items()})
        if a == last:  # the next round has the same bits
            break
        last = dict(a)
    return a, h


def triangles(graph):
    near = collections.defaultdict(set)
    for u, v in graph.edge:
        if u != v:
            near[u].add(v)
            near[v].add(u)
    return sum(1 for u in near for v, w in itertools.combinations(sorted(near[u]), 2) if u < v and w in near[v])


def levels(graph, source):
    near, found, last = collections.defaultdict(list), {source: 0}, [source]
    for u, v in graph.edge:
        near[u].append(v)
    while last:
        after = []
        for u in last:
            for v in near[u]:
                if v not in found:
                    found[v] = found[u] + 1
                    after.append(v)
        last = after
    return found


def clusters(graph, inflation=2.0, least=1e-4):
    """Markov clustering."""
    edge = collections.defaultdict(float)
    for (u, v), w in graph.edge.items():
        if u != v:
            edge[u, v] += w
            edge[v, u] += w
    rows = {v: {} for v in graph.ids}
    for (u, v), w in edge.items():
        rows[u][v] = w
    for v, row in rows.items():
        row[v] = max(row.values(), default=1)

    def normal(row):
        total = sum(row.values())
        return {v: w / total for v, w in row.items()}

    def pruned(row):
        row = normal(row)
        return normal({v: w for v, w in row.items() if w >= min(least, max(row.values()))})

    rows = {v: normal(row) for v, row in rows.items()}
    for _ in range(100):
        after = {}
        for u, row in rows.items():
            sums = collections.defaultdict(float)
            for v, w in row.items():
                for t, x in rows[v].items():
                    sums[t] += w * x
            after[u] = pruned({v: w**inflation for v, w in sums.items()})
        rows = after
        if max(max(row.values()) - sum(w * w for w in row.values()) for row in rows.values()) <= 1e-5:
            break
    return {v: min(row) for v, row in rows.items()}


# ------------------------------------------------- comparisons -------------------------------------------------

def run(ranks, *words):
    command = ([] if ranks == 1 else MPIEXEC + ["-n", str(ranks)]) + [PROGRAM, "graph"] + [str(word) for word in words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise AssertionError("exit code %d: %s" % (done.returncode, done.stderr.strip()[-300:]))
    return done.stdout


def values(lines, want, name):
    """The difference between a list of vertices and the values wanted, or None; the greatest must come first."""
    got = {line["id"]: line["value"] for line in lines}
    if len(lines) != len(want) or set(got) != set(want):
        return "%s has %d vertices, not the %d of the graph" % (name, len(lines), len(want))
    if any(a["value"] < b["value"] for a, b in zip(lines, lines[1:])):
        return "%s is not in descending order" % name
    worst = max((abs(got[v] - want[v]) for v in want), default=0)
    return "%s differs by %g" % (name, worst) if worst > TOLERANCE else None


def ranked(ranks, graph, algorithm, want, *words):
    result = json.loads(run(ranks, algorithm, graph.file, "-top", 10**6, "-json", *words))
    if set(result) - {"hubs"} != {"top", "iterations", "seconds"} - ({"iterations"} if not result.get("iterations") else set()):
        return "the keys are %s" % sorted(result)
    return values(result["top"], want, "the result")


def test_ranks(ranks, graph):
    check("pagerank", ranked(ranks, graph, "pagerank", pagerank(graph, graph.edge)))
    order = ["-order", "degree" if ranks == 1 else "bitonic"]
    check("pagerank, numbered anew", ranked(ranks, graph, "pagerank", pagerank(graph, graph.edge), *order))
    check("pagerank, undirected", ranked(ranks, graph, "pagerank", pagerank(graph, graph.undirected()), "-undirected"))
    check("pagerank, unweighted", ranked(ranks, graph, "pagerank", pagerank(graph, dict.fromkeys(graph.edge, 1)), "-unweighted"))
    check("pagerank, dangling vertices removed", ranked(ranks, graph, "pagerank", removed(graph, graph.edge), "-dangling", "remove", "-mat_type", "aij", *order))
    check("pagerank without edges to go on along", ranked(ranks, graph, "pagerank", {v: 1 / len(graph.ids) for v in graph.ids}, "-c", 0))
    authorities, hubs = hits(graph, graph.edge)
    result = json.loads(run(ranks, "hits", graph.file, "-top", 10**6, "-json", "-tol", 1e-6 if SINGLE else 1e-12, *order))
    check("hits", values(result["top"], authorities, "the authorities") or values(result["hubs"], hubs, "the hubs"))


def test_restart(ranks, graph):
    seeds = graph.ids[:: max(1, len(graph.ids) // 6)][:6]
    order = [] if len(seeds) % 2 else ["-order", "degree" if ranks == 1 else "bitonic"]
    result = json.loads(run(ranks, "rwr", graph.file, "-seeds", ",".join(map(str, seeds)), "-top", 10**6, "-json", *order))
    problem = None
    for seed in seeds:
        lines = [line for line in result["top"] if line.get("seed", seed) == seed]
        problem = problem or values(lines, restart(graph, graph.edge, seed), "the walk from %d" % seed)
    check("rwr from %d seeds" % len(seeds), problem)


def test_counts(ranks, graph):
    count, want = json.loads(run(ranks, "triangles", graph.file, "-json")), triangles(graph)
    check("triangles", None if count["triangles"] == want and set(count) == {"triangles", "seconds"} else "%s, not %d" % (count, want))
    for name, words, parameters in (("mcl", [], {}), ("mcl, in batches", ["-batch", 300], {}), ("mcl, other parameters", ["-inflation", 1.5, "-prune", 0.01], {"inflation": 1.5, "least": 0.01})):
        want = clusters(graph, **parameters) if graph.ids else {}
        text = run(ranks, "mcl", graph.file, "-csv", *words).split()
        got = dict(tuple(map(int, line.split(","))) for line in text[1:]) if graph.ids else {}
        check(name, None if got == want else "other clusters")


def test_levels(ranks, graph):
    sources = graph.ids[: 66 if len(graph.ids) > 66 else 3]
    if not sources:
        return check("bfs", None if json.loads(run(ranks, "bfs", graph.file, "-json"))["reached"] == 0 else "vertices of nothing")
    text = run(ranks, "bfs", graph.file, "-sources", ",".join(map(str, sources)), "-csv").split()
    got = sorted(tuple(map(int, line.split(","))) for line in text[1:])
    want = sorted((source, v, level) for source in sources for v, level in levels(graph, source).items())
    check("bfs from %d sources" % len(sources), None if got == want else "other levels")


def test_reference(ranks, graph):
    """The same questions asked of networkx, whose ranks and hubs are SciPy's."""
    directed = networkx.DiGraph()
    directed.add_nodes_from(graph.ids)
    directed.add_weighted_edges_from((u, v, w) for (u, v), w in graph.edge.items())
    plain = directed.to_undirected()
    plain.remove_edges_from(list(networkx.selfloop_edges(plain)))
    precisely = {"tol": 1e-15, "max_iter": 5000}
    check("pagerank as networkx", ranked(ranks, graph, "pagerank", networkx.pagerank(directed, 0.85, **precisely)))
    if graph.name in ("mixed", "random", "weighted"):  # elsewhere hubs are not unique
        authorities = networkx.hits(directed)[1]
        check("hits as networkx", ranked(ranks, graph, "hits", authorities, "-tol", 1e-6 if SINGLE else 1e-12))
    count = json.loads(run(ranks, "triangles", graph.file, "-json"))["triangles"]
    want = sum(networkx.triangles(plain).values()) // 3
    check("triangles as networkx", None if count == want else "%d, not %d" % (count, want))
    if not graph.ids:
        return
    seed = graph.ids[0]
    check("rwr as networkx", ranked(ranks, graph, "rwr", networkx.pagerank(directed, 0.9, {seed: 1}, **precisely), "-seeds", seed))
    got = sorted(tuple(map(int, line.split(","))) for line in run(ranks, "bfs", graph.file, "-sources", seed, "-csv").split()[1:])
    want = sorted((seed, v, level) for v, level in networkx.single_source_shortest_path_length(directed, seed).items())
    check("bfs as networkx", None if got == want else "other levels")


# ------------------------------------------------- files -------------------------------------------------

def test_dangling():
    """Vertices go one after the other: chains that end nowhere, and all that lead to them alone. A chain that leads to a circle stays."""
    length = 2000
    lines = [(k, k + 1) for k in range(length)]  # 0, 1, ... length, which goes first
    lines += [(length + 1, 5), (length + 1, 900), (length + 2, length + 1)]  # two ways that both end
    circle = length + 10
    lines += [(circle, circle + 1), (circle + 1, circle + 2), (circle + 2, circle), (circle + 3, circle), (circle + 3, 7), (circle + 1, 100)]
    lines += [(circle + 4, circle + 4), (circle + 4, 3), (circle + 5, circle + 3)]
    graph = Graph("chains", lines)
    for ranks in 1, 2:
        check("vertices that go one after the other on %d process%s" % (ranks, "es" * (ranks > 1)), ranked(ranks, graph, "pagerank", removed(graph, graph.edge), "-dangling", "remove"))
    graph = Graph("chain", [(k, k + 1) for k in range(300)])
    check("a chain from which all vertices go", ranked(1, graph, "pagerank", {v: 0 for v in graph.ids}, "-dangling", "remove"))


def test_files():
    """The vertices of a Matrix Market file, compressed or not, have its row numbers, and those of PETSc's format begin with 0."""
    lines = [(1, 2), (2, 3), (3, 1), (4, 1), (5,)]
    graph = Graph("numbered", lines)
    want = pagerank(graph, graph.edge)
    with open("plain.mtx", "w") as file:
        file.write("%%%%MatrixMarket matrix coordinate pattern general\n5 5 4\n%s" % "".join("%d %d\n" % line for line in lines[:-1]))
    run(1, "bfs", "plain.mtx", "-mat_type", "aij", "-mat_view", "binary:petsc.dat::append")  # the first matrix is the graph
    with open("petsc.dat", "rb") as file:
        check("a matrix in PETSc's format was written", None if file.read(8).startswith((b"\x00\x12\x7b\x50", b"\0\0\0\0\x00\x12\x7b\x50")) else "another file")
    files = [("plain.mtx", want), ("petsc.dat", {v - 1: x for v, x in want.items()})]
    for name, kind in (("gz", "gzip"), ("xz", "lzma"), ("bz2", "bz2")):
        for plain in ("plain.mtx", graph.file):
            with open(plain, "rb") as file, importlib.import_module(kind).open(plain + "." + name, "wb") as packed:
                packed.write(file.read())
            files.append((plain + "." + name, want))
    for name, want in files:
        graph.file = name
        for ranks in (1,) if name.endswith(("z", "2")) else (1, 2):
            try:
                check("the ids of %s on %d process%s" % (name, ranks, "es" * (ranks > 1)), ranked(ranks, graph, "pagerank", want))
            except AssertionError as error:
                if "without its decompressor" not in str(error):
                    raise
                print("skip the ids of %s: this library was built without its decompressor" % name)


def test_outputs():
    """A result as values with commas, as JSON in a file and as a table is that of -json."""
    for words in (["pagerank", "weighted.txt"], ["hits", "weighted.txt"], ["rwr", "weighted.txt"], ["rwr", "mixed.txt", "-seeds", "1,%d" % (2**63 - 1)]):
        words += ["-top", 7, "-mat_shadow_tune", "off"]
        result = json.loads(run(1, *words, "-json"))
        lists = [(name, line) for name, lines in result.items() if isinstance(lines, list) for line in lines]
        head = ["list"] * ("hubs" in result) + list(lists[0][1])
        want = [",".join(head)] + [",".join([name] * ("hubs" in result) + ["%.17g" % part if key == "value" else str(part) for key, part in line.items()]) for name, line in lists]
        check("-csv of " + " ".join(words[:2]), None if run(1, *words, "-csv").split() == want and len(want) > 7 else "other lines")
        table = run(1, *words, "-json", "file.json").splitlines()
        with open("file.json") as file:
            written = json.load(file)
        same = {name: part for name, part in written.items() if name != "seconds"} == {name: part for name, part in result.items() if name != "seconds"}
        check("-json FILE of " + " ".join(words[:2]), None if same else "another result")
        rows = [line.split() for line in table if line.startswith("   ")]
        check("the table of " + " ".join(words[:2]), None if rows == [[str(line["id"]), "%.8g" % line["value"]] for _, line in lists] else "other rows")


def test_bits():
    """Ranks have the same bits in each run with as many processes and threads."""
    os.environ["OMP_NUM_THREADS"] = "2"
    for words in (["pagerank", "rmat:9,8"], ["hits", "rmat:9,8"], ["rwr", "rmat:9,8", "-seeds", "1,2,3"]):
        for ranks in (1, 2):
            results = [json.loads(run(ranks, *words, "-json", "-top", 10**4, "-mat_shadow_tune", "off")) for _ in range(2)]
            same = {json.dumps([result["top"], result.get("hubs")]) for result in results}
            check("the same bits of %s from run to run on %d process%s" % (" ".join(words[:2]), ranks, "es" * (ranks > 1)), None if len(same) == 1 else "other bits")
    del os.environ["OMP_NUM_THREADS"]


# ------------------------------------------------- generators -------------------------------------------------

def shuffled(vertex, scale):
    """The vertex of kron in the place of one of rmat."""
    for _ in range(3):
        vertex = (vertex * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) % 2**scale
        vertex ^= vertex >> (scale + 1) // 2
    return vertex


def generated(name, scale, factor, quadrants):
    """The edges of rmat, kron or er and their weights; those at the same place are added up."""
    def uniform(k):
        z = (k + 1) * 0x9E3779B97F4A7C15 % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return (((z ^ z >> 31) >> 11) + 1) / 2**53

    bounds, edges = list(itertools.accumulate(quadrants)), {}
    for e in range(int(factor * 2**scale)):
        row = column = 0
        for level in range(scale):
            quadrant = sum(uniform(64 * e + level) > bound for bound in bounds)
            row, column = 2 * row + quadrant // 2, 2 * column + quadrant % 2
        if name.startswith("kron"):
            row, column = shuffled(row, scale), shuffled(column, scale)
        edges[row, column] = edges.get((row, column), 0) + uniform(64 * e + 63)
    return edges


def viewed(ranks, threads, view, *words):
    """What -mat_view writes of all matrices of a run, in their order; the graph is the first."""
    if os.path.exists("view"):
        os.remove("view")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    run(ranks, *words, "-mat_type", "aij", "-mat_view", view + ":view::append")
    del os.environ["OMP_NUM_THREADS"]
    with open("view", "rb") as file:
        return file.read()


def test_generators():
    rmat, er = (0.57, 0.19, 0.19), (0.25, 0.25, 0.25)
    for name, scale, factor, quadrants in (("rmat:5,6.5", 5, 6.5, rmat), ("er:6,3", 6, 3, er), ("rmat:1,40", 1, 40, rmat), ("kron:5,6.5", 5, 6.5, rmat), ("kron:1,40", 1, 40, rmat)):
        check("%s has all vertices" % name, None if sorted(shuffled(v, scale) for v in range(2**scale)) == list(range(2**scale)) else "some twice")
        want = generated(name, scale, factor, quadrants)
        for ranks in (1, 3):
            rows, got = viewed(ranks, 2, "ascii", "bfs", name).decode().split("Mat Object")[1].split("row ")[1:], {}
            for number, row in (line.split(":") for line in rows):
                got.update({(int(number), int(entry.split(",")[0])): float(entry.split(",")[1]) for entry in row.replace(")", "").split("(")[1:]})
            other = set(got) != set(want) or any(abs(got[edge] - want[edge]) > 1e-5 * want[edge] for edge in want)
            check("%s on %d process%s" % (name, ranks, "es" * (ranks > 1)), "other edges" if other else None)
    for name in ("rmat:14,9", "er:9,30"):  # the first has buckets of 4 rows
        for order in ("none", "degree"):
            bits = {hashlib.sha256(viewed(1, threads, "binary", "pagerank", name, "-order", order)).digest() for threads in (1, 2, 3, 4)}
            check("%s and its transpose, order %s, for 1 to 4 threads" % (name, order), "other bits" if len(bits) > 1 else None)


def main():
    global check
    plain = check
    for graph in graphs():
        for ranks in (1, 2, 3) if graph.name in ("nothing", "mixed", "weighted") else (1,):
            check = lambda name, problem: plain("%s of %s on %d process%s" % (name, graph.name, ranks, "es" * (ranks > 1)), problem)
            for test in (test_ranks, test_counts, test_levels) + ((test_restart,) if graph.ids else ()) + ((test_reference,) if networkx else ()):
                try:
                    test(ranks, graph)
                except Exception as error:
                    check(test.__name__, str(error).replace("\n", " "))
    check = plain
    test_generators()
    test_dangling()
    test_files()
    test_outputs()
    test_bits()


with tempfile.TemporaryDirectory(prefix="petscamb-graph-") as folder:
    os.chdir(folder)
    main()
sys.exit(failed)
