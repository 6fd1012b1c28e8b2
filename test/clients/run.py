#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real clients of PETSc with petsc-amb and with aij: make check-clients calls this with the configuration's build folder in BUILD.

Each file client_*.py lists the programs of one project, which run unmodified. Each program runs with aij and with each type of petsc-amb, on 1 and 2
processes. The type is asked for in two ways, by turns over types and numbers of processes: by -petscamb_for_aij, and under -mat_shadow_tune off by the option
that chooses the matrix type in this program, or again by -petscamb_for_aij if the program fixes aij; --all takes both ways everywhere. The whole output, with
the views of the solvers, must be that of aij (compare.py has the rules), and the table of -petscamb_view must show that the type was in use. explained.txt
lists the differences that have a reason. With --time the programs run in turns, and ratios of times are printed.
"""
import argparse
import fnmatch
import glob
import importlib
import os
import re
import shlex
import shutil
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import client  # noqa: E402
import compare  # noqa: E402
import runtests  # noqa: E402

# each process writes a file of its own: lines of several processes would come in any order
EACH_RANK = 'exec "$@" >"out.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"'


def read_explained(path):
    """[(pattern of names, expression, reason)] of the differences that have a reason."""
    entries = []
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if not line.strip() or line.startswith("#"):
                continue
            parts = [part.strip() for part in line.split(" | ")]
            if len(parts) != 3 or not all(parts):
                sys.exit("%s:%d: a line is NAME | EXPRESSION | REASON" % (path, number))
            entries.append((parts[0], re.compile(parts[1]), parts[2]))
    return entries


def reason_for(name, pairs, explained):
    """The reasons for all differences of a test, or None if one has none."""
    reasons = []
    for a, b in pairs:
        found = [reason for pattern, expression, reason in explained if fnmatch.fnmatchcase(name, pattern) and expression.search("%s -> %s" % (a, b))]
        if not found:
            return None
        reasons += [reason for reason in found[:1] if reason not in reasons]
    return "; ".join(reasons)


def chosen(prefix, name, patterns):
    return not patterns or any(pattern == prefix or fnmatch.fnmatchcase("%s/%s" % (prefix, name), pattern) for pattern in patterns)


class Runner:
    def __init__(self, library, work, explained, types, both):
        self.types, self.work, self.explained, self.both = types, work, explained, both
        # PETSc ends a word of PETSC_OPTIONS at a space
        self.library = os.path.join(work, "libpetscamb.so")
        os.symlink(library, self.library)
        self.count = {"ok": 0, "FAIL": 0, "skip": 0}
        self.with_reason = 0

    def report(self, state, name, detail=""):
        self.count[state] += 1
        detail = detail.replace(self.work + os.sep, "")
        print("  %-5s %s%s" % (state, name, ": " + detail if state == "skip" else "  (%s)" % detail if state == "ok" and detail else ""))
        if state == "FAIL":
            print("".join("        %s\n" % line for line in detail.splitlines()), end="")
        sys.stdout.flush()

    def execute(self, case, ranks, options, words=()):
        """(failure or None, output of all processes, CPU seconds, seconds) of one run in a folder of its own."""
        folder = tempfile.mkdtemp(dir=self.work)
        try:
            for name, path in case.files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                shutil.copy(path, os.path.join(folder, name))
            os.makedirs(os.path.join(folder, case.folder), exist_ok=True)
            launch = runtests.launch(ranks, "sh") if case.mpiexec and (ranks > 1 or os.environ.get("MPIEXEC")) else "sh"
            command = "cd %s && PETSC_OPTIONS=%s %s %s -c %s sh %s" % (shlex.quote(case.folder), shlex.quote(options), case.env, launch, shlex.quote(EACH_RANK), " ".join(map(shlex.quote, case.command + list(words))))
            start = time.time()
            code, _, errors, cpu = runtests.shell(command, folder, case.timeout)
            elapsed = time.time() - start
            text = ""
            for path in sorted(glob.glob(os.path.join(folder, case.folder, "out.[0-9]*"))):
                with open(path, encoding="utf-8", errors="replace") as out:
                    text += out.read()
            failure = None if code == 0 else "%s\n%s\n%s\n%s" % (command, code if isinstance(code, str) else "exit code %d" % code, runtests.last_lines(text, 15), runtests.last_lines(errors, 25))
            return failure, text, cpu, elapsed
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def ways(self, case, ranks, name):
        """[(word for the name, options)] of the ways to ask for a type."""
        load = "-dll_append %s -petscamb_view " % self.library
        choice = "%s %s" % (case.type, name) if case.type else "-petscamb_for_aij " + name
        both = [("for_aij", load + "-petscamb_for_aij " + name), ((case.type.strip("-") if case.type else "for_aij") + "_untuned", load + choice + " -mat_shadow_tune off")]
        return both if self.both else [both[(ranks + runtests.types().index(name)) % 2]]

    def judge(self, case, name, type_name, reference, failure, output):
        if failure:
            return self.report("FAIL", name, failure)
        _, table = compare.split_report(output)
        row = compare.converted(table, type_name)
        if row is None:
            return self.report("FAIL", name, "no matrix was of the type %s: %s" % (type_name, " ".join(table)))
        pairs = compare.differences(reference, output, runtests.types(), compare.Rules(case.tolerance, case.floor, case.drop))
        if not pairs:
            return self.report("ok", name)
        reason = reason_for(name, pairs, self.explained)
        if reason:
            self.with_reason += 1
            return self.report("ok", name, "explained: " + reason)
        return self.report("FAIL", name, "%d lines differ from those of aij\n" % len(pairs) + "\n".join("- %s\n+ %s" % pair for pair in pairs[:12]))

    def compare_case(self, prefix, case, warm):
        for ranks in case.ranks:
            name = "%s/%s-%d" % (prefix, case.name, ranks)
            if ranks > 1 and not os.environ.get("MPIEXEC"):
                self.report("skip", name, "there is no mpiexec")
                continue
            if warm and ranks == case.ranks[0]:
                self.execute(case, ranks, case.options)
            failure, reference, _, _ = self.execute(case, ranks, case.options)
            if failure:
                self.report("FAIL", name + "-aij", failure)
                continue
            if not compare.lines_of(reference, runtests.types(), compare.Rules(case.tolerance, case.floor, case.drop)):
                self.report("FAIL", name + "-aij", "the program prints nothing to compare")
                continue
            for type_name in self.types:
                for way, options in self.ways(case, ranks, type_name):
                    failure, output, _, _ = self.execute(case, ranks, "%s %s" % (case.options, options))
                    self.judge(case, "%s-%s-%s" % (name, way, type_name), type_name, reference, failure, output)

    def time_case(self, prefix, case, rounds, ranks, warm):
        """Runs aij and each type in turns; prints medians and, for the spread, the ratios between which the middle half of the rounds lies."""
        options, words = case.timed
        load = "-dll_append %s -petscamb_for_aij " % self.library
        kinds = [("aij", options)] + [(name, "%s %s%s" % (options, load, name)) for name in self.types]
        times = {name: [] for name, _ in kinds}
        if warm:
            self.execute(case, ranks, options, words)
        for turn in range(rounds):
            for name, all_options in kinds[turn % len(kinds):] + kinds[:turn % len(kinds)]:
                failure, _, cpu, elapsed = self.execute(case, ranks, all_options, words)
                if failure:
                    return self.report("FAIL", "%s/%s-%d-time-%s" % (prefix, case.name, ranks, name), failure)
                times[name].append((cpu, elapsed))
        for name in self.types:
            ratios = []
            for which in (0, 1):
                base = statistics.median(pair[which] for pair in times["aij"])
                each = sorted(ours[which] / theirs[which] for ours, theirs in zip(times[name], times["aij"]))
                middle = each[len(each) // 4:len(each) - len(each) // 4]
                ratios.append("%s aij %6.2f s, ratio %.3f (%.3f to %.3f)" % (("CPU ", "wall")[which], base, statistics.median(pair[which] for pair in times[name]) / base, middle[0], middle[-1]))
            print("  time  %-34s %-11s %s" % ("%s/%s-%d" % (prefix, case.name, ranks), name, "; ".join(ratios)))
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--match", default="", help="names CLIENT/CASE to run, with * and ?; several separated by commas or blanks")
    parser.add_argument("--time", action="store_true", help="measure instead of comparing")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of --time")
    parser.add_argument("--ranks", type=int, default=1, help="processes of --time")
    parser.add_argument("--types", default="", help="types of petsc-amb, separated by commas; all unless given")
    parser.add_argument("--all", action="store_true", help="ask for each type in both ways on every number of processes")
    args = parser.parse_args()
    if "BUILD" not in os.environ or "LIB" not in os.environ:
        parser.error("call it by make check-clients")
    with open(os.path.join(os.environ["BUILD"], "conf.mk")) as text:
        conf = dict(re.findall(r"^(AMB_\w+) := *(.*)$", text.read(), re.M))
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    patterns = args.match.replace(",", " ").split()
    context = client.Context(os.environ["BUILD"], conf)
    with tempfile.TemporaryDirectory(prefix="petsc-amb-clients-") as work:
        runner = Runner(os.environ["LIB"], work, read_explained(os.path.join(HERE, "explained.txt")), args.types.split(",") if args.types else runtests.types(), args.all)
        for path in sorted(glob.glob(os.path.join(HERE, "client_*.py"))):
            module = importlib.import_module(os.path.basename(path)[:-3])
            prefix = os.path.basename(path)[len("client_"):-3]
            if patterns and not any(fnmatch.fnmatchcase(prefix, pattern.split("/")[0]) for pattern in patterns):
                continue
            try:
                if conf["AMB_SCALAR"] != "real" or conf["AMB_PRECISION"] != "double":
                    raise client.Skip("the programs are for real numbers of double precision")
                client.need(module.PACKAGES)
                print("%s: %s" % (prefix, module.version(context)), flush=True)
                cases = list(module.cases(context, lambda name: chosen(prefix, name, patterns)))
            except client.Skip as reason:
                runner.report("skip", prefix, str(reason))
                continue
            except RuntimeError as error:
                runner.report("FAIL", prefix, str(error))
                continue
            for case in cases:
                if not args.time:
                    runner.compare_case(prefix, case, getattr(module, "WARM", False))
                elif case.timed is not None and args.ranks in case.ranks:
                    runner.time_case(prefix, case, args.rounds, args.ranks, getattr(module, "WARM", False))
    if runner.with_reason:
        print("%d of those that passed differ for a reason that test/clients/explained.txt gives" % runner.with_reason)
    print("%d passed, %d failed, %d skipped" % (runner.count["ok"], runner.count["FAIL"], runner.count["skip"]))
    ran = args.time or runner.count["ok"] or runner.count["skip"]
    return 1 if runner.count["FAIL"] or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
