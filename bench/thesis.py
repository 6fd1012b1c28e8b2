#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The experiments of the thesis behind the formats, each by its number there, with the programs of this tree:

    bench/thesis.py --list              # what each repeats, and what differs
    bench/thesis.py 3.14 4.4 -o DIR     # DIR/3.14.csv and, where matplotlib is installed, DIR/3.14.svg
    bench/thesis.py --small 6.9         # small matrices, seconds
    bench/thesis.py --draw 4.4 -o DIR   # the picture again, from DIR/4.4.csv

Y. Nagasaka, "Performance optimization of sparse matrix kernels for many-core architectures", Tokyo Institute of Technology, 2019. Matrices that are not free have generated stand-ins with as
many entries in a row and fewer rows. bin/petscamb measures on the processor (PETSCAMB names another one; MKL_DIR is its -mkl_dir), the programs of bench/cuda on a
GPU. Exit code 2: there is no such experiment, it needs a GPU, or it cannot be repeated.
"""
import argparse
import csv
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOL = os.path.abspath(os.environ.get("PETSCAMB", os.path.join(ROOT, "bin", "petscamb")))
# options of the types NAME@SETTING; besides, the format and nothing else is measured
SETTINGS = {"none": "mat_nussell_segmentation none", "jds": "mat_nussell_rows jds", "uniform": "mat_nussell_segmentation uniform,mat_nussell_s2 65536",
            "slices": "mat_nussell_segmentation uniform,mat_nussell_s2 65536,mat_nussell_c 8", "search": "mat_nussell_tune exhaustive", "two": "mat_amb_block_size 1",
            "model": "mat_shadow_tune model", "measure": "mat_shadow_tune measure", "online": "mat_shadow_tune online",
            **{"b%d" % b: "mat_amb_block_size %d" % b for b in range(1, 9)}, **{name: "mat_hashgemm_accumulator " + name for name in ("hash", "hashvec", "heap", "dense", "esc")}}

# Sizes: as large as a machine of today wants it; small; those of a second-level cache
FULL, SMALL, CACHED = range(3)
# Table 3.1: name, rows, entries; stand-ins of these sizes
FLORIDA = (("audikw_1", 943695, 77651847, "elasticity:33", "elasticity:6", "elasticity:10"), ("nd12k", 36000, 14220946, "random:9000,0.044", "random:300,0.4", "random:370,0.99"),
           ("crankseg_2", 63838, 14148858, "er:14,222", "er:8,60", "er:10,140"), ("crankseg_1", 52804, 10614210, "er:14,201", "er:8,50", "er:10,120"),
           ("nd24k", 72000, 28715634, "random:12000,0.033", "random:400,0.4", "random:380,0.99"), ("mouse_gene", 45101, 28967291, "rmat:13,420", "rmat:8,80", "rmat:9,400"),
           ("F1", 343791, 26837113, "elasticity:30", "elasticity:5", "elasticity:8"), ("F2", 71505, 5294285, "elasticity:24", "elasticity:4", "elasticity:7"),
           ("bmw7st_1", 141347, 7339667, "data/bar_elasticity.mtx.gz", "p27:8", "p27:17"), ("TSOPF_FS_b300_c3", 84414, 13135930, "rmat:15,96", "rmat:8,40", "rmat:10,150"),
           ("inline_1", 503712, 36816342, "elasticity:31", "elasticity:7", "elasticity:9"))
# Stand-ins for the kinds of Table 4.1, positive definite, by entries in a row
DEFINITE = (("p5:700", "p5:20", "p5:150"), ("p7:80", "p7:10", "p7:27"), ("p27:50", "p27:8", "p27:17"), ("data/bar_elasticity.mtx.gz", "p9:20", "p9:110"), ("elasticity:30", "elasticity:5", "elasticity:9"))
OTHERS = (("data/cage10.mtx.gz", "er:7,8", "data/cage10.mtx.gz"), ("rmat:15,16", "rmat:7,8", "rmat:13,16"))
# for products of matrices
SQUARES = ("data/cage10.mtx.gz", "data/PGPgiantcompo.mtx.gz", "data/bar_elasticity.mtx.gz", "p7:40", "p27:24", "elasticity:12", "er:14,8", "rmat:13,8")
ACCUMULATORS = ("hash", "hashvec", "heap")
ALL_ACCUMULATORS = ACCUMULATORS + ("dense", "esc")  # of the host


def options(types):
    """The options that these types need, and no others: petscamb refuses those that nobody asks for."""
    out = ["-mkl_dir", os.environ["MKL_DIR"]] if "mkl" in types and "MKL_DIR" in os.environ else []
    for kind in types:
        name, _, setting = kind.partition("@")
        given = SETTINGS[setting].split(",") if setting else []
        if name in ("amb", "nussell") and "mat_shadow_tune" not in SETTINGS.get(setting, ""):
            given.append("mat_shadow_tune off")
        for one in given:
            key, value = one.split()
            out += ["-%s%s" % (setting and setting + "_", key), value]
    return out


class Refused(Exception):
    """The experiment cannot be made here; the text says why."""


class Call:
    """What one experiment is called with."""

    def __init__(self, size, seconds):
        self.size, self.seconds = size, 0.01 if size == SMALL else seconds

    def pick(self, full, small):
        return small if self.size == SMALL else full

    def of_size(self, sizes):
        return [one[self.size - 3] for one in sizes]

    def run(self, command, threads=1):
        print("+ " + " ".join(command), file=sys.stderr)
        done = subprocess.run(command, cwd=ROOT, env=dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode:
            sys.exit("%s*** exit code %d: %s" % (done.stdout, done.returncode, " ".join(command)))
        return done.stdout

    def table(self, command, extra, threads=1):
        """The rows that a program writes with -csv."""
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "one.csv")
            self.run(command + ["-csv", name], threads)
            with open(name, newline="") as file:
                return [dict(extra, **row) for row in csv.DictReader(file)]

    def bench(self, inputs, types, ops="spmv", threads=1, **extra):
        """petscamb bench, a process for each matrix."""
        rows = []
        for one in inputs:
            rows += self.table([TOOL, "bench", one, "-types", ",".join(types), "-ops", ops, "-seconds", str(self.seconds)] + ["-processor_time"] * PROCESSOR_TIME + options(types), extra, threads)
        return [row for row in rows if row["status"] == "ok" and row["op"] in ops.split(",")]

    def solve(self, inputs, types, how, **extra):
        rows = []
        for one in inputs:
            rows += self.table([TOOL, "solve", one, "-types", ",".join(types), "-seconds", str(self.seconds)] + options(types) + how.split(), extra)
        return medians(rows, ("matrix", "type"), ("setup_s", "first_s", "second_s", "mult_s"))

    def info(self, one):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "one.json")
            self.run([TOOL, "info", one, "-json", name])
            with open(name) as file:
                return json.load(file)[0]

    def device(self, program, arguments):
        """A program of bench/cuda, which is built first; its output."""
        folder = os.path.join(tempfile.gettempdir(), "petscamb-thesis-%d" % os.getuid())
        if not os.path.exists(os.path.join(folder, program)):
            self.run(["bash", os.path.join(ROOT, "bench", "cuda", "build.sh"), folder])
        return [os.path.join(folder, program)] + arguments

    def device_table(self, arguments, **extra):
        """The products of spmv; its contenders are the types of the pictures."""
        return [dict(row, type=row["contender"]) for row in self.table(self.device("spmv", arguments), extra)]


def medians(rows, keys, values):
    """One row for the rows that have the same keys."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    out = []
    for group in groups.values():
        one = dict(group[0], rounds=len(group))
        for value in values:
            one[value] = sorted(float(row[value]) for row in group)[len(group) // 2]
        out.append(one)
    return out


LEAST = False           # the shortest run in the place of the median
PROCESSOR_TIME = False  # in the place of the clock's


def seconds(row):
    return number(row, "min_s" if LEAST else "median_s")


def number(row, key):
    return float(row[key] or 0)


def over(rows, base, value=seconds):
    """Adds the speed over the type base to each row of the same matrix."""
    times = {row["matrix"]: value(row) for row in rows if row["type"] == base}
    return [dict(row, speed="%.4f" % (times[row["matrix"]] / value(row))) for row in rows]


def gflops(row):
    return 1e-9 * number(row, "flops_per_s") * number(row, "median_s") / seconds(row)


def chosen(row):
    """The segments that the note of a nussell row names."""
    found = dict(re.findall(r"\b([sk][12]) (\d+)", row["note"]))
    parts = ["%s*%s" % (found["s" + k], found["k" + k]) for k in "12" if int(found.get("k" + k, 0))]
    return "+".join(parts + ["rest"]) if parts else "none"


# ------------------------------------------------- chapter 3 -------------------------------------------------

SEGMENTED = ("aij", "sell", "nussell@none", "nussell@jds", "nussell@uniform", "nussell")


def table_3_1(call):
    rows = []
    for name, m, entries, *inputs in FLORIDA:
        info = call.info(inputs[call.size])
        rows.append({"thesis_matrix": name, "thesis_rows": m, "thesis_entries": entries, "thesis_row_mean": "%.2f" % (entries / m), "matrix": info["matrix"], "rows": info["rows"],
                     "entries": info["nonzeros"], "row_mean": info["row_mean"], "row_max": info["row_max"]})
    return rows


def search_3_2(call):
    rows = []
    for name, _, _, *inputs in FLORIDA:
        rows += [dict(row, thesis_matrix=name, segments=chosen(row)) for row in call.bench(inputs[call.size:][:1], ("aij", "nussell", "nussell@search"))
                 if row["type"] != "aij"]
    return over(rows, "nussell")


def bandwidth_3_3(call):
    rows = call.bench(call.of_size(FLORIDA), ("aij", "nussell"))
    for row in rows:
        n, m = number(row, "nonzeros"), number(row, "rows")
        row["effective_GBps"] = "%.3f" % (1e-9 * (n * (8 + 4 + 8) + 2 * 8 * m) / seconds(row))
    return rows


def columns_3_4(call):
    sizes = [2 ** k for k in call.pick(range(10, 25), (10, 14))]
    return call.device_table(["-ops", "mult", "-nus", "none", "-nus", "uniform,s2=2097152"] + ["rand:%d,%d,16" % (call.pick(2000000, 20000), n) for n in sizes])


def formats_3_9(call):
    return call.device_table(["-ops", "mult", "-nus", "none", "-nus", "uniform", "-nus", "model", "-nus", "exhaustive"] + call.pick(["elas:60", "p27:101", "er:20,16", "g500:19,16"], ["elas:6"]))


def random_3_11(call):
    names = ["random:%d,%g" % (n, 1e-2 * density) for n in call.pick((250000, 500000, 1000000), (2000,)) for density in call.pick((1e-4 * 4, 2e-4 * 4, 5e-4 * 4), (0.1,))]
    return over(call.bench(names, SEGMENTED), "aij")


def cg_3_12(call):
    rows = call.solve(call.of_size(DEFINITE), SEGMENTED[:3] + SEGMENTED[4:], "-ksp_type cg -pc_type none -ksp_max_it %d -ksp_convergence_test skip" % call.pick(200, 5))
    return over(rows, "aij", lambda row: row["second_s"])


def tuning_3_13(call):
    rows = []
    for its in call.pick((25, 50, 100, 200, 400, 800), (4, 8)):
        rows += call.solve([call.pick("elasticity:20", "p27:8")], ("aij", "nussell", "nussell@measure", "nussell@online"),
                           "-ksp_type cg -pc_type none -ksp_max_it %d -ksp_convergence_test skip" % its, its=its)
    return rows


def tuning_device_3_13(call):
    rows = []
    for its in call.pick((25, 50, 100, 200, 400, 800, 1600), (4, 8)):
        rows += call.solve([call.pick("elasticity:40", "p27:8")], ("aijcusparse", "amb@model", "amb@measure", "amb@online"),
                           "-ksp_type cg -pc_type none -ksp_max_it %d -ksp_convergence_test skip -apart -rounds 5" % its, its=its)
    return rows


def columns_3_14(call):
    rows = []
    for k in call.pick(range(10, 23), (8, 10)):
        rows += call.bench(["rand:%d,%d,16" % ((200000, 500, 10000)[call.size], 2 ** k)], ("csr",) + SEGMENTED, columns=2 ** k)
    return rows


def formats_3_15(call):
    return over(call.bench(call.of_size(FLORIDA), SEGMENTED), "aij")


# ------------------------------------------------- chapter 4 -------------------------------------------------

LEVELS = ("sell", "nussell@slices", "amb@two", "amb")  # as in Figure 4.4: slices; and segments; 16-bit columns and no empty chunks; and blocks


def products_4_3(call):
    return over(call.bench(call.of_size(DEFINITE), ("aij", "csr", "mkl", "graphblas", "sell", "nussell", "amb")), "aij")


def levels_4_4(call):
    return over(call.bench(call.of_size(DEFINITE + OTHERS), ("aij",) + LEVELS), "sell")


# each level of AMB on a GPU switched off: options of bench/cuda's spmv, which measures the layout of the model beside them; the panel of the picture
SWITCHED = (("the model's layout", "-try", "measure=0", None), ("no blocks", "-try", "b=1", "a level of AMB switched off"), ("no diagonals", "-try", "columns=1", "a level of AMB switched off"),
            ("32-bit columns", "-try", "columns=2", "a level of AMB switched off"), ("rows not sorted", "-try", "order=1", "a level of AMB switched off"),
            ("none of these", "-try", "b=1,columns=2,order=1", "a level of AMB switched off"), ("rows sorted", "-try", "order=2", "set by hand"),
            ("sorted by 1,024", "-try", "order=2,scope=1024", "set by hand"), ("64 threads", "-try", "threads=64", "set by hand"), ("256 threads", "-try", "threads=256", "set by hand"),
            ("NUS-SELL, one segment", "-nus", "none", None), ("NUS-SELL, segments of 65,536", "-nus", "uniform,s2=65536", "segments with 16 bits in the place of 32-bit columns"))
SWITCHED_INPUTS = ("p5:1024", "p7:101", "p27:101", "elas:48", "band:1000000,1000,20", "er:20,16", "rand:1000000,1000000,8", "g500:20,8")
SWITCHED_FILES = ("cage11.mtx", "wave.mtx", "armadillo_elast_p1.mtx", "cnr-2000.mtx", "gowalla.mtx", "BioGrid-All.mtx")  # in the folder MATRICES


def switched(rows):
    """The rows of spmv for one matrix, by the names above: time over the model's layout, bytes a nonzero, the model's bytes over those stored."""
    names = {("nus " if option == "-nus" else "") + value: name for name, option, value, _ in SWITCHED}
    names.update({"amb": "tuned", "read as many bytes": "read as many bytes"})
    best = min((row for row in rows if row["contender"].startswith("cusparse")), key=lambda row: number(row, "us"))
    names[best["contender"]] = "cuSPARSE, its best"
    base = next(number(row, "us") for row in rows if row["contender"] == SWITCHED[0][2])
    out = []
    for row in rows:
        if row["contender"] in names:
            model = re.search(r"model/stored=([0-9.]+)", row["parameters"])
            out.append(dict(row, matrix=row["matrix"].split("/")[-1], type=names[row["contender"]], time_over_model_layout="%.4f" % (number(row, "us") / base),
                            bytes_a_nonzero="%.3f" % (number(row, "stored_bytes") / number(row, "nonzeros")) if number(row, "stored_bytes") else "", model_over_stored=model.group(1) if model else ""))
    return out


def levels_device_4_4(call):
    files = [os.path.join(os.environ.get("MATRICES", ""), name) for name in call.pick(SWITCHED_FILES, ())]
    for name in files:
        if not os.path.exists(name):
            print("%s is left out, as it is not in the folder MATRICES" % os.path.basename(name))
    out, options = [], [word for _, option, value, _ in SWITCHED for word in (option, value)]
    for one in list(call.pick(SWITCHED_INPUTS, ("p7:10", "er:8,8"))) + [name for name in files if os.path.exists(name)]:
        out += switched(call.device_table(options + ["-rounds", "2", "-batches", "3", one]))
    return out


def switched_panel(row):
    return next((panel for name, _, _, panel in SWITCHED if name == row["type"]), None)


def traffic_4_5(call):
    rows = call.bench(call.of_size(DEFINITE + OTHERS), ("aij", "sell", "nussell", "amb"))
    most = {row["matrix"]: number(row, "bytes") for row in rows if row["type"] == "aij"}
    return [dict(row, share="%.4f" % (number(row, "bytes") / most[row["matrix"]])) for row in rows]


def cg_4_6(call):
    rows = call.solve(call.of_size(DEFINITE), ("aij", "sell", "nussell", "amb"), "-ksp_type cg -pc_type jacobi -ksp_rtol 1e-8 -ksp_max_it %d" % call.pick(10000, 2000))
    return over(rows, "aij", lambda row: row["first_s"])


def estimate_4_7(call):
    rows = []
    for one in call.of_size(DEFINITE + OTHERS):
        amb = next(format for format in call.info(one)["formats"] if format["format"] == "amb")
        rows.append({"matrix": one, "bytes_model": amb["bytes_model"], "bytes_stored": amb["bytes"], "ratio": "%.4f" % (amb["bytes_model"] / amb["bytes"])})
    return rows


def blocks_4_8(call):
    types = ["amb@b%d" % b for b in range(1, 9)]
    return call.bench(call.of_size((DEFINITE[4], DEFINITE[2])), ["aij", "amb"] + types)


def convert_4_9(call):
    return call.bench(call.of_size(DEFINITE), ("sell", "nussell", "amb"), ops="convert,update")


# ------------------------------------------------- chapters 5 and 6 -------------------------------------------------

PRODUCTS = ("aij", "aij/rowmerge", "hashgemm", "mkl", "graphblas")
SORTED = ("aij", "mkl", "graphblas", "hashgemm") + tuple("hashgemm@" + name for name in ACCUMULATORS)


def squares_device(call, arguments):
    """The text of bench/cuda's spgemm as rows."""
    rows, matrix = [], ""
    for line in call.run(call.device("spgemm", arguments)).splitlines():
        head, found = re.match(r"(\S+): \d+ x \d+", line), re.match(r"  (ours|cuSPARSE \S+) ([0-9.]+) ms.*?(?:extra bytes ([0-9.]+))", line)
        matrix = head.group(1) if head else matrix
        if found:
            rows.append({"matrix": matrix, "type": found.group(1), "ms": found.group(2), "extra_bytes_over_C": found.group(3)})
    return rows


PHASES = ("count", "allocation", "pattern", "values")


def phases_device(call, program):
    """The phases of our products, which bench/cuda's spgemm prints."""
    rows, matrix = [], ""
    for line in call.run(call.device(program, ["-alone", "-repeat", "7"] + call.pick(["elas:30", "p27:64", "p7:101", "er:16,16", "g500:14,16"], ["p7:10"]))).splitlines():
        head, found = re.match(r"(\S+): \d+ x \d+", line), re.match(r"  ours ([0-9.]+) ms \(" + ", ".join(name + " ([0-9.]+)" for name in PHASES) + r"\)", line)
        matrix = head.group(1) if head else matrix
        if found:
            rows += [{"matrix": matrix, "type": name, "ms": ms, "whole_ms": found.group(1)} for name, ms in zip(PHASES, found.groups()[1:])]
    return rows


def accumulators_device(call, inputs):
    """C = A A with each accumulator of a GPU, in both precisions."""
    rows, matrix, products = [], "", 0
    for program, precision in (("spgemm", "double"), ("spgemm_float", "single")):
        for line in call.run(call.device(program, ["-accumulators", "-repeat", "3"] + inputs), len(os.sched_getaffinity(0))).splitlines():  # results are compared on the host
            head, found = re.match(r"(\S+): \d+ x \d+, \d+ nonzeros, (\d+) products", line), re.match(r"  (\w+) +([0-9.]+) ms \(.*extra bytes ([0-9.]+)", line)
            if head:
                matrix, products = head.group(1), int(head.group(2))
            if found:
                rows.append({"matrix": matrix, "type": found.group(1), "precision": precision, "products": products, "ms": found.group(2), "gflops": "%.3f" % (2e-6 * products / float(found.group(2))),
                             "extra_bytes_over_C": found.group(3)})
    return rows


def density_device_6_8(call):
    return accumulators_device(call, graphs(("er",), (call.pick(15, 6),), call.pick((2, 4, 8, 16, 32), (2, 4))) + graphs(("g500",), (call.pick(13, 6),), call.pick((2, 4, 8, 16, 32), (2, 4))))


def sizes_device_6_9(call):
    return accumulators_device(call, graphs(("er",), call.pick(range(9, 19), (5, 6)), (call.pick(8, 4),)) + graphs(("g500",), call.pick(range(9, 15), (5, 6)), (call.pick(8, 4),)))


def squares_5_3(call):
    return squares_device(call, ["-repeat", "7"] + call.pick(["elas:30", "p27:64", "p7:101", "er:16,16", "g500:14,16"], ["p7:10"]))


def merges_device(call):
    """What bench/cuda's merge prints, below the name of the device."""
    text = call.run(call.device("merge", call.pick([], ["-small"])))
    return [dict(row, type=row["method"]) for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))]


def transposed_5_7(call):
    return over(call.bench(call.pick(SQUARES, SQUARES[:1]), PRODUCTS[:3], ops="ata"), "aij")


def galerkin_5_8(call):
    return over(call.bench(call.pick(["p5:512", "p7:50", "elasticity:14"], ["p5:20"]), PRODUCTS[:3], ops="ap"), "aij")


def graphs(kinds, scales, factors):
    return ["%s:%d,%d" % (kind, scale, factor) for kind in kinds for scale in scales for factor in factors]


RECIPE_REPS = {9: 61, 11: 31, 13: 7, 15: 5}  # of a product of so many rows


def recipe_6_4(call):
    kinds = ("hashgemm",) + tuple("hashgemm@" + name for name in ALL_ACCUMULATORS)
    rows = []
    for one in call.pick(graphs(("er",), (9, 11, 13, 15), (4, 16)) + graphs(("rmat",), (9, 11, 13), (4, 16)), graphs(("er",), (6,), (4,))):
        command = [TOOL, "bench", one, "-ops", "square,tall", "-types"]
        counts = re.findall(r"HashGEMMReport\(\): AB: (\d+) multiplications, (\d+) nonzeros", call.run(command + ["hashgemm", "-seconds", "0", "-reps", "1", "-info", ":mat"]))
        for threads in (1, 2):
            reps = call.pick(RECIPE_REPS.get(int(math.log2(scale_of({"matrix": one}))), 1), 1)
            mine = call.table(command + [",".join(kinds), "-reps", str(reps), "-processor_time"] + options(kinds), {}, threads)
            for op, (products, entries) in (("square", counts[0]), ("tall", counts[-1])):
                least = {row["type"].partition("@")[2] or "auto": number(row, "min_s") for row in mine if row["status"] == "ok" and row["op"] == op}
                first = min((name for name in least if name != "auto"), key=least.get)
                rows.append({"threads": threads, "matrix": one, "op": op, "entries": "%.1f" % (number(mine[0], "nonzeros") / number(mine[0], "rows")), "products": "%.2f" % (int(products) / int(entries)),
                             **{name: "%.4f" % (1e3 * least[name]) for name in least}, "first": first, "auto_over_first": "%.3f" % (least["auto"] / least[first])})
    return sorted(rows, key=lambda row: (row["op"], row["threads"]))


def recipe(rows):
    """The recipe as a table: in each class, how long every accumulator takes in terms of the first of each cell, as a geometric mean."""
    names = ("auto",) + ALL_ACCUMULATORS
    print("| threads | product | products for an entry | entries in a row | cells | " + " | ".join(names) + " | first | auto over the first, at most |\n" + "|---" * (7 + len(names)) + "|")
    classes = {}
    for row in rows:
        classes.setdefault((row["threads"], row["op"], "below 1.3" if number(row, "products") < 1.3 else "1.3 and more", "at most 6" if number(row, "entries") <= 6 else "more"), []).append(row)
    for key, mine in sorted(classes.items(), key=lambda one: [str(part) for part in one[0]]):
        means = {name: math.exp(sum(math.log(number(row, name) / number(row, row["first"])) for row in mine) / len(mine)) for name in names}
        first = min(ALL_ACCUMULATORS, key=means.get)
        print("| %s | %d | %s | %s | %.2f |" % (" | ".join(str(part) for part in key), len(mine), " | ".join("%.2f" % means[name] for name in names), first, max(number(row, "auto_over_first") for row in mine)))
    slow = [row for row in rows if number(row, "auto_over_first") > 1.05]
    print("auto takes at most 1.05 of the first accumulator's time in %d of %d cells%s" % (len(rows) - len(slow), len(rows), "".join("; %s %s, %s thread%s: %s, %s" %
          (row["matrix"], row["op"], row["threads"], "s"[:str(row["threads"]) != "1"], row["first"], row["auto_over_first"]) for row in slow)))


def heap_6_6(call):
    return over(call.bench(graphs(("rmat",), call.pick(range(8, 14), (6, 7)), (16,)), ("aij", "hashgemm@heap"), ops="square"), "aij")


def density_6_8(call):
    return over(call.bench(graphs(("er", "rmat"), (call.pick(13, 6),), call.pick((2, 4, 8, 16), (2, 4))), SORTED, ops="square"), "aij")


def sizes_6_9(call):
    return over(call.bench(graphs(("er", "rmat"), call.pick(range(8, 14), (5, 6)), (call.pick(16, 4),)), SORTED, ops="square"), "aij")


def threads_6_10(call):
    rows, most = [], len(os.sched_getaffinity(0))
    for threads in sorted({1, most} | {2 ** k for k in range(10) if 2 ** k <= most}):
        rows += call.bench(graphs(("er", "rmat"), (call.pick(13, 6),), (call.pick(16, 4),)), ("hashgemm",) + SORTED[4:], ops="square", threads=threads)
    return rows


def real_6_11(call):
    return over(call.bench(call.pick(SQUARES, SQUARES[:2]), SORTED, ops="square"), "aij")


def tall_6_16(call):
    return over(call.bench(graphs(("rmat",), call.pick((13, 14, 15), (6,)), (16,)), SORTED[:1] + SORTED[3:], ops="tall"), "aij")


def triangles_6_17(call):
    return over(call.bench(call.pick(SQUARES, SQUARES[:2]), SORTED[:1] + SORTED[3:], ops="lu"), "aij")


# ------------------------------------------------- pictures -------------------------------------------------


def lines(x, y, xlabel, ylabel, panel=None, log=True):
    """A line for each type; a panel for each kind of matrix if panel() names it."""
    def draw(axes, rows):
        for kind in dict.fromkeys(row["type"] for row in rows):
            points = sorted((x(row), y(row)) for row in rows if row["type"] == kind)
            axes.plot([p[0] for p in points], [p[1] for p in points], marker="o", markersize=3, label=kind)
        if log:
            axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(alpha=0.3)
    return draw, panel


def bars(y, ylabel, one=None, panel=None):
    """A group of bars for each matrix, a bar for each type, and a line at one."""
    def draw(axes, rows):
        names = list(dict.fromkeys(row["matrix"] for row in rows))
        kinds = list(dict.fromkeys(row["type"] for row in rows))
        for k, kind in enumerate(kinds):
            heights = {row["matrix"]: y(row) for row in rows if row["type"] == kind}
            axes.bar([i + (k - (len(kinds) - 1) / 2) * 0.8 / len(kinds) for i, name in enumerate(names) if name in heights], [heights[name] for name in names if name in heights], 0.8 / len(kinds), label=kind)
        axes.set_xticks(range(len(names)), [name.split(".")[0] for name in names], rotation=25, ha="right", fontsize=8)
        if one is not None:
            axes.axhline(one, color="black", linewidth=0.8, linestyle="--")
        axes.set_ylabel(ylabel)
        axes.grid(alpha=0.3, axis="y")
    return draw, panel


def points(x, y, xlabel, ylabel):
    def draw(axes, rows):
        for name in dict.fromkeys(row["matrix"] for row in rows):
            mine = [row for row in rows if row["matrix"] == name]
            axes.scatter([x(row) for row in mine], [y(row) for row in mine], s=14, label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(alpha=0.3)
    return draw, None


def profile():
    """The share of matrices on which a type is within a factor of the best."""
    def draw(axes, rows):
        best = {}
        for row in rows:
            best[row["matrix"]] = min(seconds(row), best.get(row["matrix"], 1e99))
        for kind in dict.fromkeys(row["type"] for row in rows):
            factors = sorted(seconds(row) / best[row["matrix"]] for row in rows if row["type"] == kind)
            axes.step([1] + factors, [0] + [(k + 1) / len(best) for k in range(len(factors))], where="post", label=kind)
        axes.set_xlabel("time over that of the best")
        axes.set_ylabel("share of matrices")
        axes.grid(alpha=0.3)
    return draw, None


def picture(one, rows, name):
    """Draws with matplotlib; says so where it is missing."""
    if not importlib.util.find_spec("matplotlib"):
        print("%s: no picture, for this Python has no matplotlib" % one.number)
        return
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": one.number, "svg.fonttype": "none", "font.size": 9})  # the same picture from the same numbers
    import matplotlib.pyplot as plt
    draw, panel = one.picture
    panels = {}
    for row in rows:
        title = panel(row) if panel else ""
        if title is not None:
            panels.setdefault(title, []).append(row)
    figure, all_axes = plt.subplots(1, len(panels), figsize=(4 + 4 * len(panels), 4), squeeze=False)
    for axes, (title, mine) in zip(all_axes[0], panels.items()):
        draw(axes, mine)
        axes.set_title(title, fontsize=9)
    for axes in all_axes[0]:  # once where all have the same types
        if axes is all_axes[0][0] or axes.get_legend_handles_labels()[1] != all_axes[0][0].get_legend_handles_labels()[1]:
            axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(name, metadata={"Date": None})
    plt.close(figure)


def speed(row):
    return number(row, "speed")


def kind_of(row):
    return row["matrix"].split(":")[0]


def scale_of(row):
    return 2 ** int(re.split("[:,]", row["matrix"])[1])


def precise_kind_of(row):
    return kind_of(row) + ", %s precision" % row["precision"]


def factor_of(row):
    return int(re.split("[:,]", row["matrix"])[2])


class Experiment:
    """number: of the table or figure; repeats: in one line; differs: in one line, or why it cannot be repeated; run: None in that case; text: prints what follows."""

    def __init__(self, numbered, repeats, differs, run=None, drawing=None, gpu=False, text=None):
        self.number, self.repeats, self.differs, self.run, self.picture, self.gpu, self.text = numbered, repeats, differs, run, drawing, gpu, text


STANDINS = "generated stand-ins with fewer rows; a processor, double precision"
COUNTERS = "needs the counters of caches, which the programs here do not read"
EXPERIMENTS = (
    Experiment("3.1", "Table: the matrices of chapter 3", "generated stand-ins with fewer rows", table_3_1),
    Experiment("3.2", "Table: the best widths of segments, and the model beside the search of section 3.3.3", STANDINS, search_3_2, bars(speed, "speed over the model's choice", 1)),
    Experiment("3.3", "Table: effective memory bandwidth of NUS-SELL, vector-processor count of bytes", STANDINS, bandwidth_3_3, bars(lambda row: number(row, "effective_GBps"), "effective GB/s")),
    Experiment("3.4", "Figure: random matrices with more and more columns on a GPU", "NUS-SELL without segments in the place of JDS, cuSPARSE beside it", columns_3_4,
               lines(lambda row: number(row, "columns"), lambda row: 2e-3 * number(row, "nonzeros") / number(row, "us"), "columns", "GFLOP/s"), gpu=True),
    Experiment("3.5", "Figure: cache hits of Figure 3.4", COUNTERS),
    Experiment("3.6", "Figure: the product in S-JDS", "a drawing; docs/choose.md has one of NUS-SELL"),
    Experiment("3.7", "Figure: conversion to NUS-JDS", "a drawing; docs/choose.md has one of NUS-SELL"),
    Experiment("3.8", "Figure: the tuning mechanism", "a drawing; docs/options.md describes it"),
    Experiment("3.9", "Figure: formats of chapter 3 on a GPU beside cuSPARSE", "generated matrices; no JDS on a GPU", formats_3_9,
               bars(lambda row: 2e-3 * number(row, "nonzeros") / number(row, "us"), "GFLOP/s"), gpu=True),
    Experiment("3.10", "Figure: cache hits of Figure 3.9", COUNTERS),
    Experiment("3.11", "Figure: random matrices of growing size and density", "a processor; a quarter of the rows, four times the density; not symmetric; double precision", random_3_11, bars(speed, "speed over aij", 1)),
    Experiment("3.12", "Figure: conjugate gradients, formats of chapter 3", "a processor; positive definite stand-ins; 200 iterations; second solves", cg_3_12, bars(speed, "speed over aij", 1)),
    Experiment("3.13", "Figure: time over iterations of conjugate gradients, tuner on and off", "a processor; a stand-in for structural problems; fixed numbers of iterations; without tuner the conversion lies before the solve", tuning_3_13,
               lines(lambda row: number(row, "its"), lambda row: 1e3 * number(row, "first_s") / number(row, "its"), "iterations", "ms an iteration of the first solve, trials included")),
    Experiment("3.13-gpu", "Figure: time over iterations of conjugate gradients, tuner on and off, on a GPU", "AMB in the place of NUS-JDS; a stand-in for structural problems; fixed numbers of iterations",
               tuning_device_3_13, lines(lambda row: number(row, "its"), lambda row: 1e3 * number(row, "first_s") / number(row, "its"), "iterations", "ms an iteration, first solves"), gpu=True),
    Experiment("3.14", "Figure: random matrices with more and more columns on a many-core processor", "this processor in the place of a Xeon Phi; 200,000 rows of 16 entries (--cached: 10,000); one thread", columns_3_14,
               lines(lambda row: number(row, "columns"), gflops, "columns", "GFLOP/s")),
    Experiment("3.15", "Figure: formats of chapter 3 on a many-core processor", STANDINS, formats_3_15, bars(speed, "speed over aij", 1)),
    Experiment("4.3", "Figure: products by AMB beside libraries, double precision", "a processor; aij, MKL and GraphBLAS in the place of cuSPARSE and yaSpMV", products_4_3, bars(speed, "speed over aij", 1)),
    Experiment("4.4", "Figure: speed of each level of AMB over SELL", "a processor; segments by NUS-SELL; all levels but the third share sorting", levels_4_4, bars(speed, "speed over sell", 1)),
    Experiment("4.4-gpu", "Figure: each level of AMB switched off, on a GPU", "beside AMB and not beside SELL; the levels that AMB has on a GPU; segments by NUS-SELL; real matrices from the folder MATRICES",
               levels_device_4_4, bars(lambda row: number(row, "time_over_model_layout"), "time over that of the model's layout", 1, switched_panel), gpu=True),
    Experiment("4.5", "Figure: bytes of a product over those of CSR", "counted, x and y once; double precision", traffic_4_5, bars(lambda row: number(row, "share"), "bytes over aij's", 1)),
    Experiment("4.6", "Figure: conjugate gradients, conversion included", "a processor; stand-ins, Jacobi; first solves", cg_4_6, bars(speed, "speed of the first solve over aij", 1)),
    Experiment("4.7", "Figure: the traffic model beside the measured traffic", "beside the bytes that are stored, since no counter of the memory is read", estimate_4_7,
               points(lambda row: number(row, "bytes_stored"), lambda row: number(row, "bytes_model"), "bytes stored", "bytes by the model")),
    Experiment("4.8", "Figure, and Table 4.3: time over traffic for block sizes 1 to 8", "a processor; stand-ins", blocks_4_8,
               points(lambda row: number(row, "bytes"), lambda row: 1e6 * seconds(row), "bytes of a product", "us")),
    Experiment("4.9", "Figure: the cost of conversion", "in all, not by phases; in products of the format", convert_4_9, bars(lambda row: number(row, "products"), "products of the same type", panel=lambda row: row["op"])),
    Experiment("5.3", "Figure: C = A A on a GPU, double precision", "cuSPARSE's algorithms beside it; generated matrices", squares_5_3, bars(lambda row: number(row, "ms"), "ms"), gpu=True),
    Experiment("5.4", "Figure: memory of C = A A on a GPU", "memory beside C's own, of both", squares_5_3, bars(lambda row: number(row, "extra_bytes_over_C"), "extra bytes over those of C"), gpu=True),
    Experiment("5.5", "Figure: phases of C = A A in single precision, on a GPU", "ours alone, since cuSPARSE's are not timed apart; generated matrices", lambda call: phases_device(call, "spgemm_float"),
               bars(lambda row: number(row, "ms"), "ms"), gpu=True),
    Experiment("5.6", "Figure: phases of C = A A in double precision, on a GPU", "ours alone, since cuSPARSE's are not timed apart; generated matrices", lambda call: phases_device(call, "spgemm"),
               bars(lambda row: number(row, "ms"), "ms"), gpu=True),
    Experiment("merge", "Figure 4 of bhSPARSE: two sequences merged in shared memory, by five methods", "a GPU of today; lengths to 8,192; a copy beside them", merges_device,
               lines(lambda row: number(row, "length"), lambda row: number(row, "Gkeys/s"), "length of a sequence", "billion keys in a second", lambda row: row["pairs"]), gpu=True),
    Experiment("5.7", "Figure: A^T A", "a processor; PETSc's algorithms in the place of cuSPARSE's", transposed_5_7, bars(speed, "speed over aij", 1)),
    Experiment("5.8", "Figure: products of a multigrid set-up", "a processor; AP, with the prolongator of smoothed aggregation", galerkin_5_8, bars(speed, "speed over aij", 1)),
    Experiment("6.4", "Table: the recipe, which accumulator to take", "hash, hashvec, heap, dense windows and sorts on a processor of today, by processor time, one and two threads; results have sorted rows", recipe_6_4,
               text=recipe),
    Experiment("6.5", "Figure: MCDRAM over DDR", "needs a processor with two kinds of memory"),
    Experiment("6.6", "Figure: heap products of growing graphs", "rows are dealt to threads by their multiplications; the other schedules of the figure do not exist here", heap_6_6, lines(scale_of, speed, "rows", "speed over aij")),
    Experiment("6.7", "Figure: time of each thread", "threads are not timed one by one"),
    Experiment("6.8", "Figure: C = A A over density, by accumulator", "a processor of today, scale 13; results have sorted rows", density_6_8, lines(factor_of, speed, "entries in a row", "speed over aij", kind_of)),
    Experiment("6.8-gpu", "Figure: C = A A over density, by accumulator, on a GPU", "the accumulators of a GPU, both precisions; scale 15, G500 13", density_device_6_8,
               lines(factor_of, lambda row: number(row, "gflops"), "entries in a row", "GFLOP/s", precise_kind_of), gpu=True),
    Experiment("6.9", "Figure: C = A A over size, by accumulator", "a processor of today, scales to 13; results have sorted rows", sizes_6_9, lines(scale_of, speed, "rows", "speed over aij", kind_of)),
    Experiment("6.9-gpu", "Figure: C = A A over size, by accumulator, on a GPU", "the accumulators of a GPU, both precisions; 8 entries in a row", sizes_device_6_9,
               lines(scale_of, lambda row: number(row, "gflops"), "rows", "GFLOP/s", precise_kind_of), gpu=True),
    Experiment("6.10", "Figure: C = A A over threads", "as many threads as there are processors", threads_6_10, lines(lambda row: number(row, "threads"), lambda row: 1 / seconds(row), "threads", "products in a second", kind_of)),
    Experiment("6.11", "Figure: C = A A of real matrices, by accumulator", "the matrices of data/ and generated ones", real_6_11, bars(speed, "speed over aij", 1)),
    Experiment("6.12", "Figure: misses of the second-level cache", COUNTERS),
    Experiment("6.13", "Figure: profile of relative performance", "the matrices and accumulators of 6.11", real_6_11, profile()),
    Experiment("6.14", "Figure: collisions in hash tables, synthetic matrices", "collisions are not counted"),
    Experiment("6.15", "Figure: collisions in hash tables, real matrices", "collisions are not counted"),
    Experiment("6.16", "Figure: a square matrix times a tall and skinny one", "64 columns of the matrix; scales 13 to 15", tall_6_16, lines(scale_of, speed, "rows", "speed over aij")),
    Experiment("6.17", "Figure: L U for counting triangles", "the matrices of data/ and generated ones; rows stay in their order", triangles_6_17, bars(speed, "speed over aij", 1)),
)


def find(numbered):
    for one in EXPERIMENTS:
        if one.number == numbered:
            return one
    raise Refused("%s: there is no such experiment; --list names them" % numbered)


def refuse(one):
    if not one.run:
        raise Refused("%s (%s) cannot be repeated: %s" % (one.number, one.repeats, one.differs))
    if one.gpu and not shutil.which("nvidia-smi"):
        raise Refused("%s (%s) needs a GPU, and this machine has none" % (one.number, one.repeats))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog="exit code 2: no such experiment, no GPU, or not repeatable")
    parser.add_argument("numbers", nargs="*", help="tables and figures, such as 3.14 or 4.4")
    parser.add_argument("--list", action="store_true", help="what each experiment repeats, and what differs")
    parser.add_argument("--small", action="store_true", help="small matrices: does it run?")
    parser.add_argument("--cached", action="store_true", help="matrices of a second-level cache, where others share the memory; not in every experiment")
    parser.add_argument("--least", action="store_true", help="ratios and pictures of the shortest runs, not of the medians")
    parser.add_argument("--processor-time", action="store_true", help="of the processors, where others share them, in experiments with petscamb bench")
    parser.add_argument("--draw", action="store_true", help="only the pictures and recipes, from the CSV that are there")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each type and operation, about (0.2)")
    parser.add_argument("-o", metavar="DIR", default=".", help="where results go (here)")
    arguments = parser.parse_args()
    global LEAST, PROCESSOR_TIME
    LEAST, PROCESSOR_TIME = arguments.least, arguments.processor_time
    if arguments.list:
        for one in EXPERIMENTS:
            print("%-5s %s\n      %s: %s" % (one.number, one.repeats, "differs" + (", on a GPU" if one.gpu else "") if one.run else "not repeated", one.differs))
        return 0
    if not arguments.numbers:
        parser.error("which experiment? --list names them")
    try:
        wanted = [find(numbered) for numbered in arguments.numbers]
        for one in wanted if not arguments.draw else []:
            refuse(one)
    except Refused as why:
        print(why, file=sys.stderr)
        return 2
    os.makedirs(arguments.o, exist_ok=True)
    for one in wanted:
        print("%s %s; differs: %s" % (one.number, one.repeats, one.differs))
        name = os.path.join(arguments.o, one.number)
        if arguments.draw:
            with open(name + ".csv", newline="") as file:
                rows = list(csv.DictReader(file))
        else:
            rows = one.run(Call(SMALL if arguments.small else CACHED if arguments.cached else FULL, arguments.seconds))
            with open(name + ".csv", "w", newline="") as file:
                writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        if one.text:
            one.text(rows)
        if one.picture:
            picture(one, rows, name + ".svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
