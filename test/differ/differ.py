#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run the differential tester (test/differ/differ.c) for every matrix type, way to ask for it, and number of ranks; shrink the sequences that fail.

make test calls this by test/differ/differ.sh with fixed seeds, and make check-differ SECONDS=3600 with new ones. Both give the configuration's build folder in BUILD and
the launcher in MPIEXEC, if there is one. First the sequences of test/differ/differ.seeds run, which have failed once. A run is a child process: it may crash, and a sequence that takes
longer than --limit is ended. A failing sequence is shrunk, operation by operation, as long as it fails in the same way, and printed with the command that runs it
again.
"""
import argparse
import concurrent.futures
import os
import queue
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import dealing
import runtests

SEEDS = os.path.join(runtests.ROOT, "test", "differ", "differ.seeds")


class Setting:
    """A way to run the tester: options and ranks."""

    def __init__(self, name, ranks, options, seed=0):
        self.name, self.ranks, self.options, self.seed = "%s on %d rank%s" % (name, ranks, "s" * (ranks > 1)), ranks, options, seed

    def command(self, arguments):
        program = runtests.launch(self.ranks, os.path.join(os.environ["BUILD"], "test", "differ"))
        return shlex.split(program) + self.options + arguments


def settings(types, ranks, options, seed):
    """Every type by its name and, for the host's plain AIJ, by -petscamb_for_aij. No two settings have the same seeds."""
    for name in types:
        for count in ranks:
            common = ["-mat_shadow_tune", "model" if count == 2 else "off"] + options
            yield Setting(name, count, ["-mat_type", name] + common, seed)
            if not name.startswith("aij"):
                yield Setting(name + " for aij", count, ["-mat_type", "aij", "-petscamb_for_aij", name] + common, seed + 100000)
            seed += 200000


# ------------------------------------------------- children -------------------------------------------------

class Tester:
    """Runs the program, with temporary files in a folder."""

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit

    def run(self, setting, arguments, limit=None):
        """(None or how it failed, the lines of the output)."""
        # a folder of its own: jobs of Open MPI that begin and end at the same time take the folder of their sessions away from each other
        place = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        child = runtests.start(setting.command(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=runtests.environment(place))
        incoming, lines, failure = queue.Queue(), [], None
        reader = threading.Thread(target=lambda: [incoming.put(line.rstrip("\n")) for line in child.stdout] + [incoming.put(None)], daemon=True)
        reader.start()
        until = time.time() + (limit or self.limit)
        try:
            while True:
                line = incoming.get(timeout=max(0, until - time.time()))
                if line is None:
                    child.wait(max(1, until - time.time()))
                    break
                lines.append(line)
                if line.startswith("sequence "):
                    until = time.time() + (limit or self.limit)
        except (queue.Empty, subprocess.TimeoutExpired):
            failure = "no end after %g s" % (limit or self.limit)
        finally:
            runtests.end_session(child)
        if runtests.stopped.is_set():
            raise runtests.Stopped("a signal has ended the tester")
        wrong = [line for line in lines if line.startswith(("not ok: ", "left out: "))]
        if failure or wrong:
            return failure or wrong[0].replace("not ok: ", "", 1), lines
        if child.returncode != 0 or not any(line.startswith("ok ") for line in lines):
            return "a crash, exit code %d" % child.returncode, lines
        return None, lines

    def run_items(self, setting, pool, items, talk=False, limit=None):
        with tempfile.NamedTemporaryFile("w", suffix=".sequence", prefix="differ-", dir=self.folder) as file:
            file.write(" ".join([pool] + items) + "\n")
            file.flush()
            return self.run(setting, ["-differ_run", file.name] + ["-differ_talk"] * talk, limit)

    def shrink(self, setting, pool, items, failure, until):
        """The fewest operations that fail in the same way: halves, then quarters ... are left out."""
        wanted, parts = kind(failure), 2
        while len(items) > 1 and time.time() < until:
            size, left_out = max(1, len(items) // parts), False
            for begin in range(0, len(items), size):
                fewer = items[:begin] + items[begin + size:]
                found = self.run_items(setting, pool, fewer, limit=min(self.limit, 15))[0] if fewer else None
                if found and kind(found) == wanted:
                    items, left_out = fewer, True
                    break
                if time.time() > until:
                    break
            if not left_out:
                if size == 1:
                    break
                parts *= 2
        return items


def kind(failure):
    """What remains of a failure when numbers, seeds and names of places are taken away: a shrunk sequence must fail in the same way."""
    return re.sub(r"[0-9.e+-]+|step \d+|of AIJ.*", "#", re.sub(r":\d+, step \d+", "", failure))


def begun(lines):
    """The seeds of the sequences that a run began."""
    return [int(line.split()[1]) for line in lines if re.match(r"sequence \d+$", line)]


# ------------------------------------------------- reports -------------------------------------------------

class Report:
    """The results, printed by one thread at a time."""

    def __init__(self):
        self.lock, self.passed, self.failed, self.skipped, self.sequences, self.left_out, self.excused = threading.Lock(), 0, 0, 0, 0, 0, 0

    def ran(self, lines):
        """Counts what a run says of itself."""
        with self.lock:
            self.sequences += len(begun(lines))
            self.left_out += sum(line.startswith("left out: ") for line in lines)
            self.excused += sum(int(line.split()[1]) for line in lines if line.startswith("excused "))

    def good(self, setting, count, seconds):
        with self.lock:
            self.passed += 1
            print("ok %s" % setting.name)
            print("# %d sequences in %.0f s" % (count, seconds), flush=True)

    def fell(self, line):
        """The third type crashed, or did not end, in the operation that the line names."""
        with self.lock:
            self.excused += 1
            print("# PETSc's own: %s" % line.lstrip("# "), flush=True)

    def skip(self, setting):
        self.skipped += 1
        print("skip %s: there is no mpiexec" % setting.name, flush=True)

    def bad(self, setting, pool, items, failure, lines):
        with self.lock:
            self.failed += 1
            print("not ok %s" % setting.name)
            print("  %s" % failure)
            print("  the shortest sequence that fails so, %d operations; a line for a file FILE:" % len(items))
            print("    " + " ".join([pool] + items))
            print("  run it again: %s" % shlex.join(setting.command(["-differ_run", "FILE", "-differ_talk"])))
            for line in lines[-12:]:
                print("  | " + line[:300])
            sys.stdout.flush()


# ------------------------------------------------- one setting -------------------------------------------------

def examine(tester, setting, seed, pool, items, found, report, seconds):
    """Shrink a sequence that has failed and report it. True if the third type, on a GPU, crashed or did not end: that failure is PETSc's own."""
    failure, lines = tester.run_items(setting, pool, items, talk=True)
    if not failure:
        report.bad(setting, pool, items, "seed %s, only after other sequences: %s" % (seed, found), lines)
        return False
    sides = [line for line in lines if re.match(r"# \S+ on the ", line)]
    if sides and sides[-1].endswith(" on the third type") and not failure.startswith("left out: "):
        report.fell(sides[-1])
        return True
    step = re.search(r", step (\d+)", failure)
    if step:
        items = items[:int(step.group(1)) + 1]
    items = tester.shrink(setting, pool, items, failure, time.time() + seconds)
    failure, lines = tester.run_items(setting, pool, items, talk=True)
    report.bad(setting, pool, items, "seed %s: %s" % (seed, failure or found), lines)
    return False


def listed(tester, setting, seed, length):
    """The words of the sequence of a seed."""
    lines = tester.run(Setting(setting.name, 1, setting.options), ["-differ_list", "-differ_seed", str(seed), "-differ_sequences", "1", "-differ_length", str(length)])[1]
    return next(line.split() for line in lines if line.startswith("%d " % seed))


def old_sequences():
    """The words of the sequences of test/differ/differ.seeds."""
    with open(SEEDS) as file:
        return [line.split() for line in file if line.strip() and not line.startswith("#")]


def work(tester, setting, args, until, report):
    """Run the sequences of one setting; after a failure the next seed goes on. The first process runs the sequences of differ.seeds too, before the others."""
    begin, found, old, file = time.time(), 0, old_sequences(), ["-differ_run", SEEDS]
    first, last = setting.seed, setting.seed + max(1, args.sequences // setting.ranks)
    seed = first
    while seed < last and (time.time() < until or seed == first):  # one sequence at least, however little time is left
        failure, lines = tester.run(setting, file + ["-differ_seed", str(seed), "-differ_sequences", str(last - seed), "-differ_length", str(args.length), "-differ_seconds", "%.0f" % max(1, until - time.time())])
        report.ran(lines)
        seeds = begun(lines)
        if failure and not seeds:
            report.bad(setting, "0", [], failure, lines)
            return
        if file and failure and len(seeds) <= len(old):
            words = old[len(seeds) - 1]
            examine(tester, setting, "%s of differ.seeds" % words[0], words[0], words[1:], failure, report, args.shrink)
            return
        seeds, file = seeds[len(old) * bool(file):], []
        seed = seeds[-1] + 1
        if not failure:
            break
        if failure.startswith("left out: "):
            print("# %s, seed %d, %s" % (setting.name, seeds[-1], failure), flush=True)
            continue
        words = listed(tester, setting, seeds[-1], args.length)
        if examine(tester, setting, seeds[-1], words[0], words[1:], failure, report, args.shrink):
            continue
        found += 1
        if found >= args.failures:
            return
    if not found:
        report.good(setting, seed - first, time.time() - begin)


def all_settings(tester, every, args, report):
    """As many settings at once as there are cores for their ranks. Each gets its share of the time; one that ends early leaves the rest to the others."""
    begin, cores, lock = time.time(), dealing.Cores(args.jobs), threading.Lock()
    left = [sum(min(setting.ranks, args.jobs) for setting in every)]

    def job(setting):
        want = min(setting.ranks, args.jobs)
        with cores.take(want):
            with lock:
                share = (args.seconds - (time.time() - begin)) * args.jobs / max(1, left[0])
                left[0] -= want
            work(tester, setting, args, time.time() + share, report)

    ready = [setting for setting in every if setting.ranks == 1 or os.environ.get("MPIEXEC")]
    for setting in every:
        if setting not in ready:
            report.skip(setting)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as threads:
        waiting = [threads.submit(job, setting) for setting in ready]
        try:
            for done in waiting:
                done.result()
        except (KeyboardInterrupt, runtests.Stopped):
            for future in waiting:
                future.cancel()
            raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", default=",".join(runtests.types()), help="matrix types, separated by commas; aijcusparse, on a GPU, shows the differences of PETSc itself")
    parser.add_argument("--ranks", default="1,2,3", help="numbers of processes, separated by commas")
    parser.add_argument("--sequences", type=int, default=1000000, help="sequences of each setting, times its ranks")
    parser.add_argument("--length", type=int, default=30, help="operations of a sequence")
    parser.add_argument("--seed", type=int, default=None, help="of the first sequence of each setting; without it the clock's")
    parser.add_argument("--seconds", type=float, default=1e9, help="for all of it")
    parser.add_argument("--limit", type=float, default=60, help="seconds that a sequence may take")
    parser.add_argument("--shrink", type=float, default=120, help="seconds to shrink a sequence")
    parser.add_argument("--failures", type=int, default=1, help="how many of a setting are looked at")
    parser.add_argument("--options", default="", help="options for the tester, as -vec_type cuda")
    parser.add_argument("--jobs", type=int, default=min(2, len(os.sched_getaffinity(0))), help="processes at a time")
    args = parser.parse_args()
    args.seed = int(time.time()) if args.seed is None else args.seed
    every = list(settings(args.types.split(","), [int(word) for word in args.ranks.split(",")], shlex.split(args.options), args.seed))
    begin, report = time.time(), Report()
    runtests.end_on_signals()
    print("# the first seed is %d" % args.seed, flush=True)
    try:
        with tempfile.TemporaryDirectory(prefix="petsc-amb-differ-") as folder:
            all_settings(Tester(folder, args.limit), every, args, report)
    except KeyboardInterrupt:
        print("interrupted")
        return 1
    print("# %d sequences of %d operations in %.0f s; %d ended at an error of AIJ on single processes; AIJ and the third type differed in %d operations" %
          (report.sequences, args.length, time.time() - begin, report.left_out, report.excused))
    print("%d passed, %d failed, %d skipped" % (report.passed, report.failed, report.skipped))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
