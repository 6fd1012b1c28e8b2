# SPDX-License-Identifier: BSD-2-Clause
"""--download-petsc: PETSc's source package from the Python package index, built into a cache outside the tree."""
import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from ambsys import Stop, install, jobs

# The releases this plugin is made for, and which of them go with which CUDA: from that CUDA on; before that CUDA
OLDEST, NEWEST = (3, 18), (3, 26)
COMPLETE = ".amb-complete"
COMPILES = re.compile(r"\s*(CC|CXX|CUDAC)\S*\s")  # what PETSc's make prints for an object
OBJECT = re.compile(r"\s-c\s.*\s-o\s*\S+\.o([\s;]|$)|\s-o\s*\S+\.o\s.*-c([\s;]|$)")
CUDA_NEEDS = (((12, 0), ">=3.19"), ((13, 0), ">=3.24"))
CUDA_OLD = ((11, 4), "<3.26")

# pip insists on knowing a source package's metadata before it hands the file over, and old setup.py cannot answer under a
# present-day Python. This build backend answers from the package's own PKG-INFO and runs nothing of it.
BACKEND = '''
import os

def get_requires_for_build_wheel(config_settings=None):
    return []

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    fields = {}
    with open("PKG-INFO", encoding="utf-8", errors="replace") as info:
        for line in info:
            key, colon, value = line.partition(": ")
            if not colon:
                break
            fields.setdefault(key, value.strip())
    name = "%s-%s.dist-info" % (fields["Name"], fields["Version"])
    os.makedirs(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as out:
        out.write("Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n" % (fields["Name"], fields["Version"]))
    with open(os.path.join(folder, name, "WHEEL"), "w") as out:
        out.write("Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return name

class __legacy__:
    get_requires_for_build_wheel = staticmethod(get_requires_for_build_wheel)
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
'''


def cache_dir():
    return os.path.abspath(os.environ.get("PETSCAMB_CACHE") or os.path.expanduser("~/.cache/petsc-amb"))


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as data:
        for block in iter(lambda: data.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def ensure_pip(log, allowed):
    if log.capture([sys.executable, "-m", "pip", "--version"])[0]:
        install(["python3-pip"], log, allowed)


def pip_download(requirement, log, source):
    """One file by the user's own pip, with its configured index; pip checks it against the hash the index gives."""
    with tempfile.TemporaryDirectory(prefix="petsc-amb-") as work:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--progress-bar", "off", "--dest", os.path.join(work, "got"), requirement]
        env = dict(os.environ, SETUPTOOLS_USE_DISTUTILS="stdlib")
        if source:
            fake = os.path.join(work, "backend", "setuptools")
            os.makedirs(fake)
            open(os.path.join(fake, "__init__.py"), "w").close()
            with open(os.path.join(fake, "build_meta.py"), "w") as out:
                out.write(BACKEND)
            env["PYTHONPATH"] = os.path.dirname(fake)
            command[4:4] = ["--no-binary", ":all:", "--no-build-isolation", "--use-pep517"]
        code, tail = log.long("downloading %s" % requirement, command, env=env)
        got = sorted(glob.glob(os.path.join(work, "got", "*")))
        if code or len(got) != 1:
            raise Stop("pip could not download %s:\n  %s\nGive the file to pip by its own means (an index in pip's configuration, "
                       "or a folder in PIP_FIND_LINKS), or name another version: --download-petsc=VERSION" % (requirement, "\n  ".join(tail[-4:])))
        folder = os.path.join(cache_dir(), "download")
        os.makedirs(folder, exist_ok=True)
        final = os.path.join(folder, os.path.basename(got[0]))
        shutil.move(got[0], final + ".part")
        with open(final + ".sha256", "w") as out:
            out.write(sha256(final + ".part"))
        os.replace(final + ".part", final)
        return final


def intact(path):
    try:
        with open(path + ".sha256") as known:
            return known.read().strip() == sha256(path)
    except OSError:
        return False


def as_tuple(version):
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


def requirement(version, cuda):
    """What to ask pip for: the version given, or the newest known to work with this plugin and this CUDA."""
    if version:
        if not re.fullmatch(r"\d+(\.\d+){1,3}", version):
            raise Stop("--download-petsc=%s: not a PETSc version; say for example --download-petsc=3.24.3" % version)
        if as_tuple(version)[:2] < OLDEST:
            raise Stop("--download-petsc=%s: petsc-amb needs PETSc %d.%d or newer" % ((version,) + OLDEST))
        return "petsc==%s%s" % (version, "" if version.count(".") > 1 else ".*")
    clauses = [">=%d.%d" % OLDEST, "<%d.%d" % (NEWEST[0], NEWEST[1] + 1)]
    if cuda:
        clauses += [clause for least, clause in CUDA_NEEDS if as_tuple(cuda["version"]) >= least]
        if as_tuple(cuda["version"]) < CUDA_OLD[0]:
            clauses.append(CUDA_OLD[1])
    return "petsc" + ",".join(clauses)


def source_package(version, cuda, log, allowed):
    """The path of the verified source package in the cache; asks the index only where the cache has no exact match."""
    if version and version.count(".") > 1:
        for path in glob.glob(os.path.join(cache_dir(), "download", "petsc-%s.tar.gz" % version)):
            if intact(path):
                return path
    ensure_pip(log, allowed)
    return pip_download(requirement(version, cuda), log, True)


def find_cuda(log):
    """The CUDA toolkit: its folder, nvcc and version, or None."""
    homes = [os.environ.get(name) for name in ("CUDA_DIR", "CUDA_HOME", "CUDA_PATH")]
    for nvcc in [os.path.join(home, "bin", "nvcc") for home in homes if home] + [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]:
        if nvcc and os.access(nvcc, os.X_OK):
            code, text = log.capture([nvcc, "--version"])
            found = re.search(r"release (\d+\.\d+)", text)
            if code == 0 and found:
                home = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
                return {"nvcc": nvcc, "home": home, "version": found.group(1)}
    return None


def cuda_arch(given, log):
    """The architecture to compile for: as given, else that of the GPU here, else Hopper's (an H200's)."""
    if given:
        return given
    code, text = log.capture(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    found = re.match(r"\s*(\d+)\.(\d+)", text) if code == 0 else None
    if found:
        return found.group(1) + found.group(2)
    log.write("no GPU found to ask, compiling CUDA for architecture 90; --with-cuda-arch=... chooses another\n")
    return "90"


def with_nvml(cuda, log, allowed):
    """A toolkit of links that has nvml.h and a library to link with, for toolkits that come without (PETSc 3.25 wants both)."""
    home = cuda["home"]
    library = os.path.join("lib64", "stubs", "libnvidia-ml.so")
    if os.path.exists(os.path.join(home, "include", "nvml.h")) and os.path.exists(os.path.join(home, library)):
        return home
    folder = os.path.join(cache_dir(), "cuda-%s-nvml" % cuda["version"])
    if os.path.exists(os.path.join(folder, "complete")):
        return folder
    log.say("  this CUDA toolkit has no NVML; adding its header and a stand-in library for linking")
    shutil.rmtree(folder, ignore_errors=True)
    for sub in ("", "include", "lib64", os.path.join("lib64", "stubs")):
        there, here = os.path.join(home, sub), os.path.join(folder, sub)
        os.makedirs(here, exist_ok=True)
        for name in os.listdir(there) if os.path.isdir(there) else []:
            if not os.path.lexists(os.path.join(here, name)) and os.path.join(sub, name) not in ("include", "lib64", os.path.join("lib64", "stubs")):
                os.symlink(os.path.join(there, name), os.path.join(here, name))
    header = os.path.join(folder, "include", "nvml.h")
    if not os.path.exists(header):
        nvml_header(cuda["version"], header, log, allowed)
    nvml_library(header, os.path.join(folder, library), log)
    open(os.path.join(folder, "complete"), "w").close()
    return folder


def nvml_header(version, target, log, allowed):
    if os.path.exists("/usr/include/nvml.h"):
        os.symlink("/usr/include/nvml.h", target)
        return
    ensure_pip(log, allowed)
    name = "nvidia-nvml-dev" + ("" if as_tuple(version)[0] > 12 else "-cu12")
    with zipfile.ZipFile(pip_download("%s==%s.*" % (name, version), log, False)) as wheel:
        inside = [member for member in wheel.namelist() if member.endswith("/nvml.h")]
        if not inside:
            raise Stop("The package %s has no nvml.h; install libnvidia-ml-dev, or take a PETSc other than 3.25" % name)
        with open(target, "wb") as out:
            out.write(wheel.read(inside[0]))


def nvml_library(header, target, log):
    """The driver brings the real libnvidia-ml.so.1; to link, a library with the names that PETSc calls is enough."""
    calls = ("nvmlInit_v2(void)", "nvmlShutdown(void)", "nvmlDeviceGetCount_v2(unsigned int *n)",
             "nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvmlDevice_t *d)",
             "nvmlDeviceGetFieldValues(nvmlDevice_t d, int n, nvmlFieldValue_t *v)",
             "nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t d, unsigned long long *e)",
             "nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned int *p)")
    body = "#include \"%s\"\n" % header + "".join("nvmlReturn_t %s { return NVML_ERROR_LIBRARY_NOT_FOUND; }\n" % call for call in calls)
    body += "const char *nvmlErrorString(nvmlReturn_t r) { return \"no NVIDIA driver\"; }\n"
    with tempfile.TemporaryDirectory(prefix="petsc-amb-") as work:
        source = os.path.join(work, "nvml.c")
        with open(source, "w") as out:
            out.write(body)
        code, text = log.capture(["gcc", "-shared", "-fPIC", "-o", target, "-Wl,-soname,libnvidia-ml.so.1", source])
    if code:
        raise Stop("Could not compile the stand-in for NVML:\n" + text)


def petsc_options(args, cuda, source, log, allowed):
    """PETSc's configure line for what the user asked of ours."""
    options = ["--with-shared-libraries=1", "--with-debugging=0", "--with-fc=0", "--with-x=0",
               "--with-cc=" + (shutil.which("mpicc") or "mpicc"), "--with-cxx=" + (shutil.which("mpicxx") or "mpicxx")]
    options += ["COPTFLAGS=" + (args.COPTFLAGS or "-O3"), "CXXOPTFLAGS=" + (args.CXXOPTFLAGS or args.COPTFLAGS or "-O3")]
    for name in ("scalar_type", "precision"):
        if getattr(args, name):
            options.append("--with-%s=%s" % (name.replace("_", "-"), getattr(args, name)))
    if args.indices64:
        options.append("--with-64-bit-indices=1")
    if cuda:
        with open(os.path.join(source, "config/BuildSystem/config/packages/CUDA.py")) as text:
            wants = re.search(r"^\s*self\.includes\s*=.*nvml\.h", text.read(), re.M)
        home = with_nvml(cuda, log, allowed) if wants else cuda["home"]
        options += ["--with-cuda=1", "--with-cuda-dir=" + home, "--with-cuda-arch=" + cuda["arch"], "CUDAOPTFLAGS=" + (args.CUDAOPTFLAGS or "-O3")]
    else:
        options.append("--with-cuda=0")
    return options


def unpack(package, target, log):
    """Unpack beside the target and rename, so that what has the final name is whole."""
    if os.path.isdir(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    work = tempfile.mkdtemp(prefix="unpacking-", dir=os.path.dirname(target))
    log.say("  unpacking " + os.path.basename(package))
    try:
        with tarfile.open(package) as archive:
            top = {member.name.split("/")[0] for member in archive.getmembers()}
            if len(top) != 1 or any(name.startswith(("/", "..")) or "/../" in name for name in archive.getnames()):
                raise Stop("%s is not a PETSc source package" % package)
            for member in archive.getmembers():
                member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
            archive.extractall(work)
        os.rename(os.path.join(work, top.pop()), target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_stamp(path):
    try:
        with open(path) as stamp:
            return json.load(stamp)
    except (OSError, ValueError):
        return {}


def write_stamp(path, content):
    with open(path + ".part", "w") as out:
        json.dump(content, out, indent=1)
    os.replace(path + ".part", path)


def libraries(folder, arch):
    return sorted(glob.glob(os.path.join(folder, arch, "lib", "libpetsc.so.*.*.*")))


def has_lapack(log):
    with tempfile.TemporaryDirectory(prefix="petsc-amb-") as work:
        source = os.path.join(work, "lapack.c")
        with open(source, "w") as out:
            out.write("void dgetrf_(void);\nint main(void) { dgetrf_(); return 0; }\n")
        return any(log.capture(["cc", source, "-o", os.path.join(work, "lapack")] + libs)[0] == 0 for libs in (["-llapack", "-lblas"], ["-lopenblas"]))


def download(args, log, allowed):
    """Build, or find built, the PETSc asked for; returns (PETSC_DIR, PETSC_ARCH)."""
    try:
        os.makedirs(cache_dir(), exist_ok=True)
    except OSError as error:
        raise Stop("%s: PETSc would be built there. Set PETSCAMB_CACHE to a folder that can be written." % error)
    needed = [package for tool, package in (("mpicc", "libopenmpi-dev"), ("mpiexec", "openmpi-bin"), ("mpicxx", "libopenmpi-dev"), ("g++", "g++"),
                                            ("make", "make")) if not shutil.which(tool)]
    if not has_lapack(log):
        needed.append("libopenblas-dev")
    if needed:
        install(sorted(set(needed)), log, allowed)
    cuda = find_cuda(log) if args.cuda != "0" else None
    if cuda:
        cuda["arch"] = cuda_arch(args.cuda_arch, log)
    elif args.cuda == "1":
        raise Stop("--with-cuda=1: no nvcc found. Put it into PATH or set CUDA_DIR to the toolkit.")
    wanted = "" if args.download_petsc is True else args.download_petsc
    log.say("PETSc %s, %s" % (wanted or "(newest)", "with CUDA %s for architecture %s" % (cuda["version"], cuda["arch"]) if cuda else "without CUDA"))
    traits = [args.scalar_type or "real"] + [args.precision] * bool(args.precision) + ["int64"] * bool(args.indices64)
    traits += ["cuda" + cuda["version"]] if cuda else []
    asked = json.dumps([traits, cuda, args.COPTFLAGS, args.CXXOPTFLAGS, args.CUDAOPTFLAGS, shutil.which("mpicc")], sort_keys=True)
    name = os.path.join(cache_dir(), "petsc-%s-" + "-".join(traits) + "-" + hashlib.sha256(asked.encode()).hexdigest()[:6])
    arch = "arch-amb"
    ready = [folder for folder in glob.glob(name % (wanted if wanted.count(".") > 1 else wanted + ".*" if wanted else "*")) if finished(folder, arch)]
    if ready:
        folder = max(ready, key=lambda path: as_tuple(os.path.basename(path)))
        log.say("  already built in %s" % folder)
        return folder, arch
    package = source_package(wanted, cuda, log, allowed)
    folder = name % re.sub(r"^petsc-|\.tar\.gz$", "", os.path.basename(package))
    with open(folder + ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            log.say("  another configure.py is building it; waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished(folder, arch):
            build(folder, arch, package, args, cuda, log, allowed, lock)
    return folder, arch


def count_objects(command, log, env):
    """The number of objects that this make would compile, or 0 if make cannot say; `make -n` prints commands in place of PETSc's short lines."""
    code, text = log.capture(command + ["-n"], env=env)
    return sum(bool(OBJECT.search(line)) for line in text.splitlines()) if code == 0 else 0


def finished(folder, arch):
    """Whether a build was completed and its libraries are still those that were made then."""
    known = read_stamp(os.path.join(folder, COMPLETE)).get("libraries")
    return bool(known) and known == {os.path.basename(lib): sha256(lib) for lib in libraries(folder, arch)}


def build(folder, arch, package, args, cuda, log, allowed, lock):
    """Each step leaves a stamp, so that a killed build goes on where it was. The children hold the lock too, as they may outlive a kill."""
    configured = os.path.join(folder, ".amb-configured")
    unpack(package, folder, log)
    options = petsc_options(args, cuda, folder, log, allowed)
    env = {key: value for key, value in os.environ.items() if key not in ("PETSC_DIR", "PETSC_ARCH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CC", "CXX", "CFLAGS")}
    if read_stamp(configured).get("options") != options:
        log.say("  configuring PETSc (about a minute)")
        command = [sys.executable, "./configure", "PETSC_ARCH=" + arch, "PETSC_DIR=" + folder] + options
        code, tail = log.long("configuring PETSc", command, cwd=folder, env=env, pass_fds=(lock.fileno(),))
        if code:
            raise Stop("PETSc's configure failed:\n  %s\nIts log is %s" % ("\n  ".join(tail[-12:]), os.path.join(folder, "configure.log")))
        write_stamp(configured, {"options": options})
    log.say("  building PETSc on %d core%s (ten minutes or more on two)" % (jobs(), "s" * (jobs() > 1)))
    command = ["make", "-C", folder, "-f", "gmakefile", "-j%d" % jobs(), "PETSC_DIR=" + folder, "PETSC_ARCH=" + arch, "libs"]
    total = count_objects(command, log, env)
    code, tail = log.long("building PETSc", command, count=COMPILES.match, total=total, env=env, pass_fds=(lock.fileno(),))
    built = libraries(folder, arch)
    if code or not built:
        raise Stop("Building PETSc failed:\n  %s\nThe whole output is in %s. Run the same command again to go on." % ("\n  ".join(tail[-12:]), log.path))
    write_stamp(os.path.join(folder, COMPLETE), {"package": os.path.basename(package), "sha256": sha256(package), "options": options,
                                                 "libraries": {os.path.basename(lib): sha256(lib) for lib in built}})
