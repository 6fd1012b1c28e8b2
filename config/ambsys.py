# SPDX-License-Identifier: BSD-2-Clause
"""What the other modules of configure need of the system: messages, logged commands with visible progress, the right to install."""
import os
import selectors
import shlex
import shutil
import subprocess
import sys
import time


class Stop(Exception):
    """An end of configure that the user can do something about; its text says what."""


def screen(text):
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        pass  # the reader went away; the work goes on


class Log:
    """Everything goes to the log file; the screen (stderr, so that stdout stays free for answers) gets the short form."""

    def __init__(self, path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.path = path
        self.file = open(path, "a", encoding="utf-8", errors="replace")
        self.write("\n==== %s: %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), " ".join(map(shlex.quote, sys.argv))))

    def write(self, text):
        self.file.write(text)
        self.file.flush()

    def say(self, text):
        self.write(text + "\n")
        screen(text + "\n")

    def capture(self, command, **kwargs):
        """Run a short command; returns (exit code, output)."""
        self.write("+ %s\n" % " ".join(map(shlex.quote, command)))
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
            code, text = done.returncode, done.stdout.decode("utf-8", "replace")
        except (OSError, subprocess.TimeoutExpired) as error:
            code, text = 127, str(error)
        self.write(text if text.endswith("\n") or not text else text + "\n")
        if code:
            self.write("exit code %d\n" % code)
        return code, text

    def long(self, label, command, count=None, total=0, **kwargs):
        """Run a long command into the log, showing that it lives; returns (exit code, last lines).

        count: a function of one output line, true where the line is one finished unit of work.
        total: the number of such lines, or 0 if it is not known.
        """
        self.write("+ %s\n" % " ".join(map(shlex.quote, command)))
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
        except OSError as error:
            self.write("%s\n" % error)
            return 127, [str(error)]
        start, shown, tail, units, pending = time.time(), 0.0, [], 0, b""
        terminal = sys.stderr.isatty()
        pause = 1 if terminal else 15
        waiting = selectors.DefaultSelector()
        waiting.register(child.stdout, selectors.EVENT_READ)
        while True:
            if waiting.select(timeout=1):
                data = os.read(child.stdout.fileno(), 65536)
                if not data:
                    break
                pending += data.replace(b"\r", b"\n")
                *lines, pending = pending.split(b"\n")
                for raw in lines:
                    line = raw.decode("utf-8", "replace").rstrip()
                    self.write(line + "\n")
                    if line:
                        tail = (tail + [line])[-25:]
                        units += bool(count and count(line))
            now = time.time()
            if now - start > 3 and now - shown > pause:
                shown = now
                state = "%d%s done" % (units, " of %d" % total if total >= max(units, 1) else "") if count else next((line[:60] for line in reversed(tail) if any(map(str.isalnum, line))), "")
                text = "  %s: %d s  %s" % (label, now - start, state)
                screen("\r\033[K" + text if terminal else text + "\n")
        if pending:
            self.write(pending.decode("utf-8", "replace") + "\n")
        if terminal and shown:
            screen("\r\033[K")
        code = child.wait()
        self.write("exit code %d after %.0f s\n" % (code, time.time() - start))
        return code, tail


def jobs():
    """Cores this process may use."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def installer():
    """The command that installs Debian packages here, or None without the tool or the right."""
    apt = shutil.which("apt-get") or next((p for p in ("/usr/bin/apt-get",) if os.access(p, os.X_OK)), None)
    if not apt:
        return None
    if os.geteuid() == 0:
        return [apt]
    sudo = shutil.which("sudo")
    if not sudo:
        return None
    able = subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if able.returncode and sys.stdin.isatty():
        able = subprocess.run([sudo, "-v"])
    return None if able.returncode else [sudo, "-n", "env", "DEBIAN_FRONTEND=noninteractive", apt]


def missing_message(packages, why):
    return ("%s\nInstall these packages (as root: apt-get install %s),\n"
            "or name a PETSc with PETSC_DIR=... PETSC_ARCH=..., or let configure.py build one: ./configure.py --download-petsc"
            % (why, " ".join(packages)))


def lacking(packages, log):
    """Those of the packages that are not installed."""
    text = log.capture(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package}\n"] + packages)[1]
    return [package for package in packages if "installed " + package not in text.splitlines()]


def install(packages, log, allowed):
    """Install Debian packages, or stop with one message that names those that are missing."""
    packages = lacking(packages, log)
    if not packages:
        return
    apt = installer() if allowed else None
    if not apt:
        reason = "there is no right to install here" if allowed else "--with-install=0 forbids installing"
        raise Stop(missing_message(packages, "Needed and not found, and %s: %s." % (reason, " ".join(packages))))
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    command = apt + ["install", "-y", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"] + packages
    log.say("Installing " + " ".join(packages))
    tail = []
    for attempt in range(3):
        # the package lists are fetched only when the first attempt shows that they are missing or stale
        if attempt:
            time.sleep(5 * (attempt - 1))
            log.long("apt-get update", apt + ["update"], env=env)
        code, tail = log.long("apt-get install", command, env=env)
        if code == 0:
            return
    raise Stop("apt-get could not install %s:\n  %s\nThe whole output is in %s."
               % (" ".join(packages), "\n  ".join(tail[-5:]), log.path))
