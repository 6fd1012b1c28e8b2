# SPDX-License-Identifier: BSD-2-Clause
"""The parts that the clients share: a case, the place where a client builds its programs, and packages."""
import os
import re
import shlex
import shutil
import subprocess

# also where another Python stands in front of it in PATH: the packages of the distribution belong to this one
PYTHON = os.environ.get("CLIENT_PYTHON") or "/usr/bin/python3"
MULTIARCH = os.uname().machine + "-linux-gnu"
DISTRIBUTION = "/usr/lib/petscdir/petsc3.18/%s-real/lib/libpetsc_real.so" % MULTIARCH  # the PETSc of Debian 12


class Skip(Exception):
    """A client, or one of its cases, that cannot run here; the text is the reason."""


class Case:
    """One program with its options, compared between aij and petsc-amb.

    command  a list of words; options: PETSc's, given by PETSC_OPTIONS beside those of the plugin
    type     the option that chooses the matrix type in this program, as -dm_mat_type, or None if the program fixes aij
    files    copied into the folder where the program runs, {name there: path}
    timed    (options of PETSc, words of the command) of the run with make check-clients TIME=1, None for a case that is not timed
    mpiexec  False for a program that mpiexec takes for one that has failed, as it ends without MPI_Finalize()
    others   see compare.Rules
    """

    def __init__(self, name, command, options="", type=None, ranks=(1, 2), files=None, timed=None, tolerance=1e-5, floor=1e-10, drop=(), env="", timeout=300, folder=".", mpiexec=True):
        self.name, self.command, self.options, self.type, self.ranks = name, list(command), options, type, ranks
        self.files, self.timed, self.tolerance, self.floor, self.drop = files or {}, timed, tolerance, floor, tuple(drop)
        self.env, self.timeout, self.folder, self.mpiexec = env, timeout, folder, mpiexec


class Context:
    """The build that is tested, and a folder for the programs of the clients."""

    def __init__(self, build, conf):
        self.conf, self.folder = conf, os.path.join(build, "clients")
        os.makedirs(self.folder, exist_ok=True)

    def petsc(self):
        """The file of the PETSc library of this build."""
        folder = os.path.join(self.conf["AMB_PETSC_DIR"], self.conf["AMB_PETSC_ARCH"], "lib")
        for name in sorted(os.listdir(folder)):
            if re.match(r"libpetsc(64)?(_[a-z]+)?\.so$", name):
                return os.path.realpath(os.path.join(folder, name))
        raise Skip("no libpetsc*.so in %s" % folder)

    def same_petsc(self, library, what):
        """Skips if this library of a client is linked with another PETSc than this build."""
        try:
            linked = subprocess.run(["ldd", library], capture_output=True, text=True).stdout
        except OSError:
            raise Skip("ldd is not installed")
        theirs = re.search(r"libpetsc\S* => (\S+)", linked)
        if not theirs or os.path.realpath(theirs.group(1)) != self.petsc():
            raise Skip("%s is linked with %s, and this build is for %s" % (what, theirs.group(1) if theirs else "no PETSc", self.petsc()))

    def distribution_petsc(self, what):
        """Skips unless this build is for the PETSc of the distribution, which its Python packages load."""
        if os.path.realpath(DISTRIBUTION) != self.petsc():
            raise Skip("%s of the distribution uses %s, and this build is for %s" % (what, DISTRIBUTION, self.petsc()))

    def compile(self, name, source, command):
        """Compiles a program if it is older than its source; returns its path."""
        program = os.path.join(self.folder, name)
        if not os.path.exists(source):
            raise Skip("%s is not installed" % source)
        stamp, words = program + ".command", " ".join(map(shlex.quote, command))
        known = open(stamp).read() if os.path.exists(stamp) else ""
        if known != words or not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
            print("  compile %s" % name, flush=True)
            done = subprocess.run(command + ["-o", program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                raise RuntimeError("%s\n%s" % (words, done.stderr[-3000:]))
            with open(stamp, "w") as text:
                text.write(words)
        return program

    def compile_c(self, name, source, includes=(), libraries=()):
        """Compiles a C program as PETSc's users do."""
        conf = self.conf
        # PETSc's header of HDF5 viewers includes hdf5.h
        includes = list(includes) + [folder for folder in ("/usr/include/hdf5/openmpi", "/usr/include/hdf5/mpich") if os.path.isdir(folder)][:1]
        flags = ["-O2", "-w"] + shlex.split(conf["AMB_CFLAGS"]) + shlex.split(conf["AMB_INCLUDES"]) + ["-I" + folder for folder in includes]
        return self.compile(name, source, shlex.split(conf["AMB_LINK"]) + flags + [source] + list(libraries) + shlex.split(conf["AMB_LIBS"]))


def packaged_version(package):
    """The version of a Debian package, or None."""
    if not shutil.which("dpkg-query"):
        return None
    found = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package], capture_output=True, text=True).stdout.split()
    return found[1] if len(found) == 2 and found[0] == "installed" else None


def need(packages):
    """Installs packages that are missing, as root on a system with apt; else skips by their names. INSTALL=0 never installs."""
    missing = [package for package in packages if not packaged_version(package)]
    if not missing:
        return
    names = " ".join(missing)
    if not shutil.which("apt-get") or not shutil.which("dpkg-query"):
        raise Skip("packages of Debian are missing: %s" % names)
    if os.geteuid() or os.environ.get("INSTALL") == "0":
        raise Skip("packages are missing: apt-get install --no-install-recommends %s" % names)
    print("  install %s" % names, flush=True)
    done = subprocess.run(["apt-get", "install", "-y", "--no-install-recommends"] + missing, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    if done.returncode:
        raise Skip("apt-get cannot install %s: %s" % (names, (done.stderr.strip().splitlines() or ["no reason given"])[-1]))
