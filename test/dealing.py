# SPDX-License-Identifier: BSD-2-Clause
"""Which tests run at the same time: runtests.py deals cores and GPUs to them.

A test takes a place for each of its processes, and a part of the memory of as many GPUs as it says (Need). A GPU whose memory is given out takes no further
test, nor one with IN_TURNS or, by CUDA's Multi-Process Service, SIDE_BY_SIDE processes, and one that is reserved runs its test alone. Tests start in the order of the list: where a test waits for cores, those behind
it wait too; a test that waits for GPUs lets those pass that use none. Tests that want a GPU alone run when all others have ended: for each of them, a GPU would
have to wait for its longest test. Processes on a GPU wait for it half of their time, so that other tests get places beside them. A part that compiles for later parts
of a script uses several cores, so only BUILDS of the cores take such parts.
"""
import collections
import concurrent.futures
import contextlib
import glob
import itertools
import os
import queue
import re
import shutil
import subprocess
import threading

MEMORY = 1.0          # GB of a GPU for each process of a test that says nothing: CUDA takes 0.5 GB for a context
UNKNOWN = 4.0         # GB of a GPU of which only the name is known: a few tests at a time
LEFT = 0.9            # the part of the free memory that is given out
IN_TURNS = 6          # processes on a GPU at a time without the service: each change of the process takes longer than most kernels
SIDE_BY_SIDE = 16     # with it: 12 tests on 3 processes took 7.7 s with 16 on an H100, 7.6 s with 24, and 8.8 s with 40
BUILDS = 0.25         # of the cores, for parts that compile


def places(cores, gpus):
    """The number of places: three runs of three processes for each two of a few cores, up to 16 processes, since processes of MPI wait for one another, and one for two
    processes that share a GPU, up to half of the cores."""
    return max(cores, min(9 * cores // 2, 16)) + min(cores // 2, len(gpus) * SIDE_BY_SIDE // 2)


Need = collections.namedtuple("Need", "count alone memory processes", defaults=(1, False, MEMORY, 1))
Need.__doc__ = "What a test needs of GPUs: how many, whether alone, and GB of memory and processes on each."


class GPU:
    """name: the word for CUDA_VISIBLE_DEVICES, None to leave that as it is; index: its number; free: GB that are not given out; processes: of its tests; reserved: the test that will have it alone."""

    def __init__(self, name, index, memory):
        self.name, self.index, self.free, self.tests, self.processes, self.reserved = name, index, memory, 0, 0, None


def _by_smi():
    """[GPU] from nvidia-smi, which lists those that a container has."""
    query = ["nvidia-smi", "--query-gpu=index,uuid,memory.total,memory.used,mig.mode.current", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, universal_newlines=True, timeout=60, check=True).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in lines:
        words = [word.strip() for word in line.split(",")]
        if len(words) != 5 or not words[0].isdigit():
            return []
        if words[4] == "Enabled":  # divided by MIG: CUDA gives each program the first part
            return [GPU(None, 0, UNKNOWN)]
        numbers = [float(word) / 1024 if re.match(r"[0-9.]+$", word) else None for word in words[2:4]]
        found.append(GPU(words[1], int(words[0]), LEFT * (numbers[0] - numbers[1]) if None not in numbers else UNKNOWN))
    return found


def _by_driver():
    """[GPU] from the files of the driver; without them, from the device files."""
    found = []
    for path in sorted(glob.glob("/proc/driver/nvidia/gpus/*/information")):
        with open(path, encoding="utf-8", errors="replace") as text:
            about = dict(re.findall(r"^([\w ]+):\s*(.*?)\s*$", text.read(), re.M))
        minor = about.get("Device Minor", "")
        if os.path.exists("/dev/nvidia" + minor) and re.match(r"GPU-[0-9a-f-]+$", about.get("GPU UUID", "")):
            found.append(GPU(about["GPU UUID"], int(minor or 0), UNKNOWN))
    return found or [GPU(str(k), k, UNKNOWN) for k in range(len(glob.glob("/dev/nvidia[0-9]*")))]


def find_gpus():
    """The GPUs that tests may use: all, or those of CUDA_VISIBLE_DEVICES."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not visible.strip(", "):
        return []
    gpus = _by_smi() or _by_driver()
    if visible is None or not gpus:
        return gpus
    chosen = []
    for word in (word.strip() for word in visible.split(",")):
        same = [gpu for gpu in gpus if word == str(gpu.index) or word.startswith("GPU-") and (gpu.name or "").startswith(word)]
        if not same and not word.startswith(("GPU-", "MIG-")):
            break  # as CUDA: the first word that names no GPU ends the list
        chosen.append(same[0] if same else GPU(word, -1, UNKNOWN))
    return chosen


def describe(gpus):
    """The lines that say what is dealt."""
    return ["GPU %s: %.1f GB for tests" % (gpu.index, gpu.free) for gpu in gpus]


class Service:
    """CUDA's Multi-Process Service for tests that share GPUs, from here to the end: their kernels run side by side. variables: what such a test has in its environment,
    nothing where the service is not installed, does not start, or the user has one."""

    def __init__(self, gpus, folder):
        self.variables = {}
        if not gpus or "CUDA_MPS_PIPE_DIRECTORY" in os.environ or not shutil.which("nvidia-cuda-mps-control"):
            return
        os.mkdir(folder)
        variables = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        if self._control(["-d"], variables):
            self.variables = variables

    @staticmethod
    def _control(arguments, variables, text=""):
        try:
            return not subprocess.run(["nvidia-cuda-mps-control"] + arguments, env=dict(os.environ, **variables), input=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, universal_newlines=True, timeout=60).returncode
        except (OSError, subprocess.SubprocessError):
            return False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.variables:
            self._control([], self.variables, "quit\n")


class Cores:
    """Runs of several processes take as many places, as far as there are that many: in turn, each in a thread of its own."""

    def __init__(self, count):
        self.count, self.free, self.change, self.turn = count, count, threading.Condition(), threading.Lock()

    @contextlib.contextmanager
    def take(self, ranks):
        want = min(max(1, ranks), self.count)
        with self.turn, self.change:
            self.change.wait_for(lambda: self.free >= want)
            self.free -= want
        try:
            yield
        finally:
            with self.change:
                self.free += want
                self.change.notify_all()


class Dealer:
    """Cores and GPUs, and the tests that have some of them."""

    def __init__(self, cores, gpus, shared=IN_TURNS):
        self.cores, self.free, self.gpus, self.builds, self.shared = cores, cores, gpus, 0, shared

    def places(self, ranks):
        return min(max(1, ranks), self.cores)

    @staticmethod
    def is_build(test, need):
        return not need.count and len(test.parts) > 1

    def take(self, test, ranks, need):
        """The GPUs for a test whose turn it is, with the cores; None if it must wait for GPUs, or for others that compile. The caller has looked whether there are cores."""
        if self.is_build(test, need) and self.builds >= max(1, int(BUILDS * self.cores)):
            return None
        count = min(need.count, len(self.gpus))
        waiting = [gpu for gpu in self.gpus if gpu.reserved is test]
        if need.alone and count:
            if not waiting:
                open_ones = sorted((gpu for gpu in self.gpus if gpu.reserved is None), key=lambda gpu: gpu.tests)
                if len(open_ones) < count:
                    return None
                waiting = open_ones[:count]
                for gpu in waiting:
                    gpu.reserved = test
            if any(gpu.tests for gpu in waiting):
                return None
            taken = waiting
        else:
            fitting = [gpu for gpu in self.gpus if gpu.reserved is None and (gpu.free >= need.memory and gpu.processes + need.processes <= self.shared or not gpu.tests)]
            if len(fitting) < count:
                return None
            taken = sorted(fitting, key=lambda gpu: (-gpu.free, gpu.tests))[:count]
        self.free -= self.places(ranks)
        self.builds += self.is_build(test, need)
        for gpu in taken:
            gpu.tests += 1
            gpu.processes += need.processes
            gpu.free -= need.memory
        return taken

    def give_back(self, test, ranks, need, taken):
        self.free += self.places(ranks)
        self.builds -= self.is_build(test, need)
        for gpu in taken:
            gpu.tests -= 1
            gpu.processes -= need.processes
            gpu.free += need.memory
            if gpu.reserved is test:
                gpu.reserved = None

    def run(self, tests, work, stopped):
        """Yields each test when its last part has ended. work(test, part, gpus) runs one part of a test in a thread; test.parts lists what each part needs."""
        waiting, running, done = list(tests), 0, queue.Queue()
        parts = {test: 0 for test in waiting}

        def one(test, taken):
            try:
                work(test, parts[test], taken)
            finally:
                done.put((test, taken))

        def shares(test):
            """Does the test use a GPU beside others before it wants one alone?"""
            left = test.parts[parts[test]:]
            return any(need.count for need in itertools.takewhile(lambda need: not need.alone, left))

        with concurrent.futures.ThreadPoolExecutor(self.cores) as threads:
            while waiting or running:
                shared, passing = any(map(shares, waiting)), True
                for test in list(waiting) if not stopped() else ():
                    need = test.parts[parts[test]]
                    if self.gpus and need.count and (shared if need.alone else not passing):
                        continue
                    if self.free < self.places(test.ranks):
                        break
                    taken = self.take(test, test.ranks, need)
                    if taken is not None:
                        waiting.remove(test)
                        running += 1
                        threads.submit(one, test, taken)
                    elif not need.alone and need.count:
                        passing = False
                if stopped() and not running:
                    return
                test, taken = done.get()
                running -= 1
                self.give_back(test, test.ranks, test.parts[parts[test]], taken)
                parts[test] += 1
                if parts[test] < len(test.parts):
                    waiting.insert(0, test)
                else:
                    yield test
