#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Configure petsc-amb for one PETSc.

PETSc is taken from PETSC_DIR and PETSC_ARCH (arguments or environment) where given, else from pkg-config, else from the distribution's
packages, which are installed where there is the right to; or it is built by --download-petsc. Builds for several PETScs live side by side
under build/; make builds for the one configured last, make PETSC_DIR=... PETSC_ARCH=... for that one.
"""
import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.abspath(__file__))
BUILDS = os.environ.get("PETSCAMB_BUILDS") or os.path.join(ROOT, "build")  # the makefile that --build-dir writes sets the variable
sys.path.insert(0, os.path.join(ROOT, "config"))

import ambcheck
import ambdownload
import ambpetsc
from ambsys import Log, Stop

ASSIGNED = ("PETSC_DIR", "PETSC_ARCH", "CC", "CFLAGS", "LDFLAGS", "NVCC", "COPTFLAGS", "CXXOPTFLAGS", "CUDAOPTFLAGS")
YES, NO = ("", "1", "yes", "true"), ("0", "no", "false")


def yes_no(text):
    if text.lower() in YES + NO:
        return "0" if text.lower() in NO else "1"
    raise argparse.ArgumentTypeError("%r is neither 0 nor 1" % text)


def parser():
    p = argparse.ArgumentParser(prog="configure.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    switch = dict(nargs="?", const="1", type=yes_no, metavar="0|1")
    p.add_argument("--with-petsc-dir", dest="petsc_dir", metavar="DIR", help="the PETSc to build for; the same as PETSC_DIR=DIR")
    p.add_argument("--with-petsc-arch", dest="petsc_arch", metavar="ARCH", help="its arch, empty for an installed PETSc; the same as PETSC_ARCH=ARCH")
    p.add_argument("--download-petsc", nargs="?", const=True, metavar="VERSION",
                   help="build PETSc from its source package on the Python package index, once, into PETSCAMB_CACHE (~/.cache/petsc-amb); without VERSION the newest that fits")
    p.add_argument("--with-scalar-type", dest="scalar_type", choices=("real", "complex"), help="the PETSc to find or build")
    p.add_argument("--with-precision", dest="precision", choices=("single", "double"), help="the PETSc to find or build")
    p.add_argument("--with-64-bit-indices", dest="indices64", default="0", help="the PETSc to find or build", **switch)
    p.add_argument("--with-cuda", dest="cuda", help="default: where PETSc has it, and in --download-petsc where nvcc is found", **switch)
    p.add_argument("--with-cuda-arch", dest="cuda_arch", metavar="ARCH", help="for example 90; default: that of the GPU here")
    p.add_argument("--with-nccl", dest="nccl", nargs="?", const="1", metavar="DIR", help="messages between GPUs by NCCL, too; default: where it is found beside CUDA; 0: without")
    p.add_argument("--with-openmp", dest="openmp", default="1", help="threads in the kernels (default 1)", **switch)
    p.add_argument("--with-install", dest="install", default="1", help="0: never install packages of the distribution", **switch)
    p.add_argument("--prefix", default="/usr/local", metavar="DIR", help="where make install puts the library (default /usr/local)")
    p.add_argument("--with-suffix", dest="suffix", nargs="?", const="auto", default="", metavar="TEXT",
                   help="ending of all installed names, so that several configurations share a prefix; without TEXT one such as _complex or 64_real_single")
    p.add_argument("--build-dir", dest="build_dir", metavar="DIR", help="build in this folder and write nothing beside the sources; make is called there")
    p.add_argument("--name", metavar="NAME", help="name of the build, for variants beside each other (make BUILD=NAME)")
    p.add_argument("--make", action="store_true", help=argparse.SUPPRESS)
    p.add_argument("assignments", nargs="*", metavar="VAR=VALUE",
                   help="one of " + ", ".join(ASSIGNED) + "; CFLAGS and LDFLAGS are added to our own, the *OPTFLAGS go to --download-petsc")
    return p


def parse(argv):
    p = parser()
    args, left = p.parse_known_args(argv)
    if left:
        near = difflib.get_close_matches(left[0].split("=")[0], [option for action in p._actions if action.help != argparse.SUPPRESS for option in action.option_strings], 1)
        p.error("there is no option %s; %s" % (left[0], "did you mean %s?" % near[0] if near else "see --help"))
    if args.download_petsc and "=" in str(args.download_petsc):  # no version, but what comes next
        args.assignments.append(args.download_petsc)
        args.download_petsc = True
    for name in ASSIGNED:
        setattr(args, name, None)
    for word in args.assignments:
        name, equals, value = word.partition("=")
        if not equals or name not in ASSIGNED:
            p.error("%s is not understood; see --help" % word)
        setattr(args, name, value)
    args.indices64 = args.indices64 == "1"
    explicit = args.petsc_dir or args.PETSC_DIR
    if args.download_petsc and explicit:
        p.error("--download-petsc and PETSC_DIR=%s exclude each other" % explicit)
    for name in ("scalar_type", "precision"):
        if getattr(args, name) == {"scalar_type": "real", "precision": "double"}[name] and args.download_petsc:
            setattr(args, name, None)
    args.petsc_arch = args.petsc_arch or args.PETSC_ARCH
    args.petsc_dir = explicit
    if not explicit and not args.download_petsc and os.environ.get("PETSC_DIR"):
        args.petsc_dir = os.environ["PETSC_DIR"]
        args.petsc_arch = args.petsc_arch or os.environ.get("PETSC_ARCH", "")
    return args


def write_if_new(path, text):
    """Objects depend on these files: an unchanged one keeps its date."""
    try:
        with open(path) as old:
            if old.read() == text:
                return
    except OSError:
        pass
    with open(path + ".part", "w") as out:
        out.write(text)
    os.replace(path + ".part", path)


def quoted(words):
    """For a make variable that ends on a shell's command line."""
    return " ".join(shlex.quote(word) for word in words).replace("$", "$$").replace("#", "\\#")


def configure(args, argv, log):
    log.say("Configuring petsc-amb")
    allowed = args.install == "1"
    if args.download_petsc:
        args.petsc_dir, args.petsc_arch = ambdownload.download(args, log, allowed)
        # when make configures anew it shall take this PETSc, not a newer one
        argv = [word for word in argv if not word.startswith("--download-petsc") and word != args.download_petsc]
        argv += ["PETSC_DIR=" + args.petsc_dir, "PETSC_ARCH=" + args.petsc_arch]
    found = ambpetsc.find(args, log, allowed)
    ambpetsc.complete(found, log, allowed)

    name = args.name or found.name()
    folder = os.path.join(BUILDS, name)
    stubs = os.path.join(folder, "stubs")
    cc = shlex.split(args.CC or "") or [found.compiler()]
    own = shlex.split(args.CFLAGS or "")
    compiler = ambcheck.Compiler(cc, own, log)
    if not compiler.version():
        raise Stop("The compiler %s does not run. Give a C compiler with CC=..." % " ".join(cc))
    if not compiler.works("int main(void) { return 0; }\n", ["-std=gnu11"], run=True)[0]:
        raise Stop("The compiler %s makes no working programs (%s has its messages)" % (" ".join(cc), log.path))

    includes = [flag for path in found.includes for flag in ("-isystem", path)]
    for flag in shlex.split(found.vars.get("MPI_INCLUDE", "")) + (shlex.split(found.vars.get("CUDA_INCLUDE", "")) if found.cuda else []):
        includes += ["-isystem", flag[2:]] if flag.startswith("-I") and flag[2:] != "/usr/include" else []
    libs = ["-L" + found.libdir, "-Wl,-rpath," + found.libdir] + ["-l" + lib for lib in found.libraries()]
    libs += shlex.split(found.vars.get("MPI_LIB", ""))
    petsc_libs = list(libs)
    mpi, aware, needs_stubs = ambcheck.petsc(compiler, found, includes, libs, stubs)
    libs += ["-Wl,-rpath-link," + stubs] if needs_stubs else []

    suffix = args.suffix if args.suffix != "auto" else "%s_%s%s" % ("64" if found.index == 64 else "", found.scalar, "_single" if found.precision == "single" else "")
    if not re.fullmatch(r"\w*", suffix):
        raise Stop("--with-suffix=%s: letters, digits and _ may stand in a suffix, since PETSc makes a function's name of it" % suffix)
    os.makedirs(folder, exist_ok=True)
    openmp = args.openmp == "1" and compiler.works(ambcheck.OPENMP_PROGRAM, ["-fopenmp"], run=True)[0]
    pool = openmp and compiler.pool(ROOT)
    zlib, lzma, bz2 = (compiler.works(program, libs=[lib], run=True)[0] for program, lib in ambcheck.UNPACKERS)
    tested = compiler.works("int main(void) { return 0; }\n", ["-include", os.path.join(ROOT, "config", "compilers.h")])[0]
    avx512 = compiler.works(ambcheck.AVX512_PROGRAM, ambcheck.AVX512_FLAGS)[0]
    avx2 = compiler.works(ambcheck.AVX2_PROGRAM, ambcheck.AVX2_FLAGS)[0]
    cuda = ambdownload.find_cuda(log) if args.cuda != "0" else None
    if args.NVCC and cuda:
        cuda["nvcc"] = args.NVCC
    if found.cuda and args.cuda != "0" and not cuda:
        raise Stop("%s has CUDA, and no nvcc was found: put it into PATH or set CUDA_DIR, or build without: --with-cuda=0" % found.where)
    use_cuda = bool(found.cuda and cuda)
    arch = (args.cuda_arch or ",".join(sorted(set(re.findall(r"code=sm_(\w+)", found.vars.get("CUDAC_FLAGS", ""))))) or ambdownload.cuda_arch(None, log)) if cuda else ""
    nccl = ambcheck.nccl(compiler, args.nccl, cuda["home"], includes) if use_cuda and args.nccl != "0" else None
    hypre = ambcheck.hypre(compiler, found, includes, libs)
    if hypre:
        includes, libs = includes + hypre[0], libs + hypre[1]
    gencode = ["-gencode=arch=compute_%s,code=sm_%s" % (one, one) if one[0].isdigit() else "-arch=" + one for one in filter(None, arch.split(","))]
    cxx = next(filter(None, map(shutil.which, found.vars.get("CXX", "").split()[:1] + ["mpicxx"])), None)
    ccache = shutil.which("ccache")
    if ccache and not ambcheck.Compiler([ccache] + cc, own, log).works("int x;\n", ["-c"])[0]:
        ccache = None
    examples = found.examples()

    macros = [("OPENMP", openmp), ("POOL", pool), ("ZLIB", zlib), ("AVX512", avx512), ("AVX2", avx2), ("CUDA", use_cuda), ("NCCL", nccl), ("HYPRE", hypre)]
    write_if_new(os.path.join(folder, "petscambconf.h"), "#pragma once\n" + "".join("#define PETSCAMB_HAVE_%s 1\n" % macro for macro, has in macros if has))
    owner = "PETSC_DIR=%s PETSC_ARCH=%s%s" % (os.path.realpath(found.dir), found.arch, " --name=" + args.name if args.name else "")
    shared = [("AMB_NAME", name), ("AMB_OWNER", owner), ("AMB_PETSC_DIR", found.dir), ("AMB_PETSC_ARCH", found.arch), ("AMB_PETSC_VERSION", "%d.%d.%d" % found.version),
              ("AMB_SCALAR", found.scalar), ("AMB_PRECISION", found.precision), ("AMB_INDEX", str(found.index)), ("AMB_CUDA", "1" if use_cuda else ""),
              ("AMB_GPU", "1" if use_cuda and ambcheck.gpu_driver() else ""), ("AMB_OPENMP", "1" if openmp else ""), ("AMB_POOL", "1" if pool else ""), ("AMB_ZLIB", "1" if zlib else ""), ("AMB_LZMA", "1" if lzma else ""), ("AMB_BZ2", "1" if bz2 else ""), ("AMB_MPIUNI", "1" if found.uni else ""),
              ("AMB_MPIEXEC", found.mpiexec() or ""), ("AMB_EXAMPLES_SRC", examples or ""), ("AMB_STUBS", stubs if needs_stubs else "")]
    flags = [("AMB_CC", quoted(([ccache] if ccache else []) + cc)), ("AMB_LINK", quoted(cc)), ("AMB_INCLUDES", quoted(includes + (nccl[0] if nccl else []))), ("AMB_LIBS", quoted(libs + ["-lz"] * zlib + ["-llzma"] * lzma + ["-lbz2"] * bz2 + ["-lm"])),
             ("AMB_OPENMP_FLAGS", "-fopenmp" if openmp else "-Wno-unknown-pragmas"), ("AMB_VISIBILITY", "-fvisibility=hidden" if found.hidden else ""),
             ("AMB_WERROR", "-Werror" if tested else ""), ("AMB_AVX512_FLAGS", " ".join(ambcheck.AVX512_FLAGS) if avx512 else ""), ("AMB_AVX2_FLAGS", " ".join(ambcheck.AVX2_FLAGS) if avx2 else ""),
             ("AMB_UNPACK_FLAGS", " ".join("-DPETSCAMB_HAVE_" + name for name, has in (("LZMA", lzma), ("BZ2", bz2)) if has)), ("AMB_CFLAGS", quoted(own)), ("AMB_LDFLAGS", quoted(shlex.split(args.LDFLAGS or ""))), ("AMB_NVCC", quoted([cuda["nvcc"]]) if cuda else ""), ("AMB_CXX", cxx or ""),
             ("AMB_GENCODE", " ".join(gencode)), ("AMB_CUDA_LIBS", quoted(shlex.split(found.vars.get("CUDA_LIB", "")) + (nccl[1] + ["-ldl"] if nccl else []) + ["-lstdc++"]) if use_cuda else ""), ("AMB_PREFIX", args.prefix), ("AMB_SUFFIX", suffix),
             ("AMB_PETSC_LIBS", quoted(petsc_libs)), ("AMB_PC", "PETSc" if os.path.exists(os.path.join(found.libdir, "pkgconfig", "PETSc.pc")) else "")]
    text = "# written by configure.py %s\n" % quoted(argv)
    text += "".join("%s := %s\n" % (key, value.replace("$", "$$") if (key, value) in shared else value) for key, value in shared + flags)
    write_if_new(os.path.join(folder, "conf.mk"), text)
    with open(os.path.join(folder, "conf.json"), "w") as out:
        json.dump({"argv": argv, "PETSC_DIR": os.path.realpath(found.dir), "PETSC_ARCH": found.arch, "environ": [os.environ.get("PETSC_DIR", ""), os.environ.get("PETSC_ARCH", "")],
                   "conf": dict(shared)}, out, indent=1)

    vectors = [kind for kind, has in (("AVX-512", avx512), ("AVX2", avx2)) if has]
    log.say("=" * 80)
    for title, value in (
            ("PETSc", "%d.%d.%d%s, %s" % (found.version + (", debug" if found.debug else "", found.where))),
            ("Scalars", "%s, %s precision%s" % (found.scalar, found.precision, " (the plain C kernels serve them)" if found.scalar == "complex" else "")),
            ("Indices", "%d bits" % found.index),
            ("MPI", "%s, %s%s" % (mpi, found.mpiexec() or "no mpiexec: one process only", "" if aware or not use_cuda else "; not CUDA-aware, see below")),
            ("C compiler", "%s (%s)%s" % (" ".join(cc), compiler.version(), ", ccache" if ccache else "") + ("" if tested else "; newer than those of the tests: its warnings are no errors")),
            ("Kernels", "plain C%s, chosen at run time" % "".join(", " + kind for kind in vectors)),
            ("OpenMP", "yes, on threads of the library's own" if pool else "yes, on the compiler's library" if openmp else "no"),
            ("Compressed", ", ".join(name if has else "no %s (install %s)" % (name, package) for name, has, package in ((".gz", zlib, "zlib1g-dev"), (".xz", lzma, "liblzma-dev"), (".bz2", bz2, "libbz2-dev")))),
            ("CUDA", "%s, architecture %s%s" % (cuda["version"], arch, "" if use_cuda else "; kernels are only compiled (make cuda-check), for this PETSc has no CUDA") if cuda else "no"),
            ("NCCL", "yes, where libnccl.so.2 is found at run time" if nccl else "no: GPUs exchange by MPI alone" if use_cuda else "no"),
            ("hypre", "yes" if hypre else "PETSc's own way into it" if "PETSC_HAVE_HYPRE" in found.conf else "no"),
            ("Examples", examples or "no PETSc examples found: make run and make check need them"),
            ("Build", os.path.relpath(folder, ROOT) if BUILDS == os.path.join(ROOT, "build") else folder),
            ("Names", "libpetscamb%s.so" % suffix),
            ("Prefix", args.prefix)):
        log.say("  %-11s %s" % (title + ":", value))
    log.say("=" * 80)
    if use_cuda and not aware:
        log.say("This MPI is not CUDA-aware. petsc-amb says so to PETSc where it is loaded; programs on a GPU that do not load it want the line\n"
                "  -use_gpu_aware_mpi 0\nin the file .petscrc in your home, or in PETSC_OPTIONS. See docs/gpus.md.")
    return folder


def set_default(folder):
    link = os.path.join(BUILDS, "default")
    if os.path.islink(link):
        os.remove(link)
    os.symlink(os.path.basename(folder), link)


def stored(folder):
    try:
        with open(os.path.join(folder, "conf.json")) as text:
            return json.load(text)
    except (OSError, ValueError):
        return None


def fresh(folder, known):
    """Whether a configuration still stands: nothing it was made from is newer or gone."""
    conf = os.path.join(folder, "conf.json")
    sources = [os.path.abspath(__file__)] + [os.path.join(ROOT, "config", name) for name in os.listdir(os.path.join(ROOT, "config")) if name.endswith(".py")]
    sources += [os.path.join(known["conf"]["AMB_PETSC_DIR"], "include", "petscversion.h"),
                os.path.join(known["conf"]["AMB_PETSC_DIR"], known["conf"]["AMB_PETSC_ARCH"], "include", "petscconf.h")]
    try:
        return all(os.path.getmtime(source) <= os.path.getmtime(conf) for source in sources) and os.path.exists(os.path.join(folder, "conf.mk"))
    except OSError:
        return False


def for_make(args, argv, log_path):
    """The folder of the configuration make shall use, made anew where it is missing or stale."""
    builds = BUILDS
    asked = bool(args.petsc_dir)
    if args.name:
        folders = [os.path.join(builds, args.name)]
        if not stored(folders[0]):
            sys.exit("*** BUILD=%s: there is no configuration of that name; make it with ./configure.py --name=%s ..." % (args.name, args.name))
    elif args.petsc_dir:
        default = os.path.realpath(os.path.join(builds, "default"))
        folders = [os.path.join(builds, name) for name in sorted(os.listdir(builds))] if os.path.isdir(builds) else []
        folders = [default] + [f for f in folders if not os.path.islink(f) and not any(word.startswith("--name") for word in (stored(f) or {}).get("argv", []))]
        folders = [f for f in folders if (stored(f) or {}).get("PETSC_DIR") == os.path.realpath(args.petsc_dir) and (not args.petsc_arch or stored(f)["PETSC_ARCH"] == args.petsc_arch)]
    else:
        folders = [os.path.realpath(os.path.join(builds, "default"))]
    for folder in folders:
        known = stored(folder)
        if known and fresh(folder, known):
            return folder
        if known:
            argv = known["argv"]
            args = parse(argv)
            if not args.petsc_dir and known["environ"][0] and not args.download_petsc:
                args.petsc_dir, args.petsc_arch = known["environ"]
            break
    return finish(args, argv, log_path, make_default=not asked)


def finish(args, argv, log_path, make_default=True):
    try:
        if os.path.exists(log_path):
            os.remove(log_path)
        log = Log(log_path)
    except OSError as error:
        sys.exit("*** %s: configure.py writes into the folder build of this tree" % error)
    try:
        folder = configure(args, argv, log)
    except Stop as error:
        log.say("\n*** " + str(error).replace("\n", "\n    ") + "\n")
        sys.exit(1)
    except OSError as error:
        log.say("\n*** %s\n" % error)
        sys.exit(1)
    if make_default or not os.path.lexists(os.path.join(BUILDS, "default")):
        set_default(folder)
    log.file.close()
    shutil.copyfile(log_path, os.path.join(folder, "configure.log"))
    return folder


def outside(folder, argv):
    """Builds go into that folder, and its makefile calls the one of the sources; returns the arguments that remain."""
    global BUILDS
    folder = os.path.abspath(folder)
    if re.search(r"\s", folder):
        sys.exit("*** --build-dir=%s: make cannot take a path with blanks" % folder)
    BUILDS = os.path.join(folder, "build")
    try:
        os.makedirs(BUILDS, exist_ok=True)
        write_if_new(os.path.join(folder, "makefile"), "# written by configure.py: calls the makefile of petsc-amb, which builds in this folder\nexport PETSCAMB_BUILDS := %s\n"
                     "%%:\n\t@$(MAKE) --no-print-directory -C %s $@\nall:\nmakefile: ;\n.DEFAULT_GOAL := all\n" % (BUILDS, shlex.quote(ROOT).replace("$", "$$")))
    except OSError as error:
        sys.exit("*** --build-dir: %s" % error)
    return [word for k, word in enumerate(argv) if not word.startswith("--build-dir") and (k == 0 or argv[k - 1] != "--build-dir")]


def main():
    argv = sys.argv[1:]
    args = parse(argv)
    if args.build_dir:
        argv = outside(args.build_dir, argv)
    log_path = os.path.join(BUILDS, "configure.log")
    if args.make:
        argv = [word for word in argv if word != "--make"]
        print(os.path.relpath(for_make(args, argv, log_path), os.getcwd()))  # the path of the tree may have spaces in it, which make cannot take
        return
    finish(args, argv, log_path)
    print("Now: %smake all, make check, make test, make run" % ("cd %s; " % shlex.quote(args.build_dir) if args.build_dir else ""), file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nconfigure.py: interrupted; run it again to go on")
