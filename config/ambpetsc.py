# SPDX-License-Identifier: BSD-2-Clause
"""Find an installed PETSc and read what it is from its own headers and variables."""
import glob
import hashlib
import os
import re
import shutil

from ambsys import Stop, install, installer

OLDEST = (3, 18)
PYTHON_BUILDS = (("import Cython", "cython3"), ("import setuptools", "python3-setuptools"), ("import sysconfig; open(sysconfig.get_path('include') + '/Python.h')", "python3-dev"))
UNPACKERS = (("zlib.h", "zlib1g-dev"), ("lzma.h", "liblzma-dev"), ("bzlib.h", "libbz2-dev"))  # for compressed files
PRIVATE = ("petscimpl.h", "matimpl.h")
ADVICE = ("Name another with PETSC_DIR=... PETSC_ARCH=..., or let configure.py build one: ./configure.py --download-petsc")


class Unfit(Exception):
    """A PETSc that cannot be used, with the reason."""


def defines(path):
    with open(path, encoding="utf-8", errors="replace") as header:
        return dict(re.findall(r"^\s*#\s*define\s+(\w+)[ \t]*([^\n]*?)[ \t]*$", header.read(), re.M))


def variables(path):
    """PETSc's petscvariables: make assignments, with $(NAME) of the same file replaced."""
    found = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            for name, value in re.findall(r"^(\w+)\s*:?=[ \t]*(.*)$", text.read(), re.M):
                found[name] = value.strip()
    except OSError:
        return found
    for _ in range(5):
        for name, value in found.items():
            found[name] = re.sub(r"\$[({](\w+)[)}]", lambda m: found.get(m.group(1), "") if m.group(1) != name else "", value)
    return found


class PETSc:
    """One PETSc: where it is and what it was configured for. Raises Unfit where the plugin cannot work with it."""

    def __init__(self, folder, arch=""):
        folder = os.path.abspath(os.path.expanduser(folder))
        if not os.path.isdir(folder):
            raise Unfit("PETSC_DIR=%s: there is no such folder" % folder)
        own = [os.path.join(folder, "include"), os.path.join(folder, arch, "include")]
        if not os.path.exists(os.path.join(own[0], "petscversion.h")):
            raise Unfit("PETSC_DIR=%s: no include/petscversion.h there, so it is no PETSc" % folder)
        if not os.path.exists(os.path.join(own[1], "petscconf.h")):
            arches = sorted(os.path.basename(os.path.dirname(os.path.dirname(conf))) for conf in glob.glob(os.path.join(folder, "*", "include", "petscconf.h")))
            if arch or len(arches) != 1:
                raise Unfit("PETSC_DIR=%s PETSC_ARCH=%s: not configured%s" % (folder, arch, "; the arches there are: " + " ".join(arches) if arches else ""))
            arch = arches[0]
            own[1] = os.path.join(folder, arch, "include")
        self.dir, self.arch = folder, arch
        self.includes = sorted(set(own), key=own.index)
        self.conf = defines(os.path.join(own[1], "petscconf.h"))
        version = defines(os.path.join(own[0], "petscversion.h"))
        self.version = tuple(int(version.get("PETSC_VERSION_" + part, "0")) for part in ("MAJOR", "MINOR", "SUBMINOR"))
        self.release = version.get("PETSC_VERSION_RELEASE", "1") == "1"
        self.scalar = "complex" if "PETSC_USE_COMPLEX" in self.conf else "real"
        kinds = {"PETSC_USE_REAL_SINGLE": "single", "PETSC_USE_REAL_DOUBLE": "double", "PETSC_USE_REAL___FLOAT128": "__float128", "PETSC_USE_REAL___FP16": "__fp16"}
        self.precision = next((kind for macro, kind in kinds.items() if macro in self.conf), "double")
        self.index = 64 if "PETSC_USE_64BIT_INDICES" in self.conf else 32
        self.cuda = "PETSC_HAVE_CUDA" in self.conf
        self.debug = "PETSC_USE_DEBUG" in self.conf
        self.hidden = "PETSC_USE_VISIBILITY_C" in self.conf
        self.uni = "PETSC_HAVE_MPIUNI" in self.conf
        self.libdir = os.path.join(folder, arch, "lib")
        self.vars = variables(os.path.join(self.libdir, "petsc", "conf", "petscvariables"))
        self.where = "PETSC_DIR=%s PETSC_ARCH=%s" % (self.dir, self.arch)
        self.refuse()

    def refuse(self):
        text = "%d.%d.%d" % self.version
        if self.version[:2] < OLDEST:
            raise Unfit("%s: this is PETSc %s; petsc-amb needs %d.%d or newer" % ((self.where, text) + OLDEST))
        if not self.release:
            raise Unfit("%s: this is a development version of PETSc (after %s); petsc-amb is made for releases" % (self.where, text))
        header = next((name for name in PRIVATE if not any(os.path.exists(os.path.join(folder, "petsc", "private", name)) for folder in self.includes)), None)
        if header:
            raise Unfit("%s: it has no include/petsc/private/%s. A matrix type needs PETSc's private headers, which PETSc's own make install puts there; "
                        "this one was packaged without them" % (self.where, header))
        if "PETSC_USE_SHARED_LIBRARIES" not in self.conf or not self.libraries():
            raise Unfit("%s: this PETSc was built as a static library; a plugin needs a shared one (configure PETSc --with-shared-libraries=1)" % self.where)
        if "PETSC_HAVE_DYNAMIC_LIBRARIES" not in self.conf or "PETSC_HAVE_DLOPEN" not in self.conf:
            raise Unfit("%s: this PETSc was built without dynamic loading (dlopen), so it cannot load plugins" % self.where)
        if self.precision not in ("single", "double"):
            raise Unfit("%s: this PETSc computes in %s; petsc-amb has single and double" % (self.where, self.precision))

    def libraries(self):
        """The names to link, from PETSc's own list where it has one."""
        listed = re.findall(r"-l(petsc\w*)", self.vars.get("PETSC_LIB_BASIC", "")) or ["petsc" + self.vars.get("PETSC_LIB_EXT", "")]
        kinds = (".so", ".dylib")
        return [name for name in listed if any(os.path.exists(os.path.join(self.libdir, "lib" + name + kind)) for kind in kinds)]

    def compiler(self):
        for word in (self.vars.get("CC", "").split() or [""])[:1] + ["mpicc"]:
            if word and shutil.which(word):
                return word
        return None

    def mpiexec(self):
        """PETSc's own launcher (its flags are set by the callers), else the one in PATH."""
        words = self.vars.get("MPIEXEC", "").split()
        return next((found for found in map(shutil.which, words[:1] + ["mpiexec", "mpirun"]) if found), None)

    def examples(self):
        """The folder that has src/ksp/ksp/tutorials, or None."""
        places = [self.dir, os.path.join(self.dir, "share/petsc/examples"), os.path.join(self.dir, self.arch, "share/petsc/examples"),
                  "/usr/share/petsc/%d.%d/share/petsc/examples" % self.version[:2]]
        return next((place for place in places if os.path.exists(os.path.join(place, "src/ksp/ksp/tutorials/ex2.c"))), None)

    def distribution(self):
        return os.path.realpath(self.dir).startswith("/usr/lib/")

    def name(self):
        """The name of the build: what it is, and for PETScs of the user's own their arch as well."""
        words = ["petsc%d.%d.%d" % self.version, self.scalar]
        words += ["single"] * (self.precision == "single") + ["int64"] * (self.index == 64) + ["cuda"] * self.cuda + ["debug"] * self.debug
        if not self.distribution():
            where = os.path.realpath(self.dir) + ":" + self.arch
            words += ([self.arch] if self.arch else []) + [hashlib.sha256(where.encode()).hexdigest()[:6]]
        return "-".join(words)


def unlike(petsc, args):
    """Why this PETSc is not the kind asked for, or None."""
    for asked, has, what in ((args.scalar_type, petsc.scalar, "scalars"), (args.precision, petsc.precision, "precision"),
                             ("64" if args.indices64 else None, str(petsc.index), "bit indices")):
        if asked and asked != has:
            return "%s: has %s %s, not %s" % (petsc.where, has, what, asked)
    if args.cuda == "1" and not petsc.cuda:
        return "%s: has no CUDA" % petsc.where
    return None


def installed(log):
    """(PETSC_DIR, PETSC_ARCH) of the PETScs that pkg-config and the distribution know."""
    if shutil.which("pkg-config"):
        for name in ("PETSc", "petsc", "PETSc64", "petsc64"):
            code, text = log.capture(["pkg-config", "--variable=prefix", name])
            prefix = text.strip()
            if code or not prefix:
                continue
            if os.path.exists(os.path.join(prefix, "include", "petscversion.h")):
                yield prefix, ""
            else:
                yield os.path.split(prefix.rstrip("/"))
    packaged = glob.glob("/usr/lib/petscdir/petsc*/*/include/petscversion.h")
    # the newest first; 64-bit indices last, for those who did not ask for them
    for header in ["/usr/lib/petsc/include/petscversion.h"] + sorted(packaged, key=lambda path: ("/petsc64" not in path, path), reverse=True):
        if os.path.exists(header):
            yield os.path.realpath(os.path.dirname(os.path.dirname(header))), ""


def distribution_packages(args, log, apt):
    """The distribution's packages for the PETSc asked for; the examples' package has PETSc's version in its name."""
    kind = "libpetsc%s-%s-dev" % ("64" if args.indices64 else "", args.scalar_type or "real")
    code, text = log.capture(["apt-cache", "show", "--no-all-versions", "petsc-dev"]) if shutil.which("apt-cache") else (1, "")
    found = re.search(r"^Version: (\d+\.\d+)", text, re.M)
    if not found and apt:
        log.long("apt-get update", apt + ["update"])
        found = re.search(r"^Version: (\d+\.\d+)", log.capture(["apt-cache", "show", "--no-all-versions", "petsc-dev"])[1], re.M)
    version = found.group(1) if found else "3.18"
    return ["petsc-dev" if kind == "libpetsc-real-dev" else kind, "libpetsc%s-dev-examples" % version, "libhypre-dev", "libopenmpi-dev", "openmpi-bin"] + [package for _, package in UNPACKERS]


def find(args, log, allowed):
    """The PETSc to build for: as named, else as installed, else the distribution's package."""
    if args.petsc_dir:
        try:
            petsc = PETSc(args.petsc_dir, args.petsc_arch or "")
        except Unfit as error:
            raise Stop("%s.\n%s" % (error, ADVICE))
        why = unlike(petsc, args)
        if why:
            raise Stop("%s.\n%s" % (why, ADVICE))
        return petsc
    if args.cuda == "1":
        raise Stop("--with-cuda=1 needs a PETSc that has CUDA; none is packaged.\n" + ADVICE)
    for attempt in range(2):
        reasons = []
        for folder, arch in installed(log):
            try:
                petsc = PETSc(folder, arch)
                why = unlike(petsc, args)
            except Unfit as error:
                why = str(error)
            if not why:
                return petsc
            if why not in reasons:
                reasons.append(why)
        log.write("".join(reason + "\n" for reason in reasons))
        if attempt or args.precision == "single":
            break
        install(tools(log) + distribution_packages(args, log, installer() if allowed else None), log, allowed)
    raise Stop("No PETSc here that petsc-amb can use.\n%s%s" % ("".join("  %s\n" % reason for reason in reasons), ADVICE))


def tools(log):
    """Packages of the tools without which nothing can be compiled."""
    found = []
    if not (shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")):
        found += ["gcc", "libc6-dev"]
    elif log.capture(["cc" if shutil.which("cc") else "gcc", "-E", "-include", "stdlib.h", "-x", "c", os.devnull, "-o", os.devnull])[0]:
        found += ["libc6-dev"]
    return found + ["make"] * (not shutil.which("make")) + ["pkg-config"] * (not shutil.which("pkg-config"))


def complete(petsc, log, allowed):
    """Packages that the PETSc found leaves wanting: MPI, the libraries for compressed files and, for the distribution's PETSc, its examples, its petsc4py and what builds
    the Python package."""
    needed, wished = [], []
    if not petsc.compiler():
        needed += tools(log) + ["libopenmpi-dev"]
    elif log.capture([petsc.compiler(), "-E", "-include", "stdlib.h", "-x", "c", os.devnull, "-o", os.devnull])[0]:
        needed += ["gcc", "libc6-dev"]
    if not petsc.mpiexec() and not petsc.uni:
        needed.append("openmpi-bin")
    if needed:
        install(needed, log, allowed)
    for header, package in UNPACKERS:
        if log.capture([petsc.compiler(), "-E", "-include", header, "-x", "c", os.devnull, "-o", os.devnull])[0]:
            wished.append(package)
    if petsc.distribution():
        if not petsc.examples():
            wished.append("libpetsc%d.%d-dev-examples" % petsc.version[:2])
        if not os.path.exists(os.path.join(petsc.libdir, "python3", "dist-packages", "petsc4py")):
            wished.append("python3-petsc4py-%s%s%d.%d" % (("64-" if petsc.index == 64 else "", petsc.scalar) + petsc.version[:2]))
        for test, package in PYTHON_BUILDS:
            if log.capture(["/usr/bin/python3", "-c", test])[0]:
                wished.append(package)
    if wished:
        try:
            install(wished, log, allowed)
        except Stop:
            log.say("Going on without " + " ".join(wished) + ", which cannot be installed here.")
