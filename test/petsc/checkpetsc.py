#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run PETSc's own tests with the types of petsc-amb: make check-petsc calls this with the configuration's build folder in BUILD.

Every /*TEST*/ block of PETSc's programs runs as it is, and with -petscamb_for_aij TYPE for each type. The output of the second must be that of the first, by
the rules of PETSc's petscdiff. The list petsc/explained.txt has the differences that are right, with their reasons.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import petscblocks
import petscbuild
import petsccompare
import petscrun
import dealing
import runtests


# take minutes
LONG = ("ksp/ksp/tutorials/ex42_tut_3",)


def first(block):
    """The case of a block that a run without --all takes, or None."""
    if block.name in LONG:
        return None
    return next((case for case in block.cases if not case.skip and case.nsize <= 4), None)


def choose(blocks, patterns, everything):
    """The blocks of a run: those of these names, or all, or a part that is the same everywhere for the same PETSc. This part is the first case, on at most
    four processes, of each block of mat and ksp, and of every eighth block of the other packages."""
    if patterns:
        return [block for block in blocks if any(fnmatch.fnmatchcase(name, pattern) for name in [block.name] + [case.name for case in block.cases] for pattern in patterns)]
    if everything:
        return blocks
    ready = [block for block in blocks if first(block)]
    linear = [block for block in ready if block.folder.split(os.sep)[0] in ("mat", "ksp")]
    chosen = linear + [block for block in ready if block not in linear][::8]
    for block in chosen:
        block.cases = [first(block)]
    return chosen + [block for block in blocks if all(case.skip for case in block.cases)]


def build(folder, conf, patterns, everything, jobs):
    """Builds the programs of a run, and leaves in blocks.json what the run has to know."""
    blocks = list(petscblocks.blocks(conf))
    fields = [block.fields() for block in blocks]
    failed = petscbuild.build(conf, folder, choose(blocks, patterns, everything), jobs)
    with open(os.path.join(folder, "petsc", "blocks.json"), "w", encoding="utf-8") as out:
        json.dump({"blocks": fields, "failed": dict(failed)}, out, indent=0)


def built(folder):
    """The blocks, and the programs that did not compile with the compiler's words."""
    path = os.path.join(folder, "petsc", "blocks.json")
    if not os.path.exists(path):
        sys.exit("%s: not there; make check-petsc-build writes it" % path)
    with open(path, encoding="utf-8") as text:
        stored = json.load(text)
    return [petscblocks.Block(fields) for fields in stored["blocks"]], stored["failed"]


class Report:
    """Counts the results, prints failures as they come, and writes everything into files."""

    def __init__(self, place, explained):
        self.explained, self.runs, self.used, self.blocks = explained, 0, collections.Counter(), collections.Counter()
        self.cpu, self.count, self.names = 0.0, collections.Counter(), collections.defaultdict(list)
        self.differences = open(os.path.join(place, "differences.txt"), "w", encoding="utf-8")
        self.results = open(os.path.join(place, "results.txt"), "w", encoding="utf-8")

    def add(self, block, found):
        states, used = set(), False
        for state, case, kind, detail, cpu, in_use in found:
            name = case.name + (" " + kind if kind else "")
            self.cpu += cpu
            self.runs += state != "skip"
            self.used[kind] += in_use
            used = used or in_use
            entry = self.explained.entry(case.name, kind) if kind and state in ("ok", "differs") else None
            if entry and state == "differs":
                entry["used"] += 1
                state = "explained"
            self.results.write("%-9s %7.2f %s %s%s\n" % (state, cpu, "in use" if in_use else "      ", name, ": " + detail if state == "skip" else ""))
            self.count[state] += 1
            states.add(state)
            if state in ("differs", "unstable", "explained"):
                self.names[state].append(name)
                self.differences.write("%s %s\n%s\n\n" % (state, name, detail))
                self.differences.flush()
            if state == "differs":
                lines = detail.splitlines()
                print("  FAIL  %s\n%s" % (name, "".join("        %s\n" % line[:300] for line in lines[1:13])), end="")
            elif state == "skip":
                print("  skip  %s: %s" % (name, detail))
            sys.stdout.flush()
        self.results.flush()
        self.blocks["failed" if "differs" in states else "passed" if states - {"skip"} else "skipped"] += 1
        self.blocks["in use"] += used

    def stale(self, everything):
        """Entries that stand for no difference. A part of the blocks says so only of an entry for one run, and no machine says so of its rounding, or of the order of its processes."""
        return [entry for entry in self.explained.entries
                if entry["ran"] and not entry["used"] and not entry["reason"].startswith(("rounding", "order")) and (everything or not set("*?[") & set(entry["glob"]))]


def run(folder, conf, args, kinds, patterns):
    blocks, broken = built(folder)
    for block in blocks:
        for case in block.cases:
            if case.cuda and not args.device:
                case.skip = case.skip or "requires a GPU"
    place = os.path.join(folder, "petsc")
    chosen = choose(blocks, patterns, args.all)[args.part[0] - 1::args.part[1]]
    listed = os.path.join(runtests.ROOT, "test", "petsc", "explained.txt")
    report = Report(place, petsccompare.Explained(listed, conf["AMB_PETSC_VERSION"], "gpu" if args.device else "host"))
    skipped = collections.Counter()
    with open(os.path.join(place, "skipped.txt"), "w", encoding="utf-8") as out:
        for block in chosen:
            for case in block.cases:
                if case.skip:
                    out.write("%s: %s\n" % (case.name, case.skip))
                    skipped[case.skip] += 1
    ready = [block for block in chosen if any(not case.skip for case in block.cases)]
    report.blocks["skipped"] += len(chosen) - len(ready)
    for block in ready:
        if block.program in broken:
            print("  FAIL  %s: %s does not compile\n%s" % (block.name, block.program, "".join("        %s\n" % line for line in broken[block.program].splitlines()[:8])), end="")
            report.blocks["failed"] += 1
    ready = [block for block in ready if block.program not in broken]
    start = time.time()
    ready.sort(key=lambda block: -len(block.cases))  # none of the long ones is left alone at the end
    with tempfile.TemporaryDirectory(prefix="petsc-amb-check-") as work, concurrent.futures.ThreadPoolExecutor(args.jobs) as threads:
        runner = petscrun.Runner(place, os.environ.get("LIB") or os.path.join(folder, "lib", "libpetscamb.so"), os.environ.get("MPIEXEC") or "mpiexec", args.device, dealing.Cores(args.jobs), work, report.explained)
        waiting = {threads.submit(runner.block, block, kinds): block for block in ready}
        try:
            for done in concurrent.futures.as_completed(waiting):
                report.add(waiting[done], done.result())
        except KeyboardInterrupt:
            for future in waiting:
                future.cancel()
            print("interrupted")
            return 1
    stale = report.stale(args.all)
    for entry in stale:
        print("  STALE explained.txt:%d %s: all of its runs give the output of aij" % (entry["line"], entry["glob"]))
    if report.names["unstable"]:
        print("unstable, two runs with aij differ: " + ", ".join(report.names["unstable"]))
    print("%d blocks of %d programs, %d of them with a type of petsc-amb in use; %d runs in %.0f s and %.0f CPU seconds, %d with a type in use (%s)" %
          (len(ready), len({block.program for block in ready}), report.blocks["in use"], report.runs, time.time() - start, report.cpu, sum(report.used.values()),
           ", ".join("%s %d" % (kind, report.used[kind]) for kind in kinds)))
    print("%d runs differ, %d explained, %d unstable; the differences are in %s" %
          (report.count["differs"], report.count["explained"], report.count["unstable"], os.path.relpath(report.differences.name)))
    print("%d passed, %d failed, %d skipped" % (report.blocks["passed"], report.blocks["failed"], report.blocks["skipped"]))
    return 1 if report.blocks["failed"] or not report.blocks["passed"] or stale else 0


def part(text):
    number, _, count = text.partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise argparse.ArgumentTypeError("%s is no part: write 2/5 for the second of five" % text)
    return int(number), int(count)


def main():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", default=["build", "run"], help="build, run, or both (the default)")
    parser.add_argument("--match", default="", help="blocks to run, with * and ?; several separated by commas or blanks")
    parser.add_argument("--types", default="", help="the types to run with; the default is all of petsc-amb")
    parser.add_argument("--all", action="store_true", help="all blocks with all values of their loops")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N parts of the blocks, for a machine that is there for a short time only")
    parser.add_argument("--device", type=int, choices=(0, 1), help="on a GPU, with aijcusparse in place of aij; the default is yes if PETSc has CUDA and there is a GPU")
    parser.add_argument("--jobs", type=int, default=2 * min(cores, 8), metavar="N", help="runs at a time; the default is two for a core, since MPI waits at the start of a program")
    args = parser.parse_args()
    if "BUILD" not in os.environ:
        parser.error("call it by make check-petsc")
    folder = os.environ["BUILD"]
    with open(os.path.join(folder, "conf.json"), encoding="utf-8") as text:
        conf = json.load(text)["conf"]
    args.device = bool(conf["AMB_GPU"]) if args.device is None else bool(args.device)
    patterns = args.match.replace(",", " ").split()
    kinds = args.types.replace(",", " ").split() or runtests.types()
    if "build" in args.steps:
        build(folder, conf, patterns, args.all, cores)
    return run(folder, conf, args, kinds, patterns) if "run" in args.steps else 0


if __name__ == "__main__":
    sys.exit(main())
