#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs petscamb with random command lines and on damaged files: it must end by itself, with exit code 0, 1 or 2.

  python3 test/fuzz/command.py [SECONDS [SEED]]     (60 seconds; build/fuzz has the file of a command that fails)

The files are Matrix Market files, edge lists and matrices in PETSc's binary format, with bytes changed, left out and repeated. PETSc itself believes the sizes and
columns of a binary file: the end of a run by a signal counts as a failure there only if it comes from code of petsc-amb. BIN may have a program that was built with
sanitizers: what they report is a failure."""
import os
import random
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = ["bench", "solve", "info", "graph", "tiletable", "benhc", "", "-", "--", "-h", "--version", "-ops", "-types", "-typs", "-reps", "-seconds", "-csv", "-json", "-html", "-plot", "-compare", "-columns",
         "-mat_type", "amb", "nussell", "ccoo", "tilecomposite", "autosparse", "hashgemm", "aij", "amb/ambcg", "aij/", "/", "csr", "spmv", "spmm", "sddmm", "spgemm", "pagerank", "triangles", "bfs", "mcl",
         "p5:4", "p5:", "p5:-3", "p5:1e9", "p5:99999999999999999999", "p7:3", "p27:2", "rmat:4", "band:10", ":", "x:1", "-1", "0", "1e-3", "nan", "1e999", "a" * 5000, "%s%n", "\xff\xfe", "-petscamb_view", "-petscamb_veiw",
         "-petscamb_for_aij", "-mat_amb_block_size", "-mat_nussell_c", "-mat_shadow_tune", "off", "online", "-top", "-seeds", "1,2,x", "-undirected", "-iterations", "/nonexistent/file"]


def binary(rows, draw):
    """A matrix in PETSc's format."""
    lengths = [draw.randrange(4) for _ in range(rows)]
    columns = [column for n in lengths for column in sorted(draw.sample(range(rows), min(n, rows)))]
    lengths = [min(n, rows) for n in lengths]
    return struct.pack(">4i", 1211216, rows, rows, len(columns)) + struct.pack(">%di" % rows, *lengths) + struct.pack(">%di" % len(columns), *columns) + struct.pack(">%dd" % len(columns), *(draw.uniform(-1, 1) for _ in columns))


def seed_file(draw):
    rows = draw.randrange(1, 9)
    kind = draw.randrange(3)
    entries = [(draw.randrange(rows), draw.randrange(rows)) for _ in range(12)]
    if kind == 0:
        return binary(rows, draw)
    if kind == 1:
        return ("%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n" % (rows, rows, len(entries)) + "".join("%d %d %g\n" % (i + 1, j + 1, draw.uniform(-1, 1)) for i, j in entries)).encode()
    return "".join("%d %d\n" % entry for entry in entries).encode()


def damage(data, draw):
    data = bytearray(data)
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(data) + 1)
        how = draw.randrange(4)
        if how == 0 and at < len(data):
            data[at] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
        elif how == 1:
            del data[at:at + draw.randrange(1, 9)]
        elif how == 2:
            data[at:at] = data[at:at + 8]
        else:
            del data[at:]
    return bytes(data)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    program = os.path.join(os.environ.get("BIN", os.path.join(ROOT, "bin")), "petscamb")
    folder = os.path.join(ROOT, "build", "fuzz")
    os.makedirs(folder, exist_ok=True)
    name = os.path.join(folder, "input")
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.setdefault("ASAN_OPTIONS", "exitcode=99:allocator_may_return_null=1:detect_leaks=0")  # by default the exit code would be that of an error of the user
    environment.setdefault("UBSAN_OPTIONS", "exitcode=99:halt_on_error=1")
    end, runs, failures = time.monotonic() + seconds, 0, 0
    codes = {}
    while time.monotonic() < end:
        draw = random.Random(seed)
        with open(name, "wb") as file:
            file.write(damage(seed_file(draw), draw))
        if draw.randrange(2):
            words = draw.choice([["info", name], ["graph", "pagerank", name], ["bench", name, "-types", "aij,amb", "-reps", "1"], ["info", name, "-json", os.devnull]])
        else:
            words = [name if word == "FILE" else word for word in (draw.choice(WORDS + ["FILE"] * 9) for _ in range(draw.randrange(6)))]
            words = [draw.choice(WORDS[:5])] * draw.randrange(2) + words + ["-seconds", "0.001"]
        try:
            run = subprocess.run([program] + [word.encode("utf-8", "surrogateescape") for word in words], env=environment, capture_output=True, timeout=60, cwd=folder)
            code, said = run.returncode, run.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, said = "no end", ""
        codes[code] = codes.get(code, 0) + 1
        believed = "MatLoad" in said and not any(folder in said for folder in ("src/mat/io", "src/graph/io"))
        if code not in (0, 1, 2) and not believed:
            failures += 1
            os.replace(name, "%s-%d" % (name, seed))
            print("seed %d: exit code %s: petscamb %s" % (seed, code, " ".join(words)[:300]))
            print("    " + "\n    ".join(said.splitlines()[:12]))
        runs += 1
        seed += 1
    print("%d runs, exit codes %s, %d failures" % (runs, codes, failures))
    return failures > 0


sys.exit(main())
