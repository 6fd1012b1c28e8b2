#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Mutation check: make check-mutants calls this with the configuration's build folder in BUILD.

One defect at a time is put into a copy of the tree (mutantsites.py has the kinds of defects), the library is built, and the tests of JUDGES run until one fails:
the mutant is caught. A test without an end is a failed test. Lines are drawn at random, by a seed. A mutant that the compiler refuses, or that changes no
instruction, does not count, and the next one takes its place. So it is with a mutant of test/mutants/mutants.txt, which no test can catch.

test/mutants/mutants.txt has three lines for such a mutant: "FILE OPERATOR: REASON", "- LINE" and "+ LINE WITH THE DEFECT". An entry that fits no line any more is an error.
"""
import argparse
import fnmatch
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import mutantsites
import runtests

ROOT = runtests.ROOT
FOLDERS = ("src/mat/aij", "src/mat/shadow", "src/mat/product", "src/mat/halo", "src/mat/impls/hashgemm", "src/ksp/pc/impls/gamg")
DEVICE = ("device.c", "shadowvec.c")  # of which nothing runs without a device
# tests, as TESTS of make test names them, in the order in which they run; the second word is a part of the names of the files that they judge
JUDGES = (
    ("phases_1", "src/mat/shadow"),
    ("errors+nsize-2", "src/mat/shadow"),
    ("inherit_types+nsize-2+mat_type-amb", "src/mat/shadow"),
    ("inherit_types+nsize-2+mat_type-amb", "src/mat/aij"),
    ("conformance_pairs_2", "src/mat/aij"),
    ("products_hashgemm+nsize-2", "src/mat/impls"),
    ("inherit_hashgemm+nsize-2", "hashgemm/glue"),
    ("hashgemm_types+nsize-1+mat_type-hashgemm", "src/mat/impls"),
    ("hashgemm_threads_7+mat_hashgemm_accumulator-dense", "hashgemm/host"),
    ("hashgemm_threads_1", "hashgemm/host"),
    ("inherit_hashgemm_for_aij+nsize-2", "src/mat/product"),
    ("products_types+nsize-1+mat_type-amb", "src/mat/product"),
    ("products_triple_by_petsc+nsize-1", "src/mat/product"),
    ("products_for_aij", "src/mat/product"),
    ("report_more+nsize-2", "src/mat/product"),
    ("providers_1", "src/mat/product"),
    ("conformance_change_types+nsize-1+mat_type-amb", "src/mat/shadow"),
    ("foraij_types+nsize-2+petscamb_for_aij-amb", "src/mat/shadow"),
    ("view_info+nsize-2", "src/mat/shadow"),
    ("report_more+nsize-2", "src/mat/shadow"),
    ("report_nothing", "src/mat/shadow"),
    ("trial_1", "src/mat/shadow"),
    ("conformance_traits+nsize-2+mat_type-nussell", "src/mat/shadow"),
    ("conformance_pairs_2", "src/mat/shadow"),
    ("conformance_restart+mat_type-amb", "src/mat/shadow"),
    ("conformance_query_types+nsize-2+mat_type-amb", "src/mat/shadow"),
    ("nussell+nsize-1", "src/mat/shadow"),
    ("online_amb+nsize-1", "src/mat/shadow"),
    ("hashgemm_malloc+nsize-2", "hashgemm/glue"),
    ("spgemm.sh", "hashgemm/host"),
    ("forgamg_host+nsize-1", "gamg/glue"),
    ("conformance_restart+mat_type-amb", "gamg/glue"),
    ("ambagg+mat_type-aij", "impls/gamg"),
    ("ambagg+nsize-2", "impls/gamg"),
    ("ambagg+nsize-3", "gamg/glue"),
    ("memory+nsize-1", "impls/gamg"),
    ("ambagg.sh", "impls/gamg"),
    ("aggkernels.sh", "gamg/host/aggregate"),
    ("aggkernels.sh", "gamg/host/agggraph"),
    ("aggkernels.sh", "gamg/host/aggprolongator"),
)


# ------------------------------------------------- mutants -------------------------------------------------

class Mutant:
    """A line with a defect; later its state (refused, same, equivalent, caught or survived) and the test that caught it."""

    def __init__(self, file, line, operator, before, after):
        self.file, self.line, self.operator, self.before, self.after = file, line, operator, before, after
        self.state, self.judge, self.seconds = None, "", 0

    def key(self):
        return self.file, self.operator, self.before.strip(), self.after.strip()

    def show(self):
        return "%s %s:%d %s %s\n    - %s\n    + %s" % (self.state or "drawn", self.file, self.line, self.operator, "(%s)" % self.judge if self.judge else "", self.before.strip(), self.after.strip())


def sources(pattern):
    """The files that are compiled for the host."""
    found = sorted(os.path.relpath(path, ROOT) for folder in FOLDERS for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True))
    return [path for path in found if not path.endswith(DEVICE) and (not pattern or any(word in path for word in pattern.replace(",", " ").split()))]


def places(files):
    """[(file, number of the line, line, [(operator, line with the defect)])] of all lines where a defect may be put."""
    for file in files:
        with open(os.path.join(ROOT, file), encoding="utf-8") as source:
            text = source.read()
        for number, (line, mutants) in enumerate(zip(text.splitlines(), mutantsites.sites(text)), 1):
            if mutants:
                yield file, number, line, mutants


def stream(found, seed):
    """Mutants without an end, but for those that came before: a line, one of the operators that it has, and one of the operator's mutants."""
    draw, seen = random.Random(seed), set()
    while len(seen) < sum(len(mutants) for _, _, _, mutants in found):
        file, number, line, mutants = draw.choice(found)
        operator = draw.choice(sorted({name for name, _ in mutants}))
        after = draw.choice([new for name, new in mutants if name == operator])
        if (file, number, after) not in seen:
            seen.add((file, number, after))
            yield Mutant(file, number, operator, line, after)


def equivalents():
    """{key of a mutant: reason} of test/mutants/mutants.txt, and what is wrong with that file."""
    path, known, wrong = os.path.join(ROOT, "test", "mutants", "mutants.txt"), {}, []
    with open(path, encoding="utf-8") as listed:
        lines = [line.rstrip("\n") for line in listed if line.strip() and not line.startswith("#")]
    current = {mutant for file, _, line, mutants in places(sources("")) for mutant in ((file, name, line.strip(), new.strip()) for name, new in mutants)}
    for head, before, after in zip(lines[::3], lines[1::3], lines[2::3]):
        entry = re.match(r"(\S+) (\w+): (.+)", head)
        if not entry or before[:2] != "- " or after[:2] != "+ ":
            wrong.append("not understood: " + head)
            continue
        key = entry.group(1), entry.group(2), before[2:], after[2:]
        known[key] = entry.group(3)
        if key not in current:
            wrong.append("stale: %s\n  %s\n  %s" % (head, before, after))
    if len(lines) % 3:
        wrong.append("the last entry is not complete")
    return known, wrong


# ------------------------------------------------- judging -------------------------------------------------

class Bench:
    """A copy of the tree with the build folder, in which one mutant after another is built and tested."""

    def __init__(self, build, number, conf):
        self.root = os.path.join(build, "mutants", str(number))
        self.name = os.path.relpath(build, ROOT)
        shutil.rmtree(self.root, ignore_errors=True)
        leave = lambda folder, names: [name for name in names if name in (".git", "mutants", "cuda-check", "__pycache__") or (folder == os.path.join(ROOT, "build") and name != os.path.basename(build))]
        shutil.copytree(ROOT, self.root, ignore=leave, symlinks=True)
        self.build = os.path.join(self.root, self.name)
        runtests.ROOT, os.environ["BUILD"] = self.root, self.build
        self.tests = list(runtests.find(conf))
        runtests.ROOT, os.environ["BUILD"] = ROOT, build
        for test in self.tests:
            test.command = "BUILD='%s' BIN='%s/bin' LIB='%s/lib/libpetscamb.so' EXAMPLES='%s/examples'; export BUILD BIN LIB EXAMPLES; %s" % ((self.build,) * 4 + (test.command,))

    def judges(self, file):
        """The tests for mutants of a file."""
        chosen = []
        for pattern, part in JUDGES:
            chosen += [test for test in self.tests if part in file and fnmatch.fnmatchcase(test.name, pattern) and test not in chosen]
        return chosen

    def make(self, *targets):
        """Does make succeed?"""
        command = ["make", "-s", "-j1", "-C", self.root, "BUILD=" + os.path.basename(self.build)] + list(targets)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE") and key not in ("MFLAGS", "BUILD", "BIN", "LIB", "EXAMPLES", "PETSC_DIR", "PETSC_ARCH")}
        child = runtests.start(command, env=dict(environment, CCACHE_DISABLE="1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait()
        finally:
            runtests.end_session(child)
        if runtests.stopped.is_set():
            raise runtests.Stopped("a signal has ended the check")
        return child.returncode == 0

    def programs(self, tests):
        """What some tests run, as targets of make."""
        found = {program for test in tests for program in re.findall(re.escape(self.name) + r"/(?:test|bin)/[\w.]+", test.command)}
        return sorted(found) + [self.name + "/lib/libpetscamb.so"]

    def run(self, test, limit):
        """Why a test fails, or None; limit is in CPU seconds of each process, and the time of a busy machine is no judge."""
        command, test.timeout = test.command, 4 * limit
        test.command = "ulimit -t %d; %s" % (limit, command)
        with tempfile.TemporaryDirectory(prefix="petsc-amb-mutant-") as folder:
            failed = [detail or name for state, name, detail in runtests.judge(test, folder) if state == "fail"]
        test.command = command
        return None if not failed else "no end" if test.cpu >= limit else failed[0]

    def instructions(self, file):
        """The object file without the lines of the source."""
        path = os.path.join(self.build, "obj", file[:-2] + ".o")
        subprocess.run(["objcopy", "--strip-debug", path, path + ".bare"], check=True)
        with open(path + ".bare", "rb") as bare:
            return bare.read()

    def judge(self, mutant, limits):
        """Sets the state of a mutant."""
        path, target = os.path.join(self.root, mutant.file), os.path.join(self.name, "obj", mutant.file[:-2] + ".o")
        start, kept = time.time(), os.path.join(self.root, target)
        before = self.instructions(mutant.file)
        shutil.copy2(path, path + ".kept")
        shutil.copy2(kept, kept + ".kept")
        try:
            with open(path, encoding="utf-8") as source:
                lines = source.read().split("\n")
            lines[mutant.line - 1] = mutant.after
            with open(path, "w", encoding="utf-8") as source:
                source.write("\n".join(lines))
            os.remove(kept)
            if not self.make(target):
                mutant.state = "refused"
            elif self.instructions(mutant.file) == before:
                mutant.state = "same"
            else:
                mutant.state = "survived"
                tests = self.judges(mutant.file)
                for number, test in enumerate(tests):
                    if number < 2 and not self.make(*self.programs(tests[1:] if number else tests[:1])):  # the first one catches many
                        mutant.state = "refused"
                        break
                    failure = self.run(test, limits.get(test.name, runtests.TIMEOUT))
                    if failure:
                        mutant.state, mutant.judge = "caught", test.name + (", no end" if failure.startswith("no end") else "")
                        break
        finally:
            shutil.move(path + ".kept", path)
            shutil.copy(kept + ".kept", kept)
        mutant.seconds = time.time() - start


def calibrate(bench, files, limits):
    """Adds to {test: seconds that it may take}: all judges must pass without a mutant."""
    tests = {test.name: test for file in files for test in bench.judges(file) if test.name not in limits}.values()
    if tests and not bench.make(*bench.programs(tests)):
        sys.exit("the tests do not build")
    for test in tests:
        failure = None if test.skip else bench.run(test, runtests.TIMEOUT)
        if failure:
            sys.exit("%s fails without a mutant:\n%s" % (test.name, failure))
        limits[test.name] = 20 + 3 * int(test.cpu)
        print("%s: %.1f CPU seconds" % (test.name, test.cpu), flush=True)


def run(benches, mutants, count, known, before, limits, report):
    """Judges mutants of a stream, one at a time in each copy of the tree, until count are caught or have survived; returns these and those between them."""
    lock, taken, judged = threading.Lock(), [], []

    def work(bench):
        while True:
            with lock:
                mutant = next(mutants, None) if len(judged) < count else None
                if mutant is None:
                    return
                taken.append(mutant)
            if mutant.key() in known:
                mutant.state = "equivalent"
            elif mutant.key() in before:
                mutant.state, mutant.judge = "caught", before[mutant.key()]
            else:
                try:
                    bench.judge(mutant, limits)
                except runtests.Stopped:
                    return
            with lock:
                if mutant.state in ("caught", "survived"):
                    judged.append(mutant)
                    report.write(json.dumps(dict(vars(mutant), seconds=round(mutant.seconds, 1))) + "\n")
                    report.flush()
                    print(mutant.show(), flush=True)

    workers = [threading.Thread(target=work, args=(bench,)) for bench in benches]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    numbers = [number for number, mutant in enumerate(taken) if mutant in judged]
    return taken[:numbers[count - 1] + 1] if len(numbers) >= count else taken  # those that were under way at the end do not count


def caught_before(path):
    """{key of a mutant: test that caught it} of a results file."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as results:
        entries = [json.loads(line) for line in results]
    return {(e["file"], e["operator"], e["before"].strip(), e["after"].strip()): e["judge"] for e in entries if e["state"] == "caught"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the random lines")
    parser.add_argument("--count", type=int, default=100, help="mutants that are caught or survive")
    parser.add_argument("--files", default="", help="parts of names of files, with commas or blanks between them")
    parser.add_argument("--jobs", type=int, default=2, help="mutants that are judged at once")
    parser.add_argument("--again", action="store_true", help="judge only those that the last run with this seed did not catch")
    parser.add_argument("--list", action="store_true", help="check test/mutants/mutants.txt, and print the mutants drawn, of which the compiler may refuse some")
    args = parser.parse_args()
    known, wrong = equivalents()
    if wrong:
        sys.exit("test/mutants/mutants.txt:\n" + "\n".join(wrong))
    files = sources(args.files)
    mutants = stream(list(places(files)), args.seed)
    if args.list:
        print("\n".join(mutant.show() for mutant, _ in zip(mutants, range(args.count))))
        return 0
    if "BUILD" not in os.environ:
        parser.error("call it by make check-mutants")
    runtests.end_on_signals()
    os.nice(max(0, 10 - os.nice(0)))
    build = os.environ["BUILD"]
    with open(os.path.join(build, "conf.json")) as text:
        conf = json.load(text)["conf"]
    conf["macros"] = runtests.petsc_macros(conf)
    path = os.path.join(build, "mutants", "seed%d.json" % args.seed)
    before = caught_before(path) if args.again else {}
    limits = {}
    if args.again:
        with open(path.replace("seed", "limits")) as text:
            limits = json.load(text)
    benches = [Bench(build, number, conf) for number in range(args.jobs)]
    calibrate(benches[0], files, limits)
    with open(path.replace("seed", "limits"), "w") as text:
        json.dump(limits, text)
    with open(path, "w", encoding="utf-8") as report:
        taken = run(benches, mutants, args.count, known, before, limits, report)
    counts = {state: sum(mutant.state == state for mutant in taken) for state in ("caught", "survived", "equivalent", "same", "refused")}
    print("\nSurvivors:\n" + "\n".join(mutant.show() for mutant in taken if mutant.state == "survived"))
    judges = [mutant.judge for mutant in taken if mutant.state == "caught"]
    print("\nCaught by:\n" + "\n".join("%5d  %s" % (judges.count(name), name) for name in sorted(set(judges), key=lambda name: -judges.count(name))))
    print("\n%s has all of them. %d more changed no instruction, and %d were refused by the compiler." % (os.path.relpath(path, ROOT), counts["same"], counts["refused"]))
    print("%(caught)d caught, %(survived)d survived, %(equivalent)d equivalent" % counts)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, runtests.Stopped):
        sys.exit("interrupted")
