#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measure a run of runs.json with bin/petscamb:

    docs/results/measure.py host [DIR]     # in the top folder; writes host.csv and host.machine.json into DIR (this folder)

Each matrix is measured in a process of its own, since on a GPU the first matrix of petsc-amb changes those of PETSc that follow.
"""
import csv
import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

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
    return {"processor": {name: cpu[name].strip() for name in keep if name in cpu}, "MHz now": mhz[:1], "GPU: name, clocks (most, memory, now), memory, driver": gpu.splitlines(),
            "system": "%s %s" % (platform.system(), platform.machine()), "C library": " ".join(platform.libc_ver())}


def main():
    with open(os.path.join(HERE, "runs.json")) as file:
        runs = json.load(file)
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in runs:
        sys.exit(__doc__)
    name, place = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else HERE
    run, rows = runs[name], []
    tool = os.environ.get("PETSCAMB", os.path.join("bin", "petscamb"))
    checksums = {}
    for one in run["inputs"]:
        path = os.path.join(ROOT, one)
        if os.path.exists(path):
            with open(path, "rb") as file:
                checksums[one] = hashlib.sha256(file.read()).hexdigest()
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "one.csv")
            done = subprocess.run([tool, "bench", one] + run["options"] + ["-csv", result], cwd=ROOT, env=dict(os.environ, **run["environment"]))
            if done.returncode:
                sys.exit("*** %s: exit code %d" % (one, done.returncode))
            with open(result, newline="") as file:
                rows += list(csv.DictReader(file))
        write(place, name, run, rows, checksums)


def write(place, name, run, rows, checksums):
    """Called after each matrix, so that a run that is cut off leaves what it has."""
    with open(os.path.join(place, name + ".csv"), "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with open(os.path.join(place, name + ".machine.json"), "w") as file:
        json.dump({"run": run, "sha256": checksums, "machine": machine()}, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
