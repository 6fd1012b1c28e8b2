#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# How runtests.py deals cores and GPUs to tests, with feigned GPUs, and how it reads the lines of scripts and blocks. Prints ok or not ok for each.
# tier: check
# gpu: 0
set -u
. "$(dirname "$0")/../shell/expect.sh"
mkdir "$work/bin" "$work/tests"
cat >"$work/bin/nvidia-smi" <<'END'
#!/bin/sh
cat "$FEIGNED"
END
cat >"$work/bin/nvidia-cuda-mps-control" <<'END'
#!/bin/sh
echo "${1-$(cat)}" >>"$CALLS"
[ -d "$CUDA_MPS_PIPE_DIRECTORY" ] && ! [ -e "$CALLS.refused" ]
END
cat >"$work/tests/service.sh" <<'END'
# gpu: 1 beside
# gpu: 1 alone after
echo "ok $1 ${CUDA_MPS_PIPE_DIRECTORY:+with service}"
[ -z "${CUDA_MPS_PIPE_DIRECTORY-}" ] || [ ! -e "$CALLS.stopped" ]
END
chmod +x "$work/bin/"*
cat >"$work/tests/broken.sh" <<'END'
[ -z "${CUDA_MPS_PIPE_DIRECTORY-}" ] || exit 1
touch "$CALLS.alone"
sleep 0.3
rm "$CALLS.alone"
echo "ok broken"
END
cat >"$work/tests/steady.sh" <<'END'
sleep 0.1
[ -e "$CALLS.alone" ] && echo "not ok beside a test that is alone" || echo "ok steady"
END
cat >"$work/tests/parts.sh" <<'END'
# gpu: 0 build
# gpu: 1 run
# gpu: 2 alone memory
# gpumem: 3
echo "ok $1 on ${CUDA_VISIBLE_DEVICES:-none}, $(ls "$TMPDIR" | grep -c part)"
touch "$TMPDIR/part-$1"
END
cat >"$work/tests/plain.sh" <<'END'
echo "ok ${1:-plain} on ${CUDA_VISIBLE_DEVICES:-none}"
END
cat >"$work/tests/host.sh" <<'END'
# gpu: 0
echo "ok on (${CUDA_VISIBLE_DEVICES-all})"
END
printf "# gpu: two\n" >"$work/tests/bad.sh"
cat >"$work/tests/rows.sh" <<'END'
# timeoutfactor: 2
# tier: test
# tier: deep long
# test: one.sh a
# test: two.sh b
# timeoutfactor: 5
# gpu: 0
echo
# test: three.sh c
END
cd "$work" || exit 1
env -u CUDA_VISIBLE_DEVICES PATH="$work/bin:$PATH" FEIGNED="$work/gpus" CALLS="$work/calls" PYTHONPATH="$root/test" PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" - <<'END' || exit 1
import faulthandler
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import dealing
import runtests
from dealing import Need

failed = False


def check(name, right, detail=""):
    global failed
    failed |= not right
    print("%s %s%s" % ("ok" if right else "not ok", name, "" if right else ": %s" % (detail,)))


def gpus(*memory, visible=None):
    """What is found where nvidia-smi says these (total, used) MB."""
    with open("gpus", "w") as text:
        text.writelines("%d, GPU-%d%d-abc, %s, %s, %s\n" % ((k, k, k) + (pair if len(pair) == 3 else pair + ("Disabled",))) for k, pair in enumerate(memory))
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    return dealing.find_gpus()


names = lambda found: [gpu.name for gpu in found]
two = ((81920, 1024), (40960, 0))
check("GPUs of nvidia-smi", [(gpu.name, round(gpu.free, 1)) for gpu in gpus(*two)] == [("GPU-00-abc", 71.1), ("GPU-11-abc", 36.0)])
check("GPUs of the user, by number", names(gpus(*two, visible="1")) == ["GPU-11-abc"])
check("GPUs of the user, by name", names(gpus(*two, visible="GPU-11,GPU-00-abc")) == ["GPU-11-abc", "GPU-00-abc"])
check("GPUs of the user, up to a number of none", names(gpus(*two, visible="1,7,0")) == ["GPU-11-abc"])
check("no GPU for the user", gpus(*two, visible="") == [])
check("memory that is not known", [gpu.free for gpu in gpus(("[N/A]", "[N/A]"))] == [dealing.UNKNOWN])
check("a divided GPU is one without a name", names(gpus((81920, 0, "Enabled"), (81920, 0, "Enabled"))) == [None])
os.environ.pop("CUDA_VISIBLE_DEVICES", None)


class Fake:
    def __init__(self, number, ranks, parts):
        self.number, self.ranks, self.parts, self.ran = number, ranks, parts, []


def simulate(name, cores, found, tests, seconds=0.002):
    """Runs tests that sleep, and looks at what runs beside what."""
    size = {gpu: gpu.free for gpu in found}
    lock, on, places, builds, wrong, most = threading.Lock(), {gpu: [] for gpu in found}, [0], [0], [], [0]

    def work(test, part, taken):
        need = test.parts[part]
        with lock:
            places[0] += min(test.ranks, cores)
            most[0] = max(most[0], places[0])
            test.ran.append(part)
            build = dealing.Dealer.is_build(test, need)
            builds[0] += build
            if builds[0] > max(1, cores // 4):
                wrong.append("too many tests compile")
            left = [other for one in tests for other in itertools.takewhile(lambda other: not other.alone, one.parts[len(one.ran):])]
            if places[0] > cores:
                wrong.append("more places than cores")
            if len(set(taken)) != min(need.count, len(found)):
                wrong.append("%d GPUs for a test that needs %d" % (len(taken), need.count))
            for gpu in taken:
                on[gpu].append(need)
                if len(on[gpu]) > 1 and any(other.alone for other in on[gpu]):
                    wrong.append("not alone")
                if len(on[gpu]) > 1 and sum(other.processes for other in on[gpu]) > dealing.IN_TURNS:
                    wrong.append("too many processes on a GPU")
                if need.alone and len(found) == 1 and any(other.count and not other.alone for other in left):
                    wrong.append("alone, before tests that share a GPU")
                if len(on[gpu]) > 1 and sum(other.memory for other in on[gpu]) > size[gpu] + 1e-9:
                    wrong.append("more memory than there is")
        time.sleep(random.random() * seconds)
        with lock:
            builds[0] -= build
            places[0] -= min(test.ranks, cores)
            for gpu in taken:
                on[gpu].remove(need)

    ended = list(dealing.Dealer(cores, found).run(tests, work, lambda: False))
    if sorted(test.number for test in ended) != sorted(test.number for test in tests) or any(test.ran != list(range(len(test.parts))) for test in tests):
        wrong.append("a test did not run once, with its parts in order")
    if any(gpu.tests or gpu.processes or gpu.reserved or abs(gpu.free - size[gpu]) > 1e-6 for gpu in found):
        wrong.append("something was not given back")
    check(name, not wrong, sorted(set(wrong)))
    return most[0], size


def some(count, seed):
    draw = random.Random(seed)
    tests = []
    for number in range(count):
        need = draw.choice([Need(0), Need(1), Need(1), Need(1), Need(2), Need(3), Need(1, False, 5), Need(1, False, 3, 3), Need(1, True), Need(2, True), Need(1, False, 500)])
        parts = [need] if draw.random() < 0.8 else [Need(0), Need(1), Need(1, True)]
        tests.append(Fake(number, draw.choice([1, 1, 2, 3]), parts))
    return tests


faulthandler.dump_traceback_later(100, exit=True)  # says where a test waits for ever
for seed in range(6):
    simulate("16 cores, one GPU, seed %d" % seed, 16, gpus((81920, 600)), some(150, seed))
    simulate("64 cores, four GPUs, seed %d" % seed, 64, gpus(*[(81920, 600)] * 4), some(300, seed))
    simulate("4 places, two small GPUs, seed %d" % seed, 4, gpus((8192, 6000), (4096, 0)), some(100, seed))
    simulate("no GPU, seed %d" % seed, 4, [], some(100, seed))
most, _ = simulate("tests that use no GPU fill the cores beside one that is alone", 8, gpus((81920, 0)), [Fake(0, 1, [Need(1, True)])] + [Fake(k, 1, [Need(0)]) for k in range(1, 30)], 0.02)
check("and do so", most == 8, most)

# tests that use no GPU pass one that waits for a GPU, and no other does
order = []
waits = [Fake(0, 1, [Need(1, False, 4, dealing.IN_TURNS)]), Fake(1, 1, [Need(1, False, 4, 2)]), Fake(2, 1, [Need(1)]), Fake(3, 1, [Need(0)])]
list(dealing.Dealer(4, gpus((81920, 0))).run(waits, lambda test, part, taken: (order.append(test.number), time.sleep(0.05)), lambda: False))
check("a test that waits for a GPU lets those pass that use none", sorted(order[:2]) == [0, 3], order)

# tests on equal GPUs are spread over them
found = gpus(*[(81920, 0)] * 4)
dealer = dealing.Dealer(64, found)
spread = [dealer.take(Fake(k, 1, []), 1, Need(1))[0].name for k in range(8)]
check("equal GPUs have equally many tests", sorted(spread) == sorted(names(found) * 2), spread)
found = gpus((81920, 60000), (81920, 0))
check("the GPU with more free memory is first", dealing.Dealer(4, found).take(Fake(0, 1, []), 1, Need(1))[0] is found[1])

# a test that will have a GPU alone, and waits for it, leaves its places to others
order = []
waits = [Fake(0, 1, [Need(1)]), Fake(1, 4, [Need(1, True)]), Fake(2, 3, [Need(0)])]
list(dealing.Dealer(4, gpus((81920, 0))).run(waits, lambda test, part, taken: (order.append(test.number), time.sleep(0.05)), lambda: False))
check("a test that waits for a GPU alone keeps no place free", sorted(order[:2]) == [0, 2], order)
got = [dealing.places(cores, [None] * count) for cores, count in ((2, 0), (2, 1), (16, 0), (16, 1), (64, 0), (64, 4))]
check("places: nine for two cores of few, and one for two processes on a GPU", got == [9, 10, 16, 24, 64, 96], got)


def scripts(found, *files, again=()):
    """The results of scripts; again: the tests that run twice."""
    conf = {"gpus": found, "AMB_CUDA": ""}
    tests = [test for file in files for test in runtests.script_tests(os.path.join("tests", file), conf)]
    for test in tests:
        test.command = test.command.replace("tests/", os.path.abspath("tests") + "/")
    with tempfile.TemporaryDirectory() as place:
        with dealing.Service(found, os.path.join(place, "service")) as service:
            done = list(dealing.Dealer(2, found).run(tests, lambda test, part, taken: runtests.run_part(test, part, taken, place, service, bool(found)), lambda: False))
        check("tests that run again: %s" % (again,), tuple(test.name for test in tests if test.again) == again)
        shutil.rmtree(os.path.join(place, "service"), ignore_errors=True)
        check("nothing of the tests is left, %d GPUs" % len(found), not os.listdir(place))
    return sorted(name for test in done for _, name, _ in test.results)


want = ["parts.sh: build on none, 0", "parts.sh: memory on GPU-00-abc,GPU-11-abc, 2", "parts.sh: run on GPU-00-abc, 1"]
got = scripts(gpus((81920, 0), (40960, 0)), "parts.sh")
check("parts of a script have their GPUs and one folder", got == want, got)
rows = [(test.name, test.command.split()[2:], test.timeout // runtests.TIMEOUT, test.parts[0].count) for test in runtests.script_tests("tests/rows.sh", {"gpus": gpus((81920, 0))})]
want = [("one.sh", ["a"], 2, 1), ("one.sh+long", ["a", "long"], 2, 1), ("two.sh", ["b"], 5, 0), ("two.sh+long", ["b", "long"], 5, 0)]
check("a script may be several tests, each with lines of its own", rows == want, rows)

block = """/*TEST
  testset:
    output_file: output/of_all.out
    test:
      suffix: own
      output:
        ok one # two

        ok: three
    test:
      suffix: file
%s
TEST*/"""
got = [(entry["suffix"], runtests.same(entry.get("output", "")), entry.get("output_file")) for entry in runtests.flatten(runtests.parse_block(block % ""), {})]
check("a test has the output of its block in place of the file of all", got == [("own", ["ok one # two", "ok: three"], None), ("file", [], "output/of_all.out")], got)
try:
    list(runtests.flatten(runtests.parse_block(block % "      output: \n        ok\n      output_file: output/one.out"), {}))
    check("output and output_file in one test are refused", False, "no error")
except runtests.Syntax as error:
    check("output and output_file in one test are refused", "output and output_file" in str(error), error)
for said, right in (("ok a\n\nok  b\n", "ok"), ("ok a\n", "fail")):
    test = runtests.Test("inline", "printf 'ok a\\nok b\\n'", expected="none.out")
    test.wanted = said
    got = runtests.judge(test, os.getcwd())
    check("output of the block: %s" % right, [state for state, _, _ in got] == [right], got)
real, limits = runtests.processors, []
os.environ.pop("OMP_THREAD_LIMIT", None)
for cores in 2, 32:
    runtests.processors = lambda: cores
    limits.append(runtests.environment(".").get("OMP_THREAD_LIMIT"))
runtests.processors = real
check("a script that builds has a fourth of the cores, and at least four", limits == ["4", "8"], limits)
for times, wanted in ((1, ["ok"]), (2, ["fail"])):
    open("late", "w").close()
    test = runtests.Test("late", "echo x >>late; [ $(wc -l <late) -gt %d ] || { echo 'this process called \"init\", but exited without calling \"finalize\"' >&2; exit 1; }" % times)
    got = [state for state, _, _ in runtests.judge(test, os.getcwd())]
    check("a test whose mpiexec misses the end of a process %d times" % times, got == wanted and test.late, got)
got = [(entry["suffix"], entry.get("checks"), entry.get("output_file")) for entry in runtests.flatten(runtests.parse_block(block % "      checks: 2"), {})]
check("a test has the number of checks of its block in place of the file of all", got == [("own", None, None), ("file", "2", None)], got)
for printed, code, right in (("ok a\\nok b\\n", 0, "ok"), ("ok a\\n", 0, "fail"), ("ok a\\nok b\\nok c\\n", 0, "fail"), ("ok a\\nnot ok b\\n", 0, "fail"), ("ok a\\nok b\\nWARNING\\n", 0, "fail"),
                             ("ok a\\nok a\\n", 0, "fail"), ("ok a\\nok b\\n", 1, "fail")):
    test = runtests.Test("counted", "printf '%s'; exit %d" % (printed, code), expected="none.out")
    test.checks = 2
    got = runtests.judge(test, os.getcwd())
    check("two checks, %r, exit code %d: %s" % (printed, code, right), [state for state, _, _ in got] == [right], got)
got = scripts(gpus((81920, 0)), "plain.sh")
check("a script that says nothing has a GPU", got == ["plain.sh: plain on GPU-00-abc"], got)
got = scripts([], "plain.sh")
check("without a GPU it runs once, without an argument", got == ["plain.sh: plain on none"], got)
for found, where in ((gpus((81920, 0)), ""), ([], "all")):
    got = scripts(found, "host.sh")
    check("a script without a GPU sees %s" % (where or "none"), got == ["host.sh: on (%s)" % where], got)


def service(name, want, again=(), found=((81920, 0),), calls="-d\nquit\n"):
    """The tests of service.sh, and what the feigned service was asked for."""
    if os.path.exists("calls"):
        os.remove("calls")
    got = scripts(gpus(*found) if found else [], "service.sh", again=again)
    asked = open("calls").read() if os.path.exists("calls") else ""
    check(name, got == want and asked == calls, (got, asked))


service("tests share a GPU by the service, but for those that are alone", ["service.sh: after", "service.sh: beside with service"])
open("calls.stopped", "w").close()
service("what fails with the service runs again without it", ["service.sh: after", "service.sh: beside"], again=("service.sh",))
os.environ["CALLS"] = os.path.abspath("calls")
got = scripts(gpus((81920, 0)), "broken.sh", *["steady.sh"] * 3, again=("broken.sh",))
check("and no other test is beside it on its GPU", got == ["broken.sh: broken"] + ["steady.sh: steady"] * 3, got)
open("calls.refused", "w").close()
service("a service that does not start is not used", ["service.sh: after", "service.sh: beside"], calls="-d\n")
os.remove("calls.refused")
service("without a GPU there is no service", ["service.sh: "], found=(), calls="")
os.environ["CUDA_MPS_PIPE_DIRECTORY"] = "/nowhere"
os.remove("calls.stopped")
service("the service of the user is left alone", ["service.sh: after with service", "service.sh: beside with service"], calls="")
del os.environ["CUDA_MPS_PIPE_DIRECTORY"]
try:
    got = scripts(gpus((81920, 0)), "bad.sh")
except runtests.Syntax as error:
    got = str(error)
check("a line that is not understood is an error", "is not COUNT" in str(got), got)
for launcher, ranks, want in (("mpiexec", 1, "p"), ("/opt/bin/mpirun.openmpi -q", 1, "p"), ("", 1, "p"), ("srun", 1, "srun -n 1 p"), ("mpiexec", 2, "mpiexec -n 2 p")):
    os.environ["MPIEXEC"] = launcher
    check("the start of %d by '%s'" % (ranks, launcher), runtests.launch(ranks, "p") == want, runtests.launch(ranks, "p"))
os.environ.pop("OMPI_MCA_mca_base_env_list", None)
for build, want in (("built", True), ("a build", False)):
    os.environ["BUILD"] = os.path.abspath(build)
    os.makedirs(os.path.join(build, "test"))
    open(os.path.join(build, "test", "idle.so"), "w").close()
    got = runtests.environment(".").get("OMPI_MCA_mca_base_env_list")
    check("processes of MPI that wait sleep, in '%s'" % build, (got == "LD_PRELOAD=" + os.path.abspath("built/test/idle.so")) == want, got)
conf = {"gpus": gpus(*[(81920, 0)] * 2), "macros": set(), "AMB_CUDA": "1", "AMB_GPU": "1", "AMB_MPIUNI": ""}
for key in ("AMB_PRECISION", "AMB_SCALAR", "AMB_OPENMP", "AMB_ZLIB", "AMB_LZMA", "AMB_BZ2"):
    conf[key] = ""
block = "/*TEST\n  test:\n    nsize: {{1 3}}\n  test:\n    suffix: one\n    gpu: 1 alone\n    gpumem: 7.5\n    nsize: 2\nTEST*/\n"
needs = [test.parts[0] for test in runtests.block_tests("p.c", "p", runtests.parse_block(block), conf)]
check("a program has a GPU for each process, or what its block says", needs == [Need(1), Need(2, False, 2, 2), Need(1, True, 7.5, 2)], needs)
block = "/*TEST\n  test:\n    args: -mat_type {{aij amb}} %s\nTEST*/\n"
for args, want in (("", [0, 1]), ("-mat_amb_device cpu", [0, 0]), ("-ref_mat_type aij -petscamb_for_aij amb", [1, 1]), ("-mat_amb_device cpu -vec_type cuda", [1, 1])):
    needs = [test.parts[0].count for test in runtests.block_tests("p.c", "p", runtests.parse_block(block % args), conf)]
    check("options that keep a program on the host: %s" % (args or "none"), needs == want, needs)
os.makedirs("ended")
with open("ended/conf.json", "w") as text:
    text.write('{"conf": {}}')
code = """import subprocess
import sys
import time
import runtests


class Slow(subprocess.Popen):
    def __init__(self, command, **streams):
        super().__init__(command, **streams)
        time.sleep(0.3 if "sleep 100" in command else 0)


subprocess.Popen = Slow  # the signal comes between the start of a child and its return
runtests.petsc_macros = lambda conf: set()
runtests.find = lambda conf: [runtests.Test("brief", "true"), runtests.Test("long", "sleep 100")]
sys.exit(runtests.main())"""
runner = subprocess.Popen([sys.executable, "-c", code, "--longest", "2"], stdout=subprocess.PIPE, universal_newlines=True, env=dict(os.environ, BUILD="ended", CUDA_VISIBLE_DEVICES=""))
got = runner.stdout.readline()
runner.terminate()
got += runner.communicate()[0]
check("a runner that a signal ends prints its table and its sums", runner.returncode == 1 and "  ok    brief\ninterrupted\nThe longest of 2 tests" in got and "1 passed, 0 failed" in got, got)
sys.exit(failed)
END
exit $failed
