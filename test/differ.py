#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run the differential tester (test/differ.c) for every matrix type, way to ask for it, and number of ranks; shrink the sequences that fail.

make check-differ SECONDS=3600 calls this with the configuration's build folder in BUILD and the launcher in MPIEXEC. First the sequences of test/differ.seeds
run, which have failed once. A run is a child process: it may crash, or hang. A failing sequence is shrunk, operation by operation, as long as it fails in the
same way, and printed with the command that runs it again.
"""
import argparse
import concurrent.futures
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SILENCE = 60  # seconds without a new sequence: a deadlock


class Setting:
    """A way to run the tester: options and ranks."""

    def __init__(self, name, ranks, options):
        self.name, self.ranks, self.options = "%s on %d rank%s" % (name, ranks, "s" * (ranks > 1)), ranks, options

    def command(self, arguments):
        program = [os.path.join(os.environ["BUILD"], "test", "differ")]
        return shlex.split(os.environ.get("MPIEXEC", "mpiexec")) + ["-n", str(self.ranks)] + program + self.options + arguments


def settings(types, ranks, options):
    """Every type by its name and, for the host's plain AIJ, by -petscamb_for_aij."""
    for name in types:
        for count in ranks:
            tune = "model" if count == 2 else "off"
            yield Setting(name, count, ["-mat_type", name, "-mat_shadow_tune", tune] + options)
            if not name.startswith("aij"):
                yield Setting(name + " for aij", count, ["-mat_type", "aij", "-petscamb_for_aij", name, "-mat_shadow_tune", tune] + options)


# ------------------------------------------------- children -------------------------------------------------

def end(child):
    """End a child and the processes that it started: they are in its session."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in [entry for entry in os.listdir("/proc") if entry.isdigit()]:
            try:
                with open("/proc/%s/stat" % pid) as text:
                    if int(text.read().rpartition(") ")[2].split()[3]) == child.pid:
                        os.kill(int(pid), number)
            except (OSError, ValueError, IndexError):
                continue
        time.sleep(0.1 if number == signal.SIGTERM else 0)
    child.wait()


def run(setting, arguments, silence=SILENCE):
    """(None or how it failed, the lines of the output). A crash says on which side of a pair, if the run talks."""
    child = subprocess.Popen(setting.command(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    incoming, lines, failure = queue.Queue(), [], None
    reader = threading.Thread(target=lambda: [incoming.put(line.rstrip("\n")) for line in child.stdout] + [incoming.put(None)], daemon=True)
    reader.start()
    while True:
        try:
            line = incoming.get(timeout=silence)
        except queue.Empty:
            failure = "no end after %d s" % silence
            break
        if line is None:
            break
        lines.append(line)
    if failure:
        end(child)
        return failure, lines
    code = child.wait()
    wrong = [line for line in lines if line.startswith("not ok: ")]
    if wrong:
        return wrong[0][len("not ok: "):], lines
    if code != 0 or not any(line.startswith("ok ") for line in lines):
        return "a crash, exit code %d" % code, lines
    return None, lines


def kind(failure):
    """What remains of a failure when numbers, seeds and names of places are taken away: a shrunk sequence must fail in the same way."""
    return re.sub(r"[0-9.e+-]+|step \d+|of AIJ.*", "#", re.sub(r":\d+, step \d+", "", failure))


def run_items(setting, pool, items, talk=False, silence=SILENCE):
    with tempfile.NamedTemporaryFile("w", suffix=".sequence", prefix="differ-") as file:
        file.write(" ".join([pool] + items) + "\n")
        file.flush()
        return run(setting, ["-differ_run", file.name] + ["-differ_talk"] * talk, silence)


def shrink(setting, pool, items, failure, until):
    """The fewest operations that fail in the same way: halves, then quarters ... are left out."""
    wanted, parts = kind(failure), 2
    while len(items) > 1 and time.time() < until:
        size, left_out = max(1, len(items) // parts), False
        for start in range(0, len(items), size):
            fewer = items[:start] + items[start + size:]
            found = run_items(setting, pool, fewer, silence=10)[0] if fewer else None
            if found and kind(found) == wanted:
                items, left_out, failure = fewer, True, found
                break
            if time.time() > until:
                break
        if not left_out:
            if size == 1:
                break
            parts *= 2
    return items, failure


# ------------------------------------------------- reports -------------------------------------------------

class Report:
    """What came of it; printed by one thread at a time."""

    def __init__(self):
        self.lock, self.passed, self.failed, self.sequences, self.kinds = threading.Lock(), 0, 0, 0, {}

    def good(self, setting, count, seconds):
        with self.lock:
            self.passed += 1
            self.sequences += count
            print("ok %s: %d sequences in %.0f s" % (setting.name, count, seconds), flush=True)

    def bad(self, setting, pool, items, failure, lines):
        with self.lock:
            self.failed += 1
            print("not ok %s: %s" % (setting.name, failure))
            print("  the shortest sequence that fails so, %d operations; a line for a file FILE:" % len(items))
            print("    " + " ".join([pool] + items))
            print("  run it again: %s" % shlex.join(setting.command(["-differ_run", "FILE", "-differ_talk"])))
            for line in lines[-12:]:
                print("  | " + line[:300])
            sys.stdout.flush()


def examine(setting, seed, length, report, seconds):
    """Shrink the sequence of that seed and report it."""
    listed = subprocess.run(setting.command(["-differ_list", "-differ_seed", str(seed), "-differ_sequences", "1", "-differ_length", str(length)]), stdout=subprocess.PIPE, text=True).stdout
    words = next(line for line in listed.splitlines() if line.startswith("%d " % seed)).split()
    pool, items = words[0], words[1:]
    failure, lines = run_items(setting, pool, items, talk=True)
    if not failure:
        report.bad(setting, pool, items, "fails only after other sequences", lines)
        return
    step = re.search(r", step (\d+)", failure)
    if step:
        items = items[:int(step.group(1)) + 1]
    items, failure = shrink(setting, pool, items, failure, time.time() + seconds)
    failure, lines = run_items(setting, pool, items, talk=True)
    report.bad(setting, pool, items, "seed %d: %s" % (seed, failure), lines)


def work(setting, first, sequences, length, until, failures, report):
    """Run the sequences of one setting; after a failure the next seed goes on."""
    seed, begin, found = first, time.time(), 0
    while seed < first + sequences and (time.time() < until or seed == first): # one sequence at least, however little time is left
        failure, lines = run(setting, ["-differ_seed", str(seed), "-differ_sequences", str(first + sequences - seed), "-differ_length", str(length), "-differ_seconds", "%.0f" % max(1, until - time.time())])
        begun = [int(line.split()[1]) for line in lines if re.match(r"sequence \d+$", line)]
        seed = begun[-1] + 1 if begun else seed
        if not failure:
            break
        if not begun:
            report.bad(setting, "0", [], failure, lines)
            return
        examine(setting, begun[-1], length, report, 120)
        found += 1
        if found >= failures:
            return
    if not found:
        report.good(setting, seed - first, time.time() - begin)


def old_failures(setting, report):
    """The sequences of test/differ.seeds, one process for all of them; are they good?"""
    path = os.path.join(ROOT, "test", "differ.seeds")
    failure, lines = run(setting, ["-differ_run", path])
    if failure:
        begun = [line.split()[1] for line in lines if re.match(r"sequence \d+$", line)]
        with open(path) as file:
            words = next((line.split() for line in file if begun and line.split()[:1] == begun[-1:]), ["0"])
        report.bad(setting, words[0], words[1:], failure, lines)
    return not failure


def main():
    types = subprocess.run([sys.executable, os.path.join(ROOT, "test", "runtests.py"), "--types"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", default=",".join(types), help="matrix types, separated by commas; aijcusparse, on a GPU, shows what is PETSc's own")
    parser.add_argument("--ranks", default="1,2,3", help="numbers of processes, separated by commas")
    parser.add_argument("--sequences", type=int, default=1000000, help="sequences of each setting")
    parser.add_argument("--length", type=int, default=30, help="operations of a sequence")
    parser.add_argument("--seed", type=int, default=None, help="of the first sequence; without it the clock's")
    parser.add_argument("--seconds", type=float, default=1e9, help="for all of it")
    parser.add_argument("--failures", type=int, default=1, help="how many of a setting are looked at")
    parser.add_argument("--options", default="", help="options for the tester, as -vec_type cuda")
    parser.add_argument("--jobs", type=int, default=min(2, len(os.sched_getaffinity(0))), help="processes at a time")
    args = parser.parse_args()
    os.environ.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")  # several runs share the cores
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    seed = int(time.time()) if args.seed is None else args.seed
    every = list(settings(args.types.split(","), [int(word) for word in args.ranks.split(",")], shlex.split(args.options)))
    begin, report = time.time(), Report()
    print("# the first seed is %d" % seed, flush=True)
    # a setting gets its share of the time; one that ends early leaves the rest to the others
    total = sum(min(setting.ranks, args.jobs) for setting in every)
    free = threading.Semaphore(args.jobs)

    def job(index, setting):
        want = min(setting.ranks, args.jobs)
        with turn:
            for _ in range(want):
                free.acquire()
        try:
            share = (args.seconds - (time.time() - begin)) * args.jobs * want / max(1, left[0])
            left[0] -= want
            if old_failures(setting, report):
                work(setting, seed + 100000 * index, args.sequences, args.length, time.time() + share / want, args.failures, report)
        finally:
            for _ in range(want):
                free.release()

    turn, left = threading.Lock(), [total]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as threads:
        for done in [threads.submit(job, index, setting) for index, setting in enumerate(every)]:
            done.result()
    print("# %d sequences of %d operations in %.0f s" % (report.sequences, args.length, time.time() - begin))
    print("%d passed, %d failed, 0 skipped" % (report.passed, report.failed))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
