#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measure runs of runs.json with bin/petscamb:

    docs/results/measure.py host [DIR]     # in the top folder; writes DIR/host.csv (in this folder without DIR)
    docs/results/measure.py 'gpu*' [DIR]   # every run whose name fits, one after the other

Each matrix is measured in a process of its own, since on a GPU the first matrix of petsc-amb changes those of PETSc that follow. A run with the word "apart" has a
process for each type too. A name without a folder and a colon, such as gowalla.mtx, is a file in the folder MATRICES; without that folder, it is left out, by name.
PETSCAMB is the program, LIMIT the seconds after which no further process starts.
"""
import csv
import fnmatch
import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def output(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


@functools.lru_cache(maxsize=None)
def machine():
    """The processor with its clocks and caches, the GPU with its clocks and driver, the system."""
    cpu = dict(line.split(":", 1) for line in output("lscpu").splitlines() if ":" in line)
    keep = ("Model name", "CPU(s)", "Thread(s) per core", "CPU max MHz", "CPU MHz", "BogoMIPS", "L1d cache", "L2 cache", "L3 cache", "Hypervisor vendor")
    with open("/proc/cpuinfo") as file:
        mhz = [line.split(":")[1].strip() for line in file if line.startswith("cpu MHz")]
    gpu = output("nvidia-smi", "--query-gpu=name,clocks.max.sm,clocks.max.mem,clocks.sm,memory.total,driver_version", "--format=csv,noheader") if shutil.which("nvidia-smi") else ""
    return {"processor": {name: cpu[name].strip() for name in keep if name in cpu}, "processors allowed": len(os.sched_getaffinity(0)), "MHz now": mhz[:1], "GPU: name, clocks (most, memory, now), memory, driver": gpu.splitlines(),
            "system": "%s %s" % (platform.system(), platform.machine()), "C library": " ".join(platform.libc_ver())}


def place_of(one):
    """Where an input is: None if it is a file that is not there."""
    if ":" in one:
        return one
    path = os.path.join(ROOT, one) if "/" in one else os.path.join(os.environ.get("MATRICES", ""), one)
    return path if os.path.exists(path) else None


def command_of(run):
    """The command of a run as a line of a shell."""
    return " ".join(["%s=%s" % pair for pair in sorted(run["environment"].items())] + ["bin/petscamb", run.get("command", "bench"), "MATRIX"] + run["options"])


def commands(run):
    """The options of each process that measures a matrix."""
    if not run.get("apart"):
        return [run["options"]]
    k = run["options"].index("-types") + 1
    return [run["options"][:k] + [kind] + run["options"][k + 1:] for kind in run["options"][k].split(",")]


def measure(name, run, tool, place, end):
    rows, checksums, failed = [], {}, []
    for one in run["inputs"]:
        path = place_of(one)
        if not path:
            print("%s: %s is left out, as it is not in the folder MATRICES" % (name, one), flush=True)
            continue
        if path != one:
            with open(path, "rb") as file:
                checksums[one] = hashlib.sha256(file.read()).hexdigest()
        for options in commands(run):
            if time.monotonic() > end:
                sys.exit("*** %s: no time left for %s and what follows" % (name, one))
            with tempfile.TemporaryDirectory() as folder:
                result = os.path.join(folder, "one.csv")
                done = subprocess.run([tool, run.get("command", "bench"), path] + options + ["-csv", result], cwd=ROOT, env=dict(os.environ, **run["environment"]))
                if done.returncode:
                    failed.append("%s %s: exit code %d" % (name, one, done.returncode))
                    print("*** " + failed[-1], flush=True)
                if os.path.exists(result):
                    with open(result, newline="") as file:
                        rows += [dict(row, matrix=row["matrix"].replace(path, os.path.basename(one))) for row in csv.DictReader(file)]
            if rows:
                write(place, name, run, rows, checksums)
    return failed


def main():
    with open(os.path.join(HERE, "runs.json")) as file:
        runs = json.load(file)
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    names = [name for name in runs if fnmatch.fnmatch(name, sys.argv[1])]
    if not names:
        sys.exit("*** %s: no run of that name; runs.json has %s" % (sys.argv[1], ", ".join(runs)))
    tool = os.environ.get("PETSCAMB", os.path.join("bin", "petscamb"))
    if not shutil.which(os.path.join(ROOT, tool)):
        sys.exit("*** %s: no such program in %s; run make first, or give the program as PETSCAMB=FILE" % (tool, ROOT))
    place = sys.argv[2] if len(sys.argv) == 3 else HERE
    try:
        os.makedirs(place, exist_ok=True)
    except OSError as error:
        sys.exit("*** %s: %s" % (place, error.strerror))
    failed, end = [], time.monotonic() + float(os.environ.get("LIMIT", "inf"))
    for name in names:
        failed += measure(name, runs[name], tool, place, end)
    sys.exit("\n".join(failed) if failed else 0)


def write(place, name, run, rows, checksums):
    """Called after each matrix, so that a run that is cut off leaves what it has."""
    with open(os.path.join(place, name + ".csv"), "w", newline="") as file:
        file.write("# command: %s\n" % command_of(run))
        file.write("# machine: %s; commit: %s; date: %s\n" % (rows[0].get("gpu") or rows[0].get("cpu"), rows[0].get("commit"), rows[0].get("date")))
        for key, value in (("run", run), ("host", machine()), ("sha256", checksums)):
            file.write("# %s = %s\n" % (key, json.dumps(value, sort_keys=True)))
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
