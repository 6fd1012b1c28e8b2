#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run the tests: make check, make test and make check-deep call this with the configuration's build folder in BUILD.

The folders of test/ are subjects, and a test has the name of its file, wherever that lies: no two files have the same. test/kernels and test/fuzz have programs
without PETSc, which scripts build; test/shell has what scripts share.

Three kinds of test are found:
  a /*TEST*/ block in src/ksp/examples/*.c or test/*/*.c, in PETSc's own syntax, with expected output in test/output/PROGRAM_SUFFIX.out, or in the
  block itself: the lines below 'output:' that are indented more, or 'checks: N' for N different lines "ok NAME" and no other;
  a program test/*/*.c without such a block;
  a script test/*/*.sh, which may have the lines '# timeoutfactor: N', and '# nsize: N' if it runs on that many cores.
Where there are GPUs, a test gets one for each of its processes, or as many as 'gpu: N' in its block or '# gpu: N' in a script says, as far as there are, by
CUDA_VISIBLE_DEVICES. 'gpu: N alone' keeps other tests away from them, 'gpu: 0' hides all, as the options of a block do that keep it on the host, and 'gpumem: GB' how much memory of each. Several lines
'# gpu: N ARGUMENT' are parts of a script with these arguments, one after the other in one TMPDIR; without a GPU the script runs once, without an argument.
A test belongs to a tier: check, test (the default) or deep. A tier runs its own tests and those of the tiers before it. A block says 'tier: check' in a
test or testset. A script says '# tier: check'; each further line '# tier: deep ARGUMENTS' runs the script once more, in that tier with these arguments.
A line '# test: NAME ARGUMENT' makes the script a test of that name, with this argument before all others; a script may have several. The lines '# WORD: ...' above the
first of them hold for all, those below one of them for that test in their place. All these lines stand in the comment at the head of the script.
In args of a block, '@types' stands for the matrix types of petsc-amb: '-mat_type {{aij @types}}' is a run with aij and a run with each of these types.
'@types(TEXT)' stands for TEXT once for each type, with the type's name for %s: '@types(-mat_%s_device cpu)'. The names come from the list of formats in
src/petscamb.c, so that a new format is in the tests without an edit of any block; --types prints them, for scripts. '@types-NAME' leaves out one type, '@types-NAME-NAME' two.
The last two kinds pass by exit code 0; each line "ok NAME", "not ok NAME" or "skip NAME: REASON" that they print is counted as a test of its own.
"""
import argparse
import difflib
import fnmatch
import functools
import glob
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import dealing

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 120
TIERS = ("check", "test", "deep")
OUTPUTS = {"checks", "output", "output_file"}  # what a block may say of the expected output
# Open MPI's mpiexec says so of a process that ends without MPI_Finalize(), and of one that had to wait for mpiexec, which other programs kept from its processor, for
# more than the two seconds that MPI_Finalize() waits. Only the first is an error of the process, and comes again.
LATE = re.compile(r'(calling|MUST call) "finalize"')
SCRIPT_PROCESSES = 3  # as many processes most scripts have on GPUs at a time; those of several parts test kernels, in one process


class Syntax(Exception):
    """A /*TEST*/ block, a line of a script, or the list of formats, that cannot be understood."""


class Test:
    """One run: a command in a shell, and how its output is judged."""

    def __init__(self, name, command, ranks=1, timeout=TIMEOUT, expected=None, filter=None, filter_output=None, skip=None, error=None, tier="test"):
        self.name, self.command, self.ranks, self.timeout, self.expected = name, command, ranks, timeout, expected
        self.filter, self.filter_output, self.skip, self.error, self.tier = filter, filter_output, skip, error, tier
        self.elapsed = self.cpu = 0.0
        self.wanted = self.checks = None  # the lines of output, or the number of lines "ok NAME", that its block has in place of the file
        self.parts, self.arguments, self.folder, self.results = [dealing.Need(0)], [""], None, []
        self.again = False  # did a part run again without the service?
        self.late = False  # did a part run again because mpiexec was late?


# ------------------------------------------------- matrix types -------------------------------------------------

@functools.lru_cache(maxsize=None)
def types():
    """The root names of petsc-amb's matrix types: F(AutoSparse) in src/petscamb.c is a format whose name include/petscamb.h defines as MATAUTOSPARSE."""
    with open(os.path.join(ROOT, "src", "petscamb.c"), encoding="utf-8") as code:
        listed = re.search(r"^#define PETSCAMB_FORMATS\(F\)((?:.*\\\n)*.*)$", code.read(), re.M)
    formats = re.findall(r"\bF\((\w+)\)", listed.group(1)) if listed else []
    if not formats:
        raise Syntax("src/petscamb.c has no list PETSCAMB_FORMATS(F) of formats")
    with open(os.path.join(ROOT, "include", "petscamb.h"), encoding="utf-8") as header:
        names = dict(re.findall(r'^#define +(MAT\w+) +"(\w+)"', header.read(), re.M))
    for name in formats:
        if "MAT" + name.upper() not in names:
            raise Syntax("include/petscamb.h has no MAT%s for the format %s of src/petscamb.c" % (name.upper(), name))
    return [names["MAT" + name.upper()] for name in formats]


def with_types(text):
    """A text with the types' names for @types, @types-NAME, @types-NAME-NAME and @types(TEXT with %s)."""
    def names(word):
        left_out = word.group(1).split("-")[1:]
        if not set(left_out) <= set(types()):
            raise Syntax("%s leaves out a type that does not exist" % word.group(0))
        return " ".join((word.group(2) or "%s").replace("%s", name) for name in types() if name not in left_out)

    return re.sub(r"@types\b((?:-\w+)*)(?:\(([^()]*)\))?", names, text)


# ------------------------------------------------- /*TEST*/ blocks -------------------------------------------------

def parse_block(text):
    """The tree of a block: [(word, dictionary)] for build and test; args, filter and requires may stand more than once."""
    block = re.search(r"^[ \t]*/\*TEST\b(.*?)^[ \t]*TEST\s*\*/", text, re.S | re.M)
    if not block:
        return None
    items, stack = [], []
    output = None  # the word output and its indentation, as long as its lines follow
    for number, raw in enumerate(block.group(1).splitlines()):
        if output and (not raw.strip() or len(raw) - len(raw.lstrip()) > output[1]):
            output[0]["output"] += raw + "\n"
            continue
        output = None
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= indent:
            stack.pop()
        word, colon, value = line.strip().partition(":")
        if not colon:
            raise Syntax("line %d of the block has no colon: %s" % (number, raw))
        value = value.strip()
        if word in ("test", "testset", "build"):
            entry = {"children": []}
            (stack[-1][1]["children"] if stack else items).append((word, entry))
            stack.append((indent, entry))
        elif not stack:
            raise Syntax("%s stands outside of test, testset and build" % word)
        else:
            known = ("suffix", "nsize", "args", "output", "output_file", "checks", "requires", "filter", "filter_output", "timeoutfactor", "env", "temporaries", "localrunfiles", "TODO", "comments", "tier", "gpu", "gpumem")
            if word not in known:
                raise Syntax("%s is not known here" % word)
            if word in ("args", "filter", "requires", "env") and word in stack[-1][1]:
                value = stack[-1][1][word] + (" | " if word == "filter" else " ") + value
            if word == "tier" and value not in TIERS:
                raise Syntax("%s is no tier: use one of %s" % (value, ", ".join(TIERS)))
            if word == "checks" and not re.match(r"[1-9]\d*$", value):
                raise Syntax("checks: %s is no number of checks" % value)
            stack[-1][1][word] = value
            if word == "output":
                output = stack[-1][1], indent
    return items


def flatten(items, inherited):
    """The tests of a tree, a testset's words passed down: args, filter, requires and env add up, the others are replaced."""
    for word, entry in items:
        if word == "build":
            continue
        own = OUTPUTS & set(entry)
        if len(own) > 1:
            raise Syntax("%s stand in one %s" % (" and ".join(sorted(own)), word))
        merged = {key: value for key, value in inherited.items() if not own or key not in OUTPUTS}
        for key, value in entry.items():
            if key == "children":
                continue
            both = key in ("args", "filter", "requires", "env") and merged.get(key)
            merged[key] = merged[key] + (" | " if key == "filter" else " ") + value if both else value
        if word == "testset":
            yield from flatten(entry["children"] or [("test", {"children": []})], merged)
        else:
            yield merged


def loops(text):
    """All variants of a text with {{a b}separate output} or {{a b}shared output} loops: [(text, parts of the name, parts of the output's name)]."""
    pieces = re.split(r"(\{\{.*?\}(?:\s*(?:separate|shared)[ _]output\s*)?\})", text, flags=re.S)
    axes = []
    for index, piece in enumerate(pieces):
        if piece.startswith("{{"):
            inside, _, kind = piece[2:-1].partition("}")
            option = pieces[index - 1].split()[-1].lstrip("-") if pieces[index - 1].split() else "loop"
            axes.append([(value, "%s-%s" % (option, value), "separate" in kind) for value in shlex.split(inside)])
        else:
            axes.append([(piece, None, False)])
    for choice in itertools.product(*axes):
        names = [name for _, name, _ in choice if name]
        outputs = [name for _, name, separate in choice if name and separate]
        yield "".join(value for value, _, _ in choice), names, outputs


def unmet(requires, conf):
    """The first requirement that this build does not meet, or None. Words are PETSc's: complex, double, !cuda, hypre, defined(PETSC_...) ...; and ours: two_gpus, partitioner."""
    own = {"cuda": "AMB_GPU", "openmp": "AMB_OPENMP", "zlib": "AMB_ZLIB", "lzma": "AMB_LZMA", "bz2": "AMB_BZ2", "mpiuni": "AMB_MPIUNI"}
    have = {conf["AMB_PRECISION"], conf["AMB_SCALAR"], "c"} | {word for word, key in own.items() if conf[key]}
    if len(conf.get("gpus", ())) > 1:
        have.add("two_gpus")
    macros = conf["macros"]
    # what GAMG deals out its levels with. Debian's PETSc with 64-bit indices calls a PT-SCOTCH with 32-bit ones, and GAMG then ends with an error, without petsc-amb too.
    if "PETSC_HAVE_PARMETIS" in macros or "PETSC_HAVE_PTSCOTCH" in macros and "PETSC_USE_64BIT_INDICES" not in macros:
        have.add("partitioner")
    for word in re.findall(r"!?\s*(?:define[d]?\([^)]*\)|[^\s,]+)", requires):
        negated, word = word.lstrip().startswith("!"), word.lstrip("! ")
        inside = re.match(r"defined?\(\s*(\w+)\s*\)", word)
        met = inside.group(1) in macros if inside else word in have or word not in own and "PETSC_HAVE_" + word.upper() in macros
        if met == negated:
            return ("!" if negated else "") + word
    return None


def gpu_needs(lines, memory, processes, conf):
    """[(Need, argument)] of texts 'COUNT [alone] [ARGUMENT]'. A test that does not say how much memory it takes has that of its processes on each GPU."""
    needs = []
    for line in lines:
        words = re.match(r"(\d+)( +alone)?(?: +(.+))?$", line.strip())
        if not words:
            raise Syntax("gpu: %s is not COUNT [alone] [ARGUMENT]" % line.strip())
        count = min(int(words.group(1)), len(conf.get("gpus", ())))
        try:
            gigabytes = float(memory) if memory else dealing.MEMORY * -(-processes // max(1, count))
        except ValueError:
            raise Syntax("gpumem: %s is no number" % memory)
        needs.append((dealing.Need(count, bool(words.group(2)), gigabytes, -(-processes // max(1, count))), words.group(3)))
    return needs


def on_host(args):
    """Do these options keep a program from the GPU? A plain AIJ does whose products and solvers are PETSc's, and a type with -mat_TYPE_device cpu."""
    kind = re.search(r"(?<!\S)-mat_type (\w+)", args)
    if not kind or re.search(r"cuda|_for_aij|-petscamb_factor device|-petscamb_mg_graph", args):
        return False
    return kind.group(1) == "aij" or "-mat_%s_device cpu" % kind.group(1) in args


def block_tests(source, program, tree, conf):
    base = os.path.splitext(os.path.basename(source))[0]
    for entry in flatten(tree, {}):
        for sizes, looped, separate_sizes in loops(entry.get("nsize", "1")):
            size_names = ["nsize-" + sizes.strip()] * bool(looped)
            for args, names, separate in loops(with_types(entry.get("args", ""))):
                suffix = entry.get("suffix", "")
                name = "_".join([base] + [suffix] * bool(suffix)) + "".join("+" + part for part in size_names + names)
                name = name.replace("/", "-")
                try:
                    ranks = int(sizes)
                except ValueError:
                    raise Syntax("nsize: %s is no number" % sizes)
                expected = os.path.join(ROOT, "test", entry.get("output_file", "output/%s_%s.out" % (base, suffix or "1")))
                parts = size_names * bool(separate_sizes) + separate
                if parts:
                    expected = re.sub(r"\.out$", "", expected) + "".join("_" + part for part in parts) + ".out"
                command = "%s %s %s" % (entry.get("env", ""), launch(ranks, program), args.strip())
                missing = "!mpiuni" if conf["AMB_MPIUNI"] and ranks > 1 else unmet(entry.get("requires", ""), conf)
                skip = "requires " + missing if missing else entry.get("TODO")
                if "output" in entry and parts:
                    raise Syntax("%s has separate outputs, which need files, and lines of output" % name)
                test = Test(name, command.strip(), ranks, TIMEOUT * float(entry.get("timeoutfactor", 1)), expected, entry.get("filter"), entry.get("filter_output"), skip, tier=entry.get("tier", "test"))
                test.wanted, test.checks = entry.get("output"), int(entry["checks"]) if "checks" in entry else None
                if conf["AMB_CUDA"]:
                    test.parts = [need for need, _ in gpu_needs([entry.get("gpu", "0" if on_host(args) else str(ranks))], entry.get("gpumem"), ranks, conf)]
                yield test


def script_tests(script, conf):
    with open(script, encoding="utf-8", errors="replace") as code:
        head = re.match(r"(?:#.*\n)*", code.read()).group(0)
    common, *rows = re.split(r"^# test: +", head, flags=re.M)
    for row in rows or [os.path.basename(script) + "\n"]:
        name, _, first = row.partition("\n")[0].partition(" ")

        def said(word):
            """The texts of the lines '# WORD: TEXT' below the test's own line or, if there are none, above all of them."""
            line = re.compile(r"^# %s:(.*)$" % word, re.M)
            return [text.strip() for text in line.findall(row) or line.findall(common)]

        factor, ranks, memory = said("timeoutfactor"), said("nsize"), said("gpumem")
        for line in said("tier") or ["test"]:
            tier, _, args = line.partition(" ")
            if tier not in TIERS:
                raise Syntax("%s is no tier: use one of %s" % (tier, ", ".join(TIERS)))
            command = " ".join(["bash", shlex.quote(script)] + [words for words in (first, args) if words])
            test = Test(name + "+" * bool(args) + args.replace(" ", "-"), command, int(ranks[0]) if ranks else 1, TIMEOUT * float(factor[0] if factor else 1), tier=tier)
            if conf.get("gpus", ()):
                lines = said("gpu") or ["1"]
                needs = gpu_needs(lines, memory[0] if memory else None, SCRIPT_PROCESSES if len(lines) == 1 else 1, conf)
                test.parts, test.arguments = [need for need, _ in needs], [argument or "" for _, argument in needs]
            yield test


# ------------------------------------------------- finding -------------------------------------------------

def launch(ranks, program):
    """The command of a program. One process starts without mpiexec, which takes as long as the program's own start."""
    launcher = os.environ.get("MPIEXEC", "mpiexec")
    if ranks == 1 and (not launcher or os.path.basename(launcher.split()[0]).startswith(("mpiexec", "mpirun"))):
        return shlex.quote(program)
    return "%s -n %d %s" % (launcher, ranks, shlex.quote(program))


def find(conf):
    build = os.environ["BUILD"]

    def files(pattern, without):
        """By their names, of which none may occur twice."""
        paths = [path for path in glob.glob(os.path.join(ROOT, pattern)) if os.path.basename(os.path.dirname(path)) not in without]
        names = sorted((os.path.basename(path), path) for path in paths)
        for (name, path), (other, _) in zip(names[1:], names):
            if name == other:
                raise Syntax("there is another %s: two tests would have one name" % os.path.relpath(path, ROOT))
        return [path for _, path in names]

    for pattern, binaries in (("src/ksp/examples/*.c", "bin"), ("test/*/*.c", "test")):
        for source in files(pattern, ("kernels", "fuzz")):
            with open(source, encoding="utf-8", errors="replace") as code:
                text = code.read()
            base = os.path.splitext(os.path.basename(source))[0]
            program = os.path.join(build, binaries, base)
            if not re.search(r"\bint\s+main\s*\(", text):
                continue
            try:
                tree = parse_block(text) if "/*TEST" in text else None
                if "/*TEST" in text and tree is None:
                    raise Syntax("the block does not end with a line TEST*/")
                if tree is not None:
                    tests = list(block_tests(source, program, tree, conf))
                    if not tests:
                        raise Syntax("the block has no test")
                elif binaries == "test":
                    tests = [Test(base, shlex.quote(program))]
                    tests[0].parts = [dealing.Need(min(1, len(conf.get("gpus", ()))) if conf["AMB_CUDA"] else 0)]
                else:
                    tests = []
            except Syntax as error:
                tests = [Test(base, "", error="%s: %s" % (os.path.relpath(source, ROOT), error))]
            yield from tests
    for script in files("test/*/*.sh", ("shell",)):
        try:
            yield from list(script_tests(script, conf))
        except Syntax as error:
            yield Test(os.path.basename(script), "", error="%s: %s" % (os.path.relpath(script, ROOT), error))


# ------------------------------------------------- running -------------------------------------------------

def processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def environment(folder, gpus=(), more={}):
    env = dict(os.environ, TMPDIR=folder, LC_ALL="C", TREE=ROOT, **more)
    env.setdefault("OMP_NUM_THREADS", "2")
    env.setdefault("OMP_WAIT_POLICY", "passive")
    # nproc obeys it: a script that builds has as many jobs as nproc prints, at most a quarter of the cores, or four if that is more
    env.setdefault("OMP_THREAD_LIMIT", str(max(4, processors() // 4)))
    if gpus and None not in [gpu.name for gpu in gpus]:
        env["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.name for gpu in gpus)
    # nothing that the user usually wants of PETSc but what PETSc has to know of this MPI, where the library cannot find out
    aware = re.search(r"-use_gpu_aware_mpi\s+\S+", env.pop("PETSC_OPTIONS", ""))
    if aware:
        env["PETSC_OPTIONS"] = aware.group(0)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
        env.pop(name, None)
    env.setdefault("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0")  # MPI's leaks: -malloc_dump finds ours
    # several runs at once: bound to cores, all of them would share the first
    env.setdefault("OMPI_MCA_hwloc_base_binding_policy", "none")
    env.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    env.setdefault("PRTE_MCA_hwloc_default_binding_policy", "none")
    # a start of Open MPI looks for fast networks, which takes twice the time of all else, and a process without mpiexec starts a daemon
    if not any(glob.glob(path) for path in ("/sys/class/infiniband/*", "/sys/class/cxi/*", "/dev/nvidiactl")):
        env.setdefault("OMPI_MCA_pml", "ob1")
    env.setdefault("OMPI_MCA_ess_singleton_isolated", "1")
    idle = os.path.join(os.environ.get("BUILD", ""), "test", "idle.so")  # test/shell/idle.c
    if os.path.exists(idle) and not re.search(r"[\s:;]", idle):
        env.setdefault("OMPI_MCA_mca_base_env_list", "LD_PRELOAD=" + idle)
    return env


class Stopped(Exception):
    """A signal has ended this program, and no further test starts."""


guard, started, stopped = threading.RLock(), set(), threading.Event()


def start(command, **streams):
    """A child in a session of its own: end_session() ends it, and so does a signal that ends this program, if end_on_signals() was called."""
    with guard:
        if stopped.is_set():
            raise Stopped("a signal has ended the tests")
        child = subprocess.Popen(command, start_new_session=True, **streams)
        started.add(child)
    return child


def end_on_signals():
    """SIGINT, SIGTERM and SIGHUP end all children, which are in other sessions and get no signal of a terminal, and then this program by a KeyboardInterrupt."""
    def stop(number, frame):
        with guard:  # after the start of a child, which is not in started before it has begun
            if stopped.is_set():
                return
            stopped.set()
            children = list(started)
        for child in children:
            end_session(child)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def session(leader):
    """The processes of a session; mpiexec gives its children process groups of their own, but not sessions."""
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat) as text:
                pid, _, rest = text.read().partition(" (")
            state, _, _, owner = rest.rpartition(") ")[2].split()[:4]
            if int(owner) == leader and state != "Z":
                yield int(pid)
        except (OSError, ValueError):
            continue


def end_session(child):
    """End a test with all that it started: politely, so that mpiexec cleans up, then for certain."""
    for number, grace in ((signal.SIGTERM, 2), (signal.SIGKILL, 5)):
        for pid in session(child.pid):
            try:
                os.kill(pid, number)
            except OSError:
                pass
        until = time.time() + grace
        while time.time() < until:
            child.poll()
            if not any(session(child.pid)):
                started.discard(child)
                return
            time.sleep(0.05)


def wait(child, timeout):
    """(exit code or None if the time is over, CPU seconds) of a child with all the children that it waited for."""
    until, pause = time.time() + timeout, 0.001
    while True:
        try:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        except ChildProcessError:  # a signal has ended it, see end_on_signals()
            return None, 0
        if pid:
            child.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            return child.returncode, usage.ru_utime + usage.ru_stime
        if time.time() > until:
            return None, 0
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def shell(command, folder, timeout, data=b"", gpus=(), more={}):
    """(exit code or reason, stdout, stderr, CPU seconds) of a command with all its children, which do not outlive it."""
    with tempfile.TemporaryFile(dir=folder) as given, tempfile.TemporaryFile(dir=folder) as out, tempfile.TemporaryFile(dir=folder) as err:
        given.write(data)
        given.seek(0)
        child = start(["bash", "-c", command], cwd=folder, env=environment(folder, gpus, more), stdin=given, stdout=out, stderr=err)
        try:
            code, cpu = wait(child, timeout)
        finally:
            end_session(child)
        for stream in (out, err):
            stream.seek(0)
        if stopped.is_set():
            raise Stopped("a signal has ended the tests")
        return "no end after %g s" % timeout if code is None else code, out.read(1 << 24).decode("utf-8", "replace"), err.read(1 << 20).decode("utf-8", "replace"), cpu


def same(text):
    """Lines as they are compared: runs of white space count as one, empty lines not."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def last_lines(text, count=40):
    lines = text.rstrip().splitlines()
    return "\n".join(["(%d lines before)" % (len(lines) - count)] * (len(lines) > count) + lines[-count:])


def compare(test, folder, failure, out, err, report):
    """Judge by expected output. As in PETSc, a filter that begins with "Error:" sees the error output too."""
    output = out
    if test.filter:
        pipe = re.sub(r"^Error:\s*", "", test.filter)
        _, output, trouble, _ = shell(pipe, folder, 30, ((err + out) if pipe != test.filter else out).encode())
        failure = "filter %s: %s" % (pipe, trouble) if trouble.strip() else None if pipe != test.filter else failure
    if test.checks is not None:
        lines = same(output)
        wrong = ["unexpected: " + line for line in lines if not line.startswith("ok ")] + ["repeated: " + line for line in sorted(set(lines)) if lines.count(line) > 1]
        wrong += ["%d checks, not %d" % (len(lines), test.checks)] * (len(lines) != test.checks)
        trouble = "\n".join([failure] * bool(failure) + wrong[:60])
        return ("fail", test.name, "%s\n%s" % (trouble, report)) if trouble else ("ok", test.name, "")
    wanted, source = test.wanted, "output of the block"
    if wanted is None and not os.path.exists(test.expected):
        return "fail", test.name, "%sthere is no expected output %s\n%s" % (failure + "\n" if failure else "", os.path.relpath(test.expected, ROOT), report)
    if wanted is None:
        source = os.path.relpath(test.expected, ROOT)
        with open(test.expected, encoding="utf-8", errors="replace") as known:
            wanted = known.read()
    if test.filter_output:
        wanted = shell(test.filter_output, folder, 30, wanted.encode())[1]
    diff = "\n".join(difflib.unified_diff(same(wanted), same(output), source, "output", lineterm="", n=2))
    if failure:
        return "fail", test.name, "%s\n%s\n%s" % (failure, report, last_lines(diff, 60))
    return ("fail", test.name, "%s\n%s\n%s" % (test.command, last_lines(diff, 60), last_lines(err))) if diff else ("ok", test.name, "")


def judge(test, folder, part=0, gpus=(), more={}):
    """[(state, name, detail)] of a part of a test, with state ok, fail or skip."""
    if test.error:
        return [("fail", test.name, test.error)]
    if test.skip:
        return [("skip", test.name, test.skip)]
    command = ("%s %s" % (test.command, test.arguments[part])).strip()
    code, out, err, cpu = shell(command, folder, test.timeout, gpus=gpus, more=more)
    test.cpu += cpu
    if code != 0 and LATE.search(out + err):
        test.late = True
        code, out, err, cpu = shell(command, folder, test.timeout, gpus=gpus, more=more)
        test.cpu += cpu
    report = "%s\n%s\n%s" % (command, last_lines(out), last_lines(err))
    if code != 0:
        text = code if isinstance(code, str) else "killed by signal %d" % -code if code < 0 else "exit code %d" % code
    if test.expected is not None:
        return [compare(test, folder, text if code != 0 else None, out, err, report)]
    found = []
    for state, name in re.findall(r"^(ok|not ok|skip)[ \t]+(.*?)[ \t]*$", out, re.M):
        name, _, reason = name.partition(": ") if state == "skip" else (name, "", "")
        found.append(({"ok": "ok", "not ok": "fail", "skip": "skip"}[state], "%s: %s" % (test.name, name), reason or ("no reason given" if state == "skip" else "")))
    failed = any(state == "fail" for state, _, _ in found)
    if failed:
        first = next(index for index, item in enumerate(found) if item[0] == "fail")
        found[first] = (found[first][0], found[first][1], report)
    if code != 0 and not failed:
        found.append(("fail", test.name, text + "\n" + report))
    return found or [("ok", test.name, "")] * (len(test.parts) == 1)


def run_part(test, part, gpus, work, service, hide=False):
    """Runs one of the test's commands in the test's folder, and adds its results. hide: a test that has no GPU sees none, so that it starts no context beside the
    service's. A part that fails while it shares a GPU by the service becomes two: it runs again later,
    without the service, because another test may have stopped the GPU and cuSPARSE has an error there (docs/testing.md), and alone, because a process that is not one of
    the service's takes the GPU from all that are."""
    begin = time.time()
    try:
        if not part:
            test.folder = tempfile.mkdtemp(prefix="test-", dir=work)
        shares = service.variables if gpus and not test.parts[part].alone else {}
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if hide and len(test.parts) == 1 and not test.parts[0].count else {}
        results = judge(test, test.folder, part, gpus, shares or hidden)
        if shares and any(state == "fail" for state, _, _ in results):
            test.again, results = True, []
            test.parts.insert(part + 1, test.parts[part]._replace(alone=True))
            test.arguments.insert(part + 1, test.arguments[part])
        test.results += results
    except Exception as error:
        test.results.append(("fail", test.name, "%s: %r" % (test.command, error)))
    finally:
        if part == len(test.parts) - 1:
            shutil.rmtree(test.folder, ignore_errors=True)
    test.elapsed += time.time() - begin


def petsc_macros(conf):
    path = os.path.join(conf["AMB_PETSC_DIR"], conf["AMB_PETSC_ARCH"], "include", "petscconf.h")
    with open(path, encoding="utf-8", errors="replace") as header:
        return set(re.findall(r"^\s*#\s*define\s+(\w+)", header.read(), re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=TIERS, default="test", help="how much to run")
    parser.add_argument("--match", default="", help="names to run, with * and ?; several separated by commas or blanks")
    parser.add_argument("--list", action="store_true", help="print the names and commands only")
    parser.add_argument("--types", action="store_true", help="print the names of petsc-amb's matrix types only")
    parser.add_argument("--longest", type=int, default=0, metavar="N", help="print the N tests that took the most CPU time at the end")
    args = parser.parse_args()
    if args.types:
        try:
            print("\n".join(types()))
        except Syntax as error:
            sys.exit(str(error))
        return 0
    if "BUILD" not in os.environ:
        parser.error("call it by make check, make test or make check-deep")
    with open(os.path.join(os.environ["BUILD"], "conf.json")) as text:
        conf = json.load(text)["conf"]
    conf["macros"], conf["gpus"] = petsc_macros(conf), dealing.find_gpus()
    patterns = args.match.replace(",", " ").split()
    matching = [test for test in find(conf) if not patterns or any(fnmatch.fnmatchcase(test.name, p) or fnmatch.fnmatchcase(test.name, p + "*") for p in patterns)]
    tests = [test for test in matching if test.error or TIERS.index(test.tier) <= TIERS.index(args.tier)]
    if args.list:
        for test in tests:
            print("%s (%s): %s" % (test.name, test.tier, test.error or test.skip or test.command))
        return 0
    end_on_signals()
    count, begin = {"ok": 0, "fail": 0, "skip": 0}, time.time()
    for line in dealing.describe(conf.get("gpus", ())):
        print(line)
    with tempfile.TemporaryDirectory(prefix="petsc-amb-test-") as work, dealing.Service(conf["gpus"], os.path.join(work, "service")) as service:
        dealer = dealing.Dealer(dealing.places(processors(), conf["gpus"]), conf["gpus"], dealing.SIDE_BY_SIDE if service.variables else dealing.IN_TURNS)
        if service.variables:
            print("Tests share a GPU by CUDA's Multi-Process Service.")
        # those that may take the longest first, and programs on one process, which take a second, last: no long test is left alone at the end, with the other cores idle.
        # Where there are GPUs, tests of several processes on them come before all: they take the longest there, and others run beside them.
        longest_first = sorted(tests, key=lambda test: (not (conf["gpus"] and test.ranks > 1 and test.parts[0].count), -test.timeout, test.expected is not None, -test.ranks))
        try:
            for test in dealer.run(longest_first, functools.partial(run_part, work=work, service=service, hide=bool(conf["gpus"])), stopped.is_set):
                for state, name, detail in test.results or [("ok", test.name, "")]:
                    count[state] += 1
                    if state == "ok":
                        print("  ok    %s%s" % (name, "  (%.0f s)" % test.elapsed if test.elapsed > 10 and len(test.results) == 1 else ""))
                    elif state == "skip":
                        print("  skip  %s: %s" % (name, detail))
                    else:
                        print("  FAIL  %s\n%s" % (name, "".join("        %s\n" % line for line in detail.splitlines())), end="")
                    sys.stdout.flush()
        except KeyboardInterrupt:
            print("interrupted")
    if patterns and len(tests) < len(matching):
        print("%d more tests of these names are in a later tier: %s" % (len(matching) - len(tests), ", ".join(test.name for test in matching if test not in tests)))
    again = [test.name for test in tests if test.again]
    if again:
        print("%d failed beside others on a GPU and ran again alone, without the Multi-Process Service: %s" % (len(again), ", ".join(again)))
    late = [test.name for test in tests if test.late]
    if late:
        print("%d ran again because mpiexec did not hear a process's MPI_Finalize(): %s" % (len(late), ", ".join(late)))
    if args.longest:
        print("The longest of %d tests, which took %.0f s and %.0f CPU seconds:" % (len(tests), time.time() - begin, sum(test.cpu for test in tests)))
        for test in sorted(tests, key=lambda test: -test.cpu)[:args.longest]:
            print("  %6.1f s  %6.1f CPU s  %s" % (test.elapsed, test.cpu, test.name))
    print("%d passed, %d failed, %d skipped" % (count["ok"], count["fail"], count["skip"]))
    return 1 if count["fail"] or not count["ok"] or stopped.is_set() else 0


if __name__ == "__main__":
    sys.exit(main())
